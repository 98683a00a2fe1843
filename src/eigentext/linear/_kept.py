"""The scores of all training candidates of a kernel perceptron, updated only when needed."""

from dataclasses import dataclass

import numpy as np

from eigentext import engine
from eigentext.kernels.kernel import Encoded, Kernel

_BLOCKS = 16  # with more blocks, a mistake costs less time and catching up costs more
_LEAST = 256  # candidates in a block, at least


@dataclass
class ExampleBlock:
    """The examples from `start` to `stop`. The slice `span` has their candidates."""

    start: int
    stop: int
    span: slice
    encoded: Encoded
    n_updates: int = 0  # the number of updates that the scores of the block include


class KeptScores:
    """The scores of all training candidates. A block is brought up to date when it is needed."""

    def __init__(self, kernel: Kernel, encoded: Encoded, borders: np.ndarray, values: np.ndarray):
        self.kernel, self.encoded, self.values = kernel, encoded, values
        self.first = _first_of_equals(encoded.identity)
        self.raised: list[int] = []  # equal candidates are represented by the first of them
        self.lowered: list[int] = []
        size = max(-(-len(encoded) // _BLOCKS), _LEAST)
        self.blocks: list[ExampleBlock] = []
        for start, stop in engine.even_blocks(borders, size):
            span = slice(borders[start], borders[stop])
            self.blocks.append(ExampleBlock(start, stop, span, encoded[span]))

    def update(self, block: ExampleBlock, y: int, z: int) -> None:
        """Prefer y to z from now on. Only the scores of their own block are updated now."""
        self.raised.append(self.first[y])
        self.lowered.append(self.first[z])
        self.catch_up(block)

    def catch_up(self, block: ExampleBlock) -> None:
        """Bring the scores of a block up to date with all updates so far."""
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
    """Return for each number the first place that has the same number."""
    _, first, place = np.unique(identity, return_index=True, return_inverse=True)
    return first[place]
