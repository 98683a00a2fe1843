r"""What plain text says about the tags of words that are rare or unseen in a treebank.

Word vectors and clusters of plain text know many more words than a treebank. Words with similar
vectors, or in the same cluster, have similar tags. So the tag t of a word x is predicted from its
spelling, its vector u(x) and the clusters that it is in, by multinomial regression:

.. math:: p(t \mid x) \propto \exp\Big(\sum_{f \in x} w(f, t) + u(x)^\top W_t\Big).

The features f are endings and shapes of the spelling, and prefixes of the bit string of the
cluster. The weights are learned once, from the words of the treebank with their tags. A word counts
at most five times, because rare words are what unseen words are like. The weights maximize the
likelihood less :math:`\frac{\lambda}{2} (|w|^2 + |W|^2)`, which has one maximum.

The hidden state of a word, given its tag, is that of its cluster mates in the treebank
(``lexicon.py``).

[Koo et al. 2008] use bit strings of clusters as features of a parser, and [Candito and Crabbé 2009]
replace words by their clusters, in and outside the domain of the treebank.

[Koo et al. 2008] T. Koo, X. Carreras and M. Collins, Simple semi-supervised dependency parsing, ACL
2008.

[Candito and Crabbé 2009] M. Candito and B. Crabbé, Improving generative statistical parsing with
semi-supervised word clustering, IWPT 2009.
"""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.evaluate.vectors import fold, words_and_bit_strings, words_and_vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_SOURCES = ("vectors", "clusters")
_PREFIXES = (4, 6, 8, 10)  # of the bit string of a cluster
_ENDINGS = 4  # the longest ending
_LENGTH = 5.5  # of vectors; a feature of the spelling has 1
_PENALTY = 10.0  # lambda
_MOST = 5  # how often a word counts
_MOST_AS_MATE = 20  # how often it counts for other words of its cluster
_STEPS = 60  # of L-BFGS; more change no parse
FEW_KNOWN = 0.5  # a smaller share of known tokens is a warning
_LARGEST = 1e4  # of an exponent, in half precision
_CACHED = 20_000  # words whose tags are kept
_MISSING = "no text"  # the feature of words that plain text does not have


@dataclass(frozen=True)
class KeptText:
    """Stands for vectors or clusters in the parameters of a model from a file."""

    words: str  # of which kind they were


