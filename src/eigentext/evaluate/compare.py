r"""Is one parser better than another, or is it chance? The paired bootstrap.

Two parsers have parsed the same n sentences. With :math:`d = F_1(b) - F_1(a)` over all of them,
draw n of the sentences with replacement, many times, and compute :math:`d^*` each time, from the
same sentences for both (Koehn 2004). The interval has the middle share of all :math:`d^*`. The
p-value is the share of draws in which :math:`|d^* - d| \ge |d|`: how often a difference as large
as d comes from the choice of sentences alone (Berg-Kirkpatrick et al. 2012).
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eigentext import notebook
from eigentext.corpus.schemes import is_chunk_tags
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate.brackets import BracketResult, brackets
from eigentext.evaluate.chunks import Tagging, chunk_spans, paired_tags

_BLOCK = 1 << 21  # numbers drawn at a time


@dataclass(frozen=True)
class Comparison:
    """Two parsers on the same sentences.

    Attributes
    ----------
    a, b
        The F1 of each, from 0 to 1.
    difference
        That of b minus that of a.
    interval
        Where the difference lies, if other sentences like these had been chosen.
    p
        How often chance alone gives such a difference. 1 if there is none.
    n_sentences
        The number of sentences.
    """

    a: float
    b: float
    difference: float
    interval: tuple[float, float]
    p: float
    n_sentences: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self) | {"interval": list(self.interval)}

    def _repr_html_(self) -> str:
        low, high = self.interval
        facts = [
            ("F1 of a and b", f"{self.a:.2%} and {self.b:.2%}"),
            ("difference", f"{100 * self.difference:+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"),
            ("p", f"{self.p:.3g}"),
            ("sentences", self.n_sentences),
        ]
        return notebook.result("Two parsers", notebook.pairs(facts))

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"F1 {100 * self.a:.2f} and {100 * self.b:.2f}: "
            f"difference {100 * self.difference:+.2f} ({100 * low:+.2f} to {100 * high:+.2f}), "
            f"p = {self.p:.3g}, {self.n_sentences:,} sentences"
        )


def compare(
    gold: Iterable[Any],
    a: Iterable[Any],
    b: Iterable[Any],
    *,
    level: float = 0.95,
    n_samples: int = 10_000,
    random_state: int | None = 0,
) -> Comparison:
    """Compare the trees of two parsers by F1 of brackets, with an interval and a p-value.

    Parameters
    ----------
    gold : list of Tree, nltk.Tree or str
        The right trees.
    a, b : list of Tree, nltk.Tree, str or None
        The trees of both parsers, one for each right tree (:func:`brackets`).
    level
        The share of the draws that the interval has.
    n_samples
        The number of draws.
    random_state
        The seed of the draws.

    Examples
    --------
    >>> from eigentext.evaluate import compare
    >>> gold = ["(S (NP (N dogs)) (VP (V bark)))", "(S (NP (N cats)) (VP (V sleep)))"] * 10
    >>> flat = ["(S (N dogs) (V bark))", "(S (N cats) (V sleep))"] * 10
    >>> found = compare(gold, flat, gold)
    >>> round(found.difference, 2), found.p < 0.01
    (0.5, True)
    """
    gold = list(gold) if not isinstance(gold, str) else gold
    results = brackets(gold, a), brackets(gold, b)
    return compare_results(*results, level=level, n_samples=n_samples, random_state=random_state)


def compare_results(
    a: BracketResult,
    b: BracketResult,
    *,
    level: float = 0.95,
    n_samples: int = 10_000,
    random_state: int | None = 0,
) -> Comparison:
    """Compare the scores of two parsers on the same sentences, as :func:`compare` does."""
    _check(level, n_samples)
    if a.n_sentences != b.n_sentences or a.gold != b.gold:
        raise ParameterError("these are scores of other sentences; score both on the same ones")
    counts = np.stack([_counts(a), _counts(b)])
    if not counts[0, 1].sum():
        raise CorpusError("the right trees have no brackets to compare: give longer sentences")
    return _compared(counts, level, n_samples, random_state)


def compare_taggings(
    gold: Iterable[Tagging],
    a: Iterable[Tagging],
    b: Iterable[Tagging],
    *,
    level: float = 0.95,
    n_samples: int = 10_000,
    random_state: int | None = 0,
) -> Comparison:
    """Compare the tags of two taggers, with an interval and a p-value.

    The measure is F1 of chunks if all right tags are tags of chunks, and else the share of right
    tags. Sentences are lists of tags, or of tokens that end with their tag. The rest is as in
    :func:`compare`.

    Examples
    --------
    >>> from eigentext.evaluate import compare_taggings
    >>> gold, other = [["N", "V"]] * 10, [["N", "N"]] * 10
    >>> found = compare_taggings(gold, other, gold)
    >>> found.difference, found.p < 0.01
    (0.5, True)
    """
    _check(level, n_samples)
    gold, counts = list(gold), []
    for side in (a, b):
        pairs = list(paired_tags(gold, side))
        is_chunks = is_chunk_tags(tag for right, _ in pairs for tag in right)
        counts.append([_of_chunks(*pair) if is_chunks else _of_tags(*pair) for pair in pairs])
    table = np.array(counts, np.int64).reshape(2, -1, 2).transpose(0, 2, 1)
    if not table[0, 1].sum():
        raise CorpusError("the right sentences have no tags to compare: give longer sentences")
    return _compared(table, level, n_samples, random_state)


def _check(level: float, n_samples: int) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level must be between 0 and 1, not {level!r}")
    if isinstance(n_samples, bool) or not isinstance(n_samples, int) or n_samples < 1:
        raise ParameterError(f"n_samples must be a whole number, 1 or more, not {n_samples!r}")


def _of_tags(right: list[str], given: list[str]) -> tuple[int, int]:
    """Right tags, and twice the number of tags."""
    return sum(map(str.__eq__, right, given)), 2 * len(right)


def _of_chunks(right: list[str], given: list[str]) -> tuple[int, int]:
    """Chunks that are in both, and the right and the predicted ones together."""
    gold, found = set(chunk_spans(right)), set(chunk_spans(given))
    return len(gold & found), len(gold) + len(found)


def _compared(
    counts: np.ndarray, level: float, n_samples: int, random_state: int | None
) -> Comparison:
    """The bootstrap, from matches and totals of each sentence."""
    n = counts.shape[2]
    first, second = _f1(counts.sum(axis=2))
    d = float(second - first)
    draws = np.concatenate([*_draws(counts, n_samples, np.random.default_rng(random_state))])
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    as_large = int((np.abs(draws - d) >= abs(d)).sum())
    p = (as_large + 1) / (n_samples + 1)
    return Comparison(float(first), float(second), d, (float(low), float(high)), p, n)


def _counts(result: BracketResult) -> np.ndarray:
    """Matched brackets, and right and predicted ones together, for each sentence."""
    found = [(one.matched, one.gold + one.predicted) for one in result.sentences]
    return np.array(found, np.int64).reshape(-1, 2).T


def _f1(sums: np.ndarray) -> np.ndarray:
    """F1 from sums of counts in the last axis; 0 without brackets."""
    return 2 * sums[..., 0] / np.maximum(sums[..., 1], 1)


def _draws(counts: np.ndarray, n_samples: int, rng: np.random.Generator):
    """The differences of draws, some at a time. Both parsers have the same sentences."""
    n = counts.shape[2]
    size = max(_BLOCK // n, 1)
    for start in range(0, n_samples, size):
        chosen = rng.integers(n, size=(min(size, n_samples - start), n))
        a, b = (_f1(one.T[chosen].sum(axis=1)) for one in counts)
        yield b - a
