"""LatentPCFG(method="spectral"): parameters, diagnostics, and parses."""

import importlib.util
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import eigentext as et
from eigentext import PCFG, LatentPCFG
from eigentext.corpus.trees import parse_trees
from eigentext.errors import ParameterError
from eigentext.evaluate import brackets
from eigentext.grammars.treebank.normal_form import Treebank
from eigentext.parameters import UnusedParameterWarning

_spec = importlib.util.spec_from_file_location("_worlds", Path(__file__).with_name("_worlds.py"))
worlds = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(worlds)

SMALL = {"method": "spectral", "nodes_per_state": 1}


def numbers_of(model):
    """All numbers of the grammars of a model, in order."""
    return [
        part.tobytes()
        for level in model._cascade.levels
        for part in (level.grammar.tensor, level.grammar.root, level.words.counts.data)
    ]


def marginals_of(model, words):
    return {tuple(span[:3]): span.probability for span in model.marginals(words)}


def scores_of(model, words):
    return {tuple(span[:3]): span.score for span in model.scores(words)}


@pytest.fixture(scope="module")
def rough():
    """From fifty trees, without smoothing: some marginals and some sentences are negative."""
    states = {"S": 2, "VP": 3, "VQ": 2, "NP": 2, "PP": 2, "N": 3, "V": 2, "P": 2}
    trees = worlds.World(worlds.ATTACHMENT, "S", states, 2).sample(50, 2)
    return LatentPCFG(4, smoothing=0, beta=0, gamma=0, prune=0, tau=0, **SMALL).fit(trees)


ATTACHMENTS = [list(words) for words in product(*(worlds.ATTACHMENT[a] for a in "NVNPN"))]


@pytest.fixture
def as_rough(rough):
    """``as_rough("clip")``: the same, with another treatment of negative marginals."""

    def turned(negative):
        return rough.parsing_with(negative=negative)

    return turned


# learning -----------------------------------------------------------------------------------------


def test_one_direction_of_no_features_is_a_pcfg(hand_trees):
    def nothing(nodes):
        same = np.zeros(len(nodes.kind))
        return {"node": same}, {"node": same}

    plain = PCFG(horizontal=0, vertical=1, prune=0).fit(hand_trees)
    model = LatentPCFG(8, features=nothing, prune=0, **SMALL).fit(hand_trees)
    assert model.n_states_.max() == 1
    for tree in hand_trees:
        assert model.log_probability(tree) == pytest.approx(plain.log_probability(tree))
        assert model.parse(tree.leaves()) == plain.parse(tree.leaves())


def test_directions_tell_apart_what_the_label_does_not():
    # Subjects and objects are different words. A grammar without states confuses them.
    right, wrong = "(S (P he) (VP (V sees) (P him)))", "(S (P him) (VP (V sees) (P he)))"
    model = LatentPCFG(2, method="spectral", smoothing=0, beta=0, gamma=0).fit([right] * 100)
    assert model.n_states_.tolist() == [1, 1, 2, 1]  # S, VP, P, V
    # Up to what the lexicon keeps for unseen words.
    assert model.log_probability(right) == pytest.approx(0, abs=0.02)
    assert model.log_probability(wrong) < -20


