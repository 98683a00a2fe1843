"""Word vectors from counts: the spectral template of seed 002."""

from eigentext.words.eigenwords import Eigenwords
from eigentext.words.template import scaled_counts

__all__ = ["Eigenwords", "scaled_counts"]
