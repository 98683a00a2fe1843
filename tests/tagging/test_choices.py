"""What a tagger chooses itself: columns, schemes, templates; known answers, and bad input."""

import warnings

import pytest

from eigentext.errors import CorpusError, ParameterError
from eigentext.tagging.choices import (
    check_coverage,
    choose_columns,
    choose_scheme,
    choose_templates,
    lone_tags,
    repair_tags,
)
from eigentext.tagging.templates import SOURCES, TEMPLATES


@pytest.mark.parametrize(
    ("given", "n", "columns"),
    [
        (None, 1, ("word",)),
        (None, 2, ("word", "pos")),
        (["form", "lemma"], 2, ("form", "lemma")),
        (("word", "pos", "place"), 3, ("word", "pos", "place")),
        ("token", 1, ("token",)),
    ],
)
def test_columns(given, n, columns):
    assert choose_columns(given, n) == columns


@pytest.mark.parametrize(
    ("given", "n", "message"),
    [
        (None, 3, r"tokens have 3 parts before the tag; name them with columns=\[…\], the word fi"),
        (["word"], 2, "columns 'word' for tokens with 2 parts before the tag"),
        (["word", "word"], 2, "give each part a different name"),
        (["word", "pos"], 1, "columns 'word', 'pos' for tokens with 1 parts"),
    ],
)
def test_columns_that_do_not_fit(given, n, message):
    with pytest.raises(ParameterError, match=message):
        choose_columns(given, n)


@pytest.mark.parametrize(
    ("given", "tags", "chosen"),
    [
        ("auto", [["D", "N"]], (None, False)),
        ("auto", [["O", "O"]], (None, False)),
        ("auto", [["B-X", "I-X", "O"]], ("bio", False)),
        ("auto", [["B-X"], ["O"]], ("bio", False)),
        ("auto", [["B-X", "L-X", "U-X"]], ("bilou", False)),
        ("auto", [["B-X", "E-X", "S-X"]], ("iobes", False)),
        ("auto", [["I-X", "E-X", "O"]], (None, False)),  # IOE
        ("auto", [["B-X", "E-X"], ["B-X", "O"]], (None, False)),  # too much of it is broken
        ("auto", [["B-X", "E-X", "U-X"]], (None, False)),
        ("auto", [["O", "I-X"]], ("bio", False)),
        ("auto", [["B-X", "NN"]], (None, False)),
        ("bio", [["B-X", "I-X"]], ("bio", False)),
        ("bilou", [["B-X", "I-X", "O"]], ("bilou", True)),
        ("bilou", [["B-X", "L-X"]], ("bilou", False)),
        (None, [["I-X", "B-X"]], (None, False)),
        (None, [["N"]], (None, False)),
    ],
)
def test_schemes(given, tags, chosen):
    assert choose_scheme(given, tags) == chosen


@pytest.mark.parametrize(
    ("scheme", "tags", "message"),
    [
        ("bio", [["O"], ["O", "D"]], "sentence 2, token 2: 'D' is not a tag of the scheme 'bio'"),
        ("bio", [["U-X"]], "sentence 1, token 1: 'U-X' is not a tag"),
        ("iobes", [["U-X"]], "sentence 1, token 1: 'U-X' .* give B-X, I-X, E-X, S-X or O"),
    ],
)
def test_tags_of_another_scheme(scheme, tags, message):
    with pytest.raises(CorpusError, match=message):
        repair_tags(tags, scheme)


@pytest.mark.parametrize(
    ("scheme", "tags", "expected", "message"),
    [
        (
            "bio",
            [["I-X", "I-X", "B-X"], ["O", "I-Y"]],
            [["B-X", "I-X", "B-X"], ["O", "B-Y"]],
            "^read 2 tags of the scheme IOB1 as BIO",
        ),
        (
            "bio",
            [["O", "B-X"], ["B-X", "I-Y"]],
            [["O", "B-X"], ["B-X", "B-Y"]],
            "^read 1 tag that broke the scheme BIO .* the first is in sentence 2, token 2$",
        ),
        ("bilou", [["U-X", "B-X"]], [["U-X", "U-X"]], "^read 1 tag that broke the scheme BILOU"),
        ("iobes", [["E-X", "B-X"]], [["S-X", "S-X"]], "^read 2 tags that broke the scheme IOBES"),
    ],
)
def test_tags_that_break_the_scheme_are_repaired(scheme, tags, expected, message):
    with pytest.warns(UserWarning, match=message):
        found, n = repair_tags(tags, scheme)
    assert found == expected
    assert n == sum(a != b for one, new in zip(tags, expected) for a, b in zip(one, new))
    assert repair_tags(expected, scheme) == (expected, 0)  # without a warning
    assert repair_tags(tags, None) == (tags, 0)


