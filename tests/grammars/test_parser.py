"""Parsers of both kinds, against all trees of a sentence one by one, and odd input."""

from collections import Counter
from itertools import islice, repeat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from eigentext import PCFG, LatentPCFG, Tree, engine
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate import brackets
from eigentext.grammars import FallbackWarning, ScoredTree, Span
from eigentext.grammars.parameters import METHODS
from eigentext.grammars.parser import workers
from eigentext.parameters import UnusedParameterWarning

KINDS = {
    "plain": PCFG(horizontal=0, vertical=1, prune=0),
    "markovised": PCFG(vertical=2, prune=0, tau=0.2),
    "to the right": PCFG(binarize="right", horizontal=None, prune=0, tau=0.0),
    "latent": LatentPCFG(3, method="em", nodes_per_state=1, prune=0, n_iter=6, n_smooth=3),
    "split-merge": LatentPCFG(4, method="split-merge", n_iter=6, prune=0, horizontal=1),
    "two": LatentPCFG(
        2, method="em", nodes_per_state=1, n_grammars=2, prune=0, n_iter=4, n_smooth=2
    ),
}
SENTENCES = [
    "bark",
    "watch dogs bark",
    "dogs watch the park bark",
    "watch dogs near the Park .",  # two words that were never seen
    "dogs and cats bark near dogs",
]


@pytest.fixture(scope="module")
def fitted(ambiguous_trees):
    """``fitted("latent")``: a parser that prunes nothing."""
    models = {name: clone(model).fit(ambiguous_trees) for name, model in KINDS.items()}
    return models.__getitem__


@pytest.fixture(scope="module")
def model(ambiguous_trees):
    """Words have only the tags that they were seen with."""
    return PCFG(horizontal=1, vertical=1, beta=0, gamma=0).fit(ambiguous_trees)


def everything(model, words, every_tree):
    """Trees with p(tree, words), averaged over the grammars."""
    levels, found = model._cascade.levels, Counter()
    for level in levels:
        for one in every_tree(level, model.symbols_, words):
            found[one.tree] += one.probability / len(levels)
    return found


def spans(tree):
    """The labels of a tree over their spans, without tags."""
    brackets, tags = Counter(), Counter()
    todo = [(tree, 0)]
    while todo:
        node, at = todo.pop()
        if node.is_preterminal:
            tags[node.label, at, at + 1] += 1
            continue
        brackets[node.label, at, at + len(node.leaves())] += 1
        for child in node.children:
            todo.append((child, at))
            at += len(child.leaves())
    return brackets, tags


# all trees of a sentence --------------------------------------------------------------------------


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_sentence_is_as_probable_as_all_its_trees(fitted, every_tree, kind, sentence):
    model, words = fitted(kind), sentence.split()
    trees = everything(model, words, every_tree)
    (parsed,) = model.parses([words])
    assert parsed.fallback is None
    assert parsed.tree in trees
    assert parsed.log_probability == pytest.approx(np.log(sum(trees.values())), rel=1e-12)
    for tree, p in trees.items():
        assert model.log_probability(tree) == pytest.approx(np.log(p), rel=1e-11)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "two"])
def test_marginals_are_the_shares_of_trees_that_have_the_label(fitted, every_tree, kind, sentence):
    model, words = fitted(kind), sentence.split()
    trees = everything(model, words, every_tree)
    mu = Counter()
    for tree, p in trees.items():
        for label in set().union(*spans(tree)):
            mu[label] += p / sum(trees.values())
    found = model.marginals(words)
    assert {span[:3] for span in found} == set(mu)
    for span in found:
        assert span.probability == pytest.approx(mu[span[:3]], rel=1e-9)
    assert found == sorted(found, key=lambda span: -span.probability)
    assert isinstance(found[0], Span)
    roots = sum(p for (label, i, j), p in mu.items() if (i, j) == (0, len(words)))
    assert roots >= 1 - 1e-12