def test_no_label_has_more_directions_than_it_can(hand_trees):
    treebank = Treebank.from_trees(hand_trees)
    counts = np.bincount(treebank.label)
    model = LatentPCFG(500, **SMALL).fit(hand_trees)
    assert (model.n_states_ <= counts).all()
    assert (model.n_states_[counts == 1] == 1).all()
    assert 2 < model.n_states_.max() < 500
    few = LatentPCFG(500, method="spectral", nodes_per_state=3).fit(hand_trees)
    np.testing.assert_array_equal(few.n_states_, np.clip(counts // 3, 1, model.n_states_))
    cut = LatentPCFG(500, tolerance=0.5, **SMALL).fit(hand_trees)
    assert (cut.n_states_ <= model.n_states_).all()
    assert cut.n_states_.sum() < model.n_states_.sum()
    for found in (model, few, cut):
        assert found.parse(hand_trees[0].leaves()) == hand_trees[0]
        assert np.isfinite(found._cascade.levels[0].grammar.tensor).all()


@pytest.mark.parametrize("kappa", [0, np.inf])
@pytest.mark.parametrize("features", ["full", "simple"])
def test_any_scaling(hand_trees, kappa, features):
    model = LatentPCFG(4, kappa=kappa, features=features, tolerance=0, **SMALL)
    assert model.fit(hand_trees).parse(hand_trees[0].leaves()) == hand_trees[0]
    assert np.isfinite([model.log_probability(tree) for tree in hand_trees]).all()


def test_own_features(hand_trees):
    seen = []

    def widths(nodes):
        seen.append(len(nodes.kind))
        width = np.where(nodes.width > 2, nodes.width, -1)  # most nodes have no feature at all
        return {"width": width}, {"left": nodes.end - nodes.width}

    model = LatentPCFG(4, features=widths, **SMALL).fit(hand_trees)
    assert seen == [len(Treebank.from_trees(hand_trees).label)]
    assert model.parse(hand_trees[0].leaves()) == hand_trees[0]
    assert model.n_states_.max() > 1
    other = LatentPCFG(4, **SMALL).fit(hand_trees)
    assert model.log_probability(hand_trees[0]) != other.log_probability(hand_trees[0])


def test_features_without_anything_in_common(hand_trees):
    def apart(nodes):
        odd = np.arange(len(nodes.kind)) % 2
        return {"even": -odd}, {"odd": odd - 1}

    model = LatentPCFG(4, features=apart, **SMALL).fit(hand_trees)
    (parsed,) = model.parses([hand_trees[0].leaves()])
    assert parsed.tree == hand_trees[0]
    assert parsed.fallback is None


@pytest.mark.parametrize(
    ("trees", "n_states"),
    [
        (["(S (NP (DT the) (NN fern)) (VP (VBZ grows)))"], 4),
        (["(UH hello)"], 1),
        (["(UH hello)", "(UH hello)", "(UH bye)"], 1),
        (["(A (A a) (A b))", "(A (A (A a) (A b)) (A c))"], 3),
    ],
)
def test_tiny_treebanks(trees, n_states):
    model = LatentPCFG(8, **SMALL).fit(trees)
    assert model.n_states_.sum() >= n_states
    for tree in parse_trees("\n".join(trees), "tiny"):
        assert model.parse(tree.leaves()) == tree
    assert set(model.diagnostics_) >= {"negative_marginals", "negative_sentences"}


def test_the_same_bits_twice_and_on_any_threads(hand_trees, ambiguous_trees):
    trees = hand_trees + ambiguous_trees
    options = {"n_grammars": 2, **SMALL}
    one, two = (LatentPCFG(4, n_jobs=n, **options).fit(trees) for n in (1, 2))
    assert numbers_of(one) == numbers_of(two)
    sentence = "she sees birds with a lens ."
    assert one.marginals(sentence) == two.marginals(sentence)


def test_grammars_of_an_ensemble_differ_by_noise(ambiguous_trees):
    def tensors(**options):
        model = LatentPCFG(3, **options, **SMALL).fit(ambiguous_trees)
        return model, [level.grammar.tensor for level in model._cascade.levels]

    (alone, one), (noisy, three) = tensors(), tensors(noise=0.3, n_grammars=3)
    still = tensors(noise=0, n_grammars=2)[1]
    np.testing.assert_array_equal(still[0], still[1])
    np.testing.assert_array_equal(still[0], one[0])
    assert len(three) == len(noisy.history_) == 3
    np.testing.assert_array_equal(three[0], one[0])  # the first has none
    assert len({part.tobytes() for part in three}) == 3
    sentence = "watch dogs near the park"
    assert alone.marginals(sentence) != noisy.marginals(sentence)


@pytest.mark.parametrize("smoothing", [0, 1.0])
def test_validation_chooses_among_states(ambiguous_trees, smoothing):
    others = ambiguous_trees[1:5]
    model = LatentPCFG(4, smoothing=smoothing, **SMALL).fit(ambiguous_trees, validation=others)
    (history,) = model.history_
    scores = history["validation"]
    assert len(scores) == 3
    assert model.n_states_.max() == 4 // 2 ** int(np.argmax(scores))  # of as good ones, the most
    parsed = model.parse_many([tree.leaves() for tree in others])
    assert brackets(others, parsed).f1 == pytest.approx(max(scores))


# negative marginals -------------------------------------------------------------------------------


def test_negative_marginals_are_counted(hand_trees, rough):
    assert 0 < rough.diagnostics_["negative_marginals"] < 0.1
    smooth = LatentPCFG(4, **SMALL).fit(hand_trees)
    assert smooth.diagnostics_["negative_marginals"] == 0
    assert smooth.diagnostics_["negative_sentences"] == 0


def test_what_becomes_of_negative_scores(as_rough):
    least = 0.0
    for words in ATTACHMENTS:
        reading = as_rough("none")._read(words)
        none, absolute, clipped = (
            as_rough(negative)._decoder.signed(reading.items, reading.sign)
            for negative in ("none", "abs", "clip")
        )
        least = min(least, *none)
        np.testing.assert_array_equal(absolute, np.abs(none))
        np.testing.assert_array_equal(clipped, np.maximum(reading.sign * none, 0.0))
    assert least < -0.1


def test_sentences_of_negative_probability_have_their_worst_tree_unless_they_are_signed(as_rough):
    turned = [words for words in ATTACHMENTS if scores_of(as_rough("abs"), words)["S", 0, 5] < 0]
    assert 0 < len(turned) < len(ATTACHMENTS) / 2
    for words in turned:
        assert scores_of(as_rough("none"), words)["S", 0, 5] == pytest.approx(-1)
        assert marginals_of(as_rough("abs"), words)["S", 0, 5] == pytest.approx(1)
        assert as_rough("none").parse(words) != as_rough("abs").parse(words)
        assert np.isfinite(as_rough("abs").log_probability(as_rough("abs").parse(words)))


# saving -------------------------------------------------------------------------------------------


def test_a_saved_model_parses_as_before(tmp_path, as_rough):
    model = as_rough("clip")
    model.save(tmp_path / "model")
    same = et.load(tmp_path / "model")
    assert isinstance(same, LatentPCFG)
    assert same.get_params() == model.get_params()
    assert same.diagnostics_ == model.diagnostics_
    assert numbers_of(same) == numbers_of(model)
    for words in ATTACHMENTS[::9]:
        assert same.parse(words) == model.parse(words)
        assert same.marginals(words) == model.marginals(words)


def test_a_saved_model_of_own_features(tmp_path, hand_trees):
    def widths(nodes):
        return {"width": nodes.width}, {"left": nodes.end - nodes.width}

    model = LatentPCFG(4, features=widths, **SMALL).fit(hand_trees)
    model.save(tmp_path / "model")
    same = et.load(tmp_path / "model")
    assert same.parse(hand_trees[0].leaves()) == hand_trees[0]
    assert "widths" in same.features  # their name alone: a file holds no code
    same.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()
    with pytest.raises(ParameterError, match=r"the function '.*widths', which a model file does"):
        same.fit(hand_trees)
    assert same.parse(hand_trees[0].leaves()) == hand_trees[0]
    same.set_params(features=widths).fit(hand_trees).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


# bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"features": "rich"}, "features must be 'full', 'simple' or a function, not 'rich'"),
        ({"features": None}, "features must be 'full', 'simple' or a function, not None"),
        ({"kappa": -1}, "kappa must be a number, 0 or more, not -1"),
        ({"kappa": np.nan}, "kappa must be a number, 0 or more, not nan"),
        ({"tolerance": 1}, "tolerance must be a number, 0 or more and less than 1, not 1"),
        ({"noise": np.inf}, "noise must be a number, 0 or more, not inf"),
        ({"negative": "zero"}, "negative must be 'abs', 'clip' or 'none', not 'zero'"),
    ],
)
def test_wrong_parameters(hand_trees, parameters, message):
    with pytest.raises(ParameterError, match=message):
        LatentPCFG(method="spectral", **parameters).fit(hand_trees)


