"""PCFG: known numbers, parameters, small treebanks (test_parser.py compares with all trees)."""

import numpy as np
import pytest
from sklearn.base import clone

from eigentext import PCFG
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets
from eigentext.grammars import FallbackWarning


def test_a_probability_by_hand():
    trees = ["(S (A a) (B b))"] * 3 + ["(S (A b) (A a))"]
    model = PCFG(rare=0, beta=0, gamma=0).fit(trees)
    # No word is rare or was seen once. Unseen words have half a token, with the tags of all words.
    a, b = 5 + 0.5 * 5 / 8, 3 + 0.5 * 3 / 8
    p = 3 / 4 * (4 / a) * (3 / b)
    assert model.log_probability("(S (A a) (B b))") == pytest.approx(np.log(p))
    q = 1 / 4 * (4 / a) * (1 / a)
    assert model.log_probability("(S (A a) (A b))") == pytest.approx(np.log(q))
    (parsed,) = model.parses(["a b"])
    assert parsed.log_probability == pytest.approx(np.log(p + q))
    spans = {span[:3]: span.probability for span in model.marginals("a b")}
    expected = {
        ("S", 0, 2): 1.0,
        ("A", 0, 1): 1.0,
        ("B", 1, 2): p / (p + q),
        ("A", 1, 2): q / (p + q),
    }
    assert spans == pytest.approx(expected)
    assert [one.log_probability for one in model.k_best("a b", 9)] == pytest.approx(np.log([p, q]))


def test_seen_sentences_are_parsed_as_seen(hand_trees):
    model = PCFG().fit(hand_trees)
    for tree in hand_trees:
        trees = [one.tree for one in model.k_best(tree.leaves(), 2)]
        assert tree in trees
    parsed = model.parse_many([tree.leaves() for tree in hand_trees])
    assert brackets(hand_trees, parsed).f1 > 0.9


def test_parameters_are_kept_copied_and_shown():
    model = PCFG(horizontal=None, tau=0.25)
    assert model.get_params()["horizontal"] is None
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "PCFG(horizontal=None, tau=0.25)"
    assert model.set_params(vertical=3) is model
    with pytest.raises(ParameterError, match="PCFG has no parameter 'n_states'"):
        model.set_params(n_states=2)


def test_what_it_says_of_itself(hand_trees):
    model = PCFG()
    assert model.fit(hand_trees) is model
    n_tokens = sum(len(tree.leaves()) for tree in hand_trees)
    assert model.provenance_["n_trees"] == 8
    assert model.provenance_["n_tokens"] == n_tokens
    assert model.provenance_["options"]["horizontal"] == model.horizontal
    sources = model.provenance_["sources"]
    assert PCFG().fit(map(str, hand_trees)).provenance_["sources"] == sources
    assert PCFG().fit(hand_trees[::-1]).provenance_["sources"] != sources
    about = model.diagnostics_
    assert about["n_labels"] == about["n_states"] == len(model.symbols_)
    assert about["most_states"] == 1
    assert about["n_parameters"] == about["n_rules"] >= about["rules_seen_once"] > 0
    assert 0 < about["rare_tokens"] <= 1
    assert (model.n_states_ == 1).all()


def test_fitting_again_forgets(hand_trees, ambiguous_trees):
    model = PCFG().fit(hand_trees).fit(ambiguous_trees)
    assert model.symbols_ == PCFG().fit(ambiguous_trees).symbols_
    assert model.log_probability(hand_trees[0]) == -np.inf


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"binarize": "up"}, "binarize must be 'left' or 'right', not 'up'"),
        ({"horizontal": -1}, "horizontal must be a whole number, 0 or more, or None, not -1"),
        ({"vertical": 0}, "vertical must be a whole number, 1 or more, not 0"),
        ({"rare": 1.5}, "rare must be a whole number, 0 or more, not 1.5"),
        ({"beta": -0.5}, "beta must be a number, 0 or more, not -0.5"),
        ({"gamma": np.nan}, "gamma must be a number, 0 or more, not nan"),
        ({"prune": 1}, "prune must be a number, 0 or more and less than 1, not 1"),
        ({"decoding": "best"}, "decoding must be 'mbr', 'max-rule' or 'viterbi', not 'best'"),
        ({"tau": "high"}, "tau must be a number, 0 or more, not 'high'"),
        ({"gamma": 1e155}, r"gamma must be 1,000,000,000 at most, not 1e\+155"),
        ({"rare": 10**30}, "rare must be 1,000,000,000 at most, not 1000"),
    ],
)
def test_wrong_parameters(hand_trees, parameters, message):
    with pytest.raises(ParameterError, match=message):
        PCFG(**parameters).fit(hand_trees)


def test_a_path_is_no_treebank(tmp_path):
    with pytest.raises(CorpusError, match=r"give a list of trees, as et\.read_trees does"):
        PCFG().fit(tmp_path / "trees.mrg")
    with pytest.raises(CorpusError, match=r"tree 1: .* is outside all brackets"):
        PCFG().fit([str(tmp_path / "trees.mrg")])


def test_one_tree(hand_trees):
    model = PCFG().fit(hand_trees[:1])
    assert model.parse(hand_trees[0].leaves()) == hand_trees[0]
    (parsed,) = model.parses(["a cat"])  # never seen, in no sentence of two words
    assert parsed.tree.leaves() == ["a", "cat"]


def test_one_word_trees_only():
    model = PCFG().fit(["(UH hello)", "(UH hello)", "(X (Y a))"])
    assert str(model.parse("hello")) == "(UH hello)"
    assert str(model.parse("a")) == "(X (Y a))"
    assert model.parse("goodbye").leaves() == ["goodbye"]
    assert np.isfinite(model.log_probability("(X (Y hello))"))
    with pytest.warns(FallbackWarning):
        tree = model.parse("hello a hello")
    assert tree.leaves() == ["hello", "a", "hello"]


def test_every_markovisation_parses_real_sentences(penn):
    trees, others = penn("train")[:300], penn("dev")[:25]
    sentences = [tree.leaves() for tree in others]
    f1 = {}
    for options in (
        {"horizontal": 0},
        {},
        {"vertical": 2},
        {"binarize": "right"},
        {"horizontal": None},
    ):
        model = PCFG(**options).fit(trees)
        parses = list(model.parses(sentences))
        assert [parsed.tree.leaves() for parsed in parses] == sentences
        f1[str(options)] = brackets(others, [parsed.tree for parsed in parses]).f1
    assert min(f1.values()) > 0.5