def test_marginals_of_several_grammars_are_averaged(fitted, every_tree):
    model, words = fitted("two"), SENTENCES[2].split()
    mu = Counter()
    for level in model._cascade.levels:
        trees = every_tree(level, model.symbols_, words)
        total = sum(one.probability for one in trees)
        for one in trees:
            for label in set().union(*spans(one.tree)):
                mu[label] += one.probability / total / 2
    for span in model.marginals(words):
        assert span.probability == pytest.approx(mu[span[:3]], rel=1e-9)


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", KINDS)
def test_minimum_bayes_risk_is_the_best_of_all_trees(fitted, every_tree, kind, sentence):
    model, words = fitted(kind), sentence.split()
    trees = everything(model, words, every_tree)
    mu = {span[:3]: span.probability for span in model.marginals(words)}

    def worth(tree):
        brackets, tags = spans(tree)
        return sum(mu[x] - model.tau for x in brackets) + sum(mu[x] for x in tags)

    assert worth(model.parse(words)) == pytest.approx(max(map(worth, trees)))


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", ["plain", "markovised", "to the right"])
def test_viterbi_and_k_best_without_hidden_states_are_exact(fitted, every_tree, kind, sentence):
    model, words = fitted(kind), sentence.split()
    trees = everything(model, words, every_tree)
    ranked = sorted(trees.values(), reverse=True)
    found = model.k_best(words, len(trees) + 3)
    assert {one.tree for one in found} == set(trees)
    assert len(found) == len(trees)
    np.testing.assert_allclose([one.log_probability for one in found], np.log(ranked), rtol=1e-11)
    np.testing.assert_allclose([trees[one.tree] for one in found], ranked, rtol=1e-11)
    assert isinstance(found[0], ScoredTree)
    for k in (1, 2, 5):
        some = [one.log_probability for one in model.k_best(words, k)]
        np.testing.assert_allclose(some, np.log(ranked[:k]), rtol=1e-11)
    most_probable = model.parsing_with(decoding="viterbi").parse(words)
    assert trees[most_probable] == pytest.approx(ranked[0])


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("kind", KINDS)
def test_products_of_rules_are_the_best_of_all_trees(fitted, every_tree, kind, sentence):
    model, words = fitted(kind), sentence.split()
    posterior, every = Counter(), {}
    for level in model._cascade.levels:
        trees = every_tree(level, model.symbols_, words)
        total = sum(one.probability for one in trees) * len(model._cascade.levels)
        for one in trees:
            leaves = [item for item in one.items if item[2] == item[1] + 1]
            every[one.tree] = [*one.edges, *leaves]
            for part in every[one.tree]:
                posterior[part] += one.probability / total

    def product(tree):
        return np.prod([posterior[part] for part in every[tree]])

    found = model.parsing_with(decoding="max-rule").parse(words)
    assert product(found) == pytest.approx(max(map(product, every)))


@pytest.mark.parametrize("kind", ["latent", "split-merge", "two"])
def test_k_best_with_hidden_states_are_trees_of_the_sentence_in_order(fitted, every_tree, kind):
    model, words = fitted(kind), SENTENCES[2].split()
    trees = everything(model, words, every_tree)
    assert len(trees) > 5
    for k in (1, 5, len(trees) + 3):
        found = model.k_best(words, k)
        assert len({one.tree for one in found}) == len(found) == min(k, len(trees))
        logs = [one.log_probability for one in found]
        assert logs == sorted(logs, reverse=True)
        np.testing.assert_allclose(np.exp(logs), [trees[one.tree] for one in found])
    # If all are asked for, they are exactly in the order of probability.
    np.testing.assert_allclose(np.exp(logs), sorted(trees.values(), reverse=True))


def test_decodings_differ_where_they_should():
    # Of three trees the most probable one shares nothing with the others, which share a rule.
    trees = [
        *["(S (A (A (X a) (X a)) (X a)) (X a))"] * 9,
        *["(S (X a) (B (B (X a) (X a)) (X a)))"] * 8,
        *["(S (X a) (B (X a) (B (X a) (X a))))"] * 8,
    ]
    model = PCFG(horizontal=1, vertical=1, prune=0, tau=0.0).fit(trees)
    words = ["a"] * 4
    best = model.k_best(words, 9)
    assert model.parsing_with(decoding="viterbi").parse(words) == best[0].tree
    assert str(best[0].tree).startswith("(S (A")
    for decoding in ("max-rule", "mbr"):
        tree = model.parsing_with(decoding=decoding).parse(words)
        assert str(tree).startswith("(S (X a) (B")


