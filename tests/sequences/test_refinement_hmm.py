"""Refinement HMMs as taggers: one state is HMMTagger, and sums over taggings agree."""

import itertools
import math
import warnings

import numpy as np
import pytest

import eigentext as et
from eigentext import HMMTagger, RefinementHMM
from eigentext.corpus import load_dataset
from eigentext.errors import CorpusError, LittleDataWarning, ParameterError
from sequences.refinement_truth import Truth

METHODS = ["spectral", "em", "spectral+em"]
BIO = [
    [("a|D", "B-NP"), ("dog|N", "I-NP"), ("sat|V", "B-VP"), ("down|R", "B-ADVP")],
    [("dogs|N", "B-NP"), ("bark|V", "B-VP"), (".|.", "O")],
    [("in|P", "B-PP"), ("a|D", "B-NP"), ("big|J", "I-NP"), ("tree|N", "I-NP")],
] * 20


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleDataWarning)
        yield


def random_tagged(seed=0, n=300, **sizes):
    """Sentences of a refinement HMM with the tags A, B and words like w1|x."""
    truth = Truth(**{"m": 2, "S": 2, "n": 6, **sizes}, seed=7)
    return [
        [(f"w{x}|{'xy'[x % 2]}", "ABC"[a]) for a, x in sentence]
        for sentence in truth.sample(n, seed)
    ]


@pytest.fixture(scope="module")
def tagged():
    return random_tagged()


@pytest.fixture(scope="module", params=METHODS)
def model(request, tagged):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RefinementHMM(2, method=request.param, classes=None, rare=2).fit(tagged)


# One state.


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("settings", [
    {"classes": "shape"}, {"classes": None, "rare": 3}, {"classes": "factor"},
    {"classes": "factor", "joint": False},
])  # fmt: skip
def test_one_state_is_the_tagger_without_states(tagged, method, settings):
    plain = HMMTagger(1, **settings).fit(tagged)
    how = {"decoding": "viterbi"} if method != "spectral" else {}
    one = RefinementHMM(1, method=method, **settings, **how).fit(tagged)
    others = [[word for word, _ in line] for line in random_tagged(1, 40)]
    others += [["new|x", "w1|y"], ["New|z"], []]
    for words in others:
        best = plain.k_best(words, 200)
        for found in best[:20]:
            assert one.log_probability(found.tagging) == pytest.approx(found.log_probability)
        if how:
            assert one.tag(words) == best[0].tagging
    np.testing.assert_allclose(one.weights_, plain.weights_)


def test_one_state_keeps_the_scheme():
    plain = HMMTagger(1, classes="factor", scheme="bio", rare=0).fit(BIO)
    for words in (["tree|N", "tree|N", "big|J"], ["big|J", "sat|V"], ["x|N", "big|J", "big|J"]):
        for decoding in ("viterbi", "marginals", "pairs"):
            one = RefinementHMM(1, classes="factor", scheme="bio", rare=0, decoding=decoding)
            found = one.fit(BIO).tag(words)
            tags = ["O", *(tag for _, tag in found)]
            assert not any(b[0] == "I" and a[1:] != b[1:] for a, b in itertools.pairwise(tags))
            if decoding == "viterbi":
                assert found == plain.tag(words)


# Sums over taggings.


def test_a_sentence_is_the_sum_of_its_taggings(model, tagged):
    for line in tagged[:6]:
        words = [word for word, _ in line][:5]
        taggings = [list(zip(words, tags)) for tags in itertools.product("AB", repeat=len(words))]
        logs = [model.log_probability(one) for one in taggings]
        if np.isnan(logs).any():  # an operator's sum below zero
            continue
        p = np.exp(logs)
        assert model.log_probability(words) == pytest.approx(np.log(p.sum()))
        marginals = model.marginals(words)
        assert marginals.shape == (len(words), 2)
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0)
        expected = [
            [sum(q for q, one in zip(p, taggings) if one[i][1] == tag) / p.sum() for tag in "AB"]
            for i in range(len(words))
        ]
        np.testing.assert_allclose(marginals, expected, atol=1e-9)
        best = [model.tags_[t] for t in marginals.argmax(axis=1)]
        assert [tag for _, tag in model.tag(words)] == best


