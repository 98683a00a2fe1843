"""`TextCorpus` against slow, obvious Python: any text, any unit, wherever the blocks are cut."""

import gzip
from itertools import product
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import TextCorpus
from eigentext.corpus import encode, readers
from eigentext.corpus.shards import shards_of
from eigentext.corpus.tokenizers import lowered
from eigentext.errors import BadItemsWarning, CorpusError, ParameterError

UNITS = ("line", "document", "stream")
TEXTS = st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")))
BLANKS = st.lists(st.text("ab é\n\r\t\u00a0\u2028\x85", max_size=12), min_size=1, max_size=4)
SOME = (TEXTS | BLANKS).filter(len)
TOKENS = st.lists(
    st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0")))
)


def twin(sources, unit, split=str.split):
    """Units without tokens are passed over; a line ends at a newline and nowhere else."""
    units = {
        "line": [split(line) for text in sources for line in lines_of(text)],
        "document": [[t for line in lines_of(text) for t in split(line)] for text in sources],
        "stream": [[t for text in sources for line in lines_of(text) for t in split(line)]],
    }
    return [tokens for tokens in units[unit] if tokens]


def lines_of(text):
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def small_blocks(size):
    return mock.patch.object(readers, "BLOCK_BYTES", size)


def sentence(line):
    """A tokenizer that shows how often it was called, and with what."""
    return ["<s>", *line.split(" "), "</s>"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("text")


def written(folder, texts):
    paths = [folder / f"{number:03}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_bytes(text.encode())
    return paths


# Units and tokens.


@given(SOME, st.sampled_from(UNITS), st.integers(1, 30))
def test_texts(texts, unit, block_bytes):
    with small_blocks(block_bytes):
        corpus = TextCorpus(texts, unit=unit, kind="texts")
        assert list(corpus) == twin(texts, unit)
        assert list(corpus) == twin(texts, unit)


def test_texts_come_in_blocks():
    corpus = TextCorpus(["ab cd"] * 100)
    for block_bytes, n_blocks in ((1, 100), (10, 50), (1000, 1)):
        with small_blocks(block_bytes):
            assert len(list(corpus.blocks())) == n_blocks


@given(SOME, st.sampled_from(UNITS), st.integers(1, 30))
def test_files(folder, texts, unit, block_bytes):
    with small_blocks(block_bytes):
        corpus = TextCorpus(written(folder, texts), unit=unit)
        assert list(corpus) == twin([text.removeprefix("\ufeff") for text in texts], unit)


@given(BLANKS, st.sampled_from(UNITS), st.integers(1, 30))
def test_a_callable_gets_every_line_once(folder, texts, unit, block_bytes):
    texts = [text.replace("\r", "") for text in texts]
    with small_blocks(block_bytes):
        files = TextCorpus(written(folder, texts), unit=unit, tokenizer=sentence)
        assert list(files) == twin(texts, unit, sentence)


@given(TOKENS.filter(len), st.sampled_from(UNITS))
def test_token_lists(token_lists, unit):
    expected = token_lists if unit != "stream" else [[t for unit in token_lists for t in unit]]
    corpus = TextCorpus(token_lists, unit=unit)
    assert list(corpus) == [tokens for tokens in expected if tokens]


def test_more_token_lists_than_a_block_takes():
    token_lists = [[f"w{number}", "x"] for number in range(25_000)]
    assert list(TextCorpus(token_lists)) == token_lists
    (stream,) = TextCorpus(tuple(token_lists), unit="stream")
    assert stream == [token for tokens in token_lists for token in tokens]


@given(st.lists(st.text("aZÉß .", max_size=9), min_size=1), st.sampled_from(["simple", str.split]))
def test_lowercase_lowers_before_it_splits(texts, tokenizer):
    options = {"tokenizer": tokenizer, "kind": "texts"}
    lowered = TextCorpus([text.lower() for text in texts], **options)
    assert list(TextCorpus(texts, lowercase=True, **options)) == list(lowered)


def test_lowercase_of_tokens():
    assert list(TextCorpus([["Ham", "É"]], lowercase=True)) == [["ham", "é"]]


@pytest.mark.parametrize("tokenizer", ["whitespace", "simple", "words", str.split])
def test_lowercase_is_one_rule_letter_by_letter(tmp_path, tokenizer):
    text, expected = "ΣΑΣ İzmir STRAẞE ÉTÉ", ["σασ", "izmir", "straße", "été"]
    options = {"tokenizer": tokenizer, "lowercase": True}
    assert list(TextCorpus([text], **options)) == [expected]
    assert list(TextCorpus([text.split()], **options)) == [expected]
    (path,) = written(tmp_path, [text])
    for block_bytes in (1, 2, 3, 7, 100):
        with small_blocks(block_bytes):
            assert list(TextCorpus(path, **options)) == [expected]
    assert [lowered(word) for word in text.split()] == expected
    assert "".join(map(lowered, text)) == lowered(text)


def test_nul_in_strings():
    with pytest.raises(CorpusError, match="line 1 of the texts: a NUL character; take it out"):
        list(TextCorpus(["a \0 b"]))


def test_iterators_do_not_disturb_one_another():
    corpus = TextCorpus(["a b", "c", "d e f"])
    assert list(zip(corpus, corpus)) == [(unit, unit) for unit in corpus]


@pytest.mark.parametrize(
    ("tokenizer", "unit"),
    [("simple", "line"), ("words", "line"), *product(["whitespace", sentence], UNITS)],
)
def test_every_cut_gives_the_same_units(tmp_path, tokenizer, unit):
    text = "\ufeffDon't stop -- \r\nthe “Bär” isn't\t\u2003well-known.\n\n  'tis\r\nno end"
    path = tmp_path / "text.txt"
    path.write_bytes(text.encode())
    corpus = TextCorpus(path, tokenizer=tokenizer, unit=unit)
    expected = list(corpus)
    for block_bytes in range(1, len(text.encode()) + 2):
        with small_blocks(block_bytes):
            assert list(corpus) == expected


@pytest.mark.parametrize("tokenizer", ["whitespace", "simple", "words", sentence])
@pytest.mark.parametrize("unit", UNITS)
def test_line_ends_of_windows(tmp_path, tokenizer, unit):
    texts = ["a b\n\nc.\n", "a b\r\n\r\nc.\r\n"]
    options = {"tokenizer": tokenizer, "unit": unit}
    unix, windows = (list(TextCorpus(path, **options)) for path in written(tmp_path, texts))
    assert windows == unix


def test_files_without_a_last_newline_stay_apart(tmp_path):
    paths = written(tmp_path, ["one", "two"])
    assert list(TextCorpus(paths)) == [["one"], ["two"]]
    assert list(TextCorpus(paths, unit="stream")) == [["one", "two"]]


def test_a_long_line_without_blanks_is_one_token(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * 10_000_000)
    with small_blocks(1 << 16):
        ((token,),) = TextCorpus(path)
    assert len(token) == 10_000_000


# What the list holds.


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("here.txt", "files"),
        ("he*.txt", "files"),
        (Path("here.txt"), "files"),
        (["here.txt"], "files"),
        (["here.txt", "two words.txt"], "files"),
        (["noending"], "files"),
        ([Path("here.txt"), "noending"], "files"),
        (["here.txt", "h*.txt"], "files"),
        (["two words*"], "files"),
        (["missing"], "texts"),
        (["A sentence.", "here/there and everywhere"], "texts"),
        (["missing.txt", "A sentence."], "texts"),
        (["~nobody at home", "why?"], "texts"),
        (["one\nmissing.txt"], "texts"),
        ([""], "texts"),
        (["x" * 5000], "texts"),
        ([["here.txt"]], "tokens"),
        ([("a", "b"), ["c"], []], "tokens"),
    ],
)
def test_what_a_list_holds(tmp_path, monkeypatch, given, kind):
    monkeypatch.chdir(tmp_path)
    for name in ("here.txt", "two words.txt", "noending"):
        Path(name).write_text("inside")
    corpus = TextCorpus(given)
    held = {"files": corpus.files, "texts": corpus.texts, "tokens": corpus.token_lists}
    assert [name for name, items in held.items() if items] == [kind]


