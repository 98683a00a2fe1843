"""Candidates of parsers: the parse is first, and their numbers are those of other methods."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.grammars.candidates import bracket_marginals

TREES = [
    "(S (NP (PRP I)) (VP (VBD ate) (NP (NN pie)) (PP (IN of) (NP (NN rice)))))",
    "(S (NP (PRP I)) (VP (VBD ate) (NP (NP (NN pie)) (PP (IN of) (NP (NN rice))))))",
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NN rice)) (PP (IN of) (NP (NN pie))))))",
    "(S (NP (PRP I)) (VP (VBD saw)))",
] * 3
WORDS = ["I", "ate", "rice", "of", "pie"]


@pytest.fixture(scope="module", params=["pcfg", "latent"])
def model(request):
    if request.param == "pcfg":
        return et.PCFG(horizontal=0, vertical=1).fit(TREES)
    return et.LatentPCFG(2, method="em", nodes_per_state=1, n_iter=5).fit(TREES)


def test_the_parse_is_first_and_no_tree_comes_twice(model):
    found = model.candidates(WORDS, 5)
    assert found[0].tree == model.parse(WORDS)
    assert found[0].expected == max(one.expected for one in found)
    trees = [one.tree for one in found]
    assert len(set(trees)) == len(trees) > 1
    assert {one.tree for one in model.k_best(WORDS, 5)} <= set(trees)


def test_marginals_are_those_of_the_grammar(model):
    scores = {span[:3]: span.score for span in model.scores(WORDS)}
    for one in model.candidates(WORDS, 3):
        assert one.marginals == bracket_marginals(one.tree, scores)
        assert len(one.marginals) == sum(not n.is_preterminal for n in one.tree.subtrees())


def test_expected_is_the_sum_of_marginals(model):
    scores = {span[:3]: span.score for span in model.scores(WORDS)}
    for one in model.candidates(WORDS, 3):
        tags = sum(scores[tag, n, n + 1] for n, (_, tag) in enumerate(one.tree.tags()))
        tau = model.parameters_.tau
        assert one.expected == pytest.approx(sum(mu - tau for mu in one.marginals) + tags)


def test_the_forest_has_all_candidates(model):
    """The best sum of worths in it is that of the parse, and marginals are those of the grammar."""
    forest = model.forest(WORDS)
    assert forest.words == WORDS
    assert forest.parse == model.parse(WORDS)
    assert forest.marginals == {span[:3]: span.score for span in model.scores(WORDS)}
    best = []
    for item in forest.items:
        below = [best[b] + best[c] for b, c in item.edges]
        assert bool(below) == (item.end - item.start > 1)
        best.append(item.worth + max(below, default=0.0))
    expected = max(one.expected for one in model.candidates(WORDS, 5))
    assert max(best[root] for root in forest.roots) == pytest.approx(expected)


def test_log_probabilities_without_hidden_states_are_exact():
    model = et.PCFG().fit(TREES)
    for one in model.candidates(WORDS, 4):
        assert one.log_probability == pytest.approx(model.log_probability(one.tree))


def test_sentences_without_a_parse(model):
    (one, *others) = model.candidates(["pie", "pie", "of", "of", "I"], 2)
    assert not others or one.log_probability > -np.inf
    assert one.tree.leaves() == ["pie", "pie", "of", "of", "I"]


def test_many_sentences(model):
    many = list(model.candidates_many([WORDS, [], WORDS[:2]], 3, n_jobs=2))
    assert many == [model.candidates(WORDS, 3), [], model.candidates(WORDS[:2], 3)]


def test_marginals_by_hand():
    tree = et.Tree.parse("(S (NP (DT a) (NN b)) (VP (VB c)))")
    known = {("S", 0, 3): 0.9, ("NP", 0, 2): 0.5, ("VB", 2, 3): 1.0}
    assert bracket_marginals(tree, known) == (0.9, 0.5, 0.0)


def test_bad_k(model):
    for k in (0, 1.5, "3", True):
        with pytest.raises(ParameterError, match="k must be"):
            model.candidates(WORDS, k)
