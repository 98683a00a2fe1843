r"""Windows of three symbols, which a spectral hidden Markov model is learned from.

They lie inside a sequence: the edges that n-gram counts mark are cut off here. Pairs are counted
where a third symbol follows, so that the same windows stand behind :math:`P_{2,1}` and
:math:`P_{3,x,1}`: only then is the algorithm exact for sequences that change as they go on.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from eigentext.corpus.symbols import is_stream
from eigentext.errors import CorpusError
from eigentext.matrices.runs import CSR
from eigentext.moments import NgramMoments


@dataclass
class Windows:
    """Three symbols in a row, as sparse counts; n symbols, without edges."""

    n: int
    pairs: CSR  # (first, second) of windows of three
    follow: CSR  # (first, second) of all windows of two
    trigrams: CSR  # a row for each bigram, and its next symbols
    firsts: np.ndarray  # of the bigrams
    seconds: np.ndarray
    start: np.ndarray  # first symbols of sequences
    sampled: bool  # counts, not probabilities

    @property
    def frequencies(self) -> np.ndarray:
        """How often each symbol was seen."""
        return np.asarray(self.follow.sum(axis=0)) + self.start

    @classmethod
    def of(cls, moments: NgramMoments) -> "Windows":
        """Cut the edges off n-gram counts of order 3."""
        if moments.order < 3:
            raise CorpusError("a hidden Markov model needs windows of three; count with order=3")
        bigrams, trigrams = moments.levels[:2]
        n = moments.edge if moments.unigrams[moments.rare] else moments.rare
        ends = bigrams.indptr.astype(np.int64)
        firsts = np.repeat(np.arange(len(ends) - 1, dtype=np.int32), np.diff(ends))
        start = np.zeros(n)
        row = slice(ends[moments.edge], ends[moments.edge + 1])
        start[bigrams.indices[row]] = bigrams.data[row]
        # The row of the edge is the last one: what begins inside a sequence comes before it.
        inside = int(ends[moments.edge])
        seconds = bigrams.indices[:inside]
        # Sums of rows without their ends, which stand last in them.
        counts = np.where(trigrams.indices < n, trigrams.data, 0)
        weights = np.add.reduceat(np.append(counts, 0), trigrams.indptr[: inside + 1])[:-1]
        weights = np.where(np.diff(trigrams.indptr[: inside + 1]) > 0, weights, 0)
        shape = (n, n)
        if not weights.any():
            raise CorpusError(
                "no sequence has three symbols, and the spectral method counts threes; "
                "give longer sequences, or use method='em'"
            )
        kept, inner = weights > 0, seconds < n
        pairs = sp.csr_array(
            (weights[kept].astype(np.float64), (firsts[:inside][kept], seconds[kept])), shape
        )
        counts = bigrams.data[:inside][inner].astype(np.float64)
        follow = sp.csr_array((counts, (firsts[:inside][inner], seconds[inner])), shape)
        if is_stream(moments.options):  # which starts anywhere
            start = np.asarray(pairs.sum(axis=1))
        sampled = bool(np.issubdtype(bigrams.dtype, np.integer))
        return cls(n, pairs, follow, trigrams, firsts[:inside], seconds, start, sampled)


def population(
    start: np.ndarray, operators: np.ndarray, end: np.ndarray, edge: int
) -> tuple[np.ndarray, list[CSR]]:
    """Unigrams and levels of n-gram moments: the exact probabilities of the first three symbols.

    Symbols are those of the operators, n of them; `edge` is the number of the edge.
    """
    n = len(operators)
    one = operators @ start
    two = np.einsum("yij,xj->xyi", operators, one)
    three = np.einsum("i,zij,xyj->xyz", end, operators, two)
    pairs = np.zeros((edge + 1, edge + 1))
    pairs[edge, :n], pairs[:n, :n] = one @ end, three.sum(axis=2) + three.sum(axis=0)
    bigrams = sp.csr_array(pairs)
    begins, seconds = bigrams.nonzero()
    triples = np.zeros((bigrams.nnz, edge + 1))
    inside = begins < edge
    triples[inside, :n] = three[begins[inside], seconds[inside]]
    unigrams = np.append(one @ end + pairs[:n, :n].sum(axis=0), 1.0)
    return np.insert(unigrams, n, np.zeros(edge - n)), [bigrams, sp.csr_array(triples)]