def named_sources(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters for a model file, which only names the kinds of vectors and clusters."""
    given = {name: parameters[name] for name in _SOURCES if parameters[name] is not None}
    kinds = {
        name: one.words if isinstance(one, KeptText) else type(one).__name__
        for name, one in given.items()
    }
    return {**parameters, **kinds}


def kept_sources(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a model file, where vectors and clusters are :class:`KeptText`."""
    given = [name for name in _SOURCES if parameters.get(name) is not None]
    return {**parameters, **{name: KeptText(str(parameters[name])) for name in given}}


@dataclass
class PlainText:
    """The words of plain text: their vectors, and the bit strings of their clusters.

    Attributes
    ----------
    words
        The words of both.
    vectors : array, one row for each word
        They have one length, or are zero for words without a vector.
    bit_strings
        That of each word; "" for a word without a cluster.
    """

    words: list[str]
    vectors: np.ndarray
    bit_strings: list[str]

    @classmethod
    def of(cls, vectors: Any = None, clusters: Any = None) -> "PlainText | None":
        """Take the words of vectors and clusters together; None if neither is given."""
        if vectors is None and clusters is None:
            return None
        for name, given in (("vectors", vectors), ("clusters", clusters)):
            if isinstance(given, KeptText):
                raise ParameterError(
                    f"the file of this model holds what was learned from {name}, and not the "
                    f"{name} themselves; give them again: set_params({name}=...)"
                )
        names, matrix = ([], np.zeros((0, 0))) if vectors is None else words_and_vectors(vectors)
        paths = {} if clusters is None else dict(zip(*words_and_bit_strings(clusters)))
        numbers = {word: row for row, word in enumerate(names)}
        words = [*numbers, *(word for word in paths if word not in numbers)]
        rows = np.zeros((len(words), matrix.shape[1]), np.float32)
        with np.errstate(over="ignore"):
            rows[: len(numbers)] = matrix[list(numbers.values())]
        if not np.isfinite(rows).all():
            raise ParameterError("vectors must be finite numbers; learn them again")
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
        rows *= (_LENGTH / np.where(lengths > 0, lengths, 1.0)).astype(np.float32)[:, None]
        return cls(words, rows, [paths.get(word, "") for word in words])


@dataclass
class TextTags:
    """p(t | x), learned.

    Attributes
    ----------
    features
        The names of the features of the spelling.
    weights : array, features by tags
        Their w(f, t).
    words
        The words of plain text.
    scores : array, words by tags
        What the vector and the clusters of each word add to the exponent. In half precision: a
        larger model file would make no parse better.
    groups
        The cluster of each of these words; -1 for none, or for one without a word of the treebank.
    mate_tags : array, clusters by tags
        How often the words of the treebank in each cluster have each tag (``text_states.py``). The
        last row, for words without a cluster, is zero.
    coverage
        The share of the tokens of the treebank that plain text knows, by vectors and by clusters.
    """

    features: list[str]
    weights: np.ndarray
    words: list[str]
    scores: np.ndarray
    groups: np.ndarray
    mate_tags: np.ndarray
    coverage: dict[str, float] = field(default_factory=dict)

    def __post_init__(self):
        self._features = {name: f for f, name in enumerate(self.features)}
        self._places = {word: x for x, word in enumerate(self.words)}
        self._kept: dict[tuple[str, bool], np.ndarray] = {}

    def __getstate__(self) -> dict[str, Any]:
        # What is kept for speed is computed again where it is needed.
        return vars(self) | {"_kept": {}}

    def tags(self, word: str, first: bool) -> np.ndarray:
        """p(t | x) of a word, which may be the `first` of its sentence."""
        found = self._kept.get((word, first))
        if found is None:
            place = fold(word, self._places)
            names = spelling(word, first, place is not None)
            rows = [self._features[name] for name in names if name in self._features]
            exponent = self.weights[rows].sum(axis=0, dtype=np.float64)
            if place is not None:
                exponent += self.scores[place]
            found = np.exp(exponent - exponent.max())
            found /= found.sum()
            if len(self._kept) >= _CACHED:
                self._kept.clear()
            self._kept[word, first] = found
        return found

    def group(self, word: str) -> int:
        """The cluster of a word, -1 for none."""
        place = fold(word, self._places)
        return -1 if place is None else int(self.groups[place])


def spelling(word: str, first: bool, is_known: bool) -> Iterator[str]:
    """The features of the spelling of a word."""
    from eigentext.grammars.treebank.lexicon import word_class

    yield "1"
    yield f"class {word_class(word, first)}"
    yield f"signs {''.join(sorted({_sign(c) for c in word}))}"
    yield f"capital {word[:1].isupper()} {first}"
    lower = word.lower()
    for length in range(1, min(_ENDINGS, len(lower) - 2) + 1):
        yield f"ending {lower[-length:]}"
    if not is_known:
        yield _MISSING


def _sign(c: str) -> str:
    return "X" if c.isupper() else "x" if c.isalpha() else "9" if c.isdigit() else c


def learn_text_tags(
    text: PlainText,
    tokens: Sequence[str],
    is_first: np.ndarray,
    tags: np.ndarray,
    n_tags: int,
    gamma: float = 0.0,
) -> TextTags:
    """Learn the tags of words from the tokens of a treebank and their tags.

    A word has `gamma` more tokens of the same tags (``lexicon.py``).
    """
    coverage = _coverage(text, tokens)
    kinds = Counter(zip(tokens, is_first.tolist(), tags.tolist()))
    times = Counter(tokens)
    items = list(dict.fromkeys((word, first) for word, first, _ in kinds))
    rows = {item: row for row, item in enumerate(items)}
    wanted = np.zeros((len(items), n_tags))
    for (word, first, tag), n in kinds.items():
        wanted[rows[word, first], tag] += n * min(1.0, _MOST / times[word])
    places = {word: x for x, word in enumerate(text.words)}
    at = [fold(word, places) for word, _ in items]
    spelled = [[*spelling(*item, x is not None)] for item, x in zip(items, at)]
    features, shapes = _coded(spelled)
    _, clusters = _coded([_prefixes(bits) for bits in text.bit_strings])
    known = np.array([-1 if x is None else x for x in at])
    with engine.phase("plain text"), engine.one_blas_thread():
        seen = _rows(text.vectors, known).astype(np.float64)
        w, in_clusters, in_vectors = _regression(shapes, _rows(clusters, known), seen, wanted)
        scores = np.clip(
            clusters @ in_clusters + text.vectors @ in_vectors.astype(np.float32),
            -_LARGEST,
            _LARGEST,
        )
    used = sorted({text.bit_strings[x] for x in known[known >= 0]} - {""})
    numbers = {bits: g for g, bits in enumerate(used)}
    groups = np.array([numbers.get(bits, -1) for bits in text.bit_strings], np.int32)
    mate_tags = np.zeros((len(used) + 1, n_tags))
    for (word, first, tag), n in kinds.items():
        x = at[rows[word, first]]
        if x is not None and groups[x] >= 0:
            weight = mate_weight(times[word]) * (1 + gamma / times[word])
            mate_tags[groups[x], tag] += n * weight
    return TextTags(
        list(features),
        w.astype(np.float32),
        text.words,
        scores.astype(np.float16),
        groups,
        mate_tags,
        coverage,
    )


def mate_weight(counts: Any) -> Any:
    """The weight of each token of words of the treebank, as mates of other words."""
    return np.minimum(1.0, _MOST_AS_MATE / counts)


def _prefixes(bits: str) -> list[str]:
    return [*dict.fromkeys((*(bits[:n] for n in _PREFIXES), bits))] if bits else []


def _coded(rows: list[list[str]]) -> tuple[dict[str, int], "csr_array"]:
    """Number the features of all rows: the numbers, and a matrix of ones."""
    from scipy.sparse import csr_array

    numbers: dict[str, int] = {}
    columns = [numbers.setdefault(name, len(numbers)) for row in rows for name in row]
    ends = np.cumsum([0, *map(len, rows)])
    ones = np.ones(len(columns), np.float32)
    return numbers, csr_array((ones, np.array(columns, np.int64), ends), (len(rows), len(numbers)))


def _rows(matrix: Any, places: np.ndarray) -> Any:
    """Rows of a matrix, and zeros where the place is -1."""
    from scipy.sparse import csr_array

    known = np.flatnonzero(places >= 0)
    if isinstance(matrix, np.ndarray):
        found = np.zeros((len(places), matrix.shape[1]), matrix.dtype)
        found[known] = matrix[places[known]]
        return found
    ones = np.ones(len(known), np.float32)
    chosen = csr_array((ones, (known, places[known])), (len(places), matrix.shape[0]))
    return (chosen @ matrix).tocsr()


def _regression(shapes: Any, clusters: Any, vectors: np.ndarray, wanted: np.ndarray) -> list[Any]:
    """The weights of spelling, clusters and vectors that maximize what the module says."""
    from scipy.optimize import minimize
    from scipy.sparse import hstack

    n_tags = wanted.shape[1]
    sparse: Any = hstack((shapes, clusters)).tocsr()
    across = sparse.T.tocsr()
    borders = np.cumsum([shapes.shape[1], clusters.shape[1]])

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(-1, n_tags)
        return penalized_loss(sparse, across, vectors, wanted, weights)

    start = np.zeros((sparse.shape[1] + vectors.shape[1]) * n_tags)
    found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return np.split(found.x.reshape(-1, n_tags), borders)


def penalized_loss(
    sparse: Any, across: Any, vectors: np.ndarray, wanted: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """Minus the log-likelihood, plus the penalty, and its gradient. `across` is ``sparse.T``."""
    n = sparse.shape[1]
    exponents = sparse @ weights[:n] + vectors @ weights[n:]
    exponents -= exponents.max(axis=1, keepdims=True)
    p = np.exp(exponents)
    sums = p.sum(axis=1, keepdims=True)
    p /= sums
    loss = _PENALTY / 2 * (weights**2).sum() - (wanted * (exponents - np.log(sums))).sum()
    p *= wanted.sum(axis=1, keepdims=True)
    p -= wanted
    gradient = np.concatenate((across @ p, vectors.T @ p)) + _PENALTY * weights
    return float(loss), gradient.ravel()


def _coverage(text: PlainText, tokens: Sequence[str]) -> dict[str, float]:
    """The share of the tokens that are known. Warn if they are few."""
    times = Counter(tokens)
    has = {
        "vectors": text.vectors.any(axis=1) if text.vectors.shape[1] else None,
        "clusters": np.array([bits != "" for bits in text.bit_strings], bool),
    }
    found = {}
    for name, known in has.items():
        if known is None or not known.any():
            continue
        places = {word: word for word, is_known in zip(text.words, known.tolist()) if is_known}
        share = sum(n for word, n in times.items() if fold(word, places)) / len(tokens)
        if share < FEW_KNOWN:
            warnings.warn(
                f"only {share:.1%} of the tokens of the trees are among the words of {name}: they "
                "may be of another language, or be written with other capitals; learn them from "
                "plain text that is like the trees",
                stacklevel=8,
            )
        found[name] = share
    return found
