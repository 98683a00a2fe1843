"""What a document is: one row for each, in every form in which documents come."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from eigentext import TextCorpus, Vocabulary, engine
from eigentext.corpus import documents, encode, encode_sequences, readers
from eigentext.corpus.documents import (
    as_documents,
    checked_matrix,
    document_ids,
    in_batches,
    is_matrix,
)
from eigentext.errors import CorpusError

WORDS = Vocabulary(["aa", "bb", "cc"], [3, 2, 1])
TOKENS = st.lists(st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), max_size=7), min_size=1)


def by_hand(documents):
    """Ids as defined: the word's place, -2 for others, and -1 at the end."""
    places = {"aa": 0, "bb": 1, "cc": 2}
    return [i for words in documents for i in (*(places.get(w, -2) for w in words), -1)]


@pytest.fixture
def zipf_lines(zipf_lines):
    """Words of letters alone (wa, wb, …): text that comes as strings keeps no others."""
    letters = str.maketrans("0123456789", "abcdefghij")
    return lambda n_lines: [line.translate(letters) for line in zipf_lines(n_lines)]


@given(TOKENS)
def test_every_form_of_documents_is_the_same_documents(documents):
    expected = by_hand(documents)
    texts = [" ".join(words) for words in documents]
    for corpus in (
        as_documents(documents),
        as_documents(list(map(tuple, documents))),
        as_documents(iter(documents)),
        TextCorpus(documents, kind="tokens"),
        TextCorpus(texts, kind="texts", unit="document"),
        TextCorpus(texts, kind="texts", unit="document", tokenizer=str.split),
    ):
        assert document_ids(corpus, WORDS).tolist() == expected
        if any(documents):
            assert document_ids(encode(corpus), WORDS).tolist() == expected
    for corpus in (as_documents(["; ".join(texts), *texts]), as_documents(np.array(["", *texts]))):
        assert document_ids(corpus, WORDS).tolist()[-len(expected) :] == expected


@given(st.lists(st.sampled_from(["", " ", "aa bb", "dd", "cc\r"]), min_size=1), st.booleans())
def test_lines_of_text_are_documents_unless_blank(lines, end):
    text = "\n".join(lines) + "\n" * end
    expected = by_hand([line.split() for line in lines if line.strip()])
    corpus = TextCorpus([text], kind="texts", unit="line")
    assert document_ids(corpus, WORDS).tolist() == expected
    if expected:
        assert document_ids(encode(corpus), WORDS).tolist() == expected


def test_files_are_documents_empty_or_not(tmp_path):
    for name, text in (("1.txt", "AA bb\ndd"), ("2.txt", ""), ("3.txt", "cc\n\n")):
        (tmp_path / name).write_text(text)
    expected = by_hand([["aa", "bb", "dd"], [], ["cc"]])
    for given_files in (f"{tmp_path}/*.txt", sorted(tmp_path.glob("*.txt"))):
        corpus = as_documents(given_files)
        assert document_ids(corpus, WORDS).tolist() == expected
        assert document_ids(encode(corpus), WORDS).tolist() == expected
    lines = as_documents(f"{tmp_path}/*.txt", {**corpus.options, "unit": "line"})
    assert document_ids(lines, WORDS).tolist() == by_hand([["aa", "bb"], ["dd"], ["cc"]])


def test_a_string_keeps_its_lines_together():
    learned = {"tokenizer": "simple", "lowercase": True, "unit": "line"}  # of a file
    for options in (None, learned):
        corpus = as_documents(["AA\nbb\n", "cc"], options)
        assert document_ids(corpus, WORDS).tolist() == by_hand([["aa", "bb"], ["cc"]])


