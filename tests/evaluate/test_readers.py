"""Files of pairs and analogies: all public layouts can be read, and errors name the line."""

import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import Pair, Question, half, kind_of, read_pairs, read_questions

PAIRS = [Pair("love", "sex", 6.77), Pair("tiger", "tiger", 10.0)]
WORDS = st.text("abcxyzéß猫", min_size=1, max_size=6)
GOOGLE = ": capital\nAthens Greece Oslo Norway\n\n: gram8-plural\ncat cats dog dogs\n"


@pytest.fixture
def write(tmp_path):
    def run(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return run


# Pairs.


@pytest.mark.parametrize(
    "content",
    [
        "love sex 6.77\ntiger tiger 10\n",
        "love\tsex\t6.77\r\ntiger\ttiger\t10.00\r\n",
        "love,sex,6.77\ntiger,tiger,10",
        "love;sex;6.77\n\ntiger ; tiger ; 10\n",
        "Word 1,Word 2,Human (mean)\nlove,sex,6.77\ntiger,tiger,10\n",
        "# people's scores\nlove sex 6.77\n  \n# more\ntiger\ttiger  10\n",
        "\ufefflove sex 6.77\ntiger tiger 1e1",
        "love\tsex\t6.77\t7\t8\tx\ntiger\ttiger\t10\t\t\t",  # Rare Words has ten scores per pair
        "word1\tword2\tPOS\tSimLex999\tconc\nlove\tsex\tN\t6.77\t2\ntiger\ttiger\tN\t10\t4",
        "love\tsex\tV\t6.77\tSYNONYMS\ntiger\ttiger\tV\t10\tNONE",
    ],
)
def test_layouts_of_pairs(write, content):
    path = write(content)
    assert kind_of(path) == "pairs"
    assert read_pairs(path) == PAIRS


def test_phrases_between_tabs(write):
    assert read_pairs(write("New York\tDow Jones\t3")) == [("New York", "Dow Jones", 3.0)]


def test_compressed_files(write):
    path = write(gzip.compress(b"love sex 6.77\ntiger tiger 10\n"), "pairs.gz")
    assert kind_of(path) == "pairs"
    assert read_pairs(path) == PAIRS


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("a b 1\nc d\n", 2, "'c d' is not two words and a score; correct or delete it"),
        ("a b\n", 1, "not two words and a score"),
        ("# x\n\na\t\t1\n", 3, "not two words and a score"),
        ("a b 1\nc d many\n", 2, "the score 'many' is not a number; write one, such as 6.5"),
        # A title would have no digits, and only the first line may be titles.
        ("a b 6,77\nc d 1\n", 1, "the score '6,77' is not a number"),
        ("x y score\nx y score\n", 2, "the score 'score' is not a number"),
        ("a b 1\nc d nan\n", 2, "the score is nan; give a number or delete the line"),
        ("a b -inf\n", 1, "the score is -inf"),
        (b"a b 1\nc\xe9 d 2\n", 2, "byte 0xe9 is not UTF-8; it looks like cp1252"),
    ],
)
def test_bad_pairs_are_named(write, content, line, says):
    path = write(content)
    with pytest.raises(CorpusError) as error:
        read_pairs(path)
    assert str(error.value).startswith(f"{path}, line {line}: ")
    assert says in str(error.value)


# Questions.


def test_sections(write):
    path = write(GOOGLE)
    assert kind_of(path) == "questions"
    assert read_questions(path) == [
        ("Athens", "Greece", "Oslo", "Norway", "capital"),
        ("cat", "cats", "dog", "dogs", "gram8-plural"),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "good better rough rougher\ncat cats dog dogs\n",
        "good\tbetter\trough\trougher\r\ncat\tcats\tdog\tdogs\r\n",
        "good,better,rough,rougher\ncat, cats, dog, dogs",
        "word1 word2 word3 word4\ngood better rough rougher\ncat cats dog dogs\n",
        "a;b;a*;b*\ngood;better;rough;rougher\ncat;cats;dog;dogs\n",
        "# MSR\ngood better rough rougher\n\ncat cats dog dogs\n",
    ],
)
def test_questions_without_sections(write, content):
    path = write(content)
    assert kind_of(path) == "questions"
    assert read_questions(path) == [
        ("good", "better", "rough", "rougher", ""),
        ("cat", "cats", "dog", "dogs", ""),
    ]


@pytest.mark.parametrize("line", ["cat cats dog", "cat cats dog dogs ducks", "cat\tcats\t\tdogs x"])
def test_a_question_without_four_words_is_named(write, line):
    path = write(GOOGLE + line)
    with pytest.raises(CorpusError) as error:
        read_questions(path)
    assert str(error.value).startswith(f"{path}, line 6: {line!r} is not four words; correct or")
    assert "':'" in str(error.value)