def test_tags_that_a_single_token_may_have():
    assert lone_tags(["B-X", "L-X", "B-Y", "I-Y", "L-Y"], "bilou") == {"U-X", "U-Y"}
    assert lone_tags(["B-X", "L-X", "O"], "bilou") == set()
    assert lone_tags(["B-X", "L-X", "U-Y"], "bilou") == set()
    assert lone_tags(["B-X", "E-X"], "iobes") == {"S-X"}
    assert lone_tags(["B-X", "I-X"], "bio") == set()
    assert lone_tags(["D", "N"], None) == set()


@pytest.mark.parametrize(
    ("given", "columns", "tags", "task"),
    [
        ("auto", ("word",), ["D", "N"], "pos"),
        ("auto", ("word", "pos"), ["D", "N"], "pos"),
        ("auto", ("word", "pos"), ["O", "B-X"], "chunk"),
        ("auto", ("word",), ["O", "B-X", "U-X"], "ner"),
        ("ner", ("word", "pos"), ["D"], "ner"),
        ("chunk", ("word", "pos"), ["D"], "chunk"),
    ],
)
def test_templates_by_the_task(given, columns, tags, task):
    expected = [one for one in TEMPLATES[task] if "pos" in columns or "pos" not in one]
    assert choose_templates(given, columns, tags, []) == expected
    assert expected


def test_rare_chunks_are_names():
    """Chunks of phrases cover most of a text. Names do not, with parts of speech or without."""
    phrases = choose_templates("auto", ("word", "pos"), ["O", "B-X"], [], outside=0.6)
    names = choose_templates("auto", ("word", "pos"), ["O", "B-X"], [], outside=0.61)
    assert (phrases, names) == (list(TEMPLATES["chunk"]), list(TEMPLATES["ner"]))
    assert choose_templates("auto", ("word", "pos"), ["O", "N"], [], outside=0.9) == list(
        TEMPLATES["pos"]
    )


def test_without_parts_of_speech_no_template_looks_at_them():
    for task in TEMPLATES:
        assert not any("pos" in one for one in choose_templates(task, ("word",), ["D"], []))


def test_sources_are_looked_at_unless_templates_name_them():
    own = ["word[0]", "cluster6[-1]"]
    assert choose_templates(own, ("word",), ["D"], ["cluster"]) == own
    found = choose_templates(own, ("word",), ["D"], ["vector", "token", "state", "cluster"])
    assert found == [*own, *SOURCES["vector"], *SOURCES["token"], *SOURCES["state"]]
    assert own == ["word[0]", "cluster6[-1]"]
    whole = choose_templates("pos", ("word",), ["D"], ["cluster"])
    assert whole == [*TEMPLATES["pos"], *SOURCES["cluster"]]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("words", "features must be 'auto', 'chunk', 'ner', 'pos' or a list, not 'words'"),
        (["pos[0]"], r"no attribute 'pos': use the columns word, an attribute of a word"),
        (["wrod[0]"], "no attribute 'wrod'"),
        (["vector[0]"], "a template looks at 'vector'; give vectors=… too"),
        (["token[0]"], "a template looks at 'token'; give eigentokens=… too"),
        (["node[0]"], "a template looks at 'node'; give parser=… too"),
        (["state[0]"], "a template looks at 'state'; give states=… too"),
        (["cluster6[0]|word[0]"], "a template looks at 'cluster6'; give clusters=… too"),
        (["cluster[0]|word[0]"], "a template looks at 'cluster'; give clusters=… too"),
        ([], "no feature templates"),
        (["vector2[0]"], "no attribute 'vector2'"),
    ],
)
def test_templates_that_are_refused(given, message):
    with pytest.raises(ParameterError, match=message):
        choose_templates(given, ("word",), ["D"], [])


@pytest.mark.parametrize("name", ["cluster0", "cluster00"])
def test_no_bits_of_a_cluster(name):
    with pytest.raises(ParameterError, match=name):
        choose_templates([f"{name}[0]"], ("word",), ["D"], ["cluster"])


@pytest.mark.parametrize("given", [None, 3])
def test_features_that_are_not_a_list(given):
    with pytest.raises(ParameterError, match=f"features must be .*not {given}"):
        choose_templates(given, ("word",), ["D"], [])


def test_coverage():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_coverage({})
        check_coverage({"vector": 0.5, "cluster": 1.0})
    with pytest.warns(UserWarning, match=r"only 49% of the training tokens .* of vectors; learn"):
        check_coverage({"vector": 0.49})
    with pytest.raises(ParameterError, match=r"no word .* among those of clusters, .*another voc"):
        check_coverage({"cluster": 0.0})
