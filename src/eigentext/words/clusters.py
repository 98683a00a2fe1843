r"""Word clusters: classes of words from their vectors, with bit strings as Brown clusters have.

Under a Brown model the CCA vectors of the words of one class are one direction (seed 002, theorem
4.1), so that clustering them recovers the classes. Stratos, Kim, Collins and Hsu (2014) do it like
this:

1. the r most frequent words start one cluster each;
2. each further word, by falling frequency, becomes cluster r + 1, and the closest two merge:
   :math:`d(a, b) = \frac{|a| |b|}{|a| + |b|} \| \mu_a - \mu_b \|^2`, by which the merge increases
   the squared distances of words to the means :math:`\mu` of their clusters (Ward 1963);
3. when all words are in, the clusters merge to m and on to one: a binary tree with m leaves. The
   bit string of a word leads from the root to its leaf.

In the paper r = m. But a merge is for ever, and while the frequent words fill the places, the first
words of a class yet to come are cheap to merge with anything. With r = 2 m the 9,602 words of text8
with 100 tokens or more keep 46.4 instead of 45.6 % of their variance in 1,000 clusters (with all
words at once, r = n, 46.7 %), and 19.0 instead of 17.5 % in 100.

|a| is the number of words in a, as in the paper, and not of their tokens: the vector of a frequent
word is one observation of its class like any other. Weighed by tokens, two frequent words would
cost thousands of times what two rare ones do, however alike they are.

That is O(n r) distances instead of the O(n^2) of all words at once, or the O(n m^2) of Brown,
Della Pietra, deSouza, Lai and Mercer (1992), and no pass over the text. See `_cluster_kernels`.
"""

import os
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.readers import expand_paths, named_errors, open_bytes
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.storage import Saved
from eigentext.storage.files import replacing

Method = Literal["agglomerative", "kmeans"]
_BLOCK = 256  # words in one matrix product; more of them cost more among themselves
_ROWS = 64  # of them for one thread
_FEWEST_RUNNING = 100
_MOST_RUNNING = 20_000  # with 3.2 GB of distances
_LARGEST = 1e100  # beyond, products of sums may overflow


