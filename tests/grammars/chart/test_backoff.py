"""The back-off against all trees of known productions, one by one."""

from itertools import product

import numpy as np
import pytest

import eigentext as et
from eigentext import PCFG, LatentPCFG
from eigentext.corpus.trees import Tree
from eigentext.grammars.chart import backoff as module
from eigentext.grammars.chart._backoff_loops import agrees
from eigentext.grammars.chart.backoff import RESERVED
from eigentext.grammars.treebank.unaries import BETWEEN, INNER, TAG

TREES = [
    "(S (NP (D the) (N dog)) (VP (V slept)))",
    "(S (NP (P she)) (VP (V saw) (NP (D the) (N dog)) (PP (I by) (NP (P her)))))",
    "(S (VP (V saw) (PP (I by) (P it))))",
    "(Q (S (NP (N dog)) (VP (V saw) (NP (N dog)))))",
    "(S (NP (NP (P she)) (PP (I by) (NP (D the) (N dog)))) (VP (V slept)))",
]
EXACT = {"rare": 0, "beta": 0.0, "gamma": 0.0}  # words have the tags that they were seen with
MODELS = {
    "pcfg": PCFG(horizontal=0, vertical=1, **EXACT),
    "h1": PCFG(horizontal=1, vertical=1, **EXACT),
    "h2-v2": PCFG(**EXACT),
    "all-v3-right": PCFG(horizontal=None, vertical=3, binarize="right", **EXACT),
    "h3-v2-right": PCFG(horizontal=3, vertical=2, binarize="right", **EXACT),
    "h1-v2-em": LatentPCFG(
        2, method="em", horizontal=1, vertical=2, nodes_per_state=1, n_iter=3, n_smooth=1, **EXACT
    ),
    **{
        method: LatentPCFG(2, method=method, nodes_per_state=1, **EXACT)
        for method in ("spectral", "pivot", "em", "spectral+em", "pivot+em", "split-merge")
    },
    "voting": LatentPCFG(2, method="em", n_grammars=2, nodes_per_state=1, **EXACT),
    "spectral-voting": LatentPCFG(2, n_grammars=2, nodes_per_state=1, **EXACT),
}
_FITTED, _ENUMERATED = {}, {}
SENTENCES = ("she slept", "saw", "saw it", "she by it slept")

pytestmark = pytest.mark.filterwarnings("ignore")


def fitted(name):
    if name not in _FITTED:
        _FITTED[name] = MODELS[name].fit(TREES).parsing_with(prune=0)
    return _FITTED[name]


def all_trees(model, words):
    """All trees of known productions without a unary cycle, whatever their probability."""
    key = model.binarize, *words
    if key not in _ENUMERATED:  # labels that remember something have the same productions
        _ENUMERATED[key] = enumerated(model, words)
    return _ENUMERATED[key]


def enumerated(model, words):
    unaries = model._cascade.backoff._unaries
    productions = list(zip(*(x.tolist() for x in unaries.productions[:3])))
    goes = unaries._goes.tocoo()
    steps = list(zip(goes.row.tolist(), goes.col.tolist()))

    def children(place, i, j, above=()):
        """The lists of children below a place: one node, or those of an intermediate node."""
        label, kind = unaries.places[place]
        if kind == TAG:
            return [[Tree(label, [words[i]])]] if j == i + 1 else []
        found = [
            one + two
            for a, b, c in productions
            if a == place
            for k in range(i + 1, j)
            for one in children(b, i, k)
            for two in children(c, k, j)
        ]
        if kind == BETWEEN:
            return found
        for x, y in steps:
            if x == place and y not in above:
                found += children(y, i, j, (*above, place))
        return [[Tree(label, some)] for some in found]

    roots = [x for x, place in enumerate(unaries.places) if place.kind == INNER]
    return [tree for x in roots for (tree,) in children(x, 0, len(words))]


def probability_of(model, tree):
    """p'(tree), also if the grammar itself has it."""
    from eigentext.grammars.chart.forest import tree_forest
    from eigentext.grammars.treebank.normal_form import binarized

    encoded = model._empty.encode([tree])
    part = binarized([tree], model._empty.binarization)
    nodes = [part.symbols[a] for a in part.label]
    return model._cascade.backoff.tree(tree_forest(encoded), nodes, encoded.tokens)


def probability_of_sentence(model, words):
    local = model._cascade.backoff.sentence(words, 0.0)
    if local is None:
        return 0.0
    found = [level.posteriors(local.forest, words) for level in local.levels]
    return float(np.mean([one.sign * np.exp(one.log_probability) for one in found]))


@pytest.mark.parametrize("name", MODELS)
def test_the_probability_of_a_sentence_is_the_sum_over_its_trees(name):
    model = fitted(name)
    for sentence in SENTENCES:
        words = sentence.split()
        trees = all_trees(model, words)
        assert len(set(trees)) == len(trees) > 0
        total = sum(np.exp(probability_of(model, tree)) for tree in trees)
        assert total > 0
        assert probability_of_sentence(model, words) == pytest.approx(total, rel=1e-9)


@pytest.mark.parametrize("name", ["pcfg", "h2-v2", "all-v3-right", "em", "pivot", "h1-v2-em"])
def test_all_probabilities_sum_to_one_at_most(name):
    model = fitted(name)
    vocabulary = ["the", "dog", "she", "slept", "saw", "it"]
    sums = [
        probability_of_sentence(model, list(words))
        for n in (1, 2, 3)
        for words in product(vocabulary, repeat=n)
    ]
    assert 0.05 < sum(sums) <= 1
    assert min(sums) >= 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sentence", ["she slept", "it slept", "saw it", "her saw the dog by it"])
