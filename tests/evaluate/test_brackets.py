"""Brackets: computed by hand, compared with a slow version of EVALB's rules, and failures."""

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import Tree
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets
from eigentext.evaluate.brackets import PUNCTUATION

GOLD = "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars)) (PP (IN at) (NP (NN night)))) (. .))"
N_GOLD = 6


def counts(gold, predicted):
    result = brackets([gold], [predicted])
    return result.matched, result.gold, result.predicted


def test_a_right_tree():
    result = brackets([GOLD], [Tree.parse(GOLD)])
    assert (result.matched, result.gold, result.predicted) == (N_GOLD, N_GOLD, N_GOLD)
    assert result.precision == result.recall == result.f1 == result.exact == 1
    assert result.tagging == result.no_crossing == result.two_crossing == 1
    assert (result.crossing, result.n_failed, result.n_sentences) == (0, 0, 1)


def test_a_wrong_attachment_by_hand():
    # NP(stars at night) is wrong. NP(stars) and NP(night) are missing. The others are right.
    predicted = "(S (NP (PRP she)) (VP (VBD saw) (NP (NN stars) (PP (IN at) (NN night)))) (. .))"
    result = brackets([GOLD], [predicted])
    assert (result.matched, result.gold, result.predicted) == (4, 6, 5)
    assert (result.precision, result.recall) == (4 / 5, 4 / 6)
    assert result.f1 == pytest.approx(8 / 11)
    assert result.tagging == 4 / 5  # of five words, without punctuation
    assert (result.exact, result.crossing) == (0, 0)


@pytest.mark.parametrize(
    ("gold", "predicted", "expected"),
    [
        # Unary chains: each label counts, and their order does not matter.
        ("(S (VP (NP (NN x))))", "(S (VP (NP (NN x))))", (3, 3, 3)),
        ("(S (VP (NP (NN x))))", "(NP (S (NN x)))", (2, 3, 2)),
        ("(S (VP (NP (NN x))))", "(NN x)", (0, 3, 0)),
        # Equal brackets count separately.
        ("(NP (NP (NP (NN x))))", "(NP (NP (NN x)))", (2, 3, 2)),
        ("(NP (NN x))", "(NP (NP (NP (NN x))))", (1, 1, 3)),
        ("(NP (NP (NN x)) (, ,))", "(NP (NN x) (, ,))", (1, 2, 1)),  # equal without the comma
        # Roots, parts of speech and function tags.
        ("(TOP (S (NN x)))", "(ROOT (S (NN x)))", (1, 1, 1)),
        ("( (S1 (S (NN x))))", "(S (NN x))", (1, 1, 1)),
        ("(S (NP-SBJ-1 (NN x)) (VP=2 (VB y)))", "(S (NP (NN x)) (VP (VB y)))", (3, 3, 3)),
        # ADVP and PRT are the same label.
        ("(VP (VB give) (PRT (RP up)))", "(VP (VB give) (ADVP (RP up)))", (2, 2, 2)),
        ("(VP (ADVP-TMP (RP up)) (VB give))", "(VP (PRT (RP up)) (VB give))", (2, 2, 2)),
        # Traces are removed, and then empty constituents.
        (
            "(S (NP-SBJ (-NONE- *-1)) (VP (VB go) (SBAR (-NONE- 0) (S (-NONE- *T*)))))",
            "(S (VP (VB go)))",
            (2, 2, 2),
        ),
        # Punctuation may be attached anywhere. A constituent of only punctuation does not count.
        ("(S (NP (NN x) (, ,)) (VP (VB y)))", "(S (NP (NN x)) (, ,) (VP (VB y)))", (3, 3, 3)),
        ("(S (`` ``) (NP (NN x)) ('' ''))", "(S (`` ``) (NP (NN x) ('' '')))", (2, 2, 2)),
        ("(S (NP (NN x)) (PRN (: --) (, ,)))", "(S (NP (NN x)) (: --) (, ,))", (2, 2, 2)),
        ("(S (NP (NN x)) (. ?))", "(S (NP (NN x) (X (. ?))))", (2, 2, 2)),
        # The tags of the right tree decide, not the predicted ones.
        ("(S (NP (NN x)) (: -))", "(S (NP (NN x) (SYM -)))", (2, 2, 2)),
        ("(S (NP (NN x)) (SYM -))", "(S (NP (NN x) (: -)))", (1, 2, 2)),
        # Round brackets are not punctuation for EVALB.
        ("(S (-LRB- -LRB-) (NP (NN x)))", "(S (NP (-LRB- -LRB-) (NN x)))", (1, 2, 2)),
        (
            "(S (-LRB- -LRB-) (NP (NN x)))",
            Tree("S", [Tree("-LRB-", ["("]), Tree("NN", ["x"])]),
            (1, 2, 1),
        ),
    ],
)
def test_by_hand(gold, predicted, expected):
    assert counts(gold, predicted) == expected