def test_tau_leaves_improbable_brackets_out(ambiguous_trees):
    model = PCFG(horizontal=1, vertical=1, prune=0).fit(ambiguous_trees)
    trees = [model.parsing_with(tau=tau).parse(SENTENCES[-1]) for tau in (0.0, 0.45, 3.0)]
    sizes = [sum(spans(tree)[0].values()) for tree in trees]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


# many sentences -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["plain", "two"])
def test_many_sentences_one_by_one_or_on_threads_are_the_same(fitted, kind):
    model = fitted(kind)
    sentences = [s.split() for s in SENTENCES * 5]
    one = [model.parse(sentence) for sentence in sentences]
    alone, both = (list(model.parses(sentences, n_jobs=n)) for n in (1, 2))
    assert alone == both  # trees, and logarithms to the last bit
    assert [parsed.tree for parsed in both] == one == model.parse_many(sentences)
    assert model.parse_many(SENTENCES[:3], n_jobs=-1) == one[:3]
    assert model.parse_many(iter(sentences[:2])) == one[:2]
    assert model.parse_many([]) == []
    with engine.use(engine.ThreadEngine(1)):
        assert list(model.parses(sentences[:5])) == alone[:5]


def test_sentences_may_come_without_end(model):
    some = list(islice(model.parses(repeat("dogs bark"), n_jobs=2), 3))
    assert some[0] == some[2]
    assert some[0].tree.leaves() == ["dogs", "bark"]


def test_progress_is_told(model):
    class Listener:
        def __init__(self):
            self.seen = []

        def started(self, phase):
            self.seen.append((phase.name, phase.total, phase.unit))

        def advanced(self, phase):
            self.seen.append(phase.done)

        def finished(self, phase):
            self.seen.append("finished")

    listener = Listener()
    with engine.report_to(listener):
        model.parse_many(["dogs bark", "bark"], n_jobs=2)
    assert listener.seen == [("parse", 2, "sentences"), 1, 2, "finished"]


# every sentence has a tree ------------------------------------------------------------------------


def test_a_rule_that_was_never_seen_makes_pieces(model):
    words = ["the", "near", "and", "the"]
    with pytest.warns(FallbackWarning, match=r"1 of 1 sentences \(1\) had no parse by the gram"):
        tree = model.parse(words)
    (parsed,) = model.parses([words])
    assert parsed.tree == tree
    assert parsed.fallback == "no parse of the whole sentence"
    assert parsed.log_probability == -np.inf
    assert tree.leaves() == words
    assert tree.label == "S"  # the usual root
    assert model.k_best(words, 3) == [ScoredTree(tree, -np.inf)]
    assert model.log_probability(tree) == -np.inf


def test_the_pieces_are_the_largest():
    # A sentence is X Y; nothing joins what is left.
    trees = ["(S (X (A a) (A a)) (Y (B b) (B b)))"] * 3
    model = PCFG(horizontal=1, vertical=1, beta=0, gamma=0).fit(trees)
    with pytest.warns(FallbackWarning):
        tree = model.parse("b b a a")
    assert str(tree) == "(S (Y (B b) (B b)) (X (A a) (A a)))"
    with pytest.warns(FallbackWarning):
        assert str(model.parse("a a")) == "(X (A a) (A a))"  # one piece, though never a root
    with pytest.warns(FallbackWarning):
        assert str(model.parse("b")) == "(B b)"


def test_a_grammar_with_memory_falls_back_on_one_without(ambiguous_trees):
    """If the back-off cannot help: here an older model file, which has no counts for it."""
    model = PCFG(vertical=2, prune=0).fit(ambiguous_trees)
    model._cascade.chains = None
    plain = PCFG(horizontal=0, vertical=1, prune=0).fit(ambiguous_trees)
    (parsed,) = model.parses(["watch park"])
    assert parsed.fallback.startswith("no parse by the grammar, only by the plain PCFG")
    (expected,) = plain.parses(["watch park"])
    assert expected.fallback is None
    assert parsed.log_probability == pytest.approx(expected.log_probability)
    assert parsed.tree in [one.tree for one in plain.k_best("watch park", 99)]
    spans = {span[:3]: span.probability for span in plain.marginals("watch park")}
    for span in model.marginals("watch park"):
        assert span.probability == pytest.approx(spans[span[:3]])
    assert {span[:3] for span in model.marginals("watch park")} == set(spans)


