"""Parsers and taggers behind NLTK's interfaces give the answers that they give here."""

import pickle
import sys

import pytest
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext.corpus import nltk_adapters
from eigentext.errors import EigentextError, ParameterError

nltk = pytest.importorskip("nltk")

TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (PRP him))))",
    "(S (NP (DT a) (NN cat)) (VP (VBD saw) (NP (DT the) (NN dog))))",
    "(S (NP (PRP he)) (VP (VBD saw) (NP (NP (DT a) (NN dog)) (PP (IN in) (NP (NN town))))))",
    "(S (NP (PRP he)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN in) (NP (NN town)))))",
] * 5
TAGGED = [[("the", "D"), ("dog", "N"), ("saw", "V"), ("a", "D"), ("cat", "N")]] * 5
SENTENCE = ["the", "cat", "saw", "a", "dog", "in", "town"]
SHORT = ["he", "saw", "him"]


@pytest.fixture(scope="module")
def parser():
    return et.PCFG().fit(TREES)


@pytest.fixture(scope="module", params=["Tagger", "HMMTagger"])
def tagger(request):
    return getattr(et, request.param)().fit(TAGGED)


def test_a_parser_is_one_of_nltk(parser):
    adapter = parser.to_nltk()
    assert isinstance(adapter, nltk.parse.api.ParserI)
    (tree,) = adapter.parse(SENTENCE)
    assert isinstance(tree, nltk.Tree)
    assert tree == adapter.parse_one(iter(SENTENCE)) == parser.parse(SENTENCE).to_nltk()
    assert et.corpus.as_tree(tree) == parser.parse(SENTENCE)
    assert adapter.parse_all(SENTENCE) == [tree]


def test_several_trees_come_in_the_order_of_k_best(parser):
    found = parser.to_nltk(k=3).parse_all(SENTENCE)
    assert found == [best.tree.to_nltk() for best in parser.k_best(SENTENCE, 3)]
    assert len(found) > 1


@pytest.mark.parametrize("k", [1, 2])
def test_many_sentences_and_empty_ones(parser, k):
    adapter = parser.to_nltk(k)
    found = [list(trees) for trees in adapter.parse_sents([SENTENCE, [], SHORT])]
    assert found == [adapter.parse_all(SENTENCE), [], adapter.parse_all(SHORT)]


def test_latent_grammars_too():
    parser = et.LatentPCFG(2, method="em", n_iter=2, nodes_per_state=1).fit(TREES)
    assert parser.to_nltk().parse_one(SENTENCE).leaves() == SENTENCE


def test_a_tagger_is_one_of_nltk(tagger):
    adapter = tagger.to_nltk()
    assert isinstance(adapter, nltk.tag.api.TaggerI)
    words = [word for word, _ in TAGGED[0]]
    assert adapter.tag(words) == adapter.tag(iter(words)) == TAGGED[0]
    assert adapter.tag_sents([words, [], ["the", "cat"]])[1:] == [[], [("the", "D"), ("cat", "N")]]
    assert adapter.accuracy(TAGGED) == 1.0  # NLTK's own
    assert adapter.tag([]) == []


def test_a_tagger_may_follow_another_of_nltk(tagger):
    """As the back-off of NLTK's own taggers: any TaggerI may be evaluated by its tools."""
    assert tagger.to_nltk().confusion(TAGGED)["D", "D"] == 10


def test_tokens_may_have_several_parts():
    tagged = [[("the", "D", "O"), ("dog", "N", "B-A")], [("saw", "V", "O"), ("Tom", "N", "B-A")]]
    tagger = et.Tagger().fit(tagged * 4)
    pairs = [token[:2] for token in tagged[0]]
    assert tagger.to_nltk().tag(pairs) == [(("the", "D"), "O"), (("dog", "N"), "B-A")]


def test_adapters_are_pickled(parser, tagger):
    again = pickle.loads(pickle.dumps(parser.to_nltk(2)))
    assert again.parse_all(SENTENCE) == parser.to_nltk(2).parse_all(SENTENCE)
    assert pickle.loads(pickle.dumps(tagger.to_nltk())).tag(["the", "dog"])
    assert repr(parser.to_nltk()) == "<EigentextParser of PCFG()>"
    assert repr(tagger.to_nltk()) == f"<EigentextTagger of {tagger!r}>"


def test_what_is_refused(parser, tagger):
    with pytest.raises(ParameterError, match=r"give \['the', 'dog'\]"):
        list(parser.to_nltk().parse("the dog"))
    with pytest.raises(ParameterError, match="lists of tokens"):
        tagger.to_nltk().tag("the dog")
    with pytest.raises(ParameterError, match="k must be a whole number"):
        parser.to_nltk(0)
    for model in (et.PCFG(), et.Tagger(), et.HMMTagger()):
        with pytest.raises(NotFittedError):
            model.to_nltk()


def test_without_nltk_the_error_names_it(parser, tagger, monkeypatch):
    for module in ("nltk.parse.api", "nltk.tag.api"):
        monkeypatch.setitem(sys.modules, module, None)
    nltk_adapters._parser_class.cache_clear()
    nltk_adapters._tagger_class.cache_clear()
    for model in (parser, tagger):
        with pytest.raises(EigentextError, match="pip install nltk"):
            model.to_nltk()
