"""Chains of unary nodes as products of single steps: known answers and laws."""

import numpy as np
import pytest

from eigentext.corpus.trees import Tree
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.treebank.normal_form import Symbol
from eigentext.grammars.treebank.unaries import BETWEEN, INNER, TAG, Place, Unaries, places

BINARIZATION = {"binarize": "left", "horizontal": 0, "vertical": 1}


def unaries_of(*trees):
    counted = CountedTrees(
        [Tree.parse(tree) for tree in trees], **BINARIZATION, rare=0, beta=0.0, gamma=0.0
    )
    treebank = counted.treebank
    counts = np.bincount(treebank.label, minlength=len(treebank.symbols)).astype(float)
    return Unaries(treebank.symbols, counts, treebank.rules())


@pytest.fixture
def unaries():
    """NP goes on with P once, with N once, and branches once; a VP is V twice, S an S+VP once."""
    return unaries_of(
        "(S (NP (D the) (N dog)) (VP (V slept)))",
        "(S (NP (P she)) (VP (V saw) (NP (N dog))))",
        "(S (VP (V saw)))",
    )


def test_places():
    assert places(Symbol(("S", "VP"))) == [Place("S", INNER), Place("VP", INNER)]
    assert places(Symbol(("NP", "N"), preterminal=True))[-1] == Place("N", TAG)
    assert places(Symbol(("NP",), ())) == [Place("NP", BETWEEN)]


def numbers(unaries, *named):
    return [unaries.number[Place(*one)] for one in named]


def test_known_chains(unaries):
    S, VP, NP = numbers(unaries, ("S", INNER), ("VP", INNER), ("NP", INNER))
    V, P, N = numbers(unaries, ("V", TAG), ("P", TAG), ("N", TAG))
    assert unaries.probability([NP, P]) == pytest.approx(1 / 3)
    assert unaries.probability([NP]) == pytest.approx(1 / 3)
    assert unaries.probability([S, VP, V]) == pytest.approx(1 / 3 * 2 / 3)
    assert unaries.probability([S, VP]) == pytest.approx(1 / 3 * 1 / 3)  # never seen as a whole
    assert unaries.probability([VP, N]) == 0
    assert unaries.path(S, V, set()) == ("S", "VP", "V")
    assert unaries.path(S, V, {("S", "VP", "V")}) is None
    assert unaries.path(VP, N, set()) is None


def test_a_place_goes_on_or_stops(unaries):
    assert unaries.closure.sum(axis=1) == pytest.approx(np.ones(len(unaries.places)))
    of_parent = np.bincount(unaries.productions.parent, unaries.q, len(unaries.places))
    assert of_parent[of_parent > 0] == pytest.approx(1)


def test_the_closure_sums_over_cycles():
    """X goes to Y half of the time, and Y back to X: R(X, X) = sum of (1/4)^k times 1/2."""
    unaries = unaries_of("(X (Y (A a) (B b)))", "(Y (X (A a) (B b)))")
    X, Y = numbers(unaries, ("X", INNER), ("Y", INNER))
    closure = unaries.closure.toarray()
    assert closure[X, X] == pytest.approx(1 / (1 - 1 / 4) / 2)
    assert closure[X, Y] == pytest.approx(1 / 2 / (1 - 1 / 4) / 2)
    assert closure[X].sum() == pytest.approx(1)
    assert unaries.path(X, Y, {("X", "Y")}) is None  # no cycles