def test_text_is_split_as_it_was():
    learned = {"tokenizer": "whitespace", "lowercase": False, "unit": "document"}
    assert document_ids(as_documents(["AA bb, cc"], learned), WORDS).tolist() == [-2, -2, 2, -1]
    assert document_ids(as_documents(["AA bb, cc"]), WORDS).tolist() == [0, 1, 2, -1]
    assert document_ids(as_documents([["AA"]]), WORDS).tolist() == [-2, -1]
    lower = {"tokenizer": "simple", "lowercase": True, "unit": "document"}
    assert document_ids(as_documents(["AA bb, cc"], lower), WORDS).tolist() == [0, 1, -2, 2, -1]
    assert document_ids(as_documents([["AA"]], lower), WORDS).tolist() == [0, -1]
    for name, learned_from in (("none", "lists of tokens"), ("m.split", "text that m.split split")):
        with pytest.raises(CorpusError, match=f"fitted to {learned_from}; give"):
            as_documents(["a b"], {**lower, "tokenizer": name})


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_and_blocks_change_nothing(threads, monkeypatch, zipf_lines):
    texts = zipf_lines(300)
    words = Vocabulary.from_corpus(texts, max_size=30)
    expected = document_ids(as_documents(texts), words)
    assert np.count_nonzero(expected == -1) == 300
    monkeypatch.setattr(readers, "BLOCK_BYTES", 100)
    with engine.use(engine.ThreadEngine(threads)):
        assert np.array_equal(document_ids(as_documents(texts), words), expected)


@pytest.mark.parametrize(
    ("documents", "reason"),
    [
        ("some text in one string", "no such file.*documents are a list of strings"),
        ("a\nb", "give text as a list of strings"),
        (TextCorpus(["a b"], unit="stream"), "a stream has no documents"),
        (encode_sequences([[1, 2], [3]]), "the documents are integers; give a matrix"),
        ([["a"], "b"], "item 2 is 'b'; give tokens"),
        (["b c", ["a"]], "not a mixture"),
        (["a b", None], "item 2 is None"),
        ([["a", 1.5]], "token list 1: tokens must be strings"),
        ([], "the list is empty"),
        (None, "item 1 is None"),
    ],
)
def test_what_is_no_document(documents, reason):
    with pytest.raises(CorpusError, match=reason):
        as_documents(documents)


def test_one_file_is_no_corpus_of_documents(tmp_path):
    path = tmp_path / "all.txt"
    path.write_text("aa\nbb\n")
    for given_path in (path, str(path)):
        with pytest.raises(CorpusError, match=rf"{path}: one file is one .*unit='line'"):
            as_documents(given_path)
    assert document_ids(TextCorpus(path), WORDS).tolist() == [0, -1, 1, -1]
    learned = TextCorpus(path, unit="document").options
    assert document_ids(as_documents(path, learned), WORDS).tolist() == [0, 1, -1]


# In batches.


