"""Columns that are found by looking: the formats of the CoNLL tasks, in small, and other files."""

import logging
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.columns import Columns, Head
from eigentext.corpus.conll import read_conll, read_placed, write_conll
from eigentext.errors import BadItemsWarning, CorpusError, ParameterError

UD = (
    "# sent_id = 1\n# text = vámonos al mar\n"
    "1-2\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "1\tvamos\tir\tVERB\tv\tMood=Imp\t0\troot\t_\t_\n"
    "2\tnos\tnosotros\tPRON\tp\t\t1\tobj\t_\t_\n"  # an empty column that is not read
    "2.1\tya\t_\tADV\ta\t_\t_\t_\t_\t_\n"
    "3\tal mar\tmar\tNOUN\tn\t_\t1\tobl\t_\tSpaceAfter=No\n\n"
    "# text = sí\n1\tsí\tsí\tINTJ\ti\t_\t0\troot\t_\t_\n"
)
NER = "-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\nrejects VBZ I-VP O\n\nRome NNP I-NP I-LOC\n"


@pytest.fixture
def read(tmp_path):
    def run(text, **options):
        path = tmp_path / "file.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(read_conll(path, **options))

    return run


# Formats.


def test_two_and_three_columns(read, caplog):
    with caplog.at_level(logging.INFO, "eigentext"):
        assert read("EU B-ORG\n\nRome B-LOC\n") == [[("EU", "B-ORG")], [("Rome", "B-LOC")]]
        assert read("# NN O\n# NN O\n") == [[("#", "NN", "O")] * 2]  # a word, no comment
        assert read("1 Z O\n2 Z O\n\n1 Z O\n") == [
            [("1", "Z", "O"), ("2", "Z", "O")],
            [("1", "Z", "O")],
        ]
    assert caplog.messages == []


