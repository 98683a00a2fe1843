"""Files of other tools: read as they are, refused by line, and never believed."""

import struct
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import eigentext as et
from eigentext.errors import BadItemsWarning, CorpusError, EigentextError, ParameterError
from eigentext.words.vector_files import read_vectors

WORDS = ["the", "café", "5", "No.", "…", "a\xa0b"]
VECTORS = np.random.default_rng(0).standard_normal((6, 3)).astype(np.float32) * 10
FORMATS = ["word2vec", "word2vec-binary", "glove"]


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def binary(words=WORDS, vectors=VECTORS, end=b"\n", header=None):
    n, d = header or (len(words), vectors.shape[1])
    parts = [
        word.encode() + b" " + row.astype("<f4").tobytes() + end
        for word, row in zip(words, vectors)
    ]
    return f"{n} {d}\n".encode() + b"".join(parts)


def lines(words=WORDS, vectors=VECTORS, end="\n"):
    return "".join(
        " ".join([word, *map(str, row.tolist())]) + end for word, row in zip(words, vectors)
    )


@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
@pytest.mark.parametrize("format", FORMATS)
def test_what_export_writes_is_read(tmp_path, format, packed):
    text = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5
    words = et.Eigenwords(4, window=2).fit(text)
    path = tmp_path / f"vectors{packed}"
    words.export(path, format)
    found = read_vectors(path)
    assert found.format == format
    assert found.words == words.vocabulary_.words
    np.testing.assert_array_equal(found.vectors, words.vectors_)


@pytest.mark.parametrize("is_binary", [False, True])
def test_what_gensim_writes_is_read(tmp_path, is_binary):
    gensim = pytest.importorskip("gensim.models")
    keyed = gensim.KeyedVectors(3)
    keyed.add_vectors(WORDS, VECTORS)
    keyed.save_word2vec_format(str(tmp_path / "file"), binary=is_binary)
    found = read_vectors(tmp_path / "file")
    assert found.words == WORDS
    np.testing.assert_allclose(found.vectors, VECTORS, rtol=1e-6)
    again = gensim.KeyedVectors.load_word2vec_format(str(tmp_path / "file"), binary=is_binary)
    np.testing.assert_array_equal(found.vectors, again.vectors)


def test_glove_files_have_no_first_line(tmp_path):
    found = read_vectors(written(tmp_path / "glove.txt", lines()))
    assert found.format == "glove"
    assert found.words == WORDS
    np.testing.assert_array_equal(found.vectors, VECTORS)


def test_fasttext_has_a_blank_at_the_end_of_lines(tmp_path):
    found = read_vectors(written(tmp_path / "wiki.vec", "6 3\n" + lines(end=" \n")))
    assert found.format == "word2vec"
    assert found.words == WORDS
    np.testing.assert_array_equal(found.vectors, VECTORS)


def test_line_ends_of_windows_marks_of_bytes_and_empty_lines(tmp_path):
    text = "\ufeff6 3\r\n" + lines(end="\r\n") + "\r\n\n"
    np.testing.assert_array_equal(read_vectors(written(tmp_path / "a", text)).vectors, VECTORS)


def test_words_may_have_blanks_in_text(tmp_path):
    """As in GloVe's vectors of the Common Crawl."""
    names = [". . .", "at name@domain.com", "No. 5", "b", "c", "d"]
    found = read_vectors(written(tmp_path / "a", "x 1.5 2 3\n" + lines(names)))
    assert found.words == ["x", *names]
    np.testing.assert_array_equal(found.vectors[1:], VECTORS)


def test_binary_files_with_and_without_line_ends(tmp_path):
    for end in (b"\n", b""):
        found = read_vectors(written(tmp_path / "a", binary(end=end)))
        assert found.words == WORDS
        np.testing.assert_array_equal(found.vectors, VECTORS)


def test_numbers_in_every_notation(tmp_path):
    found = read_vectors(written(tmp_path / "a", "x 1 -2.5e-3 +3\ny .5 1E2 -0\n"))
    np.testing.assert_allclose(found.vectors, [[1, -0.0025, 3], [0.5, 100, 0]], rtol=1e-6)


@pytest.mark.parametrize("content", ["6 3\n" + lines(), lines(), binary()])
def test_only_the_first_words(tmp_path, content):
    path = written(tmp_path / "a", content)
    found = read_vectors(path, max_words=2)
    assert found.words == WORDS[:2]
    assert len(read_vectors(path, max_words=100).words) == 6
    with pytest.raises(ParameterError, match="max_words must be"):
        read_vectors(path, max_words=0)