def test_crossing_by_hand():
    gold = "(S (NP (A a) (B b)) (VP (C c) (NP (D d) (E e))))"
    crossed = "(S (A a) (NP (NP (B b) (C c)) (D d)) (E e))"  # both NPs cross, once each
    inside = "(S (NP (A a)) (B b) (VP (C c) (D d) (E e)))"
    outside = "(S (A a) (X (B b) (C c) (D d) (E e)))"
    result = brackets([gold] * 3, [crossed, inside, outside])
    assert [sentence.crossing for sentence in result.sentences] == [2, 0, 1]
    assert result.crossing == 1
    assert (result.no_crossing, result.two_crossing) == (1 / 3, 1)
    thrice = "(S (A a) (NP (X (NP (B b) (C c))) (D d)) (E e))"  # three brackets cross
    result = brackets([gold] * 4, [thrice, crossed, inside, None])
    assert [sentence.crossing for sentence in result.sentences] == [3, 2, 0, 0]
    assert (result.no_crossing, result.two_crossing) == (1 / 4, 1 / 2)  # a failure is not free
    assert result.to_dict()["by_length"]["1-10"]["two_crossing"] == 1 / 2
    twice = "(S (A a) (X (X (B b) (C c))) (D d) (E e))"  # equal brackets count separately
    assert brackets([gold], [twice]).crossing == 2
    # Without the comma, nothing crosses.
    gold, predicted = "(S (NP (A a) (, ,)) (B b))", "(S (A a) (X (, ,) (B b)))"
    assert brackets([gold], [predicted]).crossing == 0


@pytest.mark.parametrize(
    "failed",
    [
        None,
        "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars))) (. .))",
        GOLD.replace("night", "day"),
        "(NP (-NONE- *))",
    ],
)
def test_failed_sentences_count(failed):
    result = brackets([GOLD, GOLD], [failed, GOLD])
    assert (result.matched, result.gold, result.predicted) == (N_GOLD, 2 * N_GOLD, N_GOLD)
    assert (result.n_sentences, result.n_failed) == (2, 1)
    assert (result.precision, result.recall) == (1, 0.5)
    assert result.f1 == pytest.approx(2 / 3)
    assert result.exact == result.no_crossing == result.two_crossing == result.tagging == 0.5
    assert result.crossing == 0  # only of the sentence with a tree
    assert str(result).endswith("\nfailed: 1")
    alone = brackets([GOLD], [failed])
    assert (alone.recall, alone.f1, alone.exact) == (0, 0, 0)
    assert math.isnan(alone.precision)
    assert math.isnan(alone.crossing)


def test_a_failed_sentence_without_brackets_is_not_exact():
    result = brackets(["(NN x)", "(NN x)"], ["(NN x)", None])
    assert (result.exact, result.gold) == (0.5, 0)
    assert math.isnan(result.f1)


def test_by_length():
    def flat(n):
        return Tree("S", [Tree("NN", ["x"])] * n)

    lengths = [1, 10, 11, 40, 41, 134]
    result = brackets(map(flat, lengths), [flat(1), flat(10), flat(11), None, flat(41), flat(134)])
    parts = result.by_length
    assert {name: part.n_sentences for name, part in parts.items()} == {
        "1-10": 2,
        "11-20": 1,
        "31-40": 1,
        "41+": 2,
    }
    assert [part.f1 for part in parts.values()] == [1, 1, 0, 1]
    assert [part.exact for part in parts.values()] == [1, 1, 0, 1]
    told = result.to_dict()["by_length"]
    assert [told["1-10"][name] for name in ("n_sentences", "precision", "recall")] == [2, 1, 1]
    assert [told["31-40"][name] for name in ("precision", "recall", "f1")] == [None, 0, 0]
    assert result.up_to(40).n_sentences == 4
    assert result.up_to(40).recall == 3 / 4
    assert result.up_to(0).n_sentences == 0
    assert sum(part.matched for part in parts.values()) == result.matched == 5


def test_length_counts_punctuation_but_not_traces():
    result = brackets(["(S (NN x) (. .) (-NONE- *))"], [None])
    assert result.sentences[0].length == 2
    assert result.sentences[0].words == 1