def test_wrong_features_of_the_user(hand_trees):
    def fit(inside, outside):
        LatentPCFG(features=lambda _: (inside, outside), **SMALL).fit(hand_trees)

    n = len(Treebank.from_trees(hand_trees).label)
    good = {"word": np.zeros(n)}
    wrong = rf"the outside template 'shape' has shape \(3,\), but there are {n} nodes"
    with pytest.raises(ParameterError, match=wrong):
        fit(good, {**good, "shape": np.zeros(3)})
    with pytest.raises(ParameterError, match="the inside template 'pairs' has shape"):
        fit({"pairs": np.zeros((n, 2))}, good)
    with pytest.raises(ParameterError, match="the inside template 'trees' has values of type"):
        fit({"trees": np.full(n, None)}, good)
    with pytest.raises(ParameterError, match="no outside features"):
        fit(good, {})
    with pytest.raises(ParameterError, match="features must give two dictionaries"):
        LatentPCFG(features=lambda _: good, **SMALL).fit(hand_trees)


# real trees ---------------------------------------------------------------------------------------


def test_directions_parse_better_than_memory(penn):
    trees, others = penn("train")[:200], penn("dev")[:40]
    sentences = [tree.leaves() for tree in others]

    def f1(model):
        return brackets(others, [parsed.tree for parsed in model.parses(sentences)]).f1

    model = LatentPCFG(16, method="spectral").fit(trees)
    assert f1(model) > f1(PCFG().fit(trees)) + 0.03
    assert all(parsed.fallback is None for parsed in model.parses(sentences[:10]))
    assert model.n_states_.max() == 16
    assert 0 < model.diagnostics_["negative_marginals"] < 0.3


