r"""Word clusters: classes of words from their vectors, with bit strings like Brown clusters.

Under a Brown model the CCA vectors of the words of one class are one direction (Stratos, Collins
and Hsu 2015, theorem 4.1), so that clustering them recovers the classes. Stratos, Kim, Collins and
Hsu (2014) do this:

1. the r most frequent words start one cluster each;
2. each further word, by falling frequency, becomes cluster r + 1, and the closest two merge:
   :math:`d(a, b) = \frac{|a| |b|}{|a| + |b|} \| \mu_a - \mu_b \|^2`, by which the merge increases
   the squared distances of words to the means :math:`\mu` of their clusters (Ward 1963);
3. when all words are in, the clusters merge to m and on to one: a binary tree with m leaves. The
   bit string of a word leads from the root to its leaf.

In that paper r = m. But a merge is final. While frequent words fill all places, the first words of
a new class merge with other classes too easily. With r = 2 m, 1,000 clusters explain 46.4 instead
of 45.6 % of the variance of the 9,602 words of text8 with 100 tokens or more (with r = n, 46.7 %),
and 100 clusters explain 19.0 instead of 17.5 %.

|a| is the number of words in a, as in that paper, and not the number of their tokens: the vector of
a frequent word is one observation of its class like any other. Weighted by tokens, to merge two
frequent words would cost thousands of times as much as to merge two rare ones.

This needs O(n r) distances instead of the O(n^2) of all words together, or the O(n m^2) of Brown,
Della Pietra, deSouza, Lai and Mercer (1992), and no pass over the text. See
:mod:`eigentext.factor.merging`.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eigentext import engine
from eigentext.corpus import Vocabulary
from eigentext.corpus.encodings import UTF8, checked_encoding, text_of
from eigentext.corpus.readers import expand_paths, read_lines
from eigentext.corpus.table_output import as_pandas
from eigentext.corpus.vocabulary import as_asked
from eigentext.errors import CorpusError, EigentextError, ParameterError
from eigentext.estimators import Finding, Findings, check_table, learned_with, learning
from eigentext.factor.merging import bit_strings, merge_to_root
from eigentext.parameters import Count, Flag, argument, is_whole
from eigentext.storage import Saved, facts
from eigentext.storage.files import replacing
from eigentext.storage.schema import Array, Schema, Strings, damage
from eigentext.words import parameters
from eigentext.words._findings import findings_of_clusters
from eigentext.words._merging import improve, inertias, merge_by_frequency
from eigentext.words.export import cluster_table

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Method = Literal["agglomerative", "kmeans"]
_FEWEST_RUNNING = 100
_MOST_RUNNING = 20_000  # with 3.2 GB of distances
_LARGEST = 1e100  # beyond, products of sums may overflow
_MAX_DIGITS = 15  # of a count in a file
_DIAGNOSTICS = facts.facts(
    "what the fit found", n_words=facts.COUNT, sizes=facts.NUMBERS, lowercase=Flag(False)
)


class WordClusters(Findings, Saved, ClusterMixin, BaseEstimator):  # pyright: ignore[reportIncompatibleVariableOverride]
    """Hard clusters of words in a binary tree, from their vectors.

    Parameters
    ----------
    n_clusters : int
        The number m of clusters, the leaves of the tree.
    method : "agglomerative" or "kmeans"
        "agglomerative" merges in the order of frequency (see the module). "kmeans" does the same
        and then improves the clusters by k-means before it builds the tree.
    n_running : int, optional
        The number r of clusters while words are added; by default 2 m, and at least 100. More may
        be better, and take longer.

    Attributes
    ----------
    labels_ : int32 array, shape (n_words,)
        The cluster of each word; clusters are numbered by their most frequent words. A word with a
        zero vector (it was always alone) is in no cluster: -1.
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
        costliest merge within a cluster and the next merge: a gap shows that there are m classes.

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
    _table = parameters.WordClusters

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

    @learning
    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        words: Sequence[str] | None = None,
        counts: Iterable[int] | None = None,
    ) -> Self:
        """Cluster the words of a model (:class:`Eigenwords`) or the rows of a matrix.

        With a matrix, `words` are the names of the rows (by default their numbers) and `counts`
        give their order (by default the order of the rows).
        """
        vectors, vocabulary = self._vectors_and_words(X, words, counts)
        # BLAS and OpenMP may add in another order with more threads.
        with engine.one_blas_thread(openmp=True):
            order = np.argsort(-vocabulary.counts, kind="stable")
            order = order[np.any(vectors, axis=1)[order]]
            m, r = self._numbers(len(order))
            rows = vectors[order]
            with engine.phase("cluster", len(rows), "words") as advance:
                labels, running, found = merge_by_frequency(rows, m, r, advance)
            if self.method == "kmeans":
                labels, running, found = improve(rows, labels, m)
            self.tree_ = merge_to_root(running, m)
            inertia, total = inertias(rows, labels)
        self.vocabulary_ = vocabulary
        self.labels_ = np.full(len(vectors), -1, np.int32)
        self.labels_[order] = labels
        self._set_paths(bit_strings(self.tree_))
        if m > 1 and self.method == "agglomerative":
            found["next_merge"] = float(self.tree_[0, 2])
        self.diagnostics_ = {
            **({"lowercase": True} if _is_lowercase(X) else {}),
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
        return self.bit_strings_[self.vocabulary_[as_asked([word], self.diagnostics_)[0]]]

    def __contains__(self, word: object) -> bool:
        check_is_fitted(self)
        return isinstance(word, str) and as_asked([word], self.diagnostics_)[0] in self.vocabulary_

    def prefixes(self, word: str, lengths: Sequence[int] = (4, 6, 10, 20)) -> list[str]:
        """The bit string of a word, cut to each length: classes from coarse to fine, for taggers.

        A shorter bit string stays whole. A word in no cluster has none.
        """
        path = self[word]
        lengths = [argument("lengths", Count(4), length) for length in lengths]
        return [path[:length] for length in lengths] if path else []

    def words(self, prefix: str = "") -> list[str]:
        """The words of the clusters below a node of the tree, by falling frequency."""
        return [self.vocabulary_.words[place] for place in self._places(prefix)]

    def most_frequent(self, cluster: int | str, topn: int = 10) -> list[tuple[str, int]]:
        """The most frequent words of a cluster, given by number or bit string, with their counts.

        A bit string with which several clusters begin gives the words of all of them.
        """
        places = self._places(cluster)[: argument("topn", Count(10, least=0), topn)]
        counts = self.vocabulary_.counts
        return [(self.vocabulary_.words[place], int(counts[place])) for place in places]

    def to_tsv(self, path: str | os.PathLike[str]) -> None:
        """Write a `paths` file like wcluster: bit string, word and count on each line.

        Lines are sorted by bit string, then by falling count. Words in no cluster are left out.
        """
        places = self._places("")
        places.sort(key=self.bit_strings_.__getitem__)  # stable, so still by falling count
        for place in places:
            word = self.vocabulary_.words[place]
            if not word or any(character.isspace() for character in word):
                raise EigentextError(
                    f"the word {word!r} has a blank in it, which paths files cannot contain; "
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

    def to_arrow(self) -> "pa.Table":
        """A table of Arrow with a row for each word: word, count, cluster and bits.

        A word in no cluster has the cluster -1 and no bits.
        """
        check_is_fitted(self)
        return cluster_table(self.vocabulary_, self.labels_, self.bit_strings_)

    def to_pandas(self) -> "pd.DataFrame":
        """The same as :meth:`to_arrow`, as a data frame of pandas."""
        return as_pandas(self.to_arrow())

    @classmethod
    def read_paths(cls, path: str | os.PathLike[str], *, encoding: str = UTF8) -> Self:
        """Clusters from a `paths` file of :meth:`to_tsv` or wcluster, with lines in any order.

        The file may be compressed (.gz, .bz2, .xz, .zst). `encoding` is its encoding.
        """
        sources = expand_paths([path])
        if len(sources) > 1:
            raise CorpusError(f"{path}: matches {len(sources)} files; name one")
        found: dict[str, tuple[str, int]] = {}
        for number, line in read_lines(sources[0], checked_encoding(encoding)):
            if not line.strip():
                continue
            bits, word, count = _parse(line, f"{path}, line {number}")
            if word in found:
                raise CorpusError(f"{path}, line {number}: {word[:40]!r} occurs a second time")
            found[word] = bits, count
        if not found:
            raise CorpusError(f"{path}: no words; give a file of bit string, word and count")
        vocabulary = Vocabulary.from_counts(
            list(found), [count for _, count in found.values()], min_count=0
        )
        labels: dict[str, int] = defaultdict(lambda: len(labels))
        numbers = np.array([labels[found[word][0]] for word in vocabulary], np.int32)
        self = learned_with(cls, {"n_clusters": len(labels)})
        self.vocabulary_, self.labels_, self.tree_ = vocabulary, numbers, None
        self._set_paths(list(labels))
        self.diagnostics_ = {
            "n_words": len(vocabulary),
            "sizes": np.bincount(numbers).tolist(),
        }
        return self

    def _findings(self) -> Iterator[Finding]:
        yield from findings_of_clusters(self.diagnostics_)

    # The algorithm's steps.

    def _vectors_and_words(self, X: Any, words: Any, counts: Any) -> tuple[np.ndarray, Vocabulary]:
        if hasattr(X, "get_params"):
            check_is_fitted(X, ["vectors_", "vocabulary_"])
            if words is not None or counts is not None:
                raise ParameterError("a model has its own words and counts; give only the model")
            words, counts, X = X.vocabulary_.words, X.vocabulary_.counts, X.vectors_
        vectors: Any = validate_data(self, X, dtype=[np.float64, np.float32])
        if float(max(vectors.max(), -vectors.min())) > _LARGEST:
            raise ParameterError(
                f"a number is beyond {_LARGEST:g}, and its square would overflow; scale them"
            )
        words = [str(row) for row in range(len(vectors))] if words is None else list(words)
        counts = np.ones(len(words), np.int64) if counts is None else np.asarray([*counts])
        for name, given in (("words", words), ("counts", counts)):
            if len(given) != len(vectors):
                raise ParameterError(
                    f"{len(given)} {name} for {len(vectors)} vectors; give one for each row"
                )
        if len(set(words)) < len(words):
            raise ParameterError("a word occurs twice; give each row its own name")
        return vectors, Vocabulary(words, counts)

    def _check_together(self) -> None:
        m, r = self.n_clusters, self.n_running
        if r is not None and r < m:
            raise ParameterError(f"n_running is {r}; give n_clusters, {m}, or more")

    def _numbers(self, n_words: int) -> tuple[int, int]:
        """The numbers m and r for `n_words` words."""
        m, r = self.n_clusters, self.n_running
        if n_words == 0:
            raise ParameterError("all vectors are zero (n_samples=0); give vectors of other words")
        if m > n_words:
            raise ParameterError(
                f"n_clusters (--clusters) is {m}, but there are {n_words} words with vectors "
                f"(n_samples={n_words}); use {n_words} or less, or vectors of more words"
            )
        if r is None:
            r = max(m, min(2 * m, _MOST_RUNNING), _FEWEST_RUNNING)
        r = min(r, n_words)
        if r > _MOST_RUNNING:
            raise ParameterError(
                f"the distances between {r} running clusters would take {8e-9 * r * r:.0f} GB; "
                f"use at most {_MOST_RUNNING} for n_clusters (--clusters) and n_running"
            )
        return m, r

    def _set_paths(self, cluster_paths: list[str]) -> None:
        self._cluster_paths = cluster_paths
        self.bit_strings_ = [cluster_paths[k] if k >= 0 else "" for k in self.labels_.tolist()]

    def _places(self, cluster: int | str) -> list[int]:
        """The words of a cluster or of all clusters below a bit string, by falling frequency."""
        check_is_fitted(self)
        if isinstance(cluster, str):
            below = [path.startswith(cluster) for path in self._cluster_paths]
        else:
            numbers = range(len(self._cluster_paths))
            below = [is_whole(cluster) and number == cluster for number in numbers]
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
        return arrays, {"parameters": dict(self.parameters_), "diagnostics": self.diagnostics_}

    @classmethod
    def _schema(cls, about):
        return Schema(
            {
                "words": Strings("words", unique=True),
                "word_counts": Array("int", ("words",), least=0, below=2**53),
                "paths": Strings("clusters", unique=True),
                "labels": Array("int", ("words",), least=-1, below="clusters"),
                "tree": Array("float64", ("merges", 4), least=0, optional=True),
            },
            {"diagnostics": _DIAGNOSTICS},
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        self.labels_ = np.asarray(arrays["labels"])
        self.tree_ = np.asarray(arrays["tree"]) if "tree" in arrays else None
        paths = arrays["paths"]
        if self.tree_ is not None and len(self.tree_) != len(paths) - 1:
            raise damage("tree", f"has {len(self.tree_)} merges for {len(paths)} clusters")
        if strange := next((path for path in paths if path.strip("01")), None):
            raise damage("paths", f"has {strange!r:.40}, no bit string")
        self.vocabulary_ = Vocabulary(arrays["words"], np.asarray(arrays["word_counts"]))
        self.diagnostics_ = about["diagnostics"]
        self._set_paths(paths)
        return self


def _is_lowercase(X: Any) -> bool:
    """Whether vectors are of a model whose text was changed to lower case."""
    return bool(getattr(X, "provenance_", {}).get("options", {}).get("lowercase"))


check_table(WordClusters)


def _parse(line: bytes, place: str) -> tuple[str, str, int]:
    fields = text_of(line, place).removesuffix("\r").split("\t", 3)
    good = len(fields) == 3 and fields[1] and fields[2].isdecimal()
    if not good or fields[0].strip("01"):
        raise CorpusError(
            f"{place}: not a bit string, a word and a count, parted by tabs; "
            "give a file that `words cluster` or wcluster wrote"
        )
    if len(fields[2]) > _MAX_DIGITS:
        raise CorpusError(f"{place}: {fields[2][:40]} is too large for a count; is it damaged?")
    return fields[0], fields[1], int(fields[2])
