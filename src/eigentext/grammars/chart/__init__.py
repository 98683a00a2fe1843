"""Charts: the coarse pass, the packed forest of what survives, and decoding."""
