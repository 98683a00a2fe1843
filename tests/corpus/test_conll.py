"""Sentences in columns: read, refused where they are ragged, and written so that they read back."""

import bz2
import gzip
import lzma
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext.corpus import conll, readers
from eigentext.corpus.conll import factored, parse_conll, read_conll, write_conll
from eigentext.errors import CorpusError, EigentextError, ParameterError

DOGS = [[("The", "DT", "B-NP"), ("dog", "NN", "I-NP")], [("barks", "VBZ", "B-VP")]]
WORDS = st.text(
    st.characters(exclude_characters=" \t\n\r\f\v\0", codec="utf-8"), min_size=1
).filter(lambda word: word != "-DOCSTART-")  # which is no word
PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("conll")


def read(path, text, **options):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(read_conll(path, **options))


# Reading.


@pytest.mark.parametrize(
    "text",
    [
        "The DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n",
        "The DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP",  # no newline at the end
        "\n \nThe DT B-NP\r\ndog NN I-NP\r\n\r\n\r\n\nbarks VBZ B-VP\n\n\n",
        "The\tDT\tB-NP\ndog\tNN\tI-NP\n\t\nbarks\tVBZ\tB-VP\n",  # a lone tab, as in WNUT17
        "  The  DT B-NP \ndog\t NN\tI-NP\t\n\t\t\nbarks VBZ B-VP\t\n",
        "-DOCSTART- -X- O\n\nThe DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n",
        "-DOCSTART-\nThe DT B-NP\ndog NN I-NP\n-DOCSTART- a b c d\nbarks VBZ B-VP\n",
        "\ufeffThe DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n",
    ],
)
def test_blank_lines_are_between_sentences(tmp_path, text):
    assert read(tmp_path / "dogs", text) == DOGS
    assert parse_conll(text, 3) == parse_conll(text.encode(), 3) == DOGS


def test_tabs_alone_are_between_columns_where_there_are_any(tmp_path):
    text = "New York\tB-LOC\n\nis O\n2\u00a0000\u2028x O\n"
    sentences = read(tmp_path / "york", text, columns=("word", "label"))
    assert sentences == [[("New York", "B-LOC")], [("is", "O"), ("2\u00a0000\u2028x", "O")]]


def test_columns_are_chosen(tmp_path):
    text = "U.N. NNP I-NP I-ORG\nofficial NN I-NP O\n"
    columns = ("word", "pos", None, "label")
    assert read(tmp_path / "four", text, columns=columns) == [
        [("U.N.", "NNP", "I-ORG"), ("official", "NN", "O")]
    ]
    assert read(tmp_path / "four", text, columns=["word", None, None, None]) == [
        [("U.N.",), ("official",)]
    ]


def test_sentences_are_yielded_as_they_are_read(tmp_path):
    sentences = iter(read_conll(_write(tmp_path / "some", "a D O\n\nb D O\n\nc O\n")))
    assert next(sentences) == [("a", "D", "O")]
    assert next(sentences) == [("b", "D", "O")]
    with pytest.raises(CorpusError, match="line 5: 'c O' has 2 columns"):
        next(sentences)


def _write(path, text):
    path.write_text(text)
    return path


@given(st.lists(st.sampled_from(["a D O", "b D B-X", "", "\t", "é D O"])), st.integers(1, 9))
def test_blocks_do_not_matter(folder, lines, block_bytes):
    text = "\n".join(["first D O", *lines])
    path = folder / "blocks"
    whole = read(path, text)
    with mock.patch.object(readers, "BLOCK_BYTES", block_bytes):
        assert list(read_conll(path)) == whole
    with mock.patch.object(conll, "_MAX_LINES", 1):
        assert list(read_conll(path)) == whole == parse_conll(text, 3)
    assert sum(map(len, whole)) == 1 + sum(len(line) > 1 for line in lines)


