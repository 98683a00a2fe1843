"""Learning hidden states: one file for each method, and the passes over trees that they share."""