@given(
    st.lists(
        st.lists(
            st.tuples(
                *[st.sampled_from(["a", "#", "1", "2", "(", "<s>", "O", "B-X", "_", "{"])] * 3
            ),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=4,
    )
)
def test_three_columns_are_what_they_were(tmp_path_factory, sentences):
    """Whatever they hold: word, part of speech and label, unless the first one counts."""
    path = tmp_path_factory.getbasetemp() / "three"
    write_conll(sentences, path)
    assert list(read_conll(path)) == sentences
    assert list(read_conll(path, columns=("word", "pos", "label"))) == sentences


def test_conll_2003(read, caplog):
    expected = [[("EU", "NNP", "I-ORG"), ("rejects", "VBZ", "O")], [("Rome", "NNP", "I-LOC")]]
    with caplog.at_level(logging.INFO, "eigentext"):
        assert read(NER) == expected
    (note,) = caplog.messages
    assert note.endswith(
        "file.txt: CoNLL-2003, with the columns word, pos, chunk, ner; read as word, pos, ner. "
        "Name others with columns=[…] (--columns)"
    )
    german = NER.replace("NNP", "eu NNP").replace("VBZ", "reject VBZ")
    assert read(german) == expected
    assert read(NER, columns=("word", "chunk"))[1] == [("Rome", "I-NP")]
    assert read(NER, columns=("word", "pos", None, "label")) == expected
    with pytest.raises(CorpusError, match="line 3: 'EU NNP I-NP I-ORG' has 4 columns, not 2"):
        read(NER, columns=("word", "label"))


def test_conll_u(read):
    words = [["vamos", "nos", "al mar"], ["sí"]]
    tags = [["VERB", "PRON", "NOUN"], ["INTJ"]]
    assert read(UD) == [list(zip(*pair)) for pair in zip(words, tags)]
    assert read(UD.replace("\n", "\r\n")) == read(UD)
    assert read(UD, columns=("form", "xpos"))[1] == [("sí", "i")]
    assert read(UD, columns=("lemma", "pos", "word"))[1] == [("sí", "INTJ", "sí")]
    assert read(UD, columns=[None, "word", *[None] * 6, None, "label"])[0][2] == (
        "al mar",
        "SpaceAfter=No",
    )
    without = UD
    for tag in sum(tags, ["ADV"]):
        without = without.replace(f"\t{tag}\t", "\t_\t")
    assert read(without)[0] == [("vamos", "v"), ("nos", "p"), ("al mar", "n")]
    with pytest.raises(ParameterError, match="CoNLL-U has the columns id, word, lemma, upos, xpos"):
        read(UD, columns=("word", "ner"))
    for tag in "vpani":
        without = without.replace(f"\t_\t{tag}\t", "\t_\t_\t")
    with pytest.raises(CorpusError, match=r"the column upos has no values \(_\); name another"):
        read(without)
    assert read(without, columns=("word", "deprel"))[1] == [("sí", "root")]


def test_conll_u_plus(read):
    text = "# global.columns = ID FORM UPOS MWE\n1\tuno\tNUM\t*\n2\tdos\tNUM\t1\n\n" * 6
    assert read(text)[0] == [("uno", "NUM"), ("dos", "NUM")]
    assert read(text, columns=("word", "mwe"))[0] == [("uno", "*"), ("dos", "1")]


def test_conll_2009(read):
    """The last columns are one for each predicate of a sentence."""
    row = "{}\t{}\tl\tl\t{}\tP\tf\tf\t0\t0\tr\tr\t_\t_"
    text = row.format(1, "a", "D") + "\tA0\n" + row.format(2, "dog", "N") + "\t_\n\n"
    text += row.format(1, "it", "P") + "\n"
    assert read(text) == [[("a", "D"), ("dog", "N")], [("it", "P")]]
    assert read(text, columns=("word", "plemma"))[1] == [("it", "l")]


def test_columns_that_say_nothing(read):
    assert read("EU _ _ B-ORG\nis _ _ O\n") == [[("EU", "B-ORG"), ("is", "O")]]
    numbered = "# a note\n" + "".join(f"{i}\tw{i}\tB-X\tO\n" for i in range(1, 8)) + "\n"
    assert read(numbered * 2) == [[(f"w{i}", "B-X", "O") for i in range(1, 8)]] * 2


def test_schemes_stay_as_they_are(read):
    for tags in (["I-X", "B-X"], ["S-X", "E-X"], ["U-X", "L-X"]):
        assert read(f"a {tags[0]}\nb {tags[1]}\n") == [[("a", tags[0]), ("b", tags[1])]]


# What is refused.


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\nb\n", r"line 1: 'a' has no label; give .*columns=\['word'\] \(--columns word\)"),
        (
            "a b c d\ne f g h\n",
            r"line 1: 'a b c d' has 4 columns \(1\. a, e; 2\. b, f; 3\. c, g; 4\. d, h\); name "
            r"them.*columns=\['word', 'pos', None, 'label'\] \(--columns word,pos,_,label\)",
        ),
        ("( (S (NP (N dogs)) (VP (V bark))) )\n", "line 1: .* looks like trees in brackets"),
        ("(S\n  (NP (N dogs))\n  (VP (V bark)))\n", "line 1: '.S' looks like trees in brackets"),
        ('{"text": "dogs bark"}\n{"text": "x"}\n', "line 1: .* looks like JSON"),
        ('[\n  {"text": "dogs bark"}\n]\n', "line 1: '.' looks like JSON"),
        ('<?xml version="1.0"?>\n<corpus>\n<s id="1">a b</s>\n', "line 1: .* looks like XML"),
        ("word,label\nEU,B-ORG\n", "line 1: .* looks like a table with commas"),
        (
            "The dog barks .\n\nIt is a very long day .\nYes\nAnd so on and on\n",
            "line 1: .* looks like plain text, not like one token on each line",
        ),
        (
            "The/D dog/N barks/V ./.\n\nIt/P is/V\nYes/U\nAnd/C so/R on/R\nA/B\n",
            "line 1: .* looks like sentences of word/TAG",
        ),
        (b"PK\x03\x04 of a folder", "looks like a ZIP archive: unpack it first"),
        ("EU B-ORG\n".encode("utf-16"), "line 1: .* it looks like utf-16: read it with"),
        ("d\xe9j\xe0\n".encode("latin-1"), "line 1: byte 0xe9 is not UTF-8; it looks like cp1252"),
        ("", "contains no sentences; is the file empty"),
        ("# only\n\n# comments\n", "line 1: '# only' has|line 1: .*"),
    ],
)
def test_other_files_are_named(read, text, reason):
    with pytest.raises(CorpusError, match=rf"file\.txt(, |: ){reason}"):
        read(text)


