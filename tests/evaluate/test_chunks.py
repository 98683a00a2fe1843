"""Chunks by conlleval's rules: computed by hand, and compared with its two tests per token."""

import json
import math
import random
from itertools import pairwise

import pytest

from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import chunk_spans, chunks


def slow_spans(tags):
    """Ask at each token whether a chunk ends before it and whether one begins, like conlleval."""
    tags = [{"L": "E", "U": "S"}.get(tag[0], tag[0]) + tag[1:] for tag in tags]
    parts = [("O", ""), *((tag[0], tag[2:]) for tag in tags), ("O", "")]
    spans, start = [], None
    for i, ((old, old_type), (new, new_type)) in enumerate(pairwise(parts)):
        ends = (
            (old in "BI" and new in "BSO")
            or old in "ES"
            or (old != "O" and old_type != new_type)
        )  # fmt: skip
        begins = (
            new in "BS"
            or (old in "ESO" and new in "EI")
            or (new != "O" and old_type != new_type)
        )  # fmt: skip
        if start is not None and ends:
            spans.append((old_type, start, i))
            start = None
        if begins:
            start = i
    return spans


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("", []),
        ("O O", []),
        ("B-A", [("A", 0, 1)]),
        ("B-A I-A O B-A", [("A", 0, 2), ("A", 3, 4)]),
        ("B-A B-A I-A", [("A", 0, 1), ("A", 1, 3)]),
        ("I-A I-A O I-A", [("A", 0, 2), ("A", 3, 4)]),
        ("B-A I-B I-B I-A", [("A", 0, 1), ("B", 1, 3), ("A", 3, 4)]),
        ("B-A I-A E-A I-A", [("A", 0, 3), ("A", 3, 4)]),
        ("S-A S-A E-A B-B-C", [("A", 0, 1), ("A", 1, 2), ("A", 2, 3), ("B-C", 3, 4)]),
        ("B-A I-A L-A I-A", [("A", 0, 3), ("A", 3, 4)]),
        ("U-A U-A L-A B-B L-B", [("A", 0, 1), ("A", 1, 2), ("A", 2, 3), ("B", 3, 5)]),
        ("B-A U-A B-A L-B O", [("A", 0, 1), ("A", 1, 2), ("A", 2, 3), ("B", 3, 4)]),
    ],
)
def test_spans_by_hand(tags, spans):
    assert chunk_spans(tags.split()) == spans
    assert slow_spans(tags.split()) == spans
    assert chunk_spans([("word", "POS", tag) for tag in tags.split()]) == spans


def test_spans_equal_those_of_conlleval():
    rng = random.Random(0)
    names = ["O", *(f"{prefix}-{kind}" for prefix in "BILUES" for kind in "XY")]
    for _ in range(2000):
        tags = rng.choices(names, k=rng.randrange(9))
        assert chunk_spans(tags) == slow_spans(tags)


def test_scores_by_hand():
    gold = [["B-NP", "I-NP", "B-VP", "O"], ["B-NP", "O"]]
    predicted = [["B-NP", "I-NP", "B-NP", "B-PP"], ["B-NP", "I-NP"]]
    result = chunks(gold, predicted)
    assert (result.n_gold, result.n_predicted, result.n_right) == (3, 4, 1)
    assert (result.precision, result.recall, result.f1) == (1 / 4, 1 / 3, 2 / 7)
    assert result.accuracy == 3 / 6
    assert list(result.by_type) == ["NP", "PP", "VP"]
    assert result.by_type["NP"].f1 == 2 / 5
    assert result.by_type["PP"].precision == 0
    assert math.isnan(result.by_type["PP"].recall)
    assert repr(result) == "Chunks(F1 28.57% over 3 chunks)"
    assert str(result).splitlines()[-2].split() == ["all", "3", "4", "25.00", "33.33", "28.57"]
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert data["f1"] == 2 / 7
    assert data["by_type"]["PP"]["recall"] is None


