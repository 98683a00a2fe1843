"""WordClusters: the classes of a Brown model recovered; bit strings, files and the contracts."""

import gzip
import importlib.util
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

import eigentext as et
from eigentext import Eigenwords, WordClusters, engine
from eigentext.errors import (
    CorpusError,
    EigentextError,
    ModelFileError,
    ParameterError,
    UnknownWordError,
)
from eigentext.factor import svd
from eigentext.storage import write_saved
from eigentext.words import scaled_counts

_spec = importlib.util.spec_from_file_location(
    "brown_model", Path(__file__).with_name("brown_model.py")
)
brown_model = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(brown_model)
BrownModel = brown_model.BrownModel

METHODS = pytest.mark.parametrize("method", ["agglomerative", "kmeans"])


def same(labels):
    """Which pairs are in one class: equal for two clusterings that differ only in names."""
    labels = np.asarray(labels)
    return labels[:, None] == labels


# Recovery.


@METHODS
@pytest.mark.parametrize("transform", ["none", "sqrt"])
@pytest.mark.parametrize("seed", range(3))
def test_exact_moments_give_the_classes_exactly(method, transform, seed):
    model = BrownModel(m=7, n=300, seed=seed)
    B = sp.csr_array(model.cooccurrence(window=2))
    U, _, _ = svd(scaled_counts(B, transform=transform, scaling="cca", alpha=1, dtype=float), 7)
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    counts = (1e6 * model.O @ model.pi).astype(int)
    clusters = WordClusters(7, method=method).fit(rows, counts=counts)
    assert np.array_equal(same(clusters.labels_), same(model.states))
    assert np.array_equal(same(clusters.bit_strings_), same(model.states))
    assert clusters.diagnostics_["inertia"] < 1e-12
    assert np.allclose(clusters.diagnostics_["explained"], 1)
    if method == "agglomerative":
        gap = clusters.diagnostics_
        assert gap["largest_merge"] < 1e-12 < 1 < gap["next_merge"]


@pytest.mark.parametrize("seed", [0, 2])  # with directions that spread a lot, also in samples
def test_samples_give_the_classes(seed):
    model = BrownModel(m=5, n=200, seed=seed)
    tokens = model.sample(300_000, seed)
    words = Eigenwords(5, min_count=1, window=2, alpha=1).fit([tokens])
    truth = model.states[[int(word) for word in words.vocabulary_]]
    for method in ("agglomerative", "kmeans"):
        clusters = WordClusters(5, method=method).fit(words)
        assert np.array_equal(same(clusters.labels_), same(truth))
        assert clusters.vocabulary_ == words.vocabulary_


# The tree.


@given(
    st.lists(st.tuples(*[st.integers(-2, 2)] * 3).filter(any), min_size=1, max_size=20),
    st.integers(1, 20),
    st.integers(0, 20),
)
def test_the_tree_and_its_bit_strings(points, m, spare):
    m = min(m, len(points))
    clusters = WordClusters(m, n_running=m + spare).fit(np.array(points, float))
    tree, paths = clusters.tree_, clusters._cluster_paths
    # A full binary tree: each of 2 m - 1 nodes but the root is a child once, after its own birth.
    assert tree.shape == (m - 1, 4)
    assert sorted(tree[:, :2].ravel().tolist()) == list(range(2 * m - 2))
    assert all(max(tree[step, :2]) < m + step for step in range(m - 1))
    if m > 1:
        assert hierarchy.is_valid_linkage(tree)
        assert tree[-1, 3] == m
    # A prefix-free code without gaps (Kraft's sum is 1).
    assert len(set(paths)) == m
    assert not any(b.startswith(a) for a, b in pairwise(sorted(paths)))
    assert sum(2.0 ** -len(path) for path in paths) == 1
    # Every merge on the way to one cluster adds its height to the inertia.
    centered = np.array(points) - np.mean(points, axis=0)
    inertia = clusters.diagnostics_["inertia"]
    assert np.isclose(inertia + tree[:, 2].sum(), (centered**2).sum())
    # Clusters are numbered by their first words, and none is empty.
    first = [clusters.labels_.tolist().index(k) for k in range(m)]
    assert first == sorted(first)


def test_a_cluster_for_each_word_is_wards_hierarchy():
    X = np.random.default_rng(0).standard_normal((30, 4))
    clusters = WordClusters(30).fit(X)
    ward = hierarchy.linkage(X, "ward")
    assert np.array_equal(clusters.labels_, np.arange(30))
    assert np.allclose(clusters.tree_[:, 2], ward[:, 2] ** 2 / 2)
    for k in (2, 5, 12):
        cut = hierarchy.fcluster(clusters.tree_, k, "maxclust")
        assert np.array_equal(same(cut), same(hierarchy.fcluster(ward, k, "maxclust")))


