r"""Documents that are not like the others: copies, shared words, and directions of their own.

Three kinds of documents make topics that nobody wants, because a topic model explains whatever
repeats:

- *copies*: documents that have nearly all their words in common, such as a text that was posted ten
  times (:mod:`eigentext.moments.near_copies`);
- documents with *shared words*: five or more words that occur nearly always together, such as those
  of a signature, of a template, or the letter groups of encoded files. They are near copies too,
  but of columns: two words are alike if they are in the same documents;
- documents with much *leverage* (:func:`eigentext.topics.tensor.robust_weights`): the direction
  that they make is their own, and nine tenths of their weight had to be taken from them. Encoded
  files and long lists are of this kind.

:func:`set_apart` leaves them out of learning; one of each group of copies stays.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from eigentext import engine, notebook
from eigentext.matrices.runs import CSR
from eigentext.moments import DocumentMoments
from eigentext.moments.bags import BagMoments
from eigentext.moments.near_copies import near_copies
from eigentext.topics._findings import told_of
from eigentext.topics.tensor import Robust, robust_weights
from eigentext.topics.typical import _batches

if TYPE_CHECKING:
    from eigentext.topics.model import TopicModel

Why = Literal["copies", "words", "leverage"]
_ALIKE = 0.8  # the share that copies have in common: documents their words, words their documents
_LEAST_WORDS = 5  # shorter documents are often equal by chance, and so are fewer words
_LEAST_DOCUMENTS = 3  # fewer documents with the same words may be about the same thing
_MOST_DOCUMENTS = 0.05  # words in a larger share of the documents are no signature
_LEFT = 0.1  # a document owns a direction if less of its weight is left
_MOST_OWNERS = 0.05  # if more documents are outliers, as in a log, none is
_SAME = 0.9  # the cosine of two documents that own the same direction
_COMPARED = 2000  # the most owners that are compared with each other
_SHOWN_WORDS = 8
_SHOWN_NAMES = 6
NAMED = 20  # groups that diagnostics describe


@dataclass(frozen=True)
class ApartGroup:
    """Documents that belong together, and why they are not like the others."""

    why: Why
    n_documents: int
    n_tokens: int
    words: list[str]  # the words that set them apart
    names: list[Any]  # the names of the documents; empty in diagnostics, which have no names
    rows: np.ndarray  # the rows of the counts

    def __str__(self) -> str:
        told = told_of(self.to_dict())
        names = ", ".join(map(str, self.names[:_SHOWN_NAMES]))
        more = " …" * (len(self.names) > _SHOWN_NAMES)
        return f"{told}; {self.n_tokens:,} words in all" + (f": {names}{more}" if names else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        facts = {"why": self.why, "n_documents": self.n_documents, "n_tokens": self.n_tokens}
        return facts | {"words": self.words} | ({"documents": self.names} if self.names else {})


class ApartGroups(list[ApartGroup]):
    """The groups of documents that are not like the others. A notebook shows them as a table."""

    def __str__(self) -> str:
        return "\n".join(map(str, self)) or "No documents are copies or outliers."

    def _repr_html_(self) -> str:
        rows = [(one.why, one.n_documents, one.n_tokens, notebook.words(one.words)) for one in self]
        table = notebook.table(("why", "documents", "words in all", "words"), rows)
        return notebook.result("Documents apart", table)


def find_apart(
    counts: CSR,
    times: np.ndarray,
    words: Sequence[str],
    n_topics: int,
    *,
    alpha0: float = 1.0,
    robust: float = 7.0,
    names: Sequence[Any] = (),
    random_state: int = 0,
) -> ApartGroups:
    """Return the groups of documents that are not like the others, the largest first.

    Parameters
    ----------
    counts : csr_array, shape (n, d)
        Documents by words.
    times : array, shape (n,)
        How often each document occurred.
    words, names : list
        The names of the columns and, if they are known, of the rows.
    n_topics, alpha0, robust, random_state
        As in :class:`eigentext.TopicModel`: they decide how much leverage is too much.
    """
    counts, times = sp.csr_array(counts), np.asarray(times)
    filled = np.flatnonzero(np.diff(counts.indptr) > 0)
    X, t = counts[filled], times[filled]
    found: list[tuple[Why, np.ndarray]] = []
    left = np.ones(len(filled), bool)
    for why, rows in _copies(X, t):
        found.append((why, rows))
        left[rows[1:]] = False
    for rows in _with_shared_words(X, t, left):
        found.append(("words", rows))
        left[rows] = False
    for rows in _owners(X, t, left, n_topics, alpha0, robust, random_state):
        found.append(("leverage", rows))
    told = [_group(why, rows, filled, X, t, words, names) for why, rows in found]
    return _in_order(told)


def set_apart(
    moments: DocumentMoments, n_topics: int, *, alpha0: float, robust: float, random_state: int
) -> tuple[DocumentMoments, ApartGroups]:
    """Return the moments without the documents that :func:`find_apart` finds, and the groups.

    One of each group of copies stays, and counts once.
    """
    found = find_apart(
        moments.counts,
        moments.times,
        moments.vocabulary.words,
        n_topics,
        alpha0=alpha0,
        robust=robust,
        random_state=random_state,
    )
    times = moments.times.copy()
    for group in found:
        if group.why == "copies":
            times[group.rows[0]] = min(times[group.rows[0]], 1)
            times[group.rows[1:]] = 0
        else:
            times[group.rows] = 0
    kept = times > 0
    if kept.all() and (times == moments.times).all():
        return moments, found
    return replace(moments, counts=moments.counts[kept], times=times[kept]), found


def apart_documents(model: "TopicModel", documents: Any) -> ApartGroups:
    """Find such documents among these, by the words and the parameters of a fitted model."""
    batches = list(_batches(model, documents))
    if not batches:
        return ApartGroups()
    counts: Any = sp.csr_array(sp.vstack([X for X, _ in batches], format="csr"))
    names = [name for _, named in batches for name, _ in named]
    return find_apart(
        counts,
        np.ones(counts.shape[0], np.int64),
        model.vocabulary_.words,
        model.n_topics_,
        alpha0=model.alpha0_,
        robust=model.parameters_.robust,
        names=names,
        random_state=model.parameters_.random_state or 0,
    )


def described_owners(bags: BagMoments, found: Robust, words: Sequence[str]) -> list[dict[str, Any]]:
    """Describe the documents that own a direction, for diagnostics; the most words first."""
    times = np.ones(len(found.left), np.int64)
    told = [
        _group("leverage", rows, np.arange(len(times)), bags.counts, times, words, [])
        for rows in _own_directions(bags, found)
    ]
    return [group.to_dict() for group in _in_order(told)]


def _in_order(groups: list[ApartGroup]) -> ApartGroups:
    return ApartGroups(sorted(groups, key=lambda one: (-one.n_tokens, one.rows[0])))


def _copies(X: CSR, times: np.ndarray) -> Iterator[tuple[Why, np.ndarray]]:
    """Groups of near copies, and documents that occurred several times."""
    groups = near_copies(X, _ALIKE, least_columns=_LEAST_WORDS)
    for rows in _members(groups):
        yield "copies", rows
    is_long = np.diff(X.indptr) >= _LEAST_WORDS
    for row in np.flatnonzero((groups < 0) & (times > 1) & is_long):
        yield "copies", np.array([row])


def _with_shared_words(X: CSR, times: np.ndarray, left: np.ndarray) -> Iterator[np.ndarray]:
    """Groups of rows with words that occur nearly always together."""
    rows = np.flatnonzero(left)
    has = sp.csr_array((np.ones(X.nnz), X.indices, X.indptr), X.shape)[rows]
    columns = has.T.tocsr()
    groups = near_copies(columns, _ALIKE, least_columns=_LEAST_DOCUMENTS)
    most = max(_MOST_DOCUMENTS * times[rows].sum(), _LEAST_DOCUMENTS)
    free = np.ones(len(rows), bool)
    for words in _members(groups):
        if len(words) < _LEAST_WORDS:
            continue
        n_words = np.asarray(columns[words].sum(axis=0)).ravel()
        together = np.flatnonzero(free & (n_words >= _ALIKE * len(words)))
        if len(together) >= _LEAST_DOCUMENTS and times[rows[together]].sum() <= most:
            free[together] = False
            yield rows[together]


def _owners(
    X: CSR,
    times: np.ndarray,
    left: np.ndarray,
    n_topics: int,
    alpha0: float,
    robust: float,
    random_state: int,
) -> Iterator[np.ndarray]:
    """Groups of rows that own a direction."""
    rows = np.flatnonzero(left)
    if not robust or len(rows) < 2:
        return
    bags = BagMoments(X[rows], times[rows])
    if not (bags.lengths >= 2).any():
        return
    K = min(n_topics, bags.n_words)
    found = robust_weights(bags, K, alpha0=alpha0, most=robust, random_state=random_state)
    for own in _own_directions(bags, found):
        yield rows[own]


def _own_directions(bags: BagMoments, found: Robust) -> Iterator[np.ndarray]:
    """Groups of the rows that lost nearly all their weight, by the directions that they own."""
    own = np.flatnonzero(found.left < _LEFT)
    if not len(own) or len(own) > _MOST_OWNERS * len(found.left):
        return
    own = np.sort(own[np.argsort(found.left[own], kind="stable")[:_COMPARED]])
    Y = bags.projections(own, found.scale[:, None] * found.directions)
    Y /= np.maximum(np.linalg.norm(Y, axis=1, keepdims=True), np.finfo(float).tiny)
    with engine.one_blas_thread():  # for equal bits: see matrices.products
        alike = Y @ Y.T > _SAME
    _, groups = connected_components(sp.csr_array(alike), directed=False)
    for group in range(groups.max() + 1):
        yield own[groups == group]


def _group(
    why: Why,
    rows: np.ndarray,
    filled: np.ndarray,
    X: CSR,
    times: np.ndarray,
    words: Sequence[str],
    names: Sequence[Any],
) -> ApartGroup:
    """Describe a group by the words that are much more frequent in it than elsewhere."""
    part, t = X[rows], times[rows]
    inside = np.asarray(t @ part, float)
    has = sp.csr_array((np.ones(part.nnz), part.indices, part.indptr), part.shape)
    n_with = np.asarray(t @ has)
    everywhere = np.bincount(X.indices, minlength=X.shape[1])  # rows with each word
    outside = (everywhere - np.asarray(has.sum(axis=0)) + 1) / (X.shape[0] + 1)
    score = n_with / t.sum() * np.log(np.maximum(n_with / t.sum(), 1e-300) / outside)
    best = np.argsort(-np.where(n_with > 0, score, -np.inf), kind="stable")[:_SHOWN_WORDS]
    return ApartGroup(
        why,
        int(t.sum()),
        int(inside.sum()),
        [str(words[w]) for w in best if n_with[w] > 0],
        [names[row] for row in filled[rows]] if len(names) else [],
        filled[rows],
    )


def _members(groups: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of each group, in order."""
    order = np.argsort(groups, kind="stable")
    order = order[np.searchsorted(groups[order], 0) :]
    starts = np.flatnonzero(np.diff(groups[order])) + 1
    for rows in np.split(order, starts):
        if len(rows):
            yield rows