class WordClusters(Saved, ClusterMixin, BaseEstimator):
    """Hard clusters of words in a binary tree, from their vectors.

    Parameters
    ----------
    n_clusters : int
        The number m of clusters, the leaves of the tree.
    method : "agglomerative" or "kmeans"
        Merges in the order of frequency (see the module), or the same, improved by k-means before
        the tree is built: words move to the cluster with the nearest mean while it pays.
    n_running : int, optional
        The number r of clusters that run along while words come in: m in the paper, by default
        2 m and at least 100. More may be better and take longer.

    Attributes
    ----------
    labels_ : int32 array, shape (n_words,)
        The cluster of each word; clusters are numbered by their most frequent words. A word with a
        zero vector, for which nothing speaks (it was always alone), is in none: -1.
    bit_strings_ : list of str
        The bit string of each word; empty for a word in no cluster.
    vocabulary_ : Vocabulary
    tree_ : float64 array, shape (n_clusters - 1, 4), or None
        The merges above the clusters, as SciPy's `linkage` gives them (`dendrogram` draws them):
        two nodes, the increase of inertia, and the number of clusters below. None if the clusters
        were read from a file.
    diagnostics_ : dict
        The sizes of the clusters, the inertia (squared distances of words to the means of their
        clusters) and the part of the variance that the clusters explain. Without k-means, also the
        costliest merge in a cluster and the cheapest above: a gap says that m classes are there.

    Examples
    --------
    >>> from eigentext import Eigenwords, WordClusters
    >>> text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5
    >>> clusters = WordClusters(2).fit(Eigenwords(n_components=2, window=1).fit(text))
    >>> clusters["cat"] == clusters["dog"], clusters["cat"] == clusters["sat"]
    (True, False)
    >>> clusters.words(clusters["cat"])
    ['cat', 'dog']
    """

    _format = "eigentext.clusters.v1"

    def __init__(
        self,
        n_clusters: int = 100,
        *,
        method: Method = "agglomerative",
        n_running: int | None = None,
    ):
        self.n_clusters = n_clusters
        self.method: Method = method
        self.n_running = n_running

    # Learning.

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        words: Sequence[str] | None = None,
        counts: Iterable[int] | None = None,
    ) -> Self:
        """Cluster the words of a model (:class:`Eigenwords`) or the rows of a matrix.

        With a matrix, `words` names the rows (by their numbers, if not given) and `counts` orders
        them (else they are taken as they come).
        """
        vectors, vocabulary = self._vectors_and_words(X, words, counts)
        # BLAS and OpenMP may add in another order with more threads.
        with engine.one_blas_thread(openmp=True):
            order = np.argsort(-vocabulary.counts, kind="stable")
            order = order[np.any(vectors, axis=1)[order]]
            m, r = self._check_parameters(len(order))
            rows = vectors[order]
            with engine.phase("cluster", len(rows), "words") as advance:
                labels, running, found = _merge_by_frequency(rows, m, r, advance)
            if self.method == "kmeans":
                labels, running, found = _improve(rows, labels, m)
            self.tree_ = _merge_to_root(running, m)
            inertia, total = _inertia(rows, labels)
        self.vocabulary_ = vocabulary
        self.labels_ = np.full(len(vectors), -1, np.int32)
        self.labels_[order] = labels
        self._set_paths(_bit_strings(self.tree_))
        if m > 1 and self.method == "agglomerative":
            found["next_merge"] = float(self.tree_[0, 2])
        self.diagnostics_ = {
            "n_words": len(vectors),
            "words_without_context": len(vectors) - len(rows),
            "sizes": np.bincount(labels, minlength=m).tolist(),
            "inertia": inertia,
            "explained": 1 - inertia / total if total else 1.0,
            **found,
        }
        return self

    # Using.

    def __getitem__(self, word: str) -> str:
        check_is_fitted(self)
        return self.bit_strings_[self.vocabulary_[word]]

    def __contains__(self, word: object) -> bool:
        return word in self.vocabulary_

    def prefixes(self, word: str, lengths: Sequence[int] = (4, 6, 10, 20)) -> list[str]:
        """The word's bit string cut to each length: classes from coarse to fine, for taggers.

        A shorter bit string stays whole; a word in no cluster has none.
        """
        path = self[word]
        return [path[:length] for length in lengths] if path else []

    def words(self, prefix: str = "") -> list[str]:
        """The words of the clusters below a node of the tree, by falling frequency."""
        return [self.vocabulary_.words[place] for place in self._places(prefix)]

    def most_frequent(self, cluster: int | str, topn: int = 10) -> list[tuple[str, int]]:
        """The most frequent words of a cluster, given by number or bit string, with their counts.

        Of a string that is shared by several clusters, the words of all of them.
        """
        places = self._places(cluster)[: max(topn, 0)]
        counts = self.vocabulary_.counts
        return [(self.vocabulary_.words[place], int(counts[place])) for place in places]

    def to_tsv(self, path: str | os.PathLike[str]) -> None:
        """Write the `paths` file that wcluster writes: bit string, word and count on each line.

        Lines are sorted by bit string, then by falling count. Words in no cluster are left out.
        """
        places = self._places("")
        places.sort(key=self.bit_strings_.__getitem__)  # stable, so still by falling count
        for place in places:
            word = self.vocabulary_.words[place]
            if not word or any(character.isspace() for character in word):
                raise EigentextError(
                    f"the word {word!r} has a blank in it, which paths files cannot hold; "
                    "save the model instead, or choose a tokenizer that makes no such words"
                )
        with (
            replacing(Path(path)) as temporary,
            temporary.open("w", encoding="utf-8", newline="\n") as file,
        ):
            file.writelines(
                f"{self.bit_strings_[place]}\t{self.vocabulary_.words[place]}\t"
                f"{self.vocabulary_.counts[place]}\n"
                for place in places
            )

    @classmethod
    def read_paths(cls, path: str | os.PathLike[str]) -> Self:
        """Clusters from a `paths` file of :meth:`to_tsv` or wcluster, with lines in any order."""
        (source,) = expand_paths([path])
        found: dict[str, tuple[str, int]] = {}
        with named_errors(source), open_bytes(source) as file:
            for number, line in enumerate(file.read().split(b"\n"), 1):
                if not line.strip():
                    continue
                bits, word, count = _parse(line, f"{path}, line {number}")
                if word in found:
                    raise CorpusError(f"{path}, line {number}: {word!r} is there a second time")
                found[word] = bits, count
        if not found:
            raise CorpusError(f"{path}: no words; give a file of bit string, word and count")
        vocabulary = Vocabulary.from_counts(
            list(found), [count for _, count in found.values()], min_count=0
        )
        labels: dict[str, int] = defaultdict(lambda: len(labels))
        numbers = np.array([labels[found[word][0]] for word in vocabulary], np.int32)
        self = cls(len(labels))
        self.vocabulary_, self.labels_, self.tree_ = vocabulary, numbers, None
        self._set_paths(list(labels))
        self.diagnostics_ = {
            "n_words": len(vocabulary),
            "sizes": np.bincount(numbers).tolist(),
        }
        return self

    # The algorithm's steps.

    def _vectors_and_words(self, X: Any, words: Any, counts: Any) -> tuple[np.ndarray, Vocabulary]:
        if hasattr(X, "get_params"):
            check_is_fitted(X, ["vectors_", "vocabulary_"])
            if words is not None or counts is not None:
                raise ParameterError("a model brings its own words and counts; give it alone")
            words, counts, X = X.vocabulary_.words, X.vocabulary_.counts, X.vectors_
        vectors: Any = validate_data(self, X, dtype=[np.float64, np.float32])
        if float(max(vectors.max(), -vectors.min())) > _LARGEST:
            raise ParameterError(f"a number beyond {_LARGEST:g}, whose square is none; scale them")
        words = [str(row) for row in range(len(vectors))] if words is None else list(words)
        counts = np.ones(len(words), np.int64) if counts is None else np.asarray([*counts])
        for name, given in (("words", words), ("counts", counts)):
            if len(given) != len(vectors):
                raise ParameterError(
                    f"{len(given)} {name} for {len(vectors)} vectors; give one for each row"
                )
        if len(set(words)) < len(words):
            raise ParameterError("a word is there twice; give each row a name of its own")
        return vectors, Vocabulary(words, counts)

    def _check_parameters(self, n_words: int) -> tuple[int, int]:
        m, r = self.n_clusters, self.n_running
        for name, number in (("n_clusters", m), ("n_running", m if r is None else r)):
            if isinstance(number, bool) or not isinstance(number, Integral) or number < 1:
                raise ParameterError(f"{name} must be a whole number of at least 1, not {number!r}")
        if self.method not in ("agglomerative", "kmeans"):
            raise ParameterError(f"method must be 'agglomerative' or 'kmeans', not {self.method!r}")
        if m > n_words:
            raise ParameterError(
                f"n_clusters (--clusters) is {m}, but there are {n_words} words with vectors "
                f"(n_samples={n_words}); use {n_words} or less, or vectors of more words"
            )
        if r is None:
            r = max(m, min(2 * m, _MOST_RUNNING), _FEWEST_RUNNING)
        if r < m:
            raise ParameterError(f"n_running is {r}; give n_clusters, {m}, or more")
        r = min(r, n_words)
        if r > _MOST_RUNNING:
            raise ParameterError(
                f"the distances between {r} running clusters would take {8e-9 * r * r:.0f} GB; "
                f"use at most {_MOST_RUNNING} for n_clusters (--clusters) and n_running"
            )
        return int(m), int(r)

    def _set_paths(self, cluster_paths: list[str]) -> None:
        self._cluster_paths = cluster_paths
        self.bit_strings_ = [cluster_paths[k] if k >= 0 else "" for k in self.labels_.tolist()]

    def _places(self, cluster: int | str) -> list[int]:
        """The words of a cluster or of all clusters below a bit string, by falling frequency."""
        check_is_fitted(self)
        if isinstance(cluster, str):
            below = [path.startswith(cluster) for path in self._cluster_paths]
        else:
            below = [number == cluster for number in range(len(self._cluster_paths))]
        if not any(below):
            raise ParameterError(
                f"no cluster {cluster!r}: clusters are numbered from 0 to {len(below) - 1}, "
                "or given by the bits that their paths begin with"
            )
        places = np.flatnonzero(np.array([*below, False])[self.labels_])  # -1 is the last
        counts = self.vocabulary_.counts[places]
        return places[np.argsort(-counts, kind="stable")].tolist()

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "labels": self.labels_,
            "paths": self._cluster_paths,
            "words": self.vocabulary_.words,
            "word_counts": self.vocabulary_.counts,
        }
        if self.tree_ is not None:
            arrays["tree"] = self.tree_
        return arrays, {"parameters": self.get_params(), "diagnostics": self.diagnostics_}

    @classmethod
    def _from_saved(cls, arrays, about):
        self = cls(**about["parameters"])
        self.labels_ = np.asarray(arrays["labels"])
        self.tree_ = np.asarray(arrays["tree"]) if "tree" in arrays else None
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        if len(self.labels_) != len(self.vocabulary_):
            raise ValueError(f"{len(self.labels_)} labels")
        self.diagnostics_ = about["diagnostics"]
        self._set_paths(arrays["paths"])
        return self