def test_words_that_come_twice_keep_their_first_vector(tmp_path):
    path = written(tmp_path / "a", "x 1 2\ny 3 4\nx 5 6\n")
    with pytest.warns(UserWarning, match="1 words come again, such as 'x'"):
        found = read_vectors(path)
    assert found.words == ["x", "y"]
    assert found.vectors.tolist() == [[1, 2], [3, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x 1 2\ny 1\n", "line 2: 1 numbers after the word, not 2"),
        ("x 1 2\ny 1.5 2.5 3.5\n", "line 2: 3 numbers after the word, not 2"),
        ("x 1 2\ny 1 two\n", "line 2: 'two' is not a number"),
        ("x 1 2\ny 1 1_0\n", "line 2: '1_0' is not a number"),
        ("x 1 2\ny nan 2\n", "line 2: the vector of 'y' is not finite"),
        ("x 1 2\ny 1 inf\n", "line 2: the vector of 'y' is not finite"),
        ("x 1 2\ny 1 1e39\n", "line 2: the vector of 'y' is not finite"),
        ("x 1 2\n 1.5 2 3\n", "line 2: has no word at its start"),
        (b"x 1 2\n\xff 1 2\n", "line 2: is not UTF-8"),
        ("Once upon a time\n", "line 1: 'Once upon a time' is not a word with numbers"),
        ("", "line 1: '' is not a word with numbers"),
        ("2 2\nx 1 2\n", "ends after 1 words, but its first line says 2"),
        ("1 2\nx 1 2\ny 3 4\n", "line 1: says 1 words, but the file has more"),
        ("999999999999 2\nx 1 2\n", "ends after 1 words"),
        ("1 999999999\nx 1 2\n", "line 1: vectors of 999999999 dimensions"),
        ("1 0\nx\n", "line 1: vectors of 0 dimensions"),
        ("0 3\n", "has no vectors"),
        (binary(header=(7, 3)), "ends after 6 words"),
        (binary(header=(5, 3)), "line 1: says 5 words, but the file has more"),
        (binary(header=(99999999999, 3)), "ends after 6 words"),
        (binary()[:-3], "ends within word 6"),
        (binary(header=(6, 99999)), "ends within word 1"),
        (binary(["x", "y"], np.float32([[1, 2], [np.nan, 0]])), "word 2 .'y'.: its vector is not"),
        (b"1 2\n" + b"\0" * 100_000, "word 1: has more than 65536 bytes"),
        (struct.pack("<i", 793712314) + b"\0" * 20, r"a model of fastText.* \.vec"),
        (b"\x80\x04\x95", "a pickle, which may run code"),
        (b"PK\x03\x04", "a zip archive; unpack it"),
    ],
)
def test_errors_name_the_file_and_the_line(tmp_path, content, message):
    with pytest.raises(CorpusError, match=rf"vectors\.txt(, |: ).*{message}|.*{message}") as caught:
        read_vectors(written(tmp_path / "vectors.txt", content))
    assert "vectors.txt" in str(caught.value)


def test_models_of_ours_are_named(tmp_path):
    et.Eigenwords(2, window=1).fit(["a b c", "b c a"] * 5).save(tmp_path / "model")
    with pytest.raises(CorpusError, match=r"open it with et\.load"):
        read_vectors(tmp_path / "model")


def test_files_that_are_missing_or_folders(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        read_vectors(tmp_path / "nowhere")
    with pytest.raises(CorpusError, match="is a folder"):
        read_vectors(tmp_path)


def test_a_given_format_is_used(tmp_path):
    path = written(tmp_path / "a", "5 3\n6 4\n")  # vectors of one dimension, or a first line
    assert read_vectors(path, "glove").words == ["5", "6"]
    with pytest.raises(CorpusError, match=r"ends after|numbers after"):
        read_vectors(path)
    with pytest.raises(CorpusError, match="give format='glove'"):
        read_vectors(written(tmp_path / "b", "x 1 2\n"), "word2vec")
    with pytest.raises(ParameterError, match="format must be one of"):
        read_vectors(path, "parquet")


def test_bad_words_may_be_skipped(tmp_path):
    good = "".join(f"w{k} {k} 1\n" for k in range(40))
    path = written(tmp_path / "a", good + "bad nan 1\n" + "good 1 1\n")
    with pytest.warns(BadItemsWarning, match="skipped 1 of 42 words: .*line 41"):
        found = read_vectors(path, errors="skip")
    assert found.words[-1] == "good"
    assert len(found.vectors) == len(found.words) == 41
    vectors = np.ones((40, 2), np.float32)
    vectors[7, 1] = np.inf
    path = written(tmp_path / "b", binary([f"w{k}" for k in range(40)], vectors))
    with pytest.warns(BadItemsWarning, match=r"skipped 1 of 40 words: .*word 8 \('w7'\)"):
        assert len(read_vectors(path, errors="skip").words) == 39


SEEDS = ["6 3\n" + lines(), lines(), binary(), binary(end=b"")]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([one if isinstance(one, bytes) else one.encode() for one in SEEDS]),
    st.lists(st.tuples(st.integers(0, 200), st.binary(max_size=4)), max_size=4),
    st.integers(0, 300),
)
def test_any_bytes_are_read_or_refused(tmp_path_factory, content, edits, length):
    for place, piece in edits:
        content = content[:place] + piece + content[place + len(piece) :]
    path = written(tmp_path_factory.getbasetemp() / "fuzzed", content[:length])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            found = read_vectors(path)
        except EigentextError as error:
            assert "fuzzed" in str(error)
        else:
            assert len(found.words) == len(found.vectors) == len(set(found.words)) > 0
            assert np.isfinite(found.vectors).all()
