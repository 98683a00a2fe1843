"""Trees on their way from one process to another: see :mod:`eigentext.corpus.packing`."""

from eigentext.corpus.packing import Packed, pack, unpack

__all__ = ["Packed", "pack", "unpack"]