def test_what_is_printed():
    result = brackets([GOLD, GOLD], [GOLD, None])
    titles, short, everything, failed = str(result).split("\n")
    assert " ".join(titles.split()) == (
        "words sentences precision recall F1 exact crossing 0 CBs 2 CBs tags"
    )
    assert " ".join(short.split()) == "1-10 2 100.00 50.00 66.67 50.00 0.00 50.00 50.00 50.00"
    assert failed == "failed: 1"
    assert everything.split() == ["all", *short.split()[1:]]
    assert len(titles) == len(short) == len(everything)
    assert repr(result) == "BracketResult(F1 66.67% over 2 sentences)"
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert plain["f1"] == result.f1
    assert plain["by_length"]["1-10"]["n_failed"] == 1
    nothing = brackets([], [])
    assert nothing.to_dict()["f1"] is None
    assert "nan" in str(nothing)


def test_bad_input():
    with pytest.raises(
        ParameterError, match="there are 2 gold trees and 1 predicted ones; give one"
    ):
        brackets([GOLD, GOLD], [GOLD])
    with pytest.raises(ParameterError, match="this is a single tree; give lists of trees"):
        brackets(GOLD, GOLD)
    with pytest.raises(ParameterError, match="gold tree 2: 'None' of type NoneType is neither"):
        brackets([GOLD, None], [GOLD, GOLD])
    with pytest.raises(CorpusError, match=r"predicted tree 1: '\(S \(NP', line 1: .* never closed"):
        brackets([GOLD], ["(S (NP"])
    with pytest.raises(CorpusError, match="gold tree 1 has no words; leave it out of both lists"):
        brackets(["(S (-NONE- *))"], [GOLD])


# The same counts, computed slowly by removing words and brackets from lists.


def slow_counts(gold: Tree, predicted: Tree) -> tuple[int, int, int, int]:
    """Return the numbers of matched, right, predicted and crossing brackets."""
    out = [place for place, (_, tag) in enumerate(gold.tags()) if tag in PUNCTUATION]
    right, found = ([*spans(tree, [0], out)] for tree in (gold, predicted))
    crossing = sum(
        any(set(a) & set(b) and set(a) - set(b) and set(b) - set(a) for _, b in right)
        for _, a in found
    )
    left = list(found)
    for bracket in right:
        if bracket in left:
            left.remove(bracket)
    return len(found) - len(left), len(right), len(found), crossing


def spans(tree, place, out):
    """Yield the label and the places of the words of each constituent, without those in `out`."""
    if tree.is_preterminal:
        place[0] += 1
        return
    start = place[0]
    for child in tree.children:
        yield from spans(child, place, out)
    words = [word for word in range(start, place[0]) if word not in out]
    if words and tree.label not in ("TOP", "ROOT"):
        yield tree.label.replace("PRT", "ADVP"), words


def random_tree(rng: random.Random, nodes: list[Tree]) -> Tree:
    while len(nodes) > 1 or rng.random() < 0.5:
        width = rng.randint(1, min(3, len(nodes)))
        at = rng.randint(0, len(nodes) - width)
        label = rng.choice(["NP", "VP", "ADVP", "PRT", "TOP"])
        nodes = [*nodes[:at], Tree(label, nodes[at : at + width]), *nodes[at + width :]]
    return nodes[0]


@given(st.integers(0, 1 << 30), st.lists(st.sampled_from(["NN", "VB", ",", "."]), min_size=1))
def test_slow_counts_agree(seed, tags):
    rng = random.Random(seed)
    words = [Tree(tag, [f"w{place}"]) for place, tag in enumerate(tags)]
    gold, predicted = random_tree(rng, words), random_tree(rng, words)
    score = brackets([gold], [predicted]).sentences[0]
    expected = slow_counts(gold, predicted)
    assert (score.matched, score.gold, score.predicted, score.crossing) == expected
    assert brackets([gold], [gold]).exact == 1


def test_the_real_penn_sample(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "nltk_data/corpora/treebank.zip").exists():
        pytest.skip("no Penn sample in the data folder")
    raw = et.load_dataset("penn-sample", split="test")
    plain = [et.normalize_tree(tree) for tree in raw]
    result = brackets(plain, raw)
    assert (result.gold, result.matched) == (3_674, 3_674)
    assert result.predicted == 3_681  # EVALB counts X over X as two brackets
    assert (result.n_failed, result.tagging, result.no_crossing) == (0, 1, 1)