def test_by_hand():
    # a = 0 and b = 10 start; c = 1 joins a. With d = 21 there are three: d(b, d) = 11^2 / 2 = 60.5,
    # but d({a, c}, b) = 2 / 3 * 9.5^2 = 60.17, so b joins a and c.
    X = np.array([[0.0, 1], [10, 1], [1, 1], [21, 1]])
    clusters = WordClusters(2, n_running=2).fit(X, words=list("abcd"), counts=[9, 8, 7, 6])
    assert clusters.labels_.tolist() == [0, 0, 0, 1]
    assert clusters.bit_strings_ == ["0", "0", "0", "1"]
    mean = 11 / 3
    inertia = mean**2 + (10 - mean) ** 2 + (1 - mean) ** 2
    height = 3 / 4 * (21 - mean) ** 2
    assert np.allclose(clusters.tree_, [[0, 1, height, 2]])
    assert clusters.diagnostics_["inertia"] == pytest.approx(inertia)
    assert clusters.diagnostics_["explained"] == pytest.approx(height / (inertia + height))
    assert clusters.diagnostics_["largest_merge"] == pytest.approx(2 / 3 * 9.5**2)
    assert clusters.diagnostics_["sizes"] == [3, 1]


def test_the_order_of_frequency_counts_not_that_of_rows():
    X = np.array([[0.0, 1], [10, 1], [1, 1], [21, 1], [3, 1]])
    counts = np.array([9, 8, 7, 6, 6])
    sorted_rows = WordClusters(2, n_running=2).fit(X, counts=counts)
    shuffled = [3, 1, 4, 0, 2]
    clusters = WordClusters(2, n_running=2).fit(X[shuffled], counts=counts[shuffled])
    assert clusters.labels_.tolist() == sorted_rows.labels_[shuffled].tolist()
    assert clusters.most_frequent(0) == [("3", 9), ("1", 8), ("4", 7), ("2", 6)]


def test_more_running_clusters_forgive_the_order():
    # The classes come one after another, and the third comes late. By then the first class has
    # split, and joining its parts again costs much. The second class is near the third.
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 10], [10, 0], [10, 3]], [60, 20, 20], axis=0)
    X += rng.uniform(-1, 1, X.shape)
    truth = np.repeat([0, 1, 2], [60, 20, 20])
    paper = WordClusters(3, n_running=3).fit(X)
    assert not np.array_equal(same(paper.labels_), same(truth))
    clusters = WordClusters(3).fit(X)
    assert np.array_equal(same(clusters.labels_), same(truth))
    assert clusters.diagnostics_["inertia"] < paper.diagnostics_["inertia"]


def test_an_offset_that_all_vectors_share_changes_nothing():
    X = np.random.default_rng(1).standard_normal((60, 3))
    moved = X + np.array([1e6, -1e6, 1e5])
    assert np.array_equal(WordClusters(9).fit(X).labels_, WordClusters(9).fit(moved).labels_)


@METHODS
def test_same_bits_for_any_number_of_threads(method):
    X = np.random.default_rng(0).standard_normal((900, 20)).astype(np.float32)
    fitted = []
    for threads in (1, 2, 8):
        with threadpool_limits(threads), engine.use(engine.ThreadEngine(threads)):
            fitted.append(WordClusters(40, method=method).fit(X))
    for other in fitted[1:]:
        assert np.array_equal(other.labels_, fitted[0].labels_)
        assert np.array_equal(other.tree_, fitted[0].tree_)
        assert other.diagnostics_ == fitted[0].diagnostics_


def test_kmeans_puts_words_with_the_nearest_mean_and_a_tree_above():
    X = np.random.default_rng(0).standard_normal((200, 3))
    clusters = WordClusters(8, method="kmeans").fit(X)
    total = ((X - X.mean(axis=0)) ** 2).sum()
    assert clusters.diagnostics_["inertia"] < total / 2
    # Each word is nearest to its own cluster's mean.
    means = np.array([X[clusters.labels_ == k].mean(axis=0) for k in range(8)])
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(nearest == clusters.labels_) > 0.98
    assert np.isclose(clusters.diagnostics_["inertia"] + clusters.tree_[:, 2].sum(), total)
    assert len(set(clusters._cluster_paths)) == 8
    merged = WordClusters(8).fit(X)
    assert clusters.diagnostics_["inertia"] < merged.diagnostics_["inertia"]


