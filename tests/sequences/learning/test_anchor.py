"""The anchor HMM: exact on exact moments, near on samples, tags on text, and bad input."""

import os
import warnings
from itertools import permutations

import numpy as np
import pytest

import eigentext as et
from eigentext.errors import MomentsError, ParameterError
from eigentext.sequences.learning import anchor

has_data = pytest.mark.skipif("EIGENTEXT_DATA" not in os.environ, reason="needs the corpora")
WORDS = {
    "D": ["the", "a", "this", "every"],
    "N": ["walker", "dancer", "baker", "singer", "dog", "cat"],
    "V": ["walked", "danced", "baked", "sang", "saw"],
}


def anchor_hmm(seed, m=4, n=20):
    """A random model in which word h belongs to state h alone."""
    rng = np.random.default_rng(seed)
    initial = rng.dirichlet(np.ones(m))
    transition = rng.dirichlet(np.ones(m), m)
    emission = rng.dirichlet(np.ones(n), m)
    emission[:, :m] *= np.eye(m)
    emission[:, :m] += 0.1 * np.eye(m)
    emission /= emission.sum(axis=1, keepdims=True)
    return et.HMM.from_parameters(initial, transition, emission)


def distance(model, truth):
    """The largest error of any parameter, under the best order of the states."""
    m = len(truth.initial_)
    return min(
        max(
            np.abs(model.initial_[p] - truth.initial_).max(),
            np.abs(model.transition_[np.ix_(p, p)] - truth.transition_).max(),
            np.abs(model.emission_[p] - truth.emission_).max(),
        )
        for p in map(list, permutations(range(m)))
    )


def sentences(n=300, seed=0):
    rng = np.random.default_rng(seed)
    return [
        [str(rng.choice(WORDS[tag])) for tag in ("DNV" if rng.random() < 0.5 else "DNVDN")]
        for _ in range(n)
    ]


# Known answers.


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("way", ["groups", "corners"])
def test_exact_on_population_moments(seed, way):
    truth = anchor_hmm(seed)
    model = et.HMM(4, method="anchor", anchors=way).fit_moments(truth.moments())
    assert distance(model, truth) < 1e-8
    assert model.diagnostics_["outside"] < 1e-12
    names = sorted(words[0] for words in model.anchors_)
    assert names == ["0", "1", "2", "3"]


def test_states_come_by_frequency():
    model = et.HMM(4, method="anchor").fit_moments(anchor_hmm(1).moments())
    moments = anchor_hmm(1).moments()
    middle = anchor._counted(moments).counts
    share = model.emission_ * 1.0
    weights = np.linalg.lstsq(share.T, middle, rcond=None)[0]
    assert (np.diff(weights) <= 1e-9).all()


def test_recovers_from_samples():
    """The error of the algorithm of the paper falls as the sample grows."""
    truth = anchor_hmm(0, m=3, n=8)
    errors = []
    for n in (1_000, 50_000):
        sample = truth.sample(n, 10, random_state=1)
        model = et.HMM(3, method="anchor", anchors="corners").fit(sample)
        errors.append(distance(model, truth))
    assert errors[1] < 0.5 * errors[0] and errors[1] < 0.05


def test_em_raises_the_likelihood():
    text = sentences()
    plain = et.HMM(3, method="anchor").fit(text)
    better = et.HMM(3, method="anchor", n_iter=5, smoothing=0).fit(text)
    assert not hasattr(plain, "history_") and len(better.history_) >= 2
    assert better.score_samples(text).sum() >= plain.score_samples(text).sum()
    assert better.anchors_ == plain.anchors_


@pytest.mark.parametrize("way", ["groups", "corners"])
def test_tags_of_a_small_language(way):
    text = sentences()
    model = et.HMM(3, method="anchor", anchors=way).fit(text)
    found = model.tag(text)
    gold = [[next(t for t in WORDS if w in WORDS[t]) for w in line] for line in text]
    assert et.evaluate.many_to_one(gold, found) == 1
    assert {name for line in found for name in line} == set(model.tags_)
    for name, words in zip(model.tags_, model.anchors_):
        assert name == words[0]
        assert len({next(t for t in WORDS if w in WORDS[t]) for w in words}) == 1


def test_tags_are_the_viterbi_states():
    text = sentences(50)
    model = et.HMM(3, method="anchor").fit(text)
    asked = [*text[:5], [], ["unknown", "walker"]]
    expected = [[model.tags_[h] for h in model.viterbi(line)[0]] for line in asked]
    assert model.tag(asked) == expected


def test_fit_equals_fit_moments():
    text = sentences()
    model = et.HMM(3, method="anchor")
    other = et.HMM(3, method="anchor").fit_moments(model.collect(text))
    third = et.HMM(3, method="anchor").fit_moments(et.NgramMoments.from_corpus(text, order=3))
    model.fit(text)
    for one in (other, third):
        np.testing.assert_array_equal(one.emission_, model.emission_)
        np.testing.assert_array_equal(one.transition_, model.transition_)