def test_the_warning_counts_sentences(model):
    bad = "the near and the"
    with pytest.warns(FallbackWarning, match=r"6 of 8 sentences \(1, 3, 4, 5, 6, …\)"):
        trees = model.parse_many([bad, "bark", *[bad] * 5, "dogs bark"])
    assert [tree.leaves() for tree in trees[:2]] == [bad.split(), ["bark"]]


@pytest.mark.parametrize("prune", [0.3, 0.9])
def test_pruning_too_much_is_undone(ambiguous_trees, prune):
    model = PCFG(horizontal=1, vertical=1, prune=prune).fit(ambiguous_trees)
    for sentence in [*SENTENCES, "the near and the dogs near the", "near the and dogs bark"]:
        (parsed,) = model.parses([sentence])
        assert parsed.tree.leaves() == sentence.split()


words = st.one_of(
    st.sampled_from(["dogs", "watch", "park", "bark", "near", "the", "and", "hope", "The"]),
    st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=5),
)


@pytest.mark.filterwarnings("ignore::eigentext.corpus.raw_text.RawTextWarning")
@given(
    st.lists(words, min_size=1, max_size=9),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from([0.0, 5e-5, 0.05, 0.5]),
    st.sampled_from(["mbr", "max-rule", "viterbi"]),
)
def test_any_words_get_a_tree_over_them(fitted, words, kind, prune, decoding):
    model = fitted(kind).parsing_with(prune=prune, decoding=decoding)
    (parsed,) = model.parses([words], n_jobs=1)
    best = model.k_best(words, 3)
    marginals = model.marginals(words)
    assert parsed.tree.leaves() == words
    assert all(one.tree.leaves() == words for one in best)
    assert all(-1e-9 <= span.probability <= 1 + 1e-9 for span in marginals)
    if parsed.fallback is None:
        log_p = model.log_probability(parsed.tree)
        assert np.isfinite(log_p)
        assert log_p <= parsed.log_probability + 1e-9 or prune > 0
        known = {span[:3] for span in marginals}
        assert all(span in known for part in spans(parsed.tree) for span in part)
    else:
        assert best == [ScoredTree(parsed.tree, -np.inf)]


def test_250_words(ambiguous_trees):
    words = ["watch", "dogs", "near", "the", "park"] * 50
    for model in (
        PCFG(horizontal=1, vertical=1),
        LatentPCFG(2, method="em", nodes_per_state=1, n_iter=2, n_smooth=1),
    ):
        model.fit(ambiguous_trees)
        (parsed,) = model.parses([words])
        assert parsed.tree.leaves() == words
        assert np.isfinite(parsed.log_probability)
        assert parsed.fallback is None


# what is not a sentence ---------------------------------------------------------------------------


def test_what_is_no_sentence_is_refused(model):
    for parse in (model.parse, model.marginals, lambda words: model.k_best(words, 1)):
        for nothing in ("", " \n", [], ()):
            with pytest.raises(CorpusError, match=r"^an empty sentence has no tree; leave it out"):
                parse(nothing)
        with pytest.raises(CorpusError, match="7 is not a word: give a list of strings"):
            parse(["dogs", 7])
        with pytest.raises(CorpusError, match="'' is not a word"):
            parse(["dogs", ""])
        with pytest.raises(CorpusError, match="98 is not a word"):
            parse(b"bark")
        for other in (None, 7, Tree.parse("(N bark)")):
            with pytest.raises(CorpusError, match="is not a sentence: give a list of words"):
                parse(other)


def test_an_empty_sentence_has_an_answer_in_its_place(model, fitted):
    sentences = ["bark", "", ["dogs", "bark"], []]
    for one in (model, fitted("two")):
        for n_jobs in (1, 2):
            first, empty, third, last = one.parses(sentences, n_jobs=n_jobs)
            assert empty == last == (None, -np.inf, "an empty sentence has no tree")
            assert [first, third] == list(one.parses(["bark", ["dogs", "bark"]]))
        best = one.k_best_many(sentences, 2)
        assert [best[0], best[2]] == one.k_best_many(["bark", ["dogs", "bark"]], 2)
        assert best[1] == best[3] == []
    with pytest.warns(FallbackWarning, match=r"2 of 4 sentences \(2, 4\).* None for an empty"):
        assert [tree is None for tree in model.parse_many(sentences)] == [False, True] * 2
    with pytest.warns(FallbackWarning):
        assert model.parse_many([[]]) == [None]