@pytest.mark.parametrize(
    # The scores of each type are the numbers of right, predicted and gold chunks.
    ("gold", "predicted", "scores"),
    [
        ("B-A I-A O", "B-A I-A O", {"A": (1, 1, 1)}),
        ("B-A I-A O", "O I-A O", {"A": (0, 1, 1)}),  # I-A after O begins a chunk of one token
        ("B-A I-A O", "I-A I-A O", {"A": (1, 1, 1)}),  # this chunk is the right one
        ("B-A I-A I-A", "B-A I-A O", {"A": (0, 1, 1)}),  # the end is wrong
        ("B-A I-A I-A", "B-A B-A I-A", {"A": (0, 2, 1)}),  # one chunk was cut into two
        ("B-A B-A I-A", "I-A I-A I-A", {"A": (0, 1, 2)}),  # two chunks were joined
        ("B-A B-A I-A", "I-A B-A I-A", {"A": (2, 2, 2)}),  # B-A after I-A begins a chunk
        ("B-A I-A", "B-A I-B", {"A": (0, 1, 1), "B": (0, 1, 0)}),  # another type begins a chunk
        ("B-A B-B I-B", "I-A I-B I-B", {"A": (1, 1, 1), "B": (1, 1, 1)}),
        ("B-A I-A O B-B", "B-B I-B O B-B", {"A": (0, 0, 1), "B": (1, 2, 1)}),  # the type is wrong
        ("B-A O B-A O B-A I-A", "B-A O O B-B B-A O", {"A": (1, 2, 3), "B": (0, 1, 0)}),
        ("B-A I-A O B-B", "B-A L-A O U-B", {"A": (1, 1, 1), "B": (1, 1, 1)}),  # BILOU
        ("B-A I-A I-A B-A", "B-A L-A L-A U-A", {"A": (1, 3, 2)}),
        ("B-A I-A O B-B", "B-A E-A O S-B", {"A": (1, 1, 1), "B": (1, 1, 1)}),  # IOBES
        ("O O O", "O B-A O", {"A": (0, 1, 0)}),
        ("B-A O", "O O", {"A": (0, 0, 1)}),
    ],
)
def test_scores_of_types_by_hand(gold, predicted, scores):
    result = chunks([gold.split()], [predicted.split()])
    assert result.by_type.keys() == scores.keys()
    totals = tuple(map(sum, zip(*scores.values())))
    for part, (right, found, wanted) in [
        (result, totals),
        *((result.by_type[kind], numbers) for kind, numbers in scores.items()),
    ]:
        assert (part.n_right, part.n_predicted, part.n_gold) == (right, found, wanted)
        precision = right / found if found else math.nan
        recall = right / wanted if wanted else math.nan
        assert part.precision == pytest.approx(precision, nan_ok=True)
        assert part.recall == pytest.approx(recall, nan_ok=True)
        if right:  # the harmonic mean of 0 and 0 is not defined
            assert part.f1 == pytest.approx(2 / (1 / precision + 1 / recall))
        else:
            assert part.f1 == 0


def test_chunks_end_at_the_end_of_a_sentence():
    result = chunks([["O", "B-A"], ["I-A", "O"]], [["O", "B-A"], ["B-A", "O"]])
    assert (result.n_gold, result.n_right, result.accuracy) == (2, 2, 3 / 4)


def test_perfect_and_empty():
    gold = [[("a", "B-X"), ("b", "I-X")], [("c", "O")]]
    assert chunks(gold, gold).f1 == chunks(gold, gold).accuracy == 1
    assert math.isnan(chunks([["O"]], [["O"]]).f1)
    assert math.isnan(chunks([], []).accuracy)


def test_bad_input():
    with pytest.raises(ParameterError, match="2 gold sentences and 1 predicted"):
        chunks([["O"], ["O"]], [["O"]])
    with pytest.raises(ParameterError, match="sentence 2: 1 gold tags and 2 predicted"):
        chunks([["O"], ["O"]], [["O"], ["O", "O"]])
    with pytest.raises(CorpusError, match="sentence 1, token 2: 'NP' is not a chunk tag"):
        chunks([["O", "O"]], [["O", "NP"]])
    with pytest.raises(CorpusError, match="token 1: None is not a chunk tag"):
        chunk_spans([("word", None)])
    with pytest.raises(CorpusError, match="sentence 2, token 1: None is not a chunk tag"):
        chunks([["O"], [("word", None)]], [["O"], ["O"]])
    with pytest.raises(ParameterError, match="not a string: 'B-NP O'"):
        chunk_spans("B-NP O")
    with pytest.raises(ParameterError, match="lists of sentences"):
        chunks("O", "O")
    with pytest.raises(ParameterError, match="scheme must be 'bio', not 'iob1'"):
        chunks([], [], scheme="iob1")


def test_scores_as_a_table():
    result = chunks([["B-NP", "O"]], [["B-NP", "B-VP"]])
    frame = result.to_pandas().set_index("type")
    assert frame.index.tolist() == list(result.by_type)
    for name, part in result.by_type.items():
        for column in frame.columns:
            assert frame.loc[name, column] == pytest.approx(getattr(part, column), nan_ok=True)
    assert result.to_arrow().column_names[:4] == ["type", "n_gold", "n_predicted", "n_right"]