def test_spelling_tells_a_rare_word():
    """Words that occur once, in a context that says nothing, go where their ending goes."""
    text = [*sentences(600), *([w] for w in ("joker", "poker", "rumored"))]
    plain, spelled = (et.HMM(3, method="anchor", spelling=s).fit(text) for s in (0, 30))
    for model in (plain, spelled):
        assert sum(len(words) for words in model.anchors_) > 3
    walker, walked, joker, rumored = (
        int(spelled.emission_[:, spelled.vocabulary_[w]].argmax())
        for w in ("walker", "walked", "joker", "rumored")
    )
    assert joker == walker and rumored == walked


def test_rare_words_share_a_symbol(tmp_path):
    text = [*sentences(), ["the", "joker"]]
    model = et.HMM(3, method="anchor", min_count=2).fit(text)
    assert model.symbols_[-1] == "<rare>" and all("<rare>" not in one for one in model.anchors_)
    model.save(tmp_path / "m")
    again = et.load(tmp_path / "m")
    assert again.anchors_ == model.anchors_ and again.tag(text[:3]) == model.tag(text[:3])


def test_a_stream():
    stream = [word for line in sentences() for word in line]
    model = et.HMM(3, method="anchor", n_iter=2).fit(stream)
    assert model.initial_.min() > 0.05


def test_one_state():
    model = et.HMM(1, method="anchor").fit(sentences(20))
    assert model.transition_.tolist() == [[1.0]]


def test_findings_name_the_anchors():
    model = et.HMM(3, method="anchor").fit(sentences())
    assert any("hull of the anchors" in one.sentence for one in model.findings())
    assert not any("converged" in one.sentence for one in model.findings())


# Bad input.


def test_no_anchors():
    """If every word comes from all states, the furthest words span too small a hull."""
    rng = np.random.default_rng(0)
    emission = rng.dirichlet(np.full(12, 5.0), 3)
    truth = et.HMM.from_parameters([0.3, 0.3, 0.4], rng.dirichlet(np.ones(3), 3), emission)
    with pytest.warns(UserWarning, match=r"no word of their own.*n_iter=20"):
        model = et.HMM(3, method="anchor").fit_moments(truth.moments())
    assert model.diagnostics_["outside"] > 1e-3
    assert len(model.diagnostics_["separations"]) == 3


def test_more_states_than_words():
    with pytest.raises(ParameterError, match=r"only 2 different words.*ask for 2 states"):
        et.HMM(3, method="anchor").fit([["a", "b"]] * 5)


def test_more_states_than_candidates():
    with pytest.raises(ParameterError, match="raise n_candidates"):
        et.HMM(3, method="anchor", n_candidates=2).fit(sentences(20))


@pytest.mark.parametrize("way", ["groups", "corners"])
def test_more_states_than_kinds_of_contexts(way):
    with pytest.raises(ParameterError, match="different kinds of contexts; ask for"):
        et.HMM(3, method="anchor", anchors=way, spelling=0).fit([["a", "b"], ["c", "b"]] * 5)


def test_integers_have_no_spelling():
    sample = anchor_hmm(0).sample(50, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        et.HMM(4, method="anchor").fit(sample)
        et.HMM(4, method="anchor", spelling=0).fit(sample)
    with pytest.raises(ParameterError, match="integers, which have no spelling"):
        et.HMM(4, method="anchor", spelling=10).fit(sample)


def test_em_needs_sequences():
    model = et.HMM(3, method="anchor", n_iter=3)
    with pytest.raises(MomentsError, match="'anchor' with n_iter=0"):
        model.fit_moments(model.collect(sentences(20)))


def test_other_methods_have_no_anchors():
    truth = anchor_hmm(0)
    with pytest.raises(AttributeError, match="anchor"):
        _ = truth.anchors_
    assert truth.tags_ == ["0", "1", "2", "3"]


# Parts.


def test_merged_is_ward():
    """Three tight pairs of groups become three groups with the means of the pairs."""
    means = np.array([[0.0, 0], [0.1, 0], [5, 0], [5, 0.1], [0, 9], [0, 9.1]])
    size = np.array([1.0, 3, 1, 1, 2, 2])
    found = anchor._merged(means, size, 3)
    found = found[np.lexsort(found.T)]
    expected = [[0.075, 0], [5, 0.05], [0, 9.05]]
    np.testing.assert_allclose(found, expected)


# Real data.


@has_data
def test_tags_of_the_penn_sample():
    trees = [et.normalize_tree(tree) for tree in et.load_dataset("penn-sample")]
    words = [tree.leaves() for tree in trees]
    gold = [[node.label for node in tree.subtrees() if node.is_preterminal] for tree in trees]
    model = et.HMM(45, method="anchor").fit(words)
    result = et.evaluate.induced_tags(gold, model.tag(words))
    assert result.many_to_one > 0.68 and result.v_measure > 0.6