# Words.


@pytest.fixture
def text_model():
    text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran", "alone"] * 5
    return Eigenwords(2, window=1).fit(text)


@pytest.fixture
def clusters(text_model):
    return WordClusters(2).fit(text_model)


def test_questions(clusters):
    assert clusters.words(clusters["cat"]) == ["cat", "dog"]
    assert clusters.words(clusters["sat"]) == ["a", "ran", "sat", "the"]
    assert clusters.most_frequent(clusters["the"], 1) == [("a", 10)]
    assert clusters.most_frequent(1) == [("cat", 10), ("dog", 10)]
    assert clusters.most_frequent(0, topn=0) == []
    assert sorted(clusters.words()) == sorted(clusters.words("0") + clusters.words("1"))
    assert len(clusters.words()) == 6
    assert "cat" in clusters
    assert "cow" not in clusters
    path = clusters["sat"]
    assert clusters.prefixes("sat", (1, 20)) == [path[:1], path]
    assert len(clusters.prefixes("sat")) == 4
    with pytest.raises(UnknownWordError, match="did you mean cat"):
        clusters["catt"]
    for bad in ("2", "111", 2, -1):
        with pytest.raises(ParameterError, match="numbered from 0 to 1"):
            clusters.most_frequent(bad)


@METHODS
def test_a_word_always_alone_is_in_no_cluster(text_model, method, tmp_path):
    assert not text_model["alone"].any()
    clusters = WordClusters(2, method=method).fit(text_model)
    assert clusters.labels_[text_model.vocabulary_["alone"]] == -1
    assert clusters["alone"] == ""
    assert clusters.prefixes("alone") == []
    assert "alone" not in clusters.words()
    assert clusters.diagnostics_["words_without_context"] == 1
    clusters.to_tsv(tmp_path / "paths")
    assert "alone" not in (tmp_path / "paths").read_text()
    with pytest.raises(ParameterError, match="7, but there are 6 words with vectors"):
        WordClusters(7, method=method).fit(text_model)


def test_one_cluster_has_the_empty_path(text_model, tmp_path):
    clusters = WordClusters(1).fit(text_model)
    assert set(clusters.bit_strings_) == {""}
    assert clusters.tree_.shape == (0, 4)
    assert len(clusters.words()) == 6
    clusters.to_tsv(tmp_path / "paths")
    assert WordClusters.read_paths(tmp_path / "paths").words() == clusters.words()


# Files.


def test_the_paths_format(tmp_path):
    X = np.array([[0.0, 1], [9, 1], [0, 2], [30, 1], [9, 2]])
    words = ["é", "b", "c", "the", "…"]
    clusters = WordClusters(3).fit(X, words=words, counts=[30, 40, 20, 10, 50])
    clusters.to_tsv(tmp_path / "paths")
    lines = "00\t…\t50\n00\tb\t40\n01\té\t30\n01\tc\t20\n1\tthe\t10\n"
    assert (tmp_path / "paths").read_text(encoding="utf-8") == lines


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_reading_what_was_written_in_any_order(clusters, tmp_path, ending):
    clusters.to_tsv(tmp_path / "paths")
    lines = (tmp_path / "paths").read_text().splitlines()
    for order in (lines, lines[::-1], sorted(lines, key=lambda line: line.split("\t")[1])):
        with gzip.open(tmp_path / "paths.gz", "wt", newline="") as file:
            file.write(ending.join([*order, ""]))
        read = WordClusters.read_paths(tmp_path / "paths.gz")
        for word in clusters.words():
            assert read[word] == clusters[word]
        assert read.words() == clusters.words()
        assert read.most_frequent(0) == clusters.most_frequent(0)
        assert read.n_clusters == 2
        assert read.tree_ is None
        read.to_tsv(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "paths").read_bytes()


