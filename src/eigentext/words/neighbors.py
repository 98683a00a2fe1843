r"""Nearest neighbors by cosine: exact in milliseconds, approximate only on request.

A query costs the time to read all vectors: 240 MB for 200,000 vectors of 300 floats. A quarter of
that is enough. Let :math:`\hat x` be the row x in 8-bit integers, :math:`x = \hat x + e`. By the
inequality of Cauchy and Schwarz,

.. math:: \langle x, y \rangle \le \langle \hat x, y \rangle + \|e\| \, \|y\| ,

and :math:`\|e\|` is about 0.007 for unit rows. So only a few rows besides the best can exceed the
worst of the best rows so far, and only these are read in full. (The same bound on the first
dimensions of x excludes nothing, because eigenwords spread their length over all dimensions.) For
many queries together, the first pass is a matrix product in float32, with a bound for its rounding.
So it is for the first few single queries, before 8-bit integers are worth making. In all cases a
returned cosine is a sum in float64 that is rounded once. So the answer depends neither on the
method nor on the number of threads.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.parameters import Choice, Count, Seed, argument

Method = Literal["auto", "exact", "faiss"]
_METHOD = Choice("auto", of=("auto", "exact", "faiss"))
_TOPN = Count(10, least=0)
_SEED = Seed(0)
_FEW = 8  # up to this many queries, 8-bit codes are faster than the matrix product
_EARLY = 4  # searches before 8-bit codes are made; a short command then needs no compiled loop
_ROWS = 2048  # in a block of the matrix product, whose scores stay in the cache
_QUERIES = 128
_FEWEST_ROWS = 8192  # for one thread
_UNIT = 1e-6  # how far from 1 a unit row's length may be
_LINKS, _BREADTH = 32, 200  # of the graph that faiss builds


class Neighbors:
    """Finds the rows of a matrix whose directions are nearest to that of a query.

    Parameters
    ----------
    vectors : array, shape (n, d)
        If they are float32 with rows of length 1 (or 0, which have cosine 0 with everything), they
        are used as they are; else they are copied and scaled.
    method : "auto", "exact" or "faiss"
        "exact" compares a query with every row; "auto" is "exact" for any n. "faiss" walks a graph
        (HNSW; Malkov and Yashunin 2018). It is faster for millions of rows and may miss some
        neighbors; it needs ``pip install eigentext[faiss]``.
    random_state : int
        The seed of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.words.neighbors import Neighbors
    >>> neighbors = Neighbors(np.array([[1, 0], [0, 1], [1, 1], [-1, 0]]))
    >>> rows, cosines = neighbors.search(np.array([[2, 0]]), topn=2)
    >>> rows, cosines.round(2)
    (array([[0, 2]]), array([[1.  , 0.71]], dtype=float32))
    """

    def __init__(self, vectors: Any, *, method: Method = "auto", random_state: int = 0):
        method = argument("method", _METHOD, method)
        self.method: Method = "exact" if method == "auto" else method
        self.random_state = argument("random_state", _SEED, random_state)
        self.vectors, self._inverse = _unit_rows(vectors, "vectors")
        self._n_searches = 0
        if self.method == "faiss":
            self._index = _graph(self.vectors, self.random_state)

    def __len__(self) -> int:
        return len(self.vectors)

    def search(
        self, queries: Any, topn: int = 10, *, leave_out: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The `topn` nearest rows of each query, the nearest first; equal cosines in row order.

        Parameters
        ----------
        queries : array, shape (q, d)
            Only their directions matter.
        topn : int
            The number of rows to find.
        leave_out : array of int, shape (q, k), optional
            The rows that each query must not find; -1 means none.

        Returns
        -------
        rows : int64 array, shape (q, min(topn, n))
            -1 where there are no more rows.
        cosines : float32 array of the same shape
            -inf beside -1.
        """
        topn = argument("topn", _TOPN, topn)
        Q, q_inverse = self._checked(queries)
        unwanted = _checked_rows(leave_out, len(Q), len(self))
        # More rows than wanted, because some are left out afterwards.
        wanted = min(topn, len(self))
        k = min(wanted + unwanted.shape[1], len(self))
        if wanted == 0 or len(Q) == 0:
            return np.empty((len(Q), wanted), np.int64), np.empty((len(Q), wanted), np.float32)
        if self.method == "faiss":
            rows, cosines = self._walk(Q, q_inverse, k)
        elif len(Q) > _FEW:
            rows, cosines = self._multiply(Q, q_inverse, k)
        elif self._n_searches < _EARLY:
            self._n_searches += 1
            rows, cosines = self._product(Q, q_inverse, k)
        else:
            rows, cosines = self._scan(Q, q_inverse, k)
        return _best(rows, cosines, wanted, unwanted)

    # Four methods for the k best rows of each query, in any order.

    def _product(
        self, Q: np.ndarray, q_inverse: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        slack = self._slack(Q)
        cosines, rows = _empty_heaps(len(Q), k)
        for query, scores in enumerate(Q @ self.vectors.T):
            least = np.partition(scores, len(scores) - k)[-k] - 2 * slack
            near = np.flatnonzero(scores >= least)
            exact = _cosines(self.vectors[near], self._inverse[near], Q[query], q_inverse[query])
            best = np.lexsort((near, -exact))[:k]
            rows[query], cosines[query] = near[best], exact[best]
        return rows, cosines

    def _scan(self, Q: np.ndarray, q_inverse: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        from eigentext.words._neighbor_loops import scan_codes

        codes, scale, error = self._codes
        # The largest integers whose sums of products stay within 32 bits.
        limit = min(2047, (2**31 - 1) // (127 * max(1, Q.shape[1])))
        steps = np.abs(Q).max(axis=1, initial=0).astype(np.float64) / limit
        P = np.rint(Q / np.where(steps > 0, steps, 1)[:, None])
        # Rows and queries are at most a little longer than 1.
        slack = 1.1 * np.linalg.norm(Q - P * steps[:, None], axis=1) + 3 * _UNIT
        P = P.astype(np.int16)
        parts = _parts(len(codes), engine.current().n_workers)

        def work(task: tuple[int, slice]) -> tuple[np.ndarray, np.ndarray]:
            query, part = task
            cosines, rows = _empty_heaps(1, k)
            scan_codes(
                *(codes[part], scale[part], error[part]),
                *(P[query], steps[query], slack[query]),
                *(self.vectors, self._inverse, Q[query], q_inverse[query]),
                *(part.start, cosines[0], rows[0]),
            )
            return rows, cosines

        tasks = [(query, part) for query in range(len(Q)) for part in parts]
        return _joined(engine.current().map(work, tasks), len(parts))

    def _multiply(
        self, Q: np.ndarray, q_inverse: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray]:
        from eigentext.words._neighbor_loops import scan_scores

        slack = self._slack(Q)
        workers = engine.current().n_workers
        blocks = [slice(start, start + _QUERIES) for start in range(0, len(Q), _QUERIES)]
        parts = _parts(len(self), 1 if len(blocks) >= 2 * workers else workers)

        def work(task: tuple[slice, slice]) -> tuple[np.ndarray, np.ndarray]:
            block, part = task
            asked, inverse = Q[block], q_inverse[block]
            cosines, rows = _empty_heaps(len(asked), k)
            for first in range(part.start, part.stop, _ROWS):
                scores = asked @ self.vectors[first : min(first + _ROWS, part.stop)].T
                scan_scores(
                    *(scores, slack, self.vectors, self._inverse),
                    *(asked, inverse, first, cosines, rows),
                )
            return rows, cosines

        tasks = [(block, part) for block in blocks for part in parts]
        with engine.one_blas_thread():
            return _joined(engine.current().map(work, tasks), len(parts))

    def _walk(self, Q: np.ndarray, q_inverse: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        import faiss

        from eigentext.words._neighbor_loops import score_rows

        breadth = faiss.SearchParametersHNSW(efSearch=max(_BREADTH, 2 * k))
        with _one_faiss_thread():
            _, rows = self._index.search(Q, k, params=breadth)
        cosines = np.empty(rows.shape, np.float32)
        score_rows(self.vectors, self._inverse, Q, q_inverse, rows, cosines)
        return rows, cosines

    @staticmethod
    def _slack(Q: np.ndarray) -> np.float32:
        """The error of a sum of d products in float32, in any order (Higham 2002, 3.1)."""
        return np.float32(Q.shape[1] * 2.0**-23 + 3 * _UNIT)

    @cached_property
    def _codes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rows in 8 bits, the step of each row, and the length of its rounding error."""
        from eigentext.words._neighbor_loops import quantize_rows

        n, d = self.vectors.shape
        codes, scale, error = np.empty((n, d), np.int8), np.empty(n), np.empty(n)

        def work(part: slice) -> None:
            quantize_rows(self.vectors, codes, scale, error, part.start, part.stop)

        list(engine.current().map(work, _parts(n, engine.current().n_workers)))
        return codes, scale, error * (1 + 2 * _UNIT)

    def _checked(self, queries: Any) -> tuple[np.ndarray, np.ndarray]:
        Q, q_inverse = _unit_rows(queries, "queries")
        if Q.shape[1] != self.vectors.shape[1]:
            raise ParameterError(
                f"queries of {Q.shape[1]} dimensions, but the vectors have {self.vectors.shape[1]}"
            )
        return Q, q_inverse


def _unit_rows(vectors: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Float32 rows of length 1 or 0, and the exact inverse of their length (0 for 0)."""
    vectors = np.asarray(vectors)
    if vectors.ndim != 2 or vectors.dtype.kind not in "iuf":
        raise ParameterError(
            f"{name} must be numbers of shape (rows, dimensions), "
            f"not {vectors.dtype} of shape {vectors.shape}"
        )
    norms = _lengths(vectors)
    if not np.isfinite(norms).all():
        bad = int(np.flatnonzero(~np.isfinite(norms))[0])
        raise ParameterError(f"{name}: row {bad} is not finite; leave such rows out")
    off = (np.abs(norms - 1) > _UNIT) & (norms > 0)
    if off.any() or vectors.dtype != np.float32:
        rows = np.empty(vectors.shape, np.float32)
        divisors = np.where(norms > 0, norms, 1)[:, None]
        for part in _parts(len(rows), -(-len(rows) // _FEWEST_ROWS)):
            rows[part] = vectors[part] / divisors[part]
        vectors, norms = rows, _lengths(rows)
    return np.ascontiguousarray(vectors), np.divide(1, norms, where=norms > 0, out=0 * norms)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """The norm of each row, in float64 and without over- or underflow."""
    norms = np.empty(len(vectors))
    for part in _parts(len(vectors), -(-len(vectors) // _FEWEST_ROWS)):
        rows = vectors[part].astype(np.float64)
        norms[part] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return norms


def _cosines(
    vectors: np.ndarray, inverse: np.ndarray, q: np.ndarray, q_inverse: float
) -> np.ndarray:
    """Exact cosines, with sums in the same order as the compiled loops have."""
    products = vectors.astype(np.float64) * q
    whole = products.shape[1] // 4 * 4
    sums = np.zeros((len(products), 4))
    if whole:  # cumsum adds one by one
        sums = products[:, :whole].reshape(len(products), -1, 4).cumsum(axis=1)[:, -1]
    a, b, c, d = sums.T.copy()
    for rest in products[:, whole:].T:
        a += rest
    return (((a + b) + (c + d)) * inverse * q_inverse + 0.0).astype(np.float32)


def _checked_rows(leave_out: Any, n_queries: int, n_rows: int) -> np.ndarray:
    if leave_out is None:
        return np.empty((n_queries, 0), np.int64)
    unwanted = np.asarray(leave_out)
    if unwanted.size == 0:
        unwanted = unwanted.astype(np.int64)
    if unwanted.ndim != 2 or len(unwanted) != n_queries or unwanted.dtype.kind not in "iu":
        raise ParameterError(
            f"leave_out must be row numbers of shape ({n_queries}, k), one line for each query, "
            f"not {unwanted.dtype} of shape {unwanted.shape}"
        )
    if unwanted.size and not (unwanted.min() >= -1 and unwanted.max() < n_rows):
        raise ParameterError(f"leave_out must be from 0 to {n_rows - 1}, or -1 for none")
    return unwanted.astype(np.int64)


def _parts(n_rows: int, most: int) -> list[slice]:
    """Rows in at most `most` equal parts; fewer if the parts would be small."""
    n_parts = max(1, min(most, -(-n_rows // _FEWEST_ROWS)))
    edges = [n_rows * part // n_parts for part in range(n_parts + 1)]
    return [slice(start, stop) for start, stop in pairwise(edges)]


def _empty_heaps(n_queries: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((n_queries, k), -np.inf, np.float32), np.full((n_queries, k), -1, np.int64)


def _joined(results: Any, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """The results of each block of queries, with those of all parts of the rows side by side."""
    results = list(results)
    blocks = [results[start : start + n_parts] for start in range(0, len(results), n_parts)]
    rows, cosines = (np.vstack([np.hstack([r[i] for r in b]) for b in blocks]) for i in (0, 1))
    return rows, cosines


def _best(
    rows: np.ndarray, cosines: np.ndarray, topn: int, unwanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The `topn` best of the rows, in order and without the unwanted ones."""
    for column in unwanted.T:
        cosines[rows == column[:, None]] = -np.inf
    rows[np.isneginf(cosines)] = -1
    order = np.lexsort((rows, -cosines))[:, :topn]
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(cosines, order, axis=1)


def _graph(vectors: np.ndarray, random_state: int) -> Any:
    try:
        import faiss
    except ImportError:
        raise ParameterError(
            "method='faiss' needs faiss: pip install eigentext[faiss], or use method='exact'"
        ) from None
    if vectors.shape[1] == 0:
        raise ParameterError("method='faiss' needs vectors of one dimension or more")
    index = faiss.IndexHNSWFlat(vectors.shape[1], _LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = _BREADTH
    index.hnsw.rng = faiss.RandomGenerator(random_state)
    with _one_faiss_thread(), engine.phase("index", len(vectors), "words") as advance:
        for part in _parts(len(vectors), -(-len(vectors) // _FEWEST_ROWS)):
            index.add(vectors[part])
            advance(part.stop - part.start)
    return index


class _one_faiss_thread:  # noqa: N801 - reads as what it is: ``with _one_faiss_thread():``
    """Let faiss use one thread, because the links of a graph depend on the order of threads."""

    def __enter__(self) -> None:
        import faiss

        self._before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)

    def __exit__(self, *exception: object) -> None:
        import faiss

        faiss.omp_set_num_threads(self._before)