def test_kind_leaves_nothing_to_guess(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here.txt").write_text("inside")
    assert list(TextCorpus(["here.txt"], kind="texts")) == [["here.txt"]]
    assert list(TextCorpus("here.txt", kind="texts")) == [["here.txt"]]
    assert list(TextCorpus(["here.txt"], kind="files")) == [["inside"]]
    assert list(TextCorpus([["here.txt"]], kind="tokens")) == [["here.txt"]]


def test_a_generator_is_read_once_and_kept():
    corpus = TextCorpus(f"line {number}" for number in range(3))
    assert list(corpus) == list(corpus) == [["line", "0"], ["line", "1"], ["line", "2"]]


# Mistakes, each with its place and its remedy.


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "the list is empty; give at least one"),
        ((), {}, "the list is empty"),
        (["a b", 5], {}, "item 2 is 5; give files, texts or token lists"),
        (["a b", ["c"]], {}, "not a mixture"),
        (5, {}, "item 1 is 5"),
        (None, {}, "item 1 is None"),
        ("no such.txt", {}, r"no such\.txt: no such file; check the name"),
        ("a text\nof two lines", {}, "is not a file name; give text as a list of strings"),
        ("word " * 2000, {}, "is not a file name; give text as a list of strings"),
        (["and/or"], {}, "and/or: no such file; check the name, or use kind='texts'"),
        ([["a"], ["b", 1]], {}, r"token list 2: tokens must be strings .*int found"),
        ([["a", None]], {}, "token list 1: tokens must be strings .*NoneType"),
        ([["a", b"b"]], {}, "token list 1: tokens must be strings .*bytes"),
        (
            [["a"], ["b", "\ud800"]],
            {},
            "token list 2: .* is not valid Unicode: .*U.D800 .*repair",
        ),
        ([["a\0b"]], {}, "token list 1: .*NUL"),
        (["a b"], {"kind": "tokens"}, "item 1 is 'a b'; give tokens"),
        ([["a b"]], {"kind": "texts"}, r"item 1 is \['a b'\]; give texts"),
        ([["a b"]], {"kind": "files"}, "item 1 is .*; give files"),
    ],
)
def test_mistakes(tmp_path, monkeypatch, given, options, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CorpusError, match=message):
        TextCorpus(given, **options)


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"unit": "word"}, ("line", "document", "stream", "word")),
        ({"tokenizer": "spacy"}, ("whitespace", "simple", "function", "spacy")),
        ({"tokenizer": None}, ("whitespace", "None")),
        ({"errors": "ignore"}, ("strict", "replace", "ignore")),
        ({"kind": "text"}, ("files", "texts", "tokens", "'text'")),
    ],
)
def test_unknown_options(options, names):
    with pytest.raises(ParameterError) as caught:
        TextCorpus(["a b"], **options)
    assert all(name in str(caught.value) for name in names)