def test_what_wcluster_writes(tmp_path):
    # Its order within a cluster is that of its merges; words may hold no blanks but any sign.
    (tmp_path / "paths").write_text("0\tb\t1\n0\ta\t7\n10\t'\t3\n110\t#\t2\n111\t0\t2")
    clusters = WordClusters.read_paths(tmp_path / "paths")
    assert clusters.words("1") == ["'", "#", "0"]
    assert clusters.words("0") == ["a", "b"]
    assert clusters.most_frequent("11") == [("#", 2), ("0", 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0\ta\t1\n0 b 2\n", "line 2: not a bit string"),
        (b"0\ta\t1\n\n02\tb\t2\n", "line 3: not a bit string"),
        (b"0\ta\tmany\n", "line 1: not a bit string"),
        (b"0\ta\t1\t1\n", "line 1: not a bit string"),
        (b"0\t\t1\n", "line 1: not a bit string"),
        (b"0\ta\t1\n1\ta\t2\n", "line 2: 'a' occurs a second time"),
        (b"0\ta\t1\n0\t\xff\t1\n", "line 2: byte 0xff is not UTF-8; it looks like"),
        (b"0\ta\t1\n0\tb\0c\t1\n", "line 2: a NUL byte: a binary file?"),
        (b"0\ta\t1\n0\tb\t99999999999999999999\n", "line 2: 9999.* too large for a count"),
        (b"0\ta\t1\n0\tb\t" + b"9" * 5000, "line 2: 9999.* too large for a count"),
        (b"\n", "no words"),
    ],
)
def test_files_that_are_no_paths(tmp_path, content, message):
    (tmp_path / "paths").write_bytes(content)
    with pytest.raises(CorpusError, match=f"paths.*{message}"):
        WordClusters.read_paths(tmp_path / "paths")


def test_a_byte_order_mark_is_passed_over(tmp_path):
    (tmp_path / "paths").write_bytes("\ufeff0\ta\t7\n1\tb\t2\n".encode())
    assert WordClusters.read_paths(tmp_path / "paths").words("0") == ["a"]


def test_one_file_at_a_time(tmp_path):
    for name in ("one.paths", "two.paths"):
        (tmp_path / name).write_text("0\ta\t7\n")
    with pytest.raises(CorpusError, match="matches 2 files; name one"):
        WordClusters.read_paths(f"{tmp_path}/*.paths")


def test_files_that_cannot_be_read_or_written(tmp_path, clusters):
    with pytest.raises(CorpusError, match="no such file"):
        WordClusters.read_paths(tmp_path / "paths")
    with pytest.raises(EigentextError, match="cannot be written"):
        clusters.to_tsv(tmp_path / "missing" / "paths")
    for bad in ("two words", "tab\t", "line\n", ""):
        odd = WordClusters(1).fit(np.ones((2, 1)), words=["fine", bad])
        with pytest.raises(EigentextError, match="blank"):
            odd.to_tsv(tmp_path / "paths")
    assert list(tmp_path.iterdir()) == []


def test_saved_clusters_are_the_same(tmp_path, clusters):
    clusters.to_tsv(tmp_path / "paths")
    for kept in (clusters, WordClusters.read_paths(tmp_path / "paths")):
        kept.save(tmp_path / "clusters")
        loaded = et.load(tmp_path / "clusters")
        assert type(loaded) is WordClusters
        assert loaded.get_params() == kept.get_params()
        assert loaded.bit_strings_ == kept.bit_strings_
        assert np.array_equal(loaded.labels_, kept.labels_)
        assert np.array_equal(loaded.tree_, kept.tree_)
        assert loaded.vocabulary_ == kept.vocabulary_
        assert loaded.diagnostics_ == kept.diagnostics_
        assert loaded.most_frequent("0") == kept.most_frequent("0")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"labels": np.zeros(5, np.int32)}, "labels has shape"),
        ({"labels": np.full(7, 2, np.int32)}, "labels has 2, not below 2"),
        ({"labels": np.full(7, -2, np.int32)}, "labels has -2"),
        ({"labels": np.zeros(7)}, "labels holds float64"),
        ({"paths": ["0"]}, "labels has 1, not below 1"),
        ({"paths": ["0", "0"]}, "paths has a string twice"),
        ({"paths": ["0", "x"]}, "paths has 'x', no bit string"),
        ({"tree": np.zeros((2, 4))}, "tree has 2 merges for 2 clusters"),
        ({"tree": np.full((1, 4), np.nan)}, "tree has numbers that are not finite"),
        ({"words": ["a"] * 7}, "words has a string twice"),
        ({"diagnostics": {"sizes": "many"}}, "diagnostics must be"),
        ({"parameters": {"n_clusters": 0}}, "n_clusters"),
    ],
)
def test_damaged_files(tmp_path, clusters, change, reason):
    arrays, about = clusters._to_saved()
    for name, value in change.items():
        (arrays if name in arrays else about)[name] = value
    write_saved(tmp_path / "clusters", clusters._format, arrays, about)
    with pytest.raises(ModelFileError, match=f"damaged or made by something else: .*{reason}"):
        et.load(tmp_path / "clusters")


