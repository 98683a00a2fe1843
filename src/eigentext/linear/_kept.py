"""The scores of all training candidates of a kernel perceptron, each up to date when needed."""

from dataclasses import dataclass

import numpy as np

from eigentext import engine
from eigentext.kernels.kernel import Encoded, Kernel

_BLOCKS = 16  # of training candidates: more make a mistake cheaper, and catching up dearer
_LEAST = 256  # candidates in a block


@dataclass
class ExampleBlock:
    """Some examples in a row: `start` to `stop`; `span` are their candidates."""

    start: int
    stop: int
    span: slice
    encoded: Encoded
    n_updates: int = 0  # that their scores know of


class KeptScores:
    """The scores of all training candidates, each up to date when it is needed."""

    def __init__(self, kernel: Kernel, encoded: Encoded, borders: np.ndarray, values: np.ndarray):
        self.kernel, self.encoded, self.values = kernel, encoded, values
        self.first = _first_of_equals(encoded.identity)
        self.raised: list[int] = []  # the first of equal candidates stands for all of them
        self.lowered: list[int] = []
        size = max(-(-len(encoded) // _BLOCKS), _LEAST)
        self.blocks: list[ExampleBlock] = []
        for start, stop in engine.even_blocks(borders, size):
            span = slice(borders[start], borders[stop])
            self.blocks.append(ExampleBlock(start, stop, span, encoded[span]))

    def update(self, block: ExampleBlock, y: int, z: int) -> None:
        """Prefer y to z from now on; only the block that they are of hears of it at once."""
        self.raised.append(self.first[y])
        self.lowered.append(self.first[z])
        self.catch_up(block)

    def catch_up(self, block: ExampleBlock) -> None:
        """Add what the updates since the last time mean to the scores of a block."""
        raised, lowered = self.raised[block.n_updates :], self.lowered[block.n_updates :]
        if not raised:
            return
        block.n_updates += len(raised)
        which, place = np.unique(raised + lowered, return_inverse=True)
        signs = np.repeat([1.0, -1.0], [len(raised), len(lowered)])
        alpha = np.bincount(place, signs, len(which))
        which, alpha = which[alpha != 0], alpha[alpha != 0]
        if len(which):
            scores = self.kernel.scores(self.encoded[which], alpha, block.encoded)
            self.values[block.span] += scores


def _first_of_equals(identity: np.ndarray) -> np.ndarray:
    """For each, the place of the first one of the same number."""
    _, first, place = np.unique(identity, return_index=True, return_inverse=True)
    return first[place]