def test_names_and_text_in_one_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here.txt").touch()
    with pytest.raises(
        CorpusError, match=r"'A sentence\.' is not the name of a file.*kind='files' or kind="
    ):
        TextCorpus(["here.txt", "A sentence."])


@pytest.mark.parametrize(
    ("bad", "reason"), [(b"\xff", "byte 0xff is not UTF-8"), (b"\0", "NUL byte")]
)
@pytest.mark.parametrize("packed", [False, True])
def test_bytes_that_are_no_text(tmp_path, bad, reason, packed):
    data = "\ufeffgut\n\nbös ".encode() + bad + b" end\nmore\n"
    path = tmp_path / ("text.gz" if packed else "text.txt")
    path.write_bytes(gzip.compress(data) if packed else data)
    for block_bytes in (1, 2, 3, 5, 8, 100):
        with small_blocks(block_bytes), pytest.raises(CorpusError) as caught:
            list(TextCorpus(path))
        message = str(caught.value)
        assert message.startswith(f"{path}, line 3: ")
        assert reason in message
        assert "--errors replace" in message
        assert "errors='replace'" in message
        with small_blocks(block_bytes):
            found = list(TextCorpus(path, errors="replace"))
        assert found == [["gut"], ["bös", "\ufffd", "end"], ["more"]]


