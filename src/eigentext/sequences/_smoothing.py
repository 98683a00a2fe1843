"""Modified Kneser-Ney smoothing: from counts to probabilities. `kneser_ney` has the formulas."""

import numpy as np

from eigentext import engine
from eigentext.corpus.symbols import is_stream
from eigentext.errors import MomentsError
from eigentext.moments import NgramMoments
from eigentext.sequences._trie import Tables, Trie

FIXED = (0.5, 1.0, 1.5)  # the discounts of texts that are too short to estimate them


def trie_of(moments: NgramMoments) -> Trie:
    """Return the trie of all counted windows."""
    return Trie.of(len(moments.vocabulary) + 2, moments.levels)


def suffixes(trie: Trie) -> np.ndarray:
    """Return for each node the one without its first symbol, or -1 for a single symbol."""
    from eigentext.sequences import _kneser_ney_loops as loops

    suffix = np.full(trie.borders[-1], -1, np.int64)
    bigrams = slice(*trie.borders[1:3])
    suffix[bigrams] = trie.words[bigrams]  # the node of a symbol s is s

    def link(block: tuple[int, int]) -> bool:
        return loops.link_suffixes(trie.first, trie.words, suffix, *block)

    for begin, end in zip(trie.borders[1:-2], trie.borders[2:-1]):
        if not all(list(engine.current().map(link, trie.blocks(begin, end)))):
            raise MomentsError(
                "a window is counted, and the same without its first symbol is not: these are "
                "the counts of no text; count it again"
            )
    return suffix


def adjusted_counts(moments: NgramMoments, trie: Trie, suffix: np.ndarray) -> list[np.ndarray]:
    """Return the adjusted counts a(·) of each order. In a stream, the end of a unit has 0."""
    raw = [moments.unigrams, *(level.data for level in moments.levels)]
    borders = trie.borders
    counts = []
    from_edge = moments.edge  # the first node that begins with the edge, which is the last symbol
    for k, occurrences in enumerate(raw):
        if k == len(raw) - 1:
            adjusted = occurrences.astype(np.int64)
        else:
            begin, end = borders[k + 1 : k + 3]
            adjusted = np.bincount(suffix[begin:end] - borders[k], minlength=len(occurrences))
        if 0 < k < len(raw) - 1:
            adjusted[from_edge - borders[k] :] = occurrences[from_edge - borders[k] :]
        if is_stream(moments.options):
            adjusted[trie.words[borders[k] : borders[k + 1]] == moments.edge] = 0
        counts.append(adjusted)
        from_edge = trie.first[from_edge] if k < len(raw) - 1 else -1
    return counts


def discounts_of(counts: np.ndarray) -> tuple[tuple[float, ...], str, np.ndarray]:
    """Return the discounts D(1), D(2) and D(3+), the rule that gave them, and t_1 to t_4."""
    t = np.bincount(np.minimum(counts, 5), minlength=6)[1:5]
    if t[0] and t[1]:
        Y = t[0] / (t[0] + 2 * t[1])
        if t.all():
            D = tuple(float(k - (k + 1) * Y * t[k] / t[k - 1]) for k in (1, 2, 3))
            if all(0 < d < k for k, d in enumerate(D, 1)):
                return D, "modified", t
        return (float(Y),) * 3, "single", t
    return FIXED, "fixed", t


def smoothed(
    trie: Trie, suffix: np.ndarray, counts: list[np.ndarray], discounts: np.ndarray, stream: bool
) -> Tables:
    """Return the interpolated probabilities and the back-off weights, order by order."""
    from eigentext.sequences import _kneser_ney_loops as loops

    D = np.column_stack([np.zeros(len(discounts)), discounts])
    probabilities, backoffs = np.zeros(len(trie.words)), np.empty(len(trie.first) - 1)
    probabilities[: trie.borders[1]] = _unigrams(counts[0], D[0], stream)
    flat = np.concatenate(counts)

    def interpolate(task: tuple[np.ndarray, tuple[int, int]]) -> None:
        loops.interpolate(trie.first, flat, suffix, task[0], probabilities, backoffs, *task[1])

    for k, (begin, end) in enumerate(zip(trie.borders[:-2], trie.borders[1:-1]), start=1):
        tasks = [(D[k], block) for block in trie.blocks(begin, end)]
        list(engine.current().map(interpolate, tasks))
    return Tables(trie, probabilities, backoffs)


def tables_of(moments: NgramMoments, discounts: np.ndarray) -> Tables:
    """Return the probabilities that counts and discounts give."""
    trie = trie_of(moments)
    suffix = suffixes(trie)
    counts = adjusted_counts(moments, trie, suffix)
    return smoothed(trie, suffix, counts, discounts, is_stream(moments.options))


def _unigrams(counts: np.ndarray, D: np.ndarray, stream: bool) -> np.ndarray:
    """p(w): discounted counts, mixed with a uniform distribution over words, rare word and end."""
    events = np.ones(len(counts))
    events[-1] = not stream
    if not counts.any():
        raise MomentsError("no symbol is counted after another: give more text")
    removed = D[np.minimum(counts, 3)]
    return (counts - removed) / counts.sum() + removed.sum() / counts.sum() * events / events.sum()