def test_other_files_with_columns_that_were_told(read):
    with pytest.raises(CorpusError, match="looks like trees"):
        read("( (S (NP (N dogs)) (VP (V bark))) )\n", columns=("word", "label"))
    assert read("a\nb\n", columns=["word"]) == [[("a",), ("b",)]]


@given(st.binary(max_size=60), st.integers(0, 3))
def test_any_bytes_are_looked_at(data, n):
    head = Head(data, "some")
    for look in (
        head.found,
        head.named,
        lambda: head.told(["word", "label"][:n] or ["word"], None),
    ):
        try:
            found = look()
        except (CorpusError, ParameterError) as error:
            assert str(error).startswith("some")
        else:
            assert found is None or (isinstance(found, Columns) and found.chosen)


# Encodings and bad sentences.


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "utf-8-sig"])
def test_encodings(read, encoding):
    text = "Coruña NC B-LOC\nestá VB O\n\nsí RB O\n"
    assert read(text.encode(encoding), encoding=encoding) == read(text)
    assert read(UD.encode(encoding), encoding=encoding) == read(UD)


def test_an_encoding_is_guessed_from_more_than_its_line(read):
    text = "a NN O\n\nдень NN O\n" + "сегодня NN O\n" * 9
    with pytest.raises(CorpusError, match=r"line 3: byte .*--encoding (koi8-r|cp1251)"):
        read(text.replace(" NN O", "").encode("cp1251"), columns=["word"])
    with pytest.raises(ParameterError, match="encoding must be the name of a text encoding"):
        read(text, encoding="klingon")


def test_bad_sentences_are_skipped(read):
    good = "".join(f"w{i} NN O\nx NN O\n\n" for i in range(40))
    bad = b"a NN O\nb\nc\n\n-DOCSTART-\nd\xff NN O\n\ne\tNN\t \n\n"
    text = good.encode() + bad + b"end NN O\n"
    with pytest.raises(CorpusError, match="line 122: 'b' has 1 column, not 3"):
        read(text)
    with pytest.warns(BadItemsWarning) as told:
        found = read(text, errors="skip")
    assert found == [*read(good), [("end", "NN", "O")]]
    (message,) = (str(one.message) for one in told)
    assert message.startswith("skipped 3 of 44 sentences: ")
    for place in (
        "line 122: 'b' has",
        "line 126: byte 0xff is not UTF-8",
        "line 128: 'e\\tNN' has",
    ):
        assert f"file.txt, {place}" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(read(good, errors="skip")) == 40
    with pytest.raises(CorpusError, match="5 of 12 sentences are bad, more than a tenth"):
        read("a NN O\n\n" * 7 + "b\n\n" * 5, errors="skip")
    with pytest.raises(CorpusError, match="contains no sentences"):
        read("", errors="skip")
    with pytest.raises(ParameterError, match="errors must be 'raise' or 'skip'"):
        read(good, errors="ignore")


def test_places_of_sentences(tmp_path):
    path = tmp_path / "placed"
    path.write_text(UD)
    found = list(read_placed([path], Head(UD.encode(), "x").found()))
    assert [(one.file, len(one.tokens)) for one in found] == [(str(path), 3), (str(path), 1)]
    assert [one.line for one in found] == [4, 10]


def test_the_real_conll_2002(data_folder):
    import zipfile

    path = data_folder / "nltk_data/corpora/conll2002.zip"
    if not path.exists():
        pytest.skip("no CoNLL-2002 in the data folder")
    archive = zipfile.ZipFile(path)
    for name, n_sentences, n_stray in (("esp.testb", 1517, 1), ("ned.testa", 2895, 0)):
        data = archive.read(f"conll2002/{name}")
        columns = Head(data, name).found()
        assert (columns.kept, columns.kind) == (["word", "pos", "label"], "")
        from eigentext.corpus.conll import parse_conll
        from eigentext.corpus.schemes import repaired

        sentences = parse_conll(data, 3)
        assert len(sentences) == n_sentences
        found = repaired([[tag for _, _, tag in one] for one in sentences], "bio")
        assert (found.n_tags, found.is_iob1) == (n_stray, False)
