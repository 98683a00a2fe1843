"""Files of classes: known contents, round trips, and files that are refused."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import CorpusError, EigentextError
from eigentext.sequences.class_files import read_classes, write_classes

LINES = [line.split() for line in ("the cat sat", "a dog ran", "the dog sat", "a cat ran")] * 8
NAMES = ["C0", "C1", "sat"]


def test_known_contents(tmp_path):
    write_classes(tmp_path / "f", ["C0", "C1"], [(1, 1.0, "sat"), (0, 0.25, "dog"), (0, 0.75, "a")])
    assert (tmp_path / "f").read_text() == "C0 0.75 a\nC0 0.25 dog\nC1 1.0 sat\n"


def test_words_that_are_no_class_stand_for_themselves(tmp_path):
    (tmp_path / "f").write_text("C0 0.75 cat\n\nC0 0.25 dog\nC1 x\nC1 y\n")
    found = read_classes(tmp_path / "f", NAMES)
    assert found.words == ["cat", "dog", "x", "y", "sat"]
    assert found.classes.tolist() == [0, 0, 1, 1, 2]
    assert found.probabilities.tolist() == [0.75, 0.25, 0.5, 0.5, 1]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("C9 1 cat\n", "line 1: the class 'C9' is not in the ARPA file"),
        ("C0 0.5 cat\nC0 0.5 cat\n", "line 2: 'cat' occurs a second time"),
        ("C0 0.5 new york\n", "several words cannot be read"),
        ("C0 -1 cat\n", "not a class, a probability and one word"),
        ("C0 0.5 cat\n", "C0 add up to 0.5, not to 1"),
        ("C0 0.5 cat\nC0 dog\n", "some words of C0 have no probability"),
        ("C0 1 sat\n", "'sat' is a word of a class, and an n-gram"),
    ],
)
def test_refusals(tmp_path, content, why):
    (tmp_path / "f").write_text(content)
    with pytest.raises(CorpusError, match=why):
        read_classes(tmp_path / "f", NAMES)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_a_model_from_files_has_the_same_probabilities(tmp_path, stream, ending):
    text = [word for line in LINES for word in line] if stream else LINES
    model = et.ClassBigram(n_classes=3).fit(text)
    arpa, classes = tmp_path / f"m.arpa{ending}", tmp_path / f"classes{ending}"
    model.to_arpa(arpa, classes)
    found = et.ClassBigram.from_arpa(arpa, classes)
    assert np.allclose(found.log_probabilities(text), model.log_probabilities(text), atol=1e-7)
    assert {found.vocabulary_.words[0]} <= set(model.vocabulary_.words)
    assert found.class_of("cat") == found.class_of("dog")
    assert "no counts" in found.findings()[0].sentence
    with pytest.raises(AttributeError, match="without counts"):
        _ = found.average_mutual_information_
    found.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert np.array_equal(again.log_probabilities(text), found.log_probabilities(text))


def test_the_usual_names(tmp_path):
    model = et.ClassBigram(n_classes=3).fit(LINES)
    model.to_arpa(tmp_path / "m.arpa")
    lines = (tmp_path / "m.arpa.classes").read_text().splitlines()
    assert lines[0] == "CLASS-0 0.5 a"
    assert len(lines) == 6
    assert "CLASS-0 CLASS-1" in (tmp_path / "m.arpa").read_text()
    found = et.ClassBigram.from_arpa(tmp_path / "m.arpa")
    assert found.perplexity(LINES) == pytest.approx(model.perplexity(LINES), abs=1e-7)


def test_a_word_with_the_name_of_a_class(tmp_path):
    lines = [["CLASS-0", "x"], ["y", "x"]] * 9
    model = et.ClassBigram(n_classes=2).fit(lines)
    assert model.transitions_.vocabulary_.words[0] == "<CLASS-0>"
    model.to_arpa(tmp_path / "m")
    found = et.ClassBigram.from_arpa(tmp_path / "m")
    assert np.allclose(found.log_probabilities(lines), model.log_probabilities(lines), atol=1e-7)


def test_words_that_files_cannot_hold(tmp_path):
    model = et.ClassBigram(n_classes=2).fit([["new york", "x"], ["y", "x"]] * 9)
    with pytest.raises(EigentextError, match="contains blanks"):
        model.to_arpa(tmp_path / "m")


def test_trigrams_are_refused(tmp_path):
    et.KneserNey(3).fit(LINES).to_arpa(tmp_path / "m")
    (tmp_path / "m.classes").write_text("the 1 x\n")
    with pytest.raises(CorpusError, match="order 3, and a class bigram has order 2"):
        et.ClassBigram.from_arpa(tmp_path / "m")