def batched(corpus, size):
    """All places, texts and ids, and how many batches they came in."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(documents, "_BATCH", size)
        batches = list(in_batches(corpus))
    places = [place for some, _ in batches for place in some]
    texts = [text for _, part in batches for text in part.texts or part.token_lists]
    ids = [i for _, part in batches for i in document_ids(part, WORDS).tolist()]
    return places, texts, ids, len(batches)


@given(TOKENS)
def test_batches_are_the_same_documents(tokens):
    texts = ["; ".join(words) for words in tokens]
    for corpus, given_documents in (
        (as_documents(tokens), tokens),
        (TextCorpus(texts, kind="texts", tokenizer="words", unit="document"), texts),
    ):
        expected = document_ids(corpus, WORDS).tolist()
        for size, n_batches in ((1, len(tokens)), (1 << 20, 1)):
            places, read, ids, n = batched(corpus, size)
            assert places == [("", number) for number in range(len(tokens))]
            assert read == given_documents
            assert (ids, n) == (expected, n_batches)


def test_lines_and_files_in_batches(tmp_path, monkeypatch):
    first, second = tmp_path / "1.txt", tmp_path / "2.txt.gz"
    first.write_bytes("\ufeffAA bb\r\n\n 1 \ncc".encode())
    second.write_bytes(gzip.compress(b"\n\nbb\n"))
    lines = TextCorpus([first, second], tokenizer="words", lowercase=True)
    files = TextCorpus([first, second], tokenizer="words", lowercase=True, unit="document")
    for block_bytes in (3, 1 << 20):
        monkeypatch.setattr(readers, "BLOCK_BYTES", block_bytes)
        for size in (1, 1 << 20):
            places, read, ids, _ = batched(lines, size)
            assert places == [(str(first), 1), (str(first), 3), (str(first), 4), (str(second), 3)]
            assert read == ["AA bb\r", " 1 ", "cc", "bb"]
            assert ids == by_hand([["aa", "bb"], [], ["cc"], ["bb"]])
            places, read, ids, _ = batched(files, size)
            assert places == [(str(first), 0), (str(second), 0)]
            assert read == ["AA bb\r\n\n 1 \ncc", "\n\nbb\n"]
            assert ids == document_ids(files, WORDS).tolist() == [0, 1, 2, -1, 1, -1]


def test_bytes_that_are_no_text_in_batches(tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(b"aa\nb\xff\n")
    with pytest.raises(CorpusError, match=r"bad.txt, line 2: byte 0xff is not UTF-8"):
        list(in_batches(TextCorpus(path)))
    ((_, part),) = in_batches(TextCorpus(path, errors="replace"))
    assert part.texts == ["aa", "b\ufffd"]
    ((_, part),) = in_batches(TextCorpus(["aa \0"], kind="texts", errors="replace"))
    assert document_ids(part, WORDS).tolist() == [0, -2, -1]


# Matrices.


class Table:
    """Like a data frame: no array, but one can be made of it."""

    def __array__(self, dtype=None, copy=None):
        return np.array([[1, 0], [0, 2]], dtype)


def test_matrices_are_told_from_words():
    for X in ([[1, 2]], [[], [0.5]], [np.array([1])], np.eye(2), sp.eye_array(2), np.zeros(3)):
        assert is_matrix(X)
    assert is_matrix(Table())
    for X in ([["a"]], ["a"], [], [[]], np.array(["a"]), np.array([["a"]]), "a", None, iter([[1]])):
        assert not is_matrix(X)


@pytest.mark.parametrize("make", [list, sp.csr_matrix, sp.coo_array, sp.csc_array, np.array])
@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64, np.uint64, np.float32])
def test_any_matrix_will_do(make, dtype):
    A = np.array([[0, 1, 0], [0, 0, 0], [1, 0, 1]], dtype)
    X = make(A)
    counts = checked_matrix(X)
    assert isinstance(counts, sp.csr_array)
    assert counts.toarray().tolist() == A.astype(int).tolist()
    assert counts.nnz == 3
    assert counts.has_sorted_indices
    counts.data[:] = 7
    assert np.array_equal(checked_matrix(X).toarray(), A)  # it was a copy


def test_zeros_and_repeated_entries():
    X = sp.csr_array(([1, 2, 0], [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert checked_matrix(X).nnz == 1
    assert checked_matrix(X).toarray().tolist() == [[0, 3], [0, 0]]
    assert X.nnz == 3  # left as it was


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_what_is_no_count(bad):
    X = np.ones((4, 5))
    X[2, 3] = bad
    for matrix in (X, sp.csr_array(X), sp.coo_array(X), X.tolist()):
        with pytest.raises(CorpusError, match=rf"row 2, column 3: {bad} is not a count"):
            checked_matrix(matrix)


@pytest.mark.parametrize(
    ("X", "reason"),
    [
        (np.zeros(3), r"the array has shape \(3,\)"),
        (np.ones((2, 2), complex), "complex128"),
        (np.array([["a"]]), "type <U1"),
        (np.zeros((0, 3)), "0 documents, 3 words"),
        (sp.csr_array((3, 0)), "3 documents, 0 words"),
        ([[1, 2], [1]], "the rows are not a matrix"),
    ],
)
def test_what_is_no_matrix_of_counts(X, reason):
    with pytest.raises(CorpusError, match=reason):
        checked_matrix(X)
