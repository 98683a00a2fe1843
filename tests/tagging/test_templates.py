"""Templates: known answers, templates as strings, and bad input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.errors import ParameterError
from eigentext.tagging.attributes import attribute
from eigentext.tagging.templates import (
    SOURCES,
    TEMPLATES,
    VECTORS,
    TemplatePart,
    is_of,
    parse_templates,
    written,
)


def strings(templates):
    return [written(one) for one in parse_templates(templates)]


def test_ranges_are_written_out():
    assert strings(["pos[-2..2]"]) == ["pos[-2]", "pos[-1]", "pos[0]", "pos[1]", "pos[2]"]
    assert strings(["word[+1..+1]"]) == ["word[1]"]
    assert strings(["vector[-1..0]"]) == ["vector[-1]", "vector[0]"]
    assert len(strings(["word[-100..100]"])) == 201


def test_conjunctions_keep_the_order_of_their_parts():
    assert parse_templates(["word[-1] | pos[0]|word[2]"]) == [
        (TemplatePart("word", -1), TemplatePart("pos", 0), TemplatePart("word", 2))
    ]
    assert strings(["pos[0]|word[0]", "word[0]|pos[0]"]) == ["pos[0]|word[0]", "word[0]|pos[0]"]


def test_every_template_once():
    assert strings(["word[0]", "word[-1..1]", "word[+0]"]) == ["word[0]", "word[-1]", "word[1]"]
    assert strings(iter(["word[0]"])) == ["word[0]"]


names = st.from_regex(r"\A[A-Za-z_][A-Za-z_0-9-]{0,8}\Z").filter(lambda name: name not in VECTORS)
parts = st.builds(TemplatePart, names, st.integers(-100, 100))


@given(st.lists(st.lists(parts, min_size=1, max_size=4).map(tuple), min_size=1, unique=True))
def test_written_and_read_again(templates):
    assert parse_templates(map(written, templates)) == templates


@pytest.mark.parametrize("task", [*TEMPLATES, *SOURCES])
def test_the_usual_templates_can_be_parsed(task):
    columns = ("word", "pos", "cluster", *VECTORS)
    for template in parse_templates({**TEMPLATES, **SOURCES}[task]):
        for name, offset in template:
            assert name in columns or attribute(name) or name.startswith("cluster")
            assert abs(offset) <= 2


def test_what_templates_are_of():
    sparse, dense = parse_templates(["word[0]|pos[1]", "token[0]"])
    assert is_of(dense, VECTORS)
    assert not is_of(sparse, VECTORS)
    assert is_of(sparse, ["pos", "word"])
    assert not is_of(sparse, ["word"])


@pytest.mark.parametrize(
    ("templates", "message"),
    [
        ("word[0]", r"features must be one of 'chunk', 'ner', 'pos' or a list .*not 'word\[0\]'"),
        (None, "features must be one of .*not None"),
        ([], "no feature templates; give some"),
        (["word"], r"'word' is not a feature template; write one as in 'word\[-1\]'"),
        ([""], "'' is not a feature template"),
        (["word[0]|"], "is not a feature template"),
        (["word[x]"], "is not a feature template"),
        (["word[0"], "is not a feature template"),
        (["3word[0]"], "is not a feature template"),
        (["word[0]", 3], "3 is not a feature template"),
        (["word[1.5]"], "is not a feature template"),
        (["word[2..1]"], "the range is empty; put the smaller offset first"),
        (["word[0..1]|pos[0]"], "a range cannot be joined with other parts; write each"),
        (["pos[0]|word[0..1]"], "a range cannot be joined"),
        (["word[101]"], "more than 100 tokens away"),
        (["word[-101..0]"], "more than 100 tokens away"),
        (["vector[0]|word[0]"], "a vector cannot be joined with other parts; use clusters"),
        (["word[0]|state[-1]"], "a vector cannot be joined with other parts"),
        (["token[0]|token[1]"], "a vector cannot be joined with other parts"),
    ],
)
def test_templates_that_are_refused(templates, message):
    with pytest.raises(ParameterError, match=message):
        parse_templates(templates)