@pytest.mark.parametrize("ending", PACK)
def test_packed_files_and_many_of_them(tmp_path, ending):
    paths = [tmp_path / f"{name}.conll{ending}" for name in "ab"]
    paths[0].write_bytes(PACK[ending](b"a D O\n\nb D O"))  # its end ends a sentence
    paths[1].write_bytes(PACK[ending](b"c D O\n"))
    expected = [[("a", "D", "O")], [("b", "D", "O")], [("c", "D", "O")]]
    assert list(read_conll(tmp_path / f"*.conll{ending}")) == expected
    assert list(read_conll(str(tmp_path / f"*.conll{ending}"))) == expected
    assert list(read_conll(paths[::-1])) == expected[2:] + expected[:2]


def test_equal_lines_are_one_token(tmp_path):
    (first, second), _ = read(tmp_path / "same", "a D O\na D O\n\nb D O\n")
    assert first is second


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("dog NN", r"'dog NN' has 2 columns, not 3; .*columns=\('word', 'label'\)"),
        ("dog", r"'dog' has 1 column, not 3; .*columns=\('word',\)"),
        ("a b c d", r"'a b c d' has 4 columns, not 3; .*=\('word', 'pos', None, 'label'\)"),
        ("a b\tc", r"'a b\\tc' has 2 columns, not 3"),
        ("a\t \tc", r"'a\\t \\tc' has an empty column; fill it"),
        (b"caf\xe9 NN O", "byte 0xe9 is not UTF-8; it looks like cp1252: .*--encoding cp1252"),
        (b"d\0og NN O", "a NUL byte.* convert it"),
    ],
)
def test_lines_that_are_none(tmp_path, line, reason):
    line = line if isinstance(line, bytes) else line.encode()
    text = b"The DT B-NP\r\n\n" + line + b"\nx y z\n"
    path = tmp_path / "bad.conll"
    with pytest.raises(CorpusError, match=rf"^{path}, line 3: {reason}"):
        read(path, text)
    with pytest.raises(ValueError, match=f"^line 3: {reason.partition(';')[0]}"):
        parse_conll(text, 3)


def test_files_that_are_none(tmp_path):
    for text in ("", "\n\n \t\n", "-DOCSTART- -X- O\n\n", "\ufeff"):
        with pytest.raises(
            CorpusError, match=r"empty\.conll: contains no sentences; is the file emp"
        ):
            read(tmp_path / "empty.conll", text)
        assert parse_conll(text, 3) == []
    with pytest.raises(CorpusError, match=r"gone\.conll: no such file"):
        read_conll(tmp_path / "gone.conll")  # at once, not when it is read
    with pytest.raises(CorpusError, match=r"the list of files is empty"):
        read_conll([])
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"a D O\n" * 99)[:-9])
    with pytest.raises(CorpusError, match=r"cut\.gz: not a complete \.gz file"):
        list(read_conll(tmp_path / "cut.gz"))


@pytest.mark.parametrize("columns", ["word", (), [None, None], ("word", 3), 2])
def test_columns_that_are_none(tmp_path, columns):
    with pytest.raises(ParameterError, match="columns must be a list of names, such as"):
        read(tmp_path / "any", "a b", columns=columns)


# Writing.


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.lists(st.lists(st.tuples(*[WORDS] * n), min_size=1), min_size=1)
    )
)
def test_what_is_written_is_read(folder, sentences):
    write_conll(sentences, folder / "written")
    columns = ["column"] * len(sentences[0][0])
    assert list(read_conll(folder / "written", columns=columns)) == sentences


@pytest.mark.parametrize("ending", PACK)
def test_packed_as_the_name_says(tmp_path, ending):
    path = tmp_path / f"dogs.conll{ending}"
    write_conll(iter(map(iter, DOGS)), str(path))
    assert list(read_conll(path)) == DOGS
    data = path.read_bytes()
    write_conll([[list(token) for token in sentence] for sentence in DOGS], path)
    assert path.read_bytes() == data
    if not ending:
        assert data == b"The DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n\n"
    assert list(tmp_path.iterdir()) == [path]