def test_what_is_no_list_of_sentences_is_refused(model):
    with pytest.raises(CorpusError, match="sentence 2: None is not a word"):
        model.parse_many([["bark"], [None]])
    with pytest.raises(CorpusError, match="sentence 1: 3 is not a sentence"):
        model.parse_many([3])
    for one in ("dogs bark", None, 3):
        with pytest.raises(CorpusError, match="give a list of sentences, not a single one"):
            model.parse_many(one)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None])
def test_k_is_a_count(model, k):
    with pytest.raises(ParameterError, match="k must be a whole number, 1 or more, not"):
        model.k_best("bark", k)


def test_the_k_best_of_many(model):
    sentences = ["dogs bark", ["the", "dogs", "watch", "the", "park"]]
    expected = [model.k_best(sentence, 3) for sentence in sentences]
    assert model.k_best_many(sentences, 3) == expected
    assert model.k_best_many(iter(sentences), 3, n_jobs=1) == expected
    assert model.k_best_many([], 3) == []
    with pytest.raises(ParameterError, match="k must be a whole number, 1 or more, not"):
        model.k_best_many(sentences, 0)
    with pytest.raises(CorpusError, match="give a list of sentences, not a single one"):
        model.k_best_many("dogs bark", 3)


@pytest.mark.parametrize("n_jobs", [0, -2, 1.5, "2"])
def test_n_jobs_is_a_count(model, n_jobs):
    with pytest.raises(ParameterError, match="n_jobs must be a whole number, 1 or more, or -1 for"):
        model.parse_many(["bark"], n_jobs=n_jobs)


def test_workers():
    assert workers(None) is engine.current()
    assert workers(3).n_workers == 3
    assert workers(-1).n_workers == engine.ThreadEngine().n_workers


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ("(S (N dogs)", "is never closed"),
        ("(S )", "has neither words nor trees"),
        ("", "contains no trees"),
        ("(S (-NONE- *))", "has no words"),
        ("(S dogs (V bark))", "has a word beside other children"),
        (None, "is neither a tree nor a word"),
    ],
)
def test_what_is_no_tree_has_no_probability(model, tree, message):
    with pytest.raises((CorpusError, ParameterError), match=message):
        model.log_probability(tree)


@pytest.mark.parametrize(
    "tree",
    [
        "(S (NP (N dogs)) (VP (FW bark)))",  # an unseen tag
        "(S (NP (N dogs)) (XP (V bark)))",  # an unseen label
        "(S (VP (V bark)) (NP (N dogs)))",  # an unseen rule
        "(V bark)",  # never a root
        "(FW bark)",
    ],
)
def test_what_was_never_seen_is_impossible(fitted, tree):
    for kind in KINDS:
        assert fitted(kind).log_probability(tree) == -np.inf


def test_trees_are_normalized_before_they_are_scored(model):
    plain = model.log_probability("(S (NP (N dogs)) (VP (V park) (PP (P near) (NP (N bark)))))")
    assert np.isfinite(plain)
    same = """( (S (NP-SBJ-1 (N dogs))
        (VP (V park) (NP (-NONE- *T*-1)) (PP=2 (P near) (NP (NP (N bark)))))))"""
    assert model.log_probability(same) == plain
    assert model.log_probability(Tree.parse(same)) == plain


def test_trees_of_nltk(ambiguous_trees, model):
    nltk = pytest.importorskip("nltk")
    trees = [nltk.Tree.fromstring(str(tree)) for tree in ambiguous_trees]
    again = PCFG(horizontal=1, vertical=1, beta=0, gamma=0).fit(trees)
    assert again.parse("watch dogs") == model.parse("watch dogs")
    assert again.log_probability(trees[0]) == model.log_probability(ambiguous_trees[0])
    assert model.parse("watch dogs").to_nltk().leaves() == ["watch", "dogs"]


@pytest.mark.parametrize("kind", [PCFG, LatentPCFG])
def test_before_fitting(kind, tmp_path):
    for ask in (
        lambda model: model.parse("bark"),
        lambda model: model.parse_many(["bark"]),
        lambda model: model.marginals("bark"),
        lambda model: model.k_best("bark", 1),
        lambda model: model.log_probability("(N bark)"),
        lambda model: model.score(["(S (N bark) (N bark))"]),
        lambda model: model.parsing_with(tau=0.1),
        lambda model: model.save(tmp_path / "model"),
    ):
        with pytest.raises(NotFittedError, match=f"{kind.__name__} is not fitted yet; call fit"):
            ask(kind())


