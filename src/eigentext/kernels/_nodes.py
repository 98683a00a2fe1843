"""What the kernels of trees and of tagged sequences share: everything except the recursion."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.errors import EigentextError
from eigentext.kernels._store import BLOCK, EncodedNodes, NodeForest, Rows, Store
from eigentext.kernels.kernel import Kernel

_TASK = 64  # rows of a Gram matrix that one thread fills at a time
_WHOLE = (0, False, False)
How = tuple[int, bool, bool]  # see `NodeKernel._fill`
_WORTH_THREADS = 1 << 22  # pairs of a node and a structure, which take some milliseconds


class NodeKernel(Kernel):
    r"""The sum of :math:`\Delta(n_1, n_2)` over all pairs of nodes."""

    decay: float

    @abstractmethod
    def _add(self, store: Store, known: dict[Any, int], structure: Any) -> int:
        """Add the new nodes of a structure to the store, and return the number of its root."""

    @abstractmethod
    def _fill(self, rows: np.ndarray, how: How, a: Rows, b: NodeForest, out: np.ndarray) -> None:
        """Add rows of the Gram matrix of `a` and the forest `b` to `out`.

        `how` has three parts: the column where `b` begins, whether to skip what is below the
        diagonal, and whether to add all rows up in the first row.
        """

    def _encode(self, structures: list[Any]) -> EncodedNodes:
        store, known = Store(), {}
        roots = np.empty(len(structures), dtype=np.int64)
        for number, structure in enumerate(structures):
            try:
                roots[number] = self._add(store, known, structure)
            except EigentextError as error:
                raise type(error)(f"structure {number}: {error}") from error
        return EncodedNodes(store, roots)

    def _gram(self, a: EncodedNodes, b: EncodedNodes) -> np.ndarray:
        from eigentext.kernels._loops import mirror

        symmetric = a is b
        out = np.zeros((len(a), len(b)))
        if not out.size:
            return out
        rows = a.rows(b)
        n_tasks = -(-len(a) // _TASK)

        def fill(task: int) -> None:
            for start, forest in b.forests:
                # A task takes every n-th row, because the rows of a triangle differ in length.
                mine = np.arange(task, min(len(a), start + BLOCK) if symmetric else len(a), n_tasks)
                self._fill(mine, (start, symmetric, False), rows, forest, out)

        b.forests  # noqa: B018  computed here, so that threads do not compute it twice
        for _ in engine.current().map(fill, range(n_tasks)):
            pass
        if symmetric:
            starts = range(0, len(a), _TASK)
            for _ in engine.current().map(lambda i: mirror(out, i, min(i + _TASK, len(a))), starts):
                pass
        return out

    def _diagonal(self, a: EncodedNodes) -> np.ndarray:
        out = np.zeros((len(a), 1))

        def fill(start: int) -> None:
            block = a[start : start + BLOCK]
            rows, forest = block.alone()
            self._fill(np.arange(len(block)), _WHOLE, rows, forest, out[start : start + BLOCK])

        for _ in engine.current().map(fill, range(0, len(a), BLOCK)):
            pass
        return out[:, 0]

    def _scores(self, a: EncodedNodes, alpha: np.ndarray, b: EncodedNodes) -> np.ndarray:
        out = np.zeros((1, len(b)))
        if not len(a):
            return out[0]
        rows = a.merged(alpha, b)
        chunks = np.arange(len(rows.offsets) - 1)

        def fill(forest: tuple[int, NodeForest]) -> None:
            self._fill(chunks, (forest[0], False, True), rows, forest[1], out)

        self._over(fill, b, len(rows.group))
        return out[0]

    def _over(
        self, fill: Callable[[tuple[int, NodeForest]], None], b: EncodedNodes, n: int
    ) -> None:
        """Fill the columns of each forest, in threads if n nodes for each structure are enough."""
        is_large = n * len(b) > _WORTH_THREADS
        for _ in engine.current().map(fill, b.forests) if is_large else map(fill, b.forests):
            pass