def _merge_by_frequency(
    rows: np.ndarray, m: int, r: int, advance: Any
) -> tuple[np.ndarray, Any, dict[str, Any]]:
    """Steps 1 to 3, down to m: the cluster of each row, the clusters, and what to tell of them."""
    from eigentext.words._cluster_kernels import add_words, merge_all

    n = len(rows)
    # Distances do not depend on the origin. In a word's place it keeps what all vectors share
    # out of their products, where it would cost digits, and leaves whole numbers whole.
    origin = rows[0].astype(np.float64)
    running = _running(rows[:r] - origin, np.ones(r))
    advance(r)
    merges, heights = np.empty((n - m, 2), np.int64), np.empty(n - m)
    free, looks = r, 0
    for start in range(r, n, _BLOCK):
        X = rows[start : start + _BLOCK] - origin
        dots, own = _products(X, running.sums), _products(X, X)
        done = slice(start - r, start - r + len(X))
        free, again = add_words(running, X, dots, own, start, free, merges[done], heights[done])
        looks += again
        advance(len(X))
    looks += merge_all(running, merges[n - r :], heights[n - r :])
    names = np.arange(n)  # a cluster goes by its first word
    for into, merged in merges.tolist():
        names[merged] = into
    for row in range(n):
        names[row] = names[names[row]]
    kept, labels = np.unique(names, return_inverse=True)
    alive = running.first >= 0
    running.first[alive] = np.searchsorted(kept, running.first[alive])
    return labels, running, {"largest_merge": float(heights.max(initial=0)), "looks": looks}


