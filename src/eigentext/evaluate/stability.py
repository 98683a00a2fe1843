r"""Stability: do the same parameters find the same topics again?

Two lists of topics have no common order. Let :math:`o_{ij} = |A_i \cap B_j| / \max(|A_i|, |B_j|)`
be the overlap of the top words of two topics. The overlap of the lists is that of their best
matching,

.. math:: \frac{1}{\max(K_A, K_B)} \max_\sigma \sum_i o_{i\sigma(i)}.

A topic without partner counts as 0. :func:`stability` learns again from the same documents with
another random seed, from the documents in another order, and from documents drawn with replacement
(a *resample*; Efron 1979), and measures the overlap with the first answer. The first two are about
the method: nothing that they change means anything. The third is about the data: it asks how far
the topics depend on the very documents that were collected.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from eigentext import notebook
from eigentext.corpus.documents import checked_matrix, is_matrix
from eigentext.errors import CorpusError, ParameterError
from eigentext.parameters import Count, argument

Kind = Literal["seed", "order", "resample"]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, repr=False)
class Stability:
    """The mean overlap of top words between a first fit and fits with a change of each kind."""

    overlaps: dict[str, list[float]]  # for each kind, one number for each fit
    n_words: int

    @property
    def means(self) -> dict[str, float]:
        """The mean overlap of each kind."""
        return {kind: float(np.mean(found)) for kind, found in self.overlaps.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**self.means, "n_words": self.n_words, "overlaps": self.overlaps}

    def __str__(self) -> str:
        told = ", ".join(f"{kind} {mean:.3f}" for kind, mean in self.means.items())
        runs = len(next(iter(self.overlaps.values())))
        fits = "1 more fit" if runs == 1 else f"{runs} more fits"
        return f"stability of {self.n_words} top words: {told} ({fits} of each kind)"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        rows = [(kind, notebook.rounded(mean, 3)) for kind, mean in self.means.items()]
        return notebook.result(str(self), notebook.table(("another", "overlap"), rows))


def topic_overlap(a: Sequence[Sequence[str]], b: Sequence[Sequence[str]]) -> float:
    """Return the overlap of two lists of topics, matched as well as possible, from 0 to 1.

    Parameters
    ----------
    a, b : lists of lists of str
        The top words of each topic. Their order does not matter.

    Examples
    --------
    >>> from eigentext.evaluate import topic_overlap
    >>> topic_overlap([["tea", "cup"], ["ox", "hay"]], [["hay", "ox"], ["tea", "pot"]])
    0.75
    """
    from scipy.optimize import linear_sum_assignment

    first, second = ([_word_set(topic) for topic in side] for side in (a, b))
    if not first or not second:
        raise ParameterError("there are no topics; give a list of words for each topic")
    shared = np.array(
        [[len(x & y) / max(len(x), len(y), 1) for y in second] for x in first], dtype=float
    )
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return float(shared[rows, columns].sum() / max(len(first), len(second)))


def stability(
    model: Any,
    documents: Any,
    kind: Kind | Iterable[Kind] = KINDS,
    *,
    n_fits: int = 1,
    n_words: int = 10,
    random_state: int = 0,
) -> Stability:
    """Learn topics again, and measure how many top words stay.

    Parameters
    ----------
    model : estimator of topics, fitted or not
        Its parameters are used. It is not changed.
    documents : list, TextCorpus, or array or scipy sparse matrix of counts
        The documents to learn from. All are held in memory.
    kind : "seed", "order" or "resample", or several of them
        What changes: the `random_state` of the model, the order of the documents, or the documents,
        which are drawn with replacement.
    n_fits : int
        The number of fits of each kind, beside the first.
    n_words : int
        The number of top words of a topic.
    random_state : int
        The seed of orders and resamples.

    Examples
    --------
    >>> import eigentext as et
    >>> texts = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
    >>> print(et.evaluate.stability(et.TopicModel(2), texts, n_words=3))
    stability of 3 top words: seed 1.000, order 1.000, resample 1.000 (1 more fit of each kind)
    """
    if not (hasattr(model, "top_words") and hasattr(model, "get_params")):
        raise ParameterError(f"model must be a topic model, not {type(model).__name__}")
    kinds = [kind] if isinstance(kind, str) else list(kind)
    if not kinds or set(kinds) - set(KINDS):
        raise ParameterError(f"kind must be some of {', '.join(map(repr, KINDS))}, not {kind!r}")
    n_fits = argument("n_fits", Count(1, least=1), n_fits)
    n_words = argument("n_words", Count(10, least=1), n_words)
    held = _held(documents)
    n = held.shape[0] if hasattr(held, "shape") else len(held)
    if not n:
        raise CorpusError("there are no documents; stability learns from documents again")
    first = _fitted(model, held).top_words(n_words)
    overlaps = {}
    for name in kinds:
        fits = (_changed(model, held, n, name, random_state + i + 1) for i in range(n_fits))
        overlaps[name] = [topic_overlap(first, fit.top_words(n_words)) for fit in fits]
    return Stability(overlaps, n_words)


def _changed(model: Any, held: Any, n: int, kind: str, seed: int) -> Any:
    """The model learned with a change."""
    if kind == "seed":
        base = model.get_params(deep=False).get("random_state")
        return _fitted(model, held, random_state=(base if isinstance(base, int) else 0) + seed)
    rng = np.random.default_rng(seed)
    places = rng.permutation(n) if kind == "order" else rng.integers(0, n, n)
    return _fitted(model, held[places] if hasattr(held, "shape") else [held[i] for i in places])


def _fitted(model: Any, documents: Any, **changed: Any) -> Any:
    given = copy.deepcopy(model.get_params(deep=False))
    return type(model)(**{**given, **changed}).fit(documents)


def _held(documents: Any) -> Any:
    """The documents as a list, or the rows of a sparse matrix."""
    if is_matrix(documents):
        return checked_matrix(documents)
    if isinstance(documents, str) or not isinstance(documents, Iterable):
        raise ParameterError("documents must be a list of texts, a TextCorpus or a matrix")
    return list(documents)


def _word_set(topic: Sequence[str]) -> set[str]:
    if isinstance(topic, str):
        raise ParameterError("a topic is a string; give a list of words for each topic")
    return set(topic)
