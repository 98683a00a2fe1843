"""Exported vectors are opened by gensim, the reader that people use."""

import gzip

import numpy as np
import pyarrow.parquet as pq
import pytest
from gensim.models import KeyedVectors
from sklearn.exceptions import NotFittedError

from eigentext import Eigenwords, TextCorpus, Vocabulary, WordClusters
from eigentext.corpus.documents import in_batches
from eigentext.errors import EigentextError, ParameterError
from eigentext.words.export import neighbor_table, vector_format, write_vectors

# gensim leaves a file without a header open.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
OPENERS = {
    "word2vec": {},
    "word2vec-binary": {"binary": True},
    "glove": {"no_header": True},
}


@pytest.fixture
def words():
    text = ["the naïve cat sat", 'a "dog" ran ,', "的 猫 the dog", "x1 … cat ran"] * 5
    return Eigenwords(3, min_count=1, window=2).fit(TextCorpus(text, kind="texts"))


@pytest.mark.parametrize("format", OPENERS)
def test_gensim_opens_it(tmp_path, words, format):
    words.export(tmp_path / "vectors", format)
    opened = KeyedVectors.load_word2vec_format(tmp_path / "vectors", **OPENERS[format])
    assert opened.index_to_key == words.vocabulary_.words
    assert np.array_equal(opened.vectors, words.vectors_)  # every bit survives, in text too
    best = words.most_similar("cat", 3)
    assert opened.most_similar("cat", topn=1)[0][1] == pytest.approx(best[0][1], abs=1e-5)


@pytest.mark.parametrize("format", OPENERS)
def test_many_words_over_several_blocks(tmp_path, format):
    names = [f"w{i}" for i in range(5000)]
    vectors = np.random.default_rng(0).standard_normal((5000, 7)).astype(np.float32)
    vectors[0, :3] = [0, 1e-30, -1e30]
    write_vectors(tmp_path / "vectors", Vocabulary(names, [1] * 5000), vectors, format)
    opened = KeyedVectors.load_word2vec_format(tmp_path / "vectors", **OPENERS[format])
    assert opened.index_to_key == names
    assert np.array_equal(opened.vectors, vectors)


@pytest.mark.parametrize("bad", ["two words", "no\u00a0break", "line\nend", ""])
@pytest.mark.parametrize("format", OPENERS)
def test_words_with_blanks_are_refused(tmp_path, bad, format):
    with pytest.raises(EigentextError, match="blank"):
        write_vectors(
            tmp_path / "vectors", Vocabulary(["fine", bad], [1, 1]), np.ones((2, 2)), format
        )
    assert not (tmp_path / "vectors").exists()


def test_unknown_formats_and_places(tmp_path, words):
    with pytest.raises(ParameterError, match="format"):
        words.export(tmp_path / "vectors", "fasttext")
    with pytest.raises(EigentextError, match="cannot be written"):
        words.export(tmp_path / "missing" / "vectors")


# Tables.


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("v.parquet", None, "parquet"),
        ("v.bin", None, "word2vec-binary"),
        ("v.txt", None, "word2vec"),
        ("v.txt", "glove", "glove"),
        ("v.csv.gz", None, "csv"),
        ("v", None, "word2vec"),
        ("v.model", "jsonl", "jsonl"),
    ],
)
def test_the_format_of_a_name(name, given, expected):
    assert vector_format(name, given) == expected


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl", "feather"])
def test_tables_keep_words_that_other_formats_cannot(tmp_path, ending):
    words = Eigenwords(2, min_count=1).fit([["New York", 'a "b"', ","], [",", "New York"]] * 5)
    words.export(tmp_path / f"v.{ending}")
    corpus = TextCorpus(tmp_path / f"v.{ending}", column="word", kind="files")
    ((_, part),) = in_batches(corpus)
    assert part.texts == words.vocabulary_.words


def test_compressed_vectors(tmp_path, words):
    words.export(tmp_path / "v.txt.gz")
    words.export(tmp_path / "v.txt")
    with gzip.open(tmp_path / "v.txt.gz") as file:
        assert file.read() == (tmp_path / "v.txt").read_bytes()
    opened = KeyedVectors.load_word2vec_format(tmp_path / "v.txt.gz")
    assert opened.index_to_key == words.vocabulary_.words


def test_words_as_arrow_and_pandas(words):
    table = words.to_arrow()
    assert table.column_names == ["word", "count", "vector"]
    assert table["word"].to_pylist() == words.vocabulary_.words
    assert table["count"].to_pylist() == list(words.vocabulary_.counts)
    vectors = table["vector"].combine_chunks().flatten().to_numpy().reshape(-1, 3)
    assert np.array_equal(vectors, words.vectors_)
    frame = words.to_pandas()
    assert frame.index.name == "word"
    assert np.array_equal(frame.loc["cat"], words["cat"])
    before = words["cat"].copy()
    frame.loc["cat"] = 0  # the model does not share its memory
    assert np.array_equal(words["cat"], before)
    with pytest.raises(NotFittedError):
        Eigenwords().to_pandas()


def test_clusters_as_arrow_and_pandas(words):
    clusters = WordClusters(2).fit(words)
    frame = clusters.to_pandas()
    assert frame["cluster"].tolist() == clusters.labels_.tolist()
    assert {row.word: row.bits for row in frame.itertuples()} == {
        word: clusters[word] for word in words.vocabulary_.words
    }
    assert clusters.to_arrow().column_names == ["word", "count", "cluster", "bits"]


def test_neighbors_as_a_table(words):
    found = neighbor_table({"cat": words.most_similar("cat", 2), "the": []})
    assert found["word"].to_pylist() == ["cat", "cat"]
    assert [*zip(*found.select(["neighbor", "cosine"]).to_pydict().values())] == [
        *words.most_similar("cat", 2)
    ]
    assert neighbor_table({}).num_rows == 0


# Words that were always alone.


@pytest.mark.parametrize("name", ["v", "v.bin", "v.parquet"])
def test_zero_vectors_are_dropped_and_told(tmp_path, name):
    text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5 + ["alone"] * 6
    words = Eigenwords(2, window=1).fit(text)
    whole, others = words.to_arrow(), [w for w in words.vocabulary_.words if w != "alone"]

    def written():
        if name == "v.parquet":
            return pq.read_table(tmp_path / name)["word"].to_pylist()
        binary = name == "v.bin"
        return KeyedVectors.load_word2vec_format(tmp_path / name, binary=binary).index_to_key

    with pytest.warns(UserWarning, match="1 of 7 words are not written") as told:
        words.export(tmp_path / name)
    assert told[0].filename == __file__
    assert written() == others
    words.export(tmp_path / name, zero_vectors="keep")
    assert written() == words.vocabulary_.words == whole["word"].to_pylist()
    with pytest.raises(ParameterError, match="zero_vectors"):
        words.export(tmp_path / name, zero_vectors="skip")