def test_the_first_of_two_bad_bytes_is_named(tmp_path):
    (path,) = written(tmp_path, ["a\nb\0\n"])
    path.write_bytes(path.read_bytes() + b"\xff\n")
    with pytest.raises(CorpusError, match="line 2: a NUL byte"):
        list(TextCorpus(path))
    path.write_bytes(b"\xff\na\0\n")
    with pytest.raises(CorpusError, match="line 1: byte 0xff"):
        list(TextCorpus(path))


@pytest.mark.parametrize(("unit", "line"), [("line", 4), ("document", 3), ("stream", 4)])
def test_lone_surrogates_in_strings(unit, line):
    texts = ["fine", "two\nlines", "bad \ud800 one"]
    for block_bytes in (1, 100):
        with small_blocks(block_bytes), pytest.raises(CorpusError) as caught:
            list(TextCorpus(texts, unit=unit))
        message = str(caught.value)
        assert f"line {line} of the texts: half a character, U+D800" in message
        assert "surrogatepass" in message
    found = list(TextCorpus(texts, unit=unit, errors="replace"))
    assert set(found[-1][-2]) == {"\ufffd"}


@pytest.mark.parametrize(
    ("result", "message"),
    [([1], "int found"), ([None], "NoneType"), ([b"x"], "bytes"), (["\0"], "NUL"), (None, "None")],
)
def test_a_tokenizer_that_makes_no_tokens(result, message):
    corpus = TextCorpus(["a line of text"], tokenizer=lambda line: result)
    with pytest.raises(CorpusError, match=f"given 'a line of text': tokens must be.*{message}"):
        list(corpus)


@pytest.mark.parametrize("content", ["", "\ufeff", " \n\t\n"])
def test_a_file_without_words(tmp_path, content):
    (path,) = written(tmp_path, [content])
    assert list(TextCorpus(path)) == []
    with pytest.raises(CorpusError, match=r"000\.txt: contains no words; is the file empty\?"):
        encode(TextCorpus(path))


# Fingerprints, size, repr.


def test_equal_input_has_equal_fingerprints(tmp_path):
    one, two = written(tmp_path, ["a b\n", "a b\n"])
    assert TextCorpus(one).fingerprint() == TextCorpus(two).fingerprint()
    assert TextCorpus([["a"]]).fingerprint() == TextCorpus([("a",)]).fingerprint()


def test_fingerprints_tell_everything_apart(tmp_path):
    one, two = written(tmp_path, ["a b\n", "a b\nc"])
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(b"a b\n"))
    copy = tmp_path / "copy.txt"
    copy.write_bytes(packed.read_bytes())
    corpora = [
        TextCorpus(one),
        TextCorpus(two),
        TextCorpus([one, two]),
        TextCorpus([two, one]),
        TextCorpus(packed),
        TextCorpus(copy),
        TextCorpus(one, unit="stream"),
        TextCorpus(one, lowercase=True),
        TextCorpus(one, tokenizer="simple"),
        TextCorpus(one, errors="replace"),
        TextCorpus(["a b\n"]),
        TextCorpus(["a", "b"], kind="texts"),
        TextCorpus(["ab"], kind="texts"),
        TextCorpus([["a", "b"]]),
        TextCorpus([["a"], ["b"]]),
        TextCorpus([["a", "\nb"]]),
        TextCorpus([["ab"]]),
    ]
    assert len({corpus.fingerprint() for corpus in corpora}) == len(corpora)