# what goes on from projections --------------------------------------------------------------------


@pytest.mark.parametrize(("method", "n_steps"), [("pivot", 0), ("pivot+em", 2), ("spectral+em", 4)])
def test_few_steps_of_em(method, n_steps):
    states = {"VP": 2, "NP": 2, "N": 2, "V": 2}
    trees = worlds.World(worlds.ATTACHMENT, "S", states, 2).sample(200, 2)
    options = {"method": method, "n_grammars": 2}
    one, two = (LatentPCFG(3, n_jobs=n, **options).fit(trees) for n in (1, 2))
    for model, k in ((one, 0), (one, 1)):
        history = model.history_[k]
        assert history["em"] == []
        assert len(history["smoothed"]) == n_steps
        assert ("separations" in history) == method.startswith("pivot")
    for level, same in zip(one._cascade.levels, two._cascade.levels):
        np.testing.assert_array_equal(level.grammar.tensor, same.grammar.tensor)
        assert level.grammar.tensor.min() >= 0
    if method.startswith("pivot"):  # by noise; clusters of so few kinds of nodes are the same
        first, second = (history["separations"] for history in one.history_)
        assert first != second
    assert np.isfinite([one.log_probability(tree) for tree in trees[:3]]).all()
    if n_steps:
        watched = LatentPCFG(3, **options, n_smooth=8).fit(trees, validation=trees[:2])
        assert "validation" in watched.history_[0]


def test_low_rank_is_close_and_says_how_close(hand_trees):
    full, small = (LatentPCFG(4, rank=rank, **SMALL).fit(hand_trees) for rank in (None, 4))
    told = small.history_[0]
    assert 0 <= told["rank_error"] < 0.1
    assert 0 < told["rank_share"] < 1
    assert "rank_error" not in full.history_[0]
    words = hand_trees[0].leaves()
    one, other = marginals_of(full, words), marginals_of(small, words)
    assert {key: other.get(key, 0.0) for key in one} == pytest.approx(one, abs=0.1)


def test_rank_is_for_spectral_only(hand_trees):
    with pytest.warns(UnusedParameterWarning, match="rank"):
        LatentPCFG(2, method="pivot", nodes_per_state=1, rank=2).fit(hand_trees)
    with pytest.raises(ParameterError, match="rank"):
        LatentPCFG(2, rank=0, **SMALL).fit(hand_trees)


def test_validation_trees_judge_what_is_kept(hand_trees):
    model = LatentPCFG(4, rank=1, **SMALL).fit(hand_trees, validation=hand_trees[:3])
    assert len(model.history_[0]["validation"]) == 3
    assert "rank_error" in model.history_[0]