def test_a_mark_at_the_start_belongs_to_its_word(tmp_path):
    sentences = [[("\ufeffdog", "N")], [("\ufeff", "X")]]
    write_conll(sentences, tmp_path / "marked")
    assert list(read_conll(tmp_path / "marked", columns=("word", "label"))) == sentences


@pytest.mark.parametrize(
    ("token", "reason"),
    [
        (("New York", "N"), "'New York' is empty or contains blanks .*like New_York"),
        (("dog", ""), "'' is empty"),
        (("do\ng", "N"), r"'do\\ng' is empty"),
        (("d\0g", "N"), r"'d\\x00g' is empty"),
        (("d\ud800g", "N"), r"'d\\ud800g' is empty"),
        (("-DOCSTART-", "N"), "-DOCSTART- marks the border of documents; leave"),
        (("dog",), r"\('dog',\) has 1 columns, but tokens before it have 2; give all"),
        (("dog", "N", "O"), ".* has 3 columns, but tokens before it have 2"),
        (("dog", None), r"\('dog', None\) is not a tuple of strings"),
        (("dog", ["N"]), r"\('dog', \['N'\]\) is not a tuple of strings"),
        ((), r"\(\) is not a tuple"),
        ("dog", "'dog' is not a tuple"),
        (None, "None is not a tuple"),
    ],
)
def test_tokens_that_cannot_be_written(tmp_path, token, reason):
    path = tmp_path / "kept"
    path.write_text("as it was")
    with pytest.raises(CorpusError, match=f"^sentence 2, token 3: {reason}"):
        write_conll([[("a", "D")], [("a", "D"), ("b", "D"), token]], path)
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]


def test_sentences_and_places_that_cannot_be_written(tmp_path):
    with pytest.raises(CorpusError, match=r"^sentence 2: has no tokens; leave it out"):
        write_conll([[("a", "D")], []], tmp_path / "none")
    with pytest.raises(EigentextError, match="is a folder"):
        write_conll(DOGS, tmp_path)


# Limits that no honest file meets.


def test_a_line_without_end_is_no_token(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"a D\n" + b"x " * (1 << 19) + b"y D\n")
    with pytest.raises(
        CorpusError, match=r"long.txt, line 2: the line has 1048579 bytes; give one tok"
    ):
        list(read_conll(path, columns=("word", "label")))
    path.write_bytes(b"a " + b"x" * ((1 << 20) - 2) + b"\n")
    ((token,),) = read_conll(path, columns=("word", "label"))
    assert len(token[1]) == (1 << 20) - 2


def test_a_sentence_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(conll, "_MAX_TOKENS", 100)
    path = tmp_path / "long.txt"
    path.write_text("a D\n" * 100 + "\n" + "a D\n" * 101)
    with pytest.raises(
        CorpusError, match=r"line 202: the sentence has more than 100 tokens; put an"
    ):
        list(read_conll(path, columns=("word", "label")))


# What else is made of them.


def test_factored_tokens():
    sentences = [[("a|b", "NN", "O")], [("c", "D", "B-X"), ("d", "E", "I-X")]]
    assert factored(sentences) == [[("a|b|NN", "O")], [("c|D", "B-X"), ("d|E", "I-X")]]


def test_the_real_wnut17(data_folder, tmp_path):
    path = data_folder / "ner/wnut17/train.conll"
    if not path.exists():
        pytest.skip("no WNUT17 in the data folder")
    sentences = list(et.read_conll(path, columns=("word", "label")))
    assert len(sentences) == 3_394
    assert sentences[0][:3] == [("@paulwalk", "O"), ("It", "O"), ("'s", "O")]
    et.write_conll(sentences, tmp_path / "again.xz")
    assert list(et.read_conll(tmp_path / "again.xz", columns=("word", "label"))) == sentences