def test_wrong_questions(clusters):
    for topn in (-1, True, 2.5):
        with pytest.raises(ParameterError, match="topn must be a whole number, 0 or more, not"):
            clusters.most_frequent(0, topn)
    for length in (-1, 0, True, "4"):
        with pytest.raises(ParameterError, match="lengths must be a whole number, 1 or more, not"):
            clusters.prefixes("cat", [length])
    for number in (True, 0.0, None):
        with pytest.raises(ParameterError, match="no cluster"):
            clusters.most_frequent(number)
    with pytest.raises(NotFittedError):
        "cat" in WordClusters()  # noqa: B015


# Contracts and bad input.


@parametrize_with_checks([WordClusters(3), WordClusters(3, method="kmeans")])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_unfitted(tmp_path):
    empty = clone(WordClusters(5, method="kmeans"))
    for ask in (lambda: empty["a"], empty.words, lambda: empty.save(tmp_path / "x")):
        with pytest.raises(NotFittedError):
            ask()
    with pytest.raises(NotFittedError):
        WordClusters(2).fit(Eigenwords())


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_clusters": 0}, r"n_clusters \(--clusters\) must be a whole number, 1 or more, not"),
        ({"n_clusters": 2.5}, r"n_clusters \(--clusters\) must be a whole number, 1 or more, not"),
        ({"n_clusters": True}, r"n_clusters \(--clusters\) must be a whole number, 1 or more, not"),
        ({"n_clusters": 9}, r"--clusters\) is 9, but there are 5 .*use 5 or less"),
        (
            {"n_running": 0},
            r"n_running \(--running\) must be a whole number, 1 or more, or None, not",
        ),
        ({"n_running": 1}, "n_running is 1; give n_clusters, 2, or more"),
        ({"method": "ward"}, "method must be .agglomerative. or .kmeans., not .ward."),
    ],
)
def test_bad_parameters(bad, message):
    X = np.random.default_rng(0).standard_normal((5, 2))
    with pytest.raises(ParameterError, match=message):
        WordClusters(**{"n_clusters": 2, **bad}).fit(X)


def test_more_clusters_than_memory():
    X = np.ones((22_000, 1), np.float32)
    for options in ({"n_clusters": 22_000}, {"n_clusters": 2, "n_running": 30_000}):
        with pytest.raises(ParameterError, match=r"22000 .* would take 4 GB; use at most 20000"):
            WordClusters(**options).fit(X)


def test_bad_vectors_and_words(text_model):
    X = np.random.default_rng(0).standard_normal((5, 2))
    for wrong in ({"words": ["a"]}, {"counts": [1, 2]}):
        with pytest.raises(ParameterError, match="for 5 vectors; give one for each row"):
            WordClusters(2).fit(X, **wrong)
    with pytest.raises(ParameterError, match="twice"):
        WordClusters(2).fit(X, words=list("abcda"))
    with pytest.raises(ParameterError, match="its own words"):
        WordClusters(2).fit(text_model, words=["a"])
    with pytest.raises(ParameterError, match=r"beyond 1e\+100"):
        WordClusters(2).fit(X * 1e200)
    with pytest.raises(ValueError, match="NaN"):
        WordClusters(2).fit(X * np.nan)
    with pytest.raises(ParameterError, match="all vectors are zero"):
        WordClusters(2).fit(X * 0)


def test_kmeans_of_too_few_different_vectors():
    X = np.repeat(np.eye(3), 4, axis=0)
    with pytest.raises(ParameterError, match="no more than 3 different vectors; use 3 or less"):
        WordClusters(5, method="kmeans").fit(X)
    assert WordClusters(5).fit(X).diagnostics_["inertia"] == 0


# Real data.


def test_brown_corpus_has_sensible_clusters(data_folder):
    import zipfile

    with zipfile.ZipFile(data_folder / "nltk_data/corpora/brown.zip") as archive:
        names = sorted(n for n in archive.namelist() if n[-4:-2].isalpha() and n[-2:].isdigit())
        text = [archive.read(name).decode() for name in names]
    sentences = [
        [token.rpartition("/")[0].lower() for token in line.split()]
        for file in text
        for line in file.splitlines()
        if line.strip()
    ]
    words = Eigenwords(50, min_count=50, window=2).fit(sentences)
    for method in ("agglomerative", "kmeans"):
        clusters = WordClusters(100, method=method).fit(words)
        for group in ("two three four", "could would should", "him them me", "day week year"):
            assert len({clusters[word] for word in group.split()}) == 1, (method, group)
        assert clusters["two"] != clusters["could"] != clusters["him"]
        assert clusters.diagnostics_["explained"] > 0.3