def test_pairs_maximize_the_sum_of_their_marginals(tagged):
    model = RefinementHMM(2, decoding="pairs", classes=None, rare=2).fit(tagged)
    for line in tagged[:6]:
        words = [word for word, _ in line][:5]
        taggings = list(itertools.product("AB", repeat=len(words)))
        p = np.exp([model.log_probability(list(zip(words, tags))) for tags in taggings])
        gains = [
            sum(q for q, other in zip(p, taggings) for i in range(len(words) - 1)
                if other[i : i + 2] == tags[i : i + 2])
            if len(words) > 1 else p[n]
            for n, tags in enumerate(taggings)
        ]  # fmt: skip
        assert [tag for _, tag in model.tag(words)] == list(taggings[int(np.argmax(gains))])


def test_states_of_tokens(model, tagged):
    found = model.transform([tagged[0], [], [word for word, _ in tagged[1]]])
    assert [len(rows) for rows in found] == [len(tagged[0]), 0, len(tagged[1])]
    assert all(rows.shape[1] == 2 for rows in found)
    if model.parameters_.method != "spectral":
        np.testing.assert_allclose(found[0].sum(axis=1), 1.0)
        assert (found[0] >= 0).all()
    else:
        np.testing.assert_allclose(found[0][:, 0], 1.0)


def test_words_of_states(tagged):
    model = RefinementHMM(2, classes=None).fit(tagged)
    rows = model.refinements("A", 3)
    assert len(rows) == model.states_["A"] == 2
    assert all(word.startswith("w") for row in rows for word, _ in row)
    total = sum(p for _, p in model.refinements("A", 100)[0])
    assert total == pytest.approx(1.0)
    with pytest.raises(CorpusError, match="no tag 'X'; the tags are A, B"):
        model.refinements("X")
    with pytest.raises(ParameterError, match=r"method='spectral\+em'"):
        RefinementHMM(2, method="spectral", classes=None).fit(tagged).refinements("A")


# Learning.


def test_states_help_where_there_are_states():
    # A word of the tag A or B depends on the hidden state, which the word before shows.
    train, test = random_tagged(0, 2000), random_tagged(1, 300)
    plain = HMMTagger(1, classes=None).fit(train).score(test)
    for method in METHODS:
        found = RefinementHMM(2, method=method, classes=None, smoothing=1.0).fit(train)
        assert found.score(test) > plain + 0.005


def test_history_rises_and_steps_can_be_left_out(tagged):
    model = RefinementHMM(2, classes=None, n_iter=15, tol=0.0).fit(tagged)
    assert len(model.history_) == 15
    assert (np.diff(model.history_) > -1e-12).all()
    assert model.diagnostics_["passes"] == 15
    none = RefinementHMM(2, classes=None, n_iter=0).fit(tagged)
    assert none.history_ == []
    assert none.score(tagged) > 0.5
    assert RefinementHMM(2, classes=None, n_iter=200).fit(tagged).diagnostics_["has_converged"]


def test_seeds(tagged):
    a, b, c = (RefinementHMM(2, method="em", random_state=s, n_iter=3).fit(tagged)
               for s in (0, 0, 1))  # fmt: skip
    assert a.history_ == b.history_ != c.history_


def test_numbers_of_states_by_tags(tagged):
    model = RefinementHMM({"A": 3}, method="em").fit(tagged)
    assert model.states_ == {"A": 3, "B": 1}
    model = RefinementHMM({"A": 1, "*": 2}, method="em").fit(tagged)
    assert model.states_ == {"A": 1, "B": 2}
    with pytest.raises(ParameterError, match=r"n_states has the tag 'X', .* the tags are A, B"):
        RefinementHMM({"X": 2}).fit(tagged)
    for bad in (0, {}, {"A": 0}, {"": 2}, "2", 2.5):
        with pytest.raises(ParameterError, match=r"n_states .* must be"):
            RefinementHMM(bad).fit(tagged)


# Bad input.