@given(*[st.lists(st.lists(st.text("a0:;\n", max_size=4), max_size=3), min_size=1, max_size=3)] * 2)
def test_fingerprints_of_token_lists(one, two):
    equal = TextCorpus(one).fingerprint() == TextCorpus(two).fingerprint()
    assert equal == (one == two)


def test_size_is_known_for_plain_files_alone(tmp_path):
    one, two = written(tmp_path, ["a b\n", "é"])
    packed = tmp_path / "text.GZ"
    packed.write_bytes(gzip.compress(b"a b\n"))
    assert TextCorpus([one, two]).size == 6
    assert TextCorpus([one, packed]).size is None
    assert TextCorpus(["a b"]).size is None


def test_repr_says_what_is_in_it(tmp_path):
    (path,) = written(tmp_path, ["a"])
    assert str(path) in repr(TextCorpus(path))
    assert "2 texts" in repr(TextCorpus(["a b", "c d"]))
    assert "1 token lists" in repr(TextCorpus([["a"]]))


# Encodings, and lines that are skipped.


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_encodings(tmp_path, encoding, ending):
    text = "Él comió jamón\nañadió más\n\nfin"
    path = tmp_path / f"text.txt{ending}"
    data = text.encode(encoding)
    path.write_bytes(gzip.compress(data) if ending else data)
    for unit, block_bytes in product(UNITS, (1, 3, 100)):
        with small_blocks(block_bytes):
            corpus = TextCorpus(path, encoding=encoding, unit=unit)
            assert list(corpus) == twin([text], unit)
            parts = shards_of(corpus, 4)
            assert [token for part in parts for unit in part for token in unit] == text.split()
    if encoding != "utf-8-sig":
        assert corpus.size is None  # its bytes are not those of the file
        with pytest.raises(CorpusError) as caught:
            list(TextCorpus(path))
        assert "(--encoding " in str(caught.value) or "name its encoding" in str(caught.value)
        assert "or read it with errors='replace' (--errors replace)" in str(caught.value)
        assert corpus.fingerprint() != TextCorpus(path, unit=corpus.unit).fingerprint()


def test_the_wrong_encoding(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(b"one\ntwo \x81\n")
    with pytest.raises(CorpusError, match="line 2: byte 0x81 is not cp1252; name another encoding"):
        list(TextCorpus(path, encoding="cp1252"))
    replaced = TextCorpus(path, encoding="cp1252", errors="replace")
    assert list(replaced) == [["one"], ["two", "\ufffd"]]
    with pytest.raises(ParameterError, match="encoding must be the name"):
        TextCorpus(path, encoding="klingon")


@pytest.mark.parametrize(("encoding", "bad"), [("utf-8", b"d\xe9j\xe0"), ("cp1252", b"\x81")])
@pytest.mark.parametrize("block_bytes", [1, 20, 1000])
def test_lines_that_are_not_text_can_be_skipped(tmp_path, encoding, bad, block_bytes):
    path = tmp_path / "text.txt"
    path.write_bytes(b"a b\n" * 15 + bad + b" c\n" + b"a b\n" * 14)
    corpus = TextCorpus(path, errors="skip", encoding=encoding)
    with small_blocks(block_bytes):
        with pytest.warns(BadItemsWarning, match=r"skipped 1 of 30 lines: .*text.txt, line 16: "):
            assert list(corpus) == [["a", "b"]] * 29
        assert list(corpus) == [["a", "b"]] * 29
    document = TextCorpus(path, errors="skip", encoding=encoding, unit="document")
    with pytest.warns(BadItemsWarning):
        assert list(document) == [["a", "b"] * 29]
    path.write_bytes(b"a b\n" * 40 + (bad + b"\n") * 3)
    with pytest.warns(BadItemsWarning, match=r"line 41.*line 42.*line 43"):
        list(TextCorpus(path, errors="skip", encoding=encoding))
    path.write_bytes(b"a b\n" * 5 + bad + b"\n")
    with pytest.raises(CorpusError, match="1 of 6 lines are bad, more than a tenth"):
        list(TextCorpus(path, errors="skip", encoding=encoding))