def test_sentences_of_known_productions_have_a_parse(name, sentence):
    model = fitted(name)
    words = sentence.split()
    (parsed,) = model.parses([words])
    assert parsed.fallback is None
    assert parsed.tree.leaves() == words
    assert parsed.log_probability > -np.inf
    assert model.log_probability(parsed.tree) > -np.inf
    spans = model.marginals(words)
    assert all(-1e-9 <= span.probability <= 1 + 1e-9 for span in spans)
    best = model.k_best(words, 5)
    assert len({one.tree for one in best}) == len(best)
    assert parsed.tree in {one.tree for one in model.k_best(words, 50)}


@pytest.mark.parametrize("name", MODELS)
def test_the_sentence_of_the_issue(name):
    trees = ["(S (NP (D the) (N dog)) (VP (V slept)))",
             "(S (NP (P she)) (VP (V saw) (NP (D the) (N dog))))"]  # fmt: skip
    model = MODELS[name].fit(trees)
    (parsed,) = model.parses([["she", "slept"]])
    assert parsed.fallback is None
    assert str(parsed.tree) == "(S (NP (P she)) (VP (V slept)))"
    # It is the only tree, so both numbers are those of the same model.
    assert model.log_probability(parsed.tree) == pytest.approx(parsed.log_probability)
    assert parsed.log_probability < RESERVED


@pytest.mark.parametrize("name", MODELS)
def test_a_chain_that_was_never_seen_as_a_whole(name):
    trees = ["(S (X (Z z)) (T (Y y)))", "(S (U (X (K k))) (V (W v)))"]
    model = MODELS[name].fit(trees)
    (parsed,) = model.parses([["z", "v"]])
    assert parsed.fallback is None
    assert str(parsed.tree) == "(S (U (X (Z z))) (V (W v)))"
    assert model.log_probability(parsed.tree) == pytest.approx(parsed.log_probability)


@pytest.mark.parametrize("decoding", ["mbr", "max-rule", "viterbi"])
def test_every_decoding_finds_a_tree_of_the_back_off(decoding):
    model = PCFG(decoding=decoding, **EXACT).fit(TREES)
    (parsed,) = model.parses([["it", "slept"]])
    assert parsed.fallback is None
    assert str(parsed.tree) == "(S (NP (P it)) (VP (V slept)))"


def test_viterbi_is_the_best_of_all_trees():
    model = fitted("pcfg").parsing_with(decoding="viterbi")
    for sentence in ("it slept", "she by it slept"):
        words = sentence.split()
        best = max(all_trees(model, words), key=lambda tree: probability_of(model, tree))
        assert str(model.k_best(words, 1)[0].tree) == str(best)


def test_a_word_or_production_that_was_not_seen_has_no_parse():
    model = fitted("h2-v2")
    (parsed,) = model.parses([["by", "the"]])
    assert parsed.fallback is not None
    assert model.log_probability("(S (I by) (D the))") == -np.inf
    assert model.log_probability("(S (NEW (V saw)))") == -np.inf


@pytest.mark.parametrize("name", MODELS)
def test_the_rules_of_the_grammar_agree_with_what_they_remember(name):
    backoff = fitted(name)._cascade.backoff
    known, left = backoff._places.table.known, backoff._to_left
    for a, b, c in zip(*(x.tolist() for x in backoff._rules[:3])):
        assert agrees(known, a, b, left)
        assert agrees(known, a, c, not left)


@pytest.mark.parametrize("name", MODELS)
def test_stand_ins_below_a_mother_sum_to_one_at_most(name):
    backoff = fitted(name)._cascade.backoff
    table = backoff._places.table
    n = len(backoff._symbols)
    sums = {}
    for a in range(n):
        for x, weight in enumerate(table.weight.tolist()):
            if agrees(table.known, a, x, backoff._to_left):
                key = a, int(table.known[x, 0])
                sums[key] = sums.get(key, 0.0) + weight
    assert max(sums.values()) <= 1 + 1e-9


def test_sentences_with_a_parse_are_as_they_were():
    for name in ("h2-v2", "em"):
        model = fitted(name)
        cascade = model._cascade
        without = type(cascade)(cascade.symbols, cascade.coarse, cascade.middle, cascade.levels)
        for tree in map(Tree.parse, TREES):
            one, two = cascade.read(tree.leaves(), 5e-5), without.read(tree.leaves(), 5e-5)
            assert one.problem is None
            assert one.log_probability == two.log_probability
            assert (one.items == two.items).all()


@pytest.mark.parametrize("name", ["h2-v2", "spectral", "em", "voting"])
def test_a_saved_model_backs_off_alike(name, tmp_path):
    model = fitted(name)
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    for sentence in ("it slept", "she by it slept"):
        (one,), (two,) = model.parses([sentence.split()]), again.parses([sentence.split()])
        assert one == two


def test_an_older_file_does_not_back_off(tmp_path):
    model = MODELS["h2-v2"].fit(TREES)
    cascade = model._cascade
    model._cascade = type(cascade)(cascade.symbols, cascade.coarse, None, cascade.levels)
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    (parsed,) = again.parses([["it", "slept"]])
    assert parsed.fallback is not None
    assert again.log_probability("(S (NP (P it)) (VP (V slept)))") == -np.inf


def test_forests_with_too_many_edges_are_pruned_more(monkeypatch):
    model = MODELS["h2-v2"].fit(TREES)
    words = ["she", "by", "it", "by", "the", "dog", "by", "her", "slept"]

    def edges(most):
        monkeypatch.setattr(module, "_MOST", most)
        local = model._cascade.backoff.sentence(words, 0.0)
        return local and len(local.forest.left)

    assert edges(100) < edges(10**6)
    assert edges(1) is None
    (parsed,) = model.parses([words])  # then there is still the fallback
    assert parsed.fallback is not None
    assert parsed.tree.leaves() == words
