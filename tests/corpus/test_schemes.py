"""Schemes of chunk tags: what they allow, by hand and against all sequences; round trips."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.schemes import (
    allowed,
    check_tags,
    find_misfit,
    from_bilou,
    iob1_to_bio,
    is_chunk_tags,
    spans,
    to_bilou,
)
from eigentext.errors import CorpusError, ParameterError

BIO = ["O", "B-X", "I-X", "B-Y", "I-Y"]
BILOU = [*BIO, "L-X", "U-X", "L-Y", "U-Y"]
ANY = [*BILOU, "E-X", "S-X", "E-Y", "S-Y"]


@st.composite
def bio_tags(draw):
    """Sentences that keep to BIO, from chunks and what is between them."""
    chunk = st.tuples(st.sampled_from(["X", "Y", "creative-work"]), st.integers(1, 4))
    tags = []
    for piece in draw(st.lists(st.one_of(st.none(), chunk), max_size=8)):
        if piece is None:
            tags.append("O")
        else:
            kind, length = piece
            tags += [f"B-{kind}"] + [f"I-{kind}"] * (length - 1)
    return tags


def written(chunks, n, scheme):
    """The tags of chunks, one letter at a time."""
    tags = ["O"] * n
    for kind, start, end in chunks:
        for i in range(start, end):
            letter = "B" if i == start else "I"
            if scheme == "bilou" and i == end - 1:
                letter = "U" if i == start else "L"
            tags[i] = f"{letter}-{kind}"
    return tags


# What a scheme allows.


@pytest.mark.parametrize(("scheme", "names"), [("bio", BIO), ("bilou", BILOU)])
def test_what_is_allowed_is_what_chunks_are_written_as(scheme, names):
    # A sentence keeps to a scheme just if its chunks, written in the scheme, are that sentence.
    start, transition, end = allowed(names, scheme)
    for length in range(4):
        for path in itertools.product(range(len(names)), repeat=length):
            tags = [names[i] for i in path]
            keeps = written(spans(tags), length, scheme) == tags
            assert (find_misfit(tags, scheme) is None) == keeps
            if length:
                fits = start[path[0]] and end[path[-1]]
                fits &= all(transition[i, j] for i, j in itertools.pairwise(path))
                assert fits == keeps


def test_without_a_scheme_everything_is_allowed():
    start, transition, end = allowed(["NN", "I-X", ""], None)
    assert (start.shape, transition.shape, end.shape) == ((3,), (3, 3), (3,))
    assert start.dtype == transition.dtype == end.dtype == bool
    assert start.all() and transition.all() and end.all()
    assert find_misfit(["I-X", None], None) is None
    assert [part.size for part in allowed([], "bio")] == [0, 0, 0]


def test_a_tag_may_stand_there_twice():
    transition = allowed(["I-X", "B-X", "I-X"], "bio")[1]
    np.testing.assert_array_equal(transition, [[True, True, True]] * 3)


@pytest.mark.parametrize(
    ("tags", "scheme", "misfit"),
    [
        ([], "bilou", None),
        (["I-X"], "bio", (0, "O", "I-X")),
        (["B-X", "I-Y"], "bio", (1, "B-X", "I-Y")),
        (["O", "NN", "I-X"], "bio", (1, "O", "NN")),
        (["U-X"], "bio", (0, "O", "U-X")),
        (["B-X", "I-X", "L-X", "U-X", "O"], "bilou", None),
        (["B-X", "B-X"], "bilou", (1, "B-X", "B-X")),
        (["B-X", "O"], "bilou", (1, "B-X", "O")),
        (["U-X", "L-X"], "bilou", (1, "U-X", "L-X")),
        (["B-X", "I-X"], "bilou", (2, "I-X", "O")),
        (["E-X"], "bilou", (0, "O", "E-X")),
        (["B-"], "bio", (0, "O", "B-")),
        (["O", None], "bio", (1, "O", None)),
    ],
)
def test_misfits_by_hand(tags, scheme, misfit):
    assert find_misfit(tags, scheme) == misfit


@pytest.mark.parametrize(
    ("tags", "scheme", "message"),
    [
        (
            ["O", "I-X"],
            "bio",
            r"^token 2: I-X after O breaks the scheme 'bio'; begin .*iob1_to_bio",
        ),
        (["B-X", "U-X"], "bilou", "^token 2: U-X after B-X breaks the scheme 'bilou'; .*to_bilou"),
        (["B-X"], "bilou", "^token 2: the end after B-X breaks the scheme 'bilou'; .*scheme=None"),
        (
            ["O", "L-X"],
            "bio",
            "^token 2: 'L-X' is not a tag of the scheme 'bio'; give B-X, I-X or",
        ),
        (["NN"], "bilou", "^token 1: 'NN' is not a tag of the scheme 'bilou'; give .* U-X or O"),
        ([None], "bio", "^token 1: None is not a tag of the scheme 'bio'"),
    ],
)
def test_errors_name_the_place_and_the_remedy(tags, scheme, message):
    with pytest.raises(CorpusError, match=message):
        check_tags(tags, scheme)
    with pytest.raises(CorpusError, match=r"^sentence 7, token"):
        check_tags(tags, scheme, "sentence 7, ")
    check_tags(tags, None)


def test_tags_and_schemes_that_are_none():
    with pytest.raises(
        CorpusError, match=r"^tag 2: 'S-X' is not a tag of the scheme 'bilou'; give"
    ):
        allowed(["O", "S-X"], "bilou")
    for call in (allowed, find_misfit, check_tags):
        with pytest.raises(ParameterError, match="must be 'bio', 'bilou', 'iobes' or None, not"):
            call(["O"], "iob1")


@pytest.mark.parametrize(
    ("tags", "answer"),
    [
        (ANY, True),
        (["O"], True),
        (["B-creative-work", "I-creative-work"], True),
        (["B-X", "NN"], False),
        (["B"], False),
        (["B-"], False),
        (["O-X"], False),
        (["X-B"], False),
        (["b-X"], False),
        ([None], False),
    ],
)
def test_whether_tags_are_of_chunks(tags, answer):
    assert is_chunk_tags(tags) is answer
    assert is_chunk_tags(iter(tags)) is answer


# From one to another.


@given(bio_tags())
def test_bilou_and_back(tags):
    bilou = to_bilou(tags)
    check_tags(bilou, "bilou")
    assert bilou == written(spans(tags), len(tags), "bilou")
    assert from_bilou(bilou) == tags
    assert to_bilou(bilou) == bilou
    assert from_bilou(tags) == iob1_to_bio(tags) == tags


@given(st.lists(st.sampled_from(ANY), max_size=9))
def test_any_tags_are_the_same_chunks_in_both_schemes(tags):
    bio, bilou = from_bilou(tags), to_bilou(tags)
    check_tags(bio, "bio")
    check_tags(bilou, "bilou")
    assert spans(bio) == spans(bilou) == spans(tags)


@given(bio_tags())
def test_iob1(tags):
    before = ["O", *tags]
    iob1 = [
        tag if tag[0] != "B" or last[1:] == tag[1:] else f"I{tag[1:]}"
        for last, tag in zip(before, tags)
    ]
    assert iob1_to_bio(iob1) == tags


def test_iob1_by_hand():
    # As in the files of CoNLL-2003, where B- is rare.
    tags = ["I-ORG", "I-ORG", "O", "I-PER", "I-LOC", "B-LOC", "I-LOC", "B-LOC"]
    bio = ["B-ORG", "I-ORG", "O", "B-PER", "B-LOC", "B-LOC", "I-LOC", "B-LOC"]
    assert iob1_to_bio(tags) == bio


@pytest.mark.parametrize("convert", [to_bilou, from_bilou, iob1_to_bio, spans])
def test_what_is_no_tag_of_chunks(convert):
    for tag in ("NN", "", "O-X", None):
        with pytest.raises(CorpusError, match=f"^token 2: {tag!r} is not a chunk tag; give B-X"):
            convert(["O", tag])
    if convert is not spans:  # conlleval knows chunks without a type
        with pytest.raises(CorpusError, match=r"^token 2: 'B' has no type"):
            convert(["O", "B"])
    assert convert([]) == []
