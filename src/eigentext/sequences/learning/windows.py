r"""Windows of three symbols, from which a spectral hidden Markov model is learned.

The windows lie inside a sequence, so the edges in n-gram counts are removed here. Pairs are counted
only where a third symbol follows. Then :math:`P_{2,1}` and :math:`P_{3,x,1}` come from the same
windows, which makes the algorithm exact also for sequences whose statistics change over time.
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
    """Counts of three symbols in a row, without edges."""

    n: int  # the number of symbols
    pairs: CSR  # (first, second) of windows of three, (n, n)
    follow: CSR  # (first, second) of all windows of two, (n, n)
    trigrams: CSR  # a row for each bigram, with the symbols after it
    firsts: np.ndarray  # the first symbol of each bigram
    seconds: np.ndarray  # the second symbol of each bigram
    start: np.ndarray  # the first symbols of sequences, (n,)
    sampled: bool  # whether these are counts of a text and not probabilities

    @property
    def frequencies(self) -> np.ndarray:
        """How often each symbol occurs."""
        return np.asarray(self.follow.sum(axis=0)) + self.start

    @classmethod
    def of(cls, moments: NgramMoments) -> "Windows":
        """Remove the edges from n-gram counts of order 3."""
        if moments.order < 3:
            raise CorpusError("a hidden Markov model needs windows of three; count with order=3")
        bigrams, trigrams = moments.levels[:2]
        n = moments.edge if moments.unigrams[moments.rare] else moments.rare
        ends = bigrams.indptr.astype(np.int64)
        firsts = np.repeat(np.arange(len(ends) - 1, dtype=np.int32), np.diff(ends))
        start = np.zeros(n)
        row = slice(ends[moments.edge], ends[moments.edge + 1])
        start[bigrams.indices[row]] = bigrams.data[row]
        # The row of the edge is the last one. The rows before it begin inside a sequence.
        inside = int(ends[moments.edge])
        seconds = bigrams.indices[:inside]
        # The sums of rows without the edge, which is the last symbol in a row.
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
        if is_stream(moments.options):  # it starts anywhere
            start = np.asarray(pairs.sum(axis=1))
        sampled = bool(np.issubdtype(bigrams.dtype, np.integer))
        return cls(n, pairs, follow, trigrams, firsts[:inside], seconds, start, sampled)


def population(
    start: np.ndarray, operators: np.ndarray, end: np.ndarray, edge: int
) -> tuple[np.ndarray, list[CSR]]:
    """Return unigrams and levels of n-gram moments: exact probabilities of the first three symbols.

    The n symbols are those of the operators. `edge` is the id of the edge.
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