# settings of parsing ------------------------------------------------------------------------------


def test_settings_of_parsing_are_those_of_a_copy(ambiguous_trees, tmp_path):
    model = PCFG(horizontal=1, vertical=1).fit(ambiguous_trees)
    words = SENTENCES[-1]
    other = model.parsing_with(decoding="viterbi", prune=0)
    fresh = PCFG(horizontal=1, vertical=1, decoding="viterbi", prune=0).fit(ambiguous_trees)
    assert other.parse(words) == fresh.parse(words)
    assert other.marginals(words) == fresh.marginals(words)
    assert model.get_params() == PCFG(horizontal=1, vertical=1).get_params()
    assert model.parse(words) == PCFG(horizontal=1, vertical=1).fit(ambiguous_trees).parse(words)
    assert other.get_params() == fresh.get_params()
    assert other.parameters_ == fresh.parameters_
    for name, one in {"other": other, "fresh": fresh}.items():
        one.save(tmp_path / name)
    assert (tmp_path / "other").read_bytes() == (tmp_path / "fresh").read_bytes()


def test_settings_of_parsing_are_checked(model):
    for name, value in {"decoding": "best", "tau": -1, "prune": 1.0}.items():
        with pytest.raises(ParameterError, match=f"{name} must be"):
            model.parsing_with(**{name: value})
    with pytest.raises(ParameterError, match="'vertical' is no setting of parsing; those are pru"):
        model.parsing_with(vertical=2)
    with pytest.warns(UnusedParameterWarning, match="'viterbi' does not use tau") as caught:
        model.parsing_with(decoding="viterbi", tau=0.1)
    assert caught[0].filename == __file__


# scores -------------------------------------------------------------------------------------------


def test_the_score_is_f1_of_brackets(model, ambiguous_trees):
    others = [
        "(S (NP (N dogs)) (VP (V park) (PP (P near) (NP (N bark)))))",
        "(X (N park) (N dogs))",
    ]
    gold = [*ambiguous_trees[:4], *map(Tree.parse, others)]
    found = [parsed.tree for parsed in model.parses([tree.leaves() for tree in gold])]
    f1 = brackets(gold, found).f1
    assert 0 < f1 < 1
    assert model.score(gold) == f1
    assert model.score(iter(map(str, gold))) == f1
    assert model.score([f"(TOP {tree})" for tree in gold]) == f1  # normalized first
    with pytest.raises(CorpusError, match="no brackets to measure: give longer ones"):
        model.score(["(N dogs)"])
    with pytest.raises(CorpusError, match="tree 2: "):
        model.score([gold[0], "(S"])


# odd trees ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pcfg", *METHODS])
def test_deep_trees_are_learned(method):
    """For any depth, because no function is recursive."""
    deep = "(N a)"
    for _ in range(1200):  # Python itself gives up at 1,000
        deep = f"(X (V b) {deep})"
    model = PCFG() if method == "pcfg" else LatentPCFG(2, method=method)
    model.fit([deep, "(X (V b) (N a))", "(" * 1200 + "(S (N a))" + ")" * 1200])
    assert np.isfinite(model.log_probability(deep))
    assert str(model.parse("b a")) == "(X (V b) (N a))"


def test_more_ways_to_parse_than_a_double_can_tell():
    rng = np.random.default_rng(0)

    def phrase(depth):
        noun = "(NP (DT the) (NN cat))"
        if depth < 2 and rng.random() < 0.4:
            return f"(NP {noun} (PP (IN near) {phrase(depth + 1)}))"
        return noun

    def tree():
        more = f" (PP (IN near) {phrase(2)})" if rng.random() < 0.3 else ""
        return f"(S {phrase(0)} (VP (VBZ sees) {phrase(0)}{more}))"

    grammar = PCFG().fit([tree() for _ in range(300)])
    words = "the cat sees the cat"
    for n in (20, 100):
        assert str(grammar.parse(words + " near the cat" * n)).startswith("(S (NP (DT the)")