def test_tags_with_few_tokens_have_fewer_states():
    tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]] * 12
    with pytest.warns(LittleDataWarning, match="fewer states than n_states, for example N"):
        model = RefinementHMM(8, method="em").fit(tagged)
    assert model.states_ == {"N": 2, "V": 2}
    assert any("fewer states" in found.sentence for found in model.findings())
    with pytest.warns(LittleDataWarning, match="1 tags have fewer states"):
        RefinementHMM({"N": 50}, method="em").fit(tagged)


@pytest.mark.parametrize("method", METHODS)
def test_one_tag_only(method):
    model = RefinementHMM(3, method=method).fit([[("a", "X"), ("b", "X")]] * 30)
    assert model.tag(["b", "c"]) == [("b", "X"), ("c", "X")]
    assert model.marginals("a").tolist() == [[1.0]]
    assert model.tags_ == ["X"]


def test_empty_sentences_and_unseen_tags(model, tagged):
    assert model.tag([]) == []
    assert model.tag_many([[], ["w1|y"]])[0] == []
    assert model.marginals([]).shape == (0, 2)
    assert model.log_probability([]) == 0.0
    assert model.log_probability([("w1|y", "Z")]) == -math.inf
    with pytest.raises(CorpusError, match="sentence 1, token 1: no tag 'Z'; the tags"):
        model.transform([[("w1|y", "Z")]])
    with pytest.raises(CorpusError, match=r"sentence 2, no tokens: .* leave it out"):
        RefinementHMM().fit([tagged[0], []])
    with pytest.raises(CorpusError, match="no tagged sentences to learn from"):
        RefinementHMM().fit([])
    with pytest.raises(CorpusError, match="give a list of sentences"):
        model.tag_many("a b")
    with pytest.raises(CorpusError, match="no tagged sentences to score"):
        model.score([])


def test_viterbi_needs_states(tagged):
    with pytest.raises(ParameterError, match="use decoding='marginals' or method="):
        RefinementHMM(method="spectral", decoding="viterbi").fit(tagged)


def test_operators_below_zero_are_repaired(tagged):
    model = RefinementHMM(2, method="spectral", classes=None, smoothing=0.0).fit(tagged[:40])
    model._averages.blocks[:, 1:, 1:] *= 50.0  # far from any probability
    words = [[word for word, _ in line] for line in random_tagged(3, 60)]
    for sentence, found in zip(words, model.tag_many(words)):
        assert [word for word, _ in found] == sentence
        marginals = model.marginals(sentence)
        assert (marginals >= 0).all()
        np.testing.assert_allclose(marginals.sum(axis=1), 1.0)


@pytest.mark.parametrize("smoothing", [0, 2**64, 1e300])
def test_extreme_smoothing(tagged, smoothing):
    found = RefinementHMM(2, n_iter=1, smoothing=smoothing).fit(tagged)
    assert found.marginals(["w1|y", "never"]) is not None
    assert np.isfinite(found.log_probability(["w1|y", "w2|x"]))


@pytest.mark.parametrize("method", METHODS)
def test_long_sentences(model, method):
    words = ["w1|y", "w2|x", "w3|y"] * 2000
    assert len(model.tag(words)) == 6000
    assert np.isfinite(model.marginals(words)).all()


def test_files(model, tagged, tmp_path):
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    words = [[word for word, _ in line] for line in tagged[:20]]
    assert again.tag_many(words) == model.tag_many(words)
    assert again.states_ == model.states_
    assert again.history_ == model.history_
    np.testing.assert_array_equal(again.marginals(words[0]), model.marginals(words[0]))


# Real data.


def test_states_help_on_parts_of_speech(data_folder, monkeypatch):
    monkeypatch.setenv("NLTK_DATA", str(data_folder / "nltk_data"))
    train = [[(word, pos) for word, pos, _ in line] for line in load_dataset("conll2000")]
    train, test = train[:1500], train[8000:8300]
    plain = HMMTagger(1).fit(train).score(test)
    for method in METHODS:
        assert RefinementHMM(4, method=method).fit(train).score(test) > plain