def test_undecodable_questions(write):
    path = write(b": a\ncaf\xe9 a b c\n")
    with pytest.raises(CorpusError, match="line 2: byte 0xe9 is not UTF-8"):
        read_questions(path)


# Files of either kind.


@pytest.mark.parametrize("content", ["", "\n \n", "# only a comment\n", "\ufeff"])
def test_empty_files(write, content):
    path = write(content)
    with pytest.raises(CorpusError, match=r"file\.txt has no pairs; each line should be two"):
        read_pairs(path)
    with pytest.raises(CorpusError, match=r"file\.txt has no questions; each line should be"):
        read_questions(path)
    assert kind_of(path) == "pairs"


def test_files_of_titles_alone(write):
    with pytest.raises(CorpusError, match="no pairs"):
        read_pairs(write("word1 word2 score"))
    with pytest.raises(CorpusError, match="no questions"):
        read_questions(write(": one\n: two\n"))


@pytest.mark.parametrize("read", [read_pairs, read_questions, kind_of])
def test_missing_files(read, write, tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        read(tmp_path / "none.txt")
    for name in ("1.txt", "2.txt"):
        write("a b 1", name)
    with pytest.raises(CorpusError, match=r"\*\.txt: matches 2 files; name one"):
        read(tmp_path / "*.txt")
    with pytest.raises(CorpusError, match=r"not a complete \.gz file"):
        read(write("a b 1", "pairs.gz"))


@given(st.lists(st.tuples(WORDS, WORDS, st.floats(0, 10)), min_size=1), st.sampled_from("\t ;,"))
def test_written_pairs_can_be_read(tmp_path_factory, pairs, separator):
    path = tmp_path_factory.mktemp("pairs") / "pairs"
    path.write_text("".join(separator.join((a, b, repr(y))) + "\n" for a, b, y in pairs))
    assert kind_of(path) == "pairs"
    assert read_pairs(path) == pairs


def test_the_public_sets(data_folder):
    for name, size in (("wordsim353", 353), ("men3000", 3000), ("rareword2034", 2034)):
        path = data_folder / "words" / f"{name}.txt"
        assert kind_of(path) == "pairs"
        assert len(read_pairs(path)) == size
    google = data_folder / "words" / "google-analogies.txt"
    assert kind_of(google) == "questions"
    questions = read_questions(google)
    assert len(questions) == 19_544
    assert len({question.section for question in questions}) == 14


# Halves.


def test_two_halves_make_the_whole_in_any_order():
    words = [f"w{i}" for i in range(40)]
    items = [Question(a, b, "x", "y", "s") for a in words for b in words]
    dev, test = half(items, "dev"), half(items, "test")
    assert sorted(dev + test) == sorted(items)
    assert abs(len(dev) - len(test)) < 4 * len(items) ** 0.5  # 4 standard deviations
    random.Random(0).shuffle(items)
    assert set(half(items, "dev")) == set(dev)


def test_halves_depend_on_words_alone():
    pairs = [(f"w{i}", f"w{i * i}", float(i)) for i in range(50)]
    rescored = [(a, b, 0.0) for a, b, _ in pairs]
    assert [pair[:2] for pair in half(pairs, "dev")] == [pair[:2] for pair in half(rescored, "dev")]
    plain = [("a", str(i), "c", "d") for i in range(50)]
    named = [Question(*question, "section") for question in plain]
    assert [question[:4] for question in half(named, "test")] == half(plain, "test")


def test_the_halves_never_change():
    """Settings were chosen on one half, so no item may move to the other half."""
    pairs = [(a, b, 0.0) for a in "pqr" for b in "uvw"]
    assert ["".join(pair[:2]) for pair in half(pairs, "dev")] == ["pv", "rw"]


def test_there_are_only_two_halves():
    with pytest.raises(ParameterError, match="half must be 'dev' or 'test', not 'train'"):
        half(PAIRS, "train")


@pytest.mark.parametrize("reader", [read_pairs, read_questions])
def test_messages_about_long_lines_are_short(tmp_path, reader):
    path = tmp_path / "long.txt"
    for line in ("x" * 1_000_000, "\t" * 1_000_000 + "x", "a\tb\t" + "9" * 1_000_000 + "z"):
        path.write_text(f"a\tb\t1\n{line}\n" if reader is read_pairs else f"a b c d\n{line}\n")
        with pytest.raises(CorpusError, match="line 2: ") as caught:
            reader(path)
        assert len(str(caught.value)) < 400
    path.write_text(
        "a\tb\tN\t1" + "\tmore" * 1000 if reader is read_pairs else "Rome Italy Oslo Norway"
    )
    assert len(reader(path)) == 1