def _improve(
    rows: np.ndarray, labels: np.ndarray, m: int
) -> tuple[np.ndarray, Any, dict[str, Any]]:
    """The same after k-means (Lloyd's, as scikit-learn has it) from the clusters' means.

    Nothing is drawn, and it ends better than from k-means++: in 1,000 clusters, with 47.0 instead
    of 45.3 % of the variance of text8 (see the module).
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    sums, sizes = _sums(rows, labels)
    means = (sums / sizes[:, None]).astype(rows.dtype)
    with engine.phase("k-means"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said better below
        options: dict[str, Any] = {"init": means, "n_init": 1}  # whose types are told wrongly
        kmeans: Any = KMeans(m, **options).fit(rows)
    names, first, labels = np.unique(kmeans.labels_, return_index=True, return_inverse=True)
    if len(names) < m:
        raise ParameterError(
            f"n_clusters (--clusters) is {m}, but k-means finds no more than {len(names)} "
            f"different vectors; use {len(names)} or less, or method='agglomerative'"
        )
    labels = np.argsort(np.argsort(first))[labels]  # by the most frequent words
    sums, sizes = _sums(rows, labels)
    sums -= np.outer(sizes, rows[0])  # the origin is in a word's place here too
    return labels, _running(sums, sizes), {"iterations": int(kmeans.n_iter_)}


def _running(sums: np.ndarray, sizes: np.ndarray) -> Any:
    """A running set of these clusters, which know their nearest, and one free slot."""
    from eigentext.words._cluster_kernels import Running, look_around

    m, d = sums.shape
    running = Running(
        sums=np.zeros((m + 1, d)),
        products=np.zeros((m + 1, m + 1)),
        squares=np.zeros(m + 1),
        sizes=np.ones(m + 1),
        first=np.append(np.arange(m), -1),
        least=np.full(m + 1, np.inf),
        nearest=np.full(m + 1, -1),
    )
    running.sums[:m], running.sizes[:m] = sums, sizes
    running.products[:m, :m] = _products(sums, sums)
    running.squares[:] = running.products.diagonal()
    look_around(running)
    return running


def _products(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """``X @ Y.T``, rows of X in parallel, with the same bits on any number of threads."""
    blocks = [X[start : start + _ROWS] for start in range(0, len(X), _ROWS)]
    return np.vstack(list(engine.current().map(lambda block: block @ Y.T, blocks)))


def _merge_to_root(running: Any, m: int) -> np.ndarray:
    """Step 3: the tree of the running clusters, which are named 0 to m - 1."""
    from eigentext.words._cluster_kernels import merge_all

    merges, heights = np.empty((m - 1, 2), np.int64), np.empty(m - 1)
    merge_all(running, merges, heights)
    tree = np.empty((m - 1, 4))
    node, below = np.arange(m), np.ones(m)
    for step, (left, right) in enumerate(merges):
        below[left] += below[right]
        tree[step] = node[left], node[right], heights[step], below[left]
        node[left] = m + step
    return tree


def _bit_strings(tree: np.ndarray) -> list[str]:
    """The paths from the root to the leaves: 0 to the left, where the more frequent word is."""
    m = len(tree) + 1
    paths = [""] * (2 * m - 1)
    for step in reversed(range(m - 1)):
        for bit, child in zip("01", tree[step, :2].astype(int)):
            paths[child] = paths[m + step] + bit
    return paths[:m]


def _sums(rows: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum of each cluster's rows, and their number; no cluster is empty."""
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    by_cluster = rows[np.argsort(labels, kind="stable")]
    return np.add.reduceat(by_cluster, starts, axis=0, dtype=np.float64), sizes


def _inertia(rows: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """The squared distances of rows to the means of their clusters, and to the mean of all."""
    sums, sizes = _sums(rows, labels)
    means, mean = sums / sizes[:, None], sums.sum(axis=0) / len(rows)
    inertia = total = 0.0
    for start in range(0, len(rows), 4096):
        block = slice(start, start + 4096)
        inertia += float(np.square(rows[block] - means[labels[block]]).sum())
        total += float(np.square(rows[block] - mean).sum())
    return inertia, total


def _parse(line: bytes, place: str) -> tuple[str, str, int]:
    try:
        fields = line.decode().removesuffix("\r").split("\t")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{place}: not UTF-8 ({error.reason}); convert the file first") from error
    if len(fields) != 3 or fields[0].strip("01") or not fields[1] or not fields[2].isdecimal():
        raise CorpusError(
            f"{place}: not a bit string, a word and a count, parted by tabs; "
            "give a file that `words cluster` or wcluster wrote"
        )
    return fields[0], fields[1], int(fields[2])
