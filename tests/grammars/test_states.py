"""Posteriors of hidden states, against sums over all trees and states; vectors of tokens."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.states import expected_children, state_vectors
from eigentext.grammars.treebank.normal_form import Rules


def by_enumeration(model, tree):
    """p(h | tree) at every node of the binarized tree, by the sum over the states of all nodes."""
    level = model._cascade.levels[0]
    encoded = model._empty.encode([et.normalize_tree(tree)])
    grammar, q = level.grammar, level.words(encoded.tokens)
    n = len(encoded.label)
    sizes = [int(grammar.n_states[a]) for a in encoded.label]
    found = [np.zeros(m) for m in sizes]
    for states in product(*map(range, sizes)):
        at = [grammar.state_offsets[a] + h for a, h in zip(encoded.label, states)]
        p, word = grammar.root[at[-1]], 0
        for i in range(n):
            if encoded.left[i] < 0:
                p *= q[word, at[i]]
                word += 1
            else:
                t = grammar.tensor_of(encoded.rule[i])
                p *= t[states[encoded.left[i]], states[encoded.right[i]], states[i]]
        for i, h in enumerate(states):
            found[i][h] += p
    total = found[-1].sum()
    symbols = [model.symbols_[a] for a in encoded.label]
    return [p / total for p, symbol in zip(found, symbols) if symbol.siblings is None]


@pytest.mark.parametrize("method", ["em", "spectral", "pivot"])
def test_states_are_posteriors(hand_trees, method):
    model = et.LatentPCFG(2, method=method, nodes_per_state=1, rare=1).fit(hand_trees)
    tree = et.Tree.parse(str(hand_trees[0]))
    found = model.state_posteriors(tree)
    expected = by_enumeration(model, tree)
    assert len(found) == len(expected)
    for node, states in zip(found, expected):
        np.testing.assert_allclose(node.states, states, rtol=1e-8, atol=1e-10)
        assert node.states.sum() == pytest.approx(1)
        assert method == "spectral" or node.states.min() >= 0


def test_every_node_of_the_tree_is_there(hand_trees):
    model = et.LatentPCFG(2, method="em", nodes_per_state=1, n_iter=2, n_smooth=0).fit(hand_trees)
    for tree in hand_trees:
        nodes = model.state_posteriors(tree)
        found = [(name, node.start, node.end) for node in nodes for name in node.chain]
        assert sorted(found) == sorted(labeled_spans(tree))
        assert (nodes[-1].start, nodes[-1].end) == (0, len(tree.leaves()))


def labeled_spans(tree, start=0):
    spans, end = [], start
    for child in tree.children:
        if isinstance(child, str):
            end += 1
        else:
            spans += labeled_spans(child, end)
            end += len(child.leaves())
    return [*spans, (tree.label, start, end)]


def test_a_tree_of_unknown_rules_has_no_states(hand_trees):
    model = et.LatentPCFG(2, nodes_per_state=1).fit(hand_trees)
    assert model.state_posteriors("(X (Y a) (Z b))") == []


def test_a_pcfg_has_one_state_at_each_node(hand_trees):
    model = et.PCFG().fit(hand_trees)
    for node in model.state_posteriors(hand_trees[0]):
        assert node.states.tolist() == pytest.approx([1.0])


def test_an_analysis_is_what_its_parts_are(ambiguous_trees):
    model = et.LatentPCFG(2, nodes_per_state=1).fit(ambiguous_trees)
    words = ambiguous_trees[0].leaves()
    analysis = model.analyze(words, 3)
    assert analysis.parse == next(model.parses([words]))
    assert analysis.spans == model.marginals(words)
    assert analysis.best == model.k_best(words, 3)


# Given a sentence.

SENTENCE = ["dogs", "watch", "park", "near", "bark"]


def small_model(trees, method="em", **settings):
    how = {"nodes_per_state": 1, "rare": 1, "prune": 0} | settings
    return et.LatentPCFG(2, method=method, **how).fit(trees)


def by_all_trees(model, every_tree, words, number=0):
    """p(node, h | sentence): the posteriors given each tree, weighted with p(tree | sentence)."""
    found = {}
    derived = every_tree(model._cascade.levels[number], model.symbols_, words)
    total = sum(one.probability for one in derived)
    for one in derived:
        for node in model.state_posteriors(one.tree, grammar=number):
            key = node.label, node.start, node.end
            found[key] = found.get(key, 0.0) + one.probability / total * node.states
    return found


@pytest.mark.parametrize("method", ["em", "spectral", "pivot"])
def test_a_sentence_is_the_sum_of_its_trees(ambiguous_trees, every_tree, method):
    model = small_model(ambiguous_trees, method)
    expected = by_all_trees(model, every_tree, SENTENCE)
    found = {(x.label, x.start, x.end): x.states for x in model.state_marginals(SENTENCE)}
    assert expected.keys() <= found.keys()
    assert len(expected) > 12
    for key, states in found.items():
        np.testing.assert_allclose(states, expected.get(key, 0.0), rtol=1e-7, atol=1e-9)


def test_each_grammar_of_an_ensemble_has_its_own_states(ambiguous_trees, every_tree):
    model = small_model(ambiguous_trees, n_grammars=2)
    for number in (0, 1):
        expected = by_all_trees(model, every_tree, SENTENCE, number)
        for node in model.state_marginals(SENTENCE, grammar=number):
            states = expected.get((node.label, node.start, node.end), 0.0)
            np.testing.assert_allclose(node.states, states, rtol=1e-7, atol=1e-9)
    first, second = (model.state_marginals(SENTENCE, grammar=k) for k in (0, 1))
    assert any(not np.allclose(a.states, b.states) for a, b in zip(first, second))


def sums_by_label(nodes):
    found = {}
    for node in nodes:
        for label in dict.fromkeys(node.chain):
            key = label, node.start, node.end
            found[key] = found.get(key, 0.0) + node.probability
    return found


@pytest.mark.parametrize(
    "model",
    [
        et.PCFG(rare=1),
        et.LatentPCFG(2, method="em", nodes_per_state=1),
        et.LatentPCFG(2, method="spectral", nodes_per_state=1),
        et.LatentPCFG(2, method="em", nodes_per_state=1, n_grammars=2),
    ],
    ids=["pcfg", "em", "spectral", "ensemble"],
)
def test_sums_over_states_are_the_scores_of_spans(ambiguous_trees, model):
    model.fit(ambiguous_trees)
    parts = [
        sums_by_label(model.state_marginals(SENTENCE, grammar=k))
        for k in range(len(model._cascade.levels))
    ]
    scores = {tuple(span[:3]): span.score for span in model.scores(SENTENCE)}
    assert scores.keys() == parts[0].keys()
    for key, score in scores.items():
        assert np.mean([part[key] for part in parts]) == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize("words", [["hopes", "and"], ["the", "ferns", "shade", "see"]])
def test_sentences_that_only_the_back_off_parses(hand_trees, words):
    model = et.LatentPCFG(2, method="em", nodes_per_state=1).fit(hand_trees)
    reading = model._read(words)
    assert reading.levels is not None  # with symbols that the treebank does not have
    assert {"VP+VB", "S+VP"} <= {str(symbol) for symbol in reading.symbols}
    scores = {tuple(span[:3]): span.score for span in model.scores(words)}
    assert sums_by_label(model.state_marginals(words)) == pytest.approx(scores)
    (rows,) = model.transform([words], n_components=None)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    names = model.get_feature_names_out(n_components=None)
    for t in range(len(words)):
        verbs = [name.split()[0].endswith("VB") for name in names]
        expected = scores.get(("VB", t, t + 1), 0)
        assert rows[t, verbs].sum() == pytest.approx(expected, abs=1e-5)


def test_no_parse_at_all(hand_trees):
    model = et.LatentPCFG(2, method="em", nodes_per_state=1).fit(hand_trees)
    words = [".", "the", "the", ".", "and"]
    assert next(model.parses([words])).fallback is not None
    assert model.state_marginals(words) == []
    (rows,) = model.transform([words], n_components=None)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-5)
    assert (rows >= 0).all()
    names = model.get_feature_names_out(n_components=None)
    assert names[rows[1].argmax()].split()[0].endswith("DT")


# Vectors of tokens.


def test_rows_are_the_posteriors_of_the_nodes_of_tokens(ambiguous_trees, every_tree):
    model = small_model(ambiguous_trees)
    (rows,) = model.transform([SENTENCE], n_components=None)
    names = model.get_feature_names_out(n_components=None).tolist()
    assert rows.dtype == np.float32
    assert rows.shape == (5, len(names))
    expected = np.zeros(rows.shape)
    for (label, start, end), states in by_all_trees(model, every_tree, SENTENCE).items():
        if end == start + 1:
            for h, p in enumerate(states):
                expected[start, names.index(f"{label} {h}")] = p
    np.testing.assert_allclose(rows, expected, atol=1e-6)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-6)


def test_a_pcfg_gives_posteriors_of_tags(ambiguous_trees):
    model = et.PCFG(rare=1).fit(ambiguous_trees)
    (rows,) = model.transform([SENTENCE], n_components=None)
    names = [name.split()[0] for name in model.get_feature_names_out(n_components=None)]
    for tag in ("N", "V"):
        mine = [name.split("+")[-1] == tag for name in names]
        for t, p in enumerate(rows[:, mine].sum(axis=1)):
            own = [x.score for x in model.scores(SENTENCE) if x[:3] == (tag, t, t + 1)]
            assert p == pytest.approx(sum(own), abs=1e-6)


def test_vectors_are_expectations(ambiguous_trees):
    model = small_model(ambiguous_trees)
    sentences = [SENTENCE, [], ["bark"], "dogs bark"]
    full = model.transform(sentences, n_components=None)
    few = model.transform(sentences, n_components=3)
    vectors = model._token_space(3).vectors
    assert [len(one) for one in few] == [5, 0, 1, 2]
    for posteriors, rows in zip(full, few):
        assert rows.shape[1] == 3 == len(model.get_feature_names_out(n_components=3))
        np.testing.assert_allclose(rows, posteriors @ vectors, atol=1e-5)


def test_spectral_rows_are_bounded(hand_trees):
    model = et.LatentPCFG(4, method="spectral", nodes_per_state=1).fit(hand_trees)
    for rows in model.transform([tree.leaves() for tree in hand_trees], n_components=None):
        np.testing.assert_allclose(np.abs(rows).sum(axis=1), 1, rtol=1e-5)


def test_the_same_bits_for_any_threads_and_from_a_file(ambiguous_trees, tmp_path):
    model = small_model(ambiguous_trees)
    sentences = [tree.leaves() for tree in ambiguous_trees] * 20
    model.save(tmp_path / "model")
    answers = [
        model.transform(sentences, n_jobs=1),
        model.transform(iter(sentences), n_jobs=2),
        et.load(tmp_path / "model").transform(sentences),
    ]
    for one in answers[1:]:
        for a, b in zip(answers[0], one, strict=True):
            np.testing.assert_array_equal(a, b)


def test_another_fit_has_other_vectors(hand_trees, ambiguous_trees):
    model = et.LatentPCFG(2, method="em", nodes_per_state=1).fit(hand_trees)
    wide = model.transform([["she"]], n_components=None)[0].shape[1]
    model.fit(ambiguous_trees)
    (rows,) = model.transform([["bark"]], n_components=None)
    assert rows.shape[1] == len(model.get_feature_names_out(n_components=None)) != wide


@pytest.mark.parametrize("bad", [0, -1, 2.5, "many", True])
def test_bad_numbers(ambiguous_trees, bad):
    model = et.PCFG().fit(ambiguous_trees)
    with pytest.raises(ParameterError, match="n_components must be a whole number, 1 or more"):
        model.transform([SENTENCE], n_components=bad)


def test_bad_input(ambiguous_trees):
    with pytest.raises(NotFittedError, match="call fit first"):
        et.PCFG().transform([SENTENCE])
    model = et.PCFG().fit(ambiguous_trees)
    with pytest.raises(CorpusError, match="give a list of sentences"):
        model.transform("dogs bark")
    with pytest.raises(CorpusError, match="sentence 1: 3 is not a word"):
        model.transform([[3]])
    with pytest.raises(CorpusError, match="empty sentence"):
        model.state_marginals([])
    for number in (1, -1, 0.5):
        with pytest.raises(ParameterError, match="grammar must be a whole number from 0 to 0"):
            model.state_marginals(SENTENCE, grammar=number)
    assert model.transform([]) == []


# The vectors of states.


def test_expected_children_by_hand():
    """S -> A B: S has 2 states, A has 2 and B has 1; how often A(h) and B(h) are below S(h)."""
    rules = Rules(*(np.array([x]) for x in (0, 1, 2)), counts=np.array([10]))
    # t(h2, h3 | h1): state 0 of S has A(0) in 3 of 4 cases; state 1 has A(1).
    tensor = np.array([0.75, 0.0, 0.25, 1.0])
    grammar = Grammar(rules, np.array([2, 2, 1]), tensor, np.array([0.5, 0.5, 0, 0, 0]))
    J = expected_children(grammar, np.array([1, 2]))
    np.testing.assert_allclose(J[:, :2], [[3.75, 0], [1.25, 5], [0, 0]])  # left children of S
    np.testing.assert_allclose(J[:, 2:], [[0, 0], [0, 0], [5, 5]])  # right children of S


def test_expected_children_are_those_of_the_treebank(penn):
    trees = penn("dev")
    model = et.PCFG(rare=1, vertical=1, horizontal=0).fit(trees)
    space = model._token_space(None)
    treebank = et.grammars.Treebank.from_trees(trees, horizontal=0)
    counts = np.bincount(treebank.label, minlength=len(treebank.symbols))
    roots = np.bincount(treebank.label[treebank.offsets[1:] - 1], minlength=len(counts))
    assert [str(x) for x in treebank.symbols] == [str(x) for x in model.symbols_]
    np.testing.assert_allclose(space.prior, (counts - roots)[space.labels])


@pytest.mark.parametrize("seed", range(3))
def test_vectors_of_states_are_a_cca(seed):
    J = np.random.default_rng(seed).gamma(0.5, size=(6, 9)) * 10
    found = state_vectors(J, 4, smoothing=0)
    rows, columns = J.sum(axis=1), J.sum(axis=0)
    Omega = J / np.sqrt(rows)[:, None] / np.sqrt(columns)
    U, sigma, _ = np.linalg.svd(Omega)
    assert sigma[0] == pytest.approx(1)  # the trivial triple
    expected = U[:, 1:5] * sigma[1:5] / np.sqrt(rows)[:, None] * np.sqrt(J.sum())
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, rtol=1e-8)
    # Coordinates have mean 0 over nodes, and the squared canonical correlation as variance.
    weights = rows / rows.sum()
    np.testing.assert_allclose(weights @ found, 0, atol=1e-10)
    np.testing.assert_allclose(weights @ found**2, sigma[1:5] ** 2, rtol=1e-8)


def test_states_in_the_same_places_have_the_same_direction():
    rng = np.random.default_rng(0)
    J = rng.gamma(0.5, size=(4, 7)) * 10
    J = np.vstack([J, 3 * J[0]])
    found = state_vectors(J, 3)
    cosine = found[0] @ found[-1] / np.linalg.norm(found[0]) / np.linalg.norm(found[-1])
    assert cosine == pytest.approx(1)
    exact = state_vectors(J, 3, smoothing=0)
    np.testing.assert_allclose(exact[0], exact[-1], rtol=1e-9)


def test_a_grammar_of_single_words_has_vectors():
    model = et.PCFG().fit(["(NN dog)", "(UH hello)"])
    (rows,) = model.transform([["dog"]])
    assert rows.shape == (1, 1)
    assert np.isfinite(rows).all()
    (rows,) = model.transform([["dog"]], n_components=None)
    np.testing.assert_allclose(rows, [[1, 0]], atol=0.5)


# Real sentences.


def test_states_know_tags(penn):
    model = et.LatentPCFG(4, method="spectral+em", n_smooth=3).fit(penn("train")[:600])
    trees = [tree for tree in penn("dev") if len(tree.leaves()) < 25][:40]
    found = np.concatenate(model.transform([tree.leaves() for tree in trees], n_components=None))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    tags = np.array(
        [x.split()[0].split("+")[-1] for x in model.get_feature_names_out(n_components=None)]
    )
    known = sorted(set(tags))
    best = np.stack([found[:, tags == tag].sum(axis=1) for tag in known]).argmax(axis=0)
    gold = [tag for tree in trees for _, tag in tree.tags()]
    assert np.mean([known[k] == tag for k, tag in zip(best, gold)]) > 0.85
    # Nearest neighbors by 20 coordinates have the same tag, mostly.
    short = np.concatenate(model.transform([tree.leaves() for tree in trees], n_components=20))
    short /= np.linalg.norm(short, axis=1, keepdims=True)
    near = short @ short.T
    np.fill_diagonal(near, -1)
    assert np.mean([gold[k] == tag for k, tag in zip(near.argmax(axis=1), gold)]) > 0.85
