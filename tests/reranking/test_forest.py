"""Search in packed forests: exact without corrections, and exact with a large beam."""

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.reranking.forest import UNKNOWN, best_tree, corrector, tree_score
from eigentext.reranking.pieces import pieces

NOUNS = ("pie", "bread", "soup", "rice")
VERBS = ("ate", "saw", "liked", "had")


def treebank():
    """Attachments of two phrases: high after two of the verbs, low after the others."""
    rng = np.random.default_rng(0)
    trees = []
    for _ in range(80):
        verb, *nouns = (str(rng.choice(some)) for some in (VERBS, NOUNS, NOUNS, NOUNS))
        a, b, c = (f"(NP (NN {noun}))" for noun in nouns)
        both = f"(PP (IN of) (NP {b} (PP (IN of) {c})))"
        one, other = f"(PP (IN of) {b})", f"(PP (IN of) {c})"
        high = [f"{a} {one} {other}", f"(NP {a} {one}) {other}", f"{a} {both}"]
        low = [f"(NP {a} {both})", f"(NP (NP {a} {one}) {other})", f"(NP {a} {one})", a]
        is_high = rng.random() < (0.8 if verb in VERBS[:2] else 0.2)
        rest = str(rng.choice(high if is_high else low))
        trees.append(et.Tree.parse(f"(S (NP (PRP I)) (VP (VBD {verb}) {rest}))"))
    return trees


SENTENCES = [
    "I liked pie of soup of rice",
    "I ate pie of soup of rice of bread",
    "I had bread of soup of pie of rice",
]


def plain():
    """A grammar without memory, which has many trees for a sentence."""
    return et.PCFG(prune=0, vertical=1, horizontal=0)


@pytest.fixture(scope="module")
def parser():
    return plain().fit(treebank())


@pytest.fixture(scope="module", params=["log-linear", "perceptron"])
def reranker(request):
    own = {"log-linear": {"penalty": 0.3}, "perceptron": {"beta": 2.0}}[request.param]
    model = et.TreeReranker(request.param, min_count=1, **own)
    return model.fit_base(plain, treebank(), n_folds=3)


def strange(piece):
    """Corrections that depend on all of a piece; known parents may bring much."""
    code = "".join(map(str, piece[:3])) + piece.grandparent + piece.parent + "".join(piece.labels)
    return (hash_of(code) % 1000) / 500 - 1


def hash_of(text):
    number = 7
    for char in text:
        number = (number * 31 + ord(char)) % 1_000_003
    return number


@pytest.mark.parametrize("beam", [1, 2, 50])
@pytest.mark.parametrize("words", SENTENCES)
def test_without_corrections_it_is_the_parse(parser, words, beam):
    forest = parser.forest(words.split())
    assert best_tree(forest, lambda piece: 0.0, beam=beam) == parser.parse(words.split())


@pytest.mark.parametrize("words", SENTENCES)
def test_a_large_beam_is_exact(parser, words):
    forest = parser.forest(words.split())
    every = parser.candidates(words.split(), k=2000)
    assert len(every) > 2
    assert len(every) == len(parser.candidates(words.split(), k=20_000))

    def score(one):
        return tree_score(one.expected, pieces(one.tree), strange)

    best = max(every, key=score)
    found = best_tree(forest, strange, beam=100_000)
    assert found == best.tree
    (own,) = (one for one in every if one.tree == found)
    assert score(own) > score(every[0])  # it differs from the parse


@pytest.mark.parametrize("words", SENTENCES)
def test_as_good_as_the_best_candidate(parser, reranker, words):
    forest = parser.forest(words.split())
    of_trees = reranker.model == "perceptron"
    correct = corrector(forest, reranker._extractor, reranker.weights_, of_trees=of_trees)
    weight = reranker.beta if of_trees else 1.0
    candidates = parser.candidates(words.split(), k=2000)
    scores = {
        one.tree: tree_score(one.expected, pieces(one.tree), correct, weight=weight)
        for one in candidates
    }
    found = best_tree(forest, correct, weight=weight, beam=500)
    assert scores[found] == pytest.approx(max(scores.values()))
    assert reranker.apply(parser, [words], beam=500) == [found]


def test_scores_of_a_single_tree_are_those_of_lists(parser, reranker):
    words = SENTENCES[0].split()
    forest = parser.forest(words)
    of_trees = reranker.model == "perceptron"
    correct = corrector(forest, reranker._extractor, reranker.weights_, of_trees=of_trees)
    one = max(parser.candidates(words), key=lambda one: one.expected)
    _, scores = reranker._scored([[one]])
    found = tree_score(
        one.expected, pieces(one.tree), correct, weight=reranker.beta if of_trees else 1.0
    )
    assert found == pytest.approx(scores[0])


def test_corrections_of_what_is_unknown_are_not_in_the_end(parser):
    """A large bonus for unknown parents changes no exact search."""
    forest = parser.forest(SENTENCES[0].split())

    def correct(piece):
        return 100.0 * (UNKNOWN in (piece.parent, piece.grandparent)) + strange(piece)

    assert best_tree(forest, correct, beam=100_000) == best_tree(forest, strange, beam=100_000)


def test_sentences_without_a_parse(parser, reranker):
    with pytest.warns(et.grammars.FallbackWarning):
        tree = parser.parse(["of", "of"])
    assert parser.forest(["of", "of"]).items == []
    assert reranker.apply(parser, ["of of", ""], beam=3) == [tree, None]


def test_bad_beams(parser, reranker):
    with pytest.raises(ParameterError, match="beam"):
        reranker.apply(parser, ["I ate"], beam=0)
    with pytest.raises(ParameterError, match="packed forest"):
        reranker.apply(object(), ["I ate"], beam=2)
