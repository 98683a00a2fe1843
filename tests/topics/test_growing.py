"""More documents: exact moments, topics that keep their numbers, new topics, bad input."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext import DocumentMoments, TextCorpus, TopicModel
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.topics import merge

MEALS = ["ham eggs ham cheese", "eggs cheese ham eggs", "cheese ham bread"] * 20
GAMES = ["goal team goal match", "team match win goal"] * 20
TRIALS = ["court judge court trial", "judge jury trial court"] * 20
A, B = MEALS + GAMES[:10], GAMES[10:] + MEALS[:7]


def whole(n_topics=2, **settings):
    return TopicModel(n_topics, keep_moments="whole", **settings)


def parts_of(model):
    return (model.components_.tobytes(), model.weights_.tobytes(), model.vocabulary_.words)


# Exactness.


@pytest.mark.parametrize(
    "settings", [{}, {"alpha0": 0}, {"min_df": 3, "max_df": 0.9, "stop_words": ["ham"]}]
)
def test_moments_are_those_of_all_documents_in_either_order(settings):
    together = whole(**settings).fit(A + B)
    for first, second in ((A, B), (B, A)):
        grown = whole(**settings).fit(first).partial_fit(second)
        assert grown.moments_ == together.moments_
        assert grown.vocabulary_ == together.vocabulary_
        assert grown.provenance_["n_documents"] == len(A + B)
        again = whole(**settings).fit(first).partial_fit(second, restart=True)
        assert parts_of(again) == parts_of(together)
        assert again.diagnostics_ == together.diagnostics_


def test_keeping_moments_does_not_change_a_fit():
    model = TopicModel(2).fit(A + B)
    assert model.moments_ is None
    for keep in ("cut", "whole"):
        kept = TopicModel(2, keep_moments=keep).fit(A + B)
        assert parts_of(kept) == parts_of(model)
        assert kept.diagnostics_ == model.diagnostics_
        counted = whole(2).fit_moments(DocumentMoments.from_corpus(A + B))
        assert parts_of(counted) == parts_of(model)


def test_matrices_grow_too():
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson([[3, 2, 1, 0.1], [0.1, 1, 2, 3]] * 20))
    Y = sp.csr_array(rng.poisson([[3, 2, 1, 0.1], [0.1, 1, 2, 3]] * 9))
    together = whole().fit(sp.vstack([X, Y]))
    grown = whole().fit(X).partial_fit(Y, restart=True)
    assert parts_of(grown) == parts_of(together)
    with pytest.raises(MomentsError, match="columns"):
        grown.partial_fit(Y[:, :3])


def test_one_at_a_time_and_all_at_once_have_the_same_moments():
    model = whole().fit(A)
    for start in range(0, len(B), 15):
        model.partial_fit(B[start : start + 15])
    assert model.moments_ == whole().fit(A + B).moments_


def test_copies_are_set_apart_from_all_documents():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["ham", "eggs", "cheese", "bread", "salt"], 9)) for _ in range(60)]
    texts += [" ".join(rng.choice(["goal", "team", "match", "ball", "win"], 9)) for _ in range(60)]
    copies = ["buy gold coins now cheap gold coins offer"] * 30
    model = whole(set_apart=True).fit(texts[::2] + copies[:2])
    model.partial_fit(texts[1::2] + copies[2:])
    assert model.moments_.n_documents == 150
    assert [group["n_documents"] for group in model.diagnostics_["apart"]][:1] == [30]
    fresh = whole(set_apart=True).fit(texts + copies)
    assert model.diagnostics_["apart"] == fresh.diagnostics_["apart"]


def test_an_unfitted_model_is_fitted():
    assert parts_of(whole().partial_fit(A)) == parts_of(whole().fit(A))


# Numbers of topics.


@pytest.mark.parametrize("refine", [0, 30])
@pytest.mark.parametrize("method", ["tensor", "gradient", "anchors"])
def test_topics_keep_their_numbers(random_topics, method, refine):
    truth = random_topics(4, 50, 1.0)
    model = whole(4, method=method, refine=refine).fit(truth.draw(1500, 40))
    before = model.components_
    # The least topic gets most of the new documents.
    more = truth._replace(weights=np.eye(4)[np.argmin(truth.weights)] * 0.97 + 0.0075)
    model.partial_fit(more.draw(3000, 40, seed=1))
    likeness = np.sqrt(before) @ np.sqrt(model.components_).T
    assert (likeness.argmax(axis=1) == np.arange(4)).all()
    assert not (np.diff(model.weights_) <= 0).all()  # a fit would have sorted them
    assert not hasattr(model, "topic_topic_")
    assert model.diagnostics_["n_documents_before"] == 1500


def test_refinement_reaches_a_fresh_fit(random_topics):
    truth = random_topics(6, 100, 1.0)
    X, test = truth.draw(3000, 40), truth.draw(1000, 40, seed=1)
    fresh = whole(6).fit(X)
    grown = whole(6).fit(X[:1500]).partial_fit(X[1500:])
    assert grown.moments_ == fresh.moments_
    assert grown.perplexity(test) < 1.01 * fresh.perplexity(test)


def test_new_words_enter_the_topics_of_their_documents():
    model = whole().fit(MEALS + GAMES)
    model.partial_fit(["ham eggs salt cheese salt"] * 30)
    salt = model.components_[:, model.vocabulary_["salt"]]
    meals = model.components_[:, model.vocabulary_["ham"]].argmax()
    assert salt.argmax() == meals
    assert salt[meals] > 0.1


def test_words_stay_if_they_are_fixed():
    for keep in ("cut", "whole"):
        model = TopicModel(2, keep_moments=keep).fit(MEALS + GAMES)
        words = model.vocabulary_.words
        model.partial_fit(["ham eggs salt cheese salt"] * 30, fixed_vocabulary=True)
        assert model.vocabulary_.words == words
        assert ("salt" in model.moments_.vocabulary) == (keep == "whole")
        assert model.provenance_["n_documents"] == len(MEALS + GAMES) + 30


# New topics.


@pytest.mark.parametrize("n", [1, "auto"])
@pytest.mark.parametrize("refine", [0, 30])
def test_a_sixth_topic_is_found(random_topics, matched, refine, n):
    truth = random_topics(6, 80, 1.0)
    old = truth._replace(
        weights=truth.weights[:5] / truth.weights[:5].sum(), topics=truth.topics[:5]
    )
    model = whole(5, refine=refine).fit(old.draw(3000, 40))
    before = model.components_
    model.partial_fit(truth.draw(3000, 40, seed=1), new_topics=n)
    assert model.n_topics_ == 6
    assert model.diagnostics_["n_new_topics"] == 1
    likeness = np.sqrt(before) @ np.sqrt(model.components_).T
    assert (likeness.argmax(axis=1) == np.arange(5)).all()
    order, l1 = matched(truth.topics, model.components_)
    assert order[5] == 5
    assert l1[5] < (0.6 if not refine else 0.3)
    assert model.transform(truth.draw(5, 40)).shape == (5, 6)


def test_no_topic_is_added_if_nothing_is_new(random_topics):
    truth = random_topics(5, 80, 1.0)
    model = whole(5).fit(truth.draw(2000, 40))
    model.partial_fit(truth.draw(2000, 40, seed=1), new_topics="auto")
    assert model.n_topics_ == 5


def test_more_new_topics_than_there_are():
    model = whole(2).fit(MEALS + GAMES)
    with pytest.warns(UserWarning, match=r"only \d of 30 new topics.*--new-topics"):
        model.partial_fit(TRIALS, new_topics=30)
    assert 3 <= model.n_topics_ < 32
    assert np.allclose(model.components_.sum(axis=1), 1)


# Merging.


def test_merging_leaves_the_models_alone():
    a, b = whole(2).fit(MEALS + GAMES), whole(1).fit(TRIALS)
    before = parts_of(a), parts_of(b)
    merged = merge(a, b, new_topics="auto")
    assert (parts_of(a), parts_of(b)) == before
    assert merged.moments_ == whole(2).fit(MEALS + GAMES + TRIALS).moments_
    for (word,), texts in zip(merged.top_words(1), (MEALS, GAMES, TRIALS)):
        assert any(word in text.split() for text in texts)
    assert merged.n_topics_ == 3
    assert parts_of(a.merge(b, new_topics="auto")) == parts_of(merged)
    of_three = merge(whole(2).fit(MEALS[:30] + GAMES), whole(1).fit(MEALS[30:]), b, restart=True)
    assert parts_of(of_three) == parts_of(whole(2).fit(MEALS + GAMES + TRIALS))


def test_what_cannot_be_merged():
    a = whole().fit(MEALS + GAMES)
    with pytest.raises(ParameterError, match="two models or more"):
        merge(a)
    with pytest.raises(ParameterError, match="takes topic models, not list"):
        merge(a, MEALS)
    with pytest.raises(ParameterError, match="keep_moments='whole'"):
        merge(a, TopicModel(2).fit(MEALS + GAMES))
    simple = whole().fit(TextCorpus(MEALS + GAMES, tokenizer="simple", unit="document"))
    with pytest.raises(MomentsError, match="tokenizer"):
        merge(a, simple)
    with pytest.raises(Exception, match="not fitted"):
        merge(a, whole())


# Bad input.


def test_without_moments():
    model = TopicModel(2).fit(A)
    with pytest.raises(ParameterError, match=r"keep_moments='whole' \(--keep-moments whole\)"):
        model.partial_fit(B)
    model.set_params(keep_moments="whole")
    with pytest.raises(ParameterError, match="does not keep"):
        model.partial_fit(B)


def test_cut_moments_need_a_fixed_vocabulary():
    model = TopicModel(2, keep_moments="cut", min_df=2).fit(A)
    model.moments_ = model.moments_.restrict(model.vocabulary_.words)
    with pytest.raises(MomentsError, match="--fixed-vocabulary"):
        model.partial_fit(B)
    cut = DocumentMoments.from_corpus(B).restrict(["goal", "team"])
    with pytest.raises(MomentsError, match="--fixed-vocabulary"):
        whole().fit(A).partial_fit(cut)


@pytest.mark.parametrize("wrong", [-1, 1.5, True, "many", None])
def test_wrong_numbers_of_new_topics(wrong):
    with pytest.raises(ParameterError, match="new_topics must be"):
        whole().fit(A).partial_fit(B, new_topics=wrong)


def test_a_restart_has_no_new_topics():
    with pytest.raises(ParameterError, match="restart"):
        whole().fit(A).partial_fit(B, new_topics=1, restart=True)


def test_a_failed_addition_changes_nothing():
    model = whole().fit(A)
    before, kept = parts_of(model), model.moments_
    for bad in ([[1, -2]], 7, [[1, 2], [3, 4]]):
        with pytest.raises((CorpusError, MomentsError)):
            model.partial_fit(bad)
    assert parts_of(model) == before
    assert model.moments_ is kept


def test_the_same_documents_twice():
    model = whole().fit(A)
    with pytest.warns(UserWarning, match="count twice"):
        model.partial_fit(A)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(B)


def test_other_parameters_do_not_change_what_was_learned():
    model = whole(2, alpha0=0.5).fit(A).set_params(n_topics=7, alpha0=3.0, method="anchors")
    model.partial_fit(B)
    assert (model.n_topics_, model.alpha0_) == (2, 0.5)
    assert (model.parameters_.n_topics, model.parameters_.method) == (2, "tensor")
    assert model.n_topics == 7
    assert not any("n_topics" in one.line for one in model.findings())


def test_texts_are_read_like_the_old_ones(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(A))
    model = whole().fit(TextCorpus(path, tokenizer="words", lowercase=True))
    assert model.partial_fit(B).moments_.n_documents == len(A + B)
    simple = whole().fit(TextCorpus(A, tokenizer="simple", unit="document"))
    assert simple.partial_fit(["HAM, eggs!"] * 5).provenance_["options"]["tokenizer"] == "simple"
    assert "HAM" in simple.moments_.vocabulary


# Files.


def test_saved_models_grow(tmp_path):
    model = whole().fit(A)
    model.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert loaded.moments_ == model.moments_
    assert parts_of(loaded.partial_fit(B)) == parts_of(copy.copy(model).partial_fit(B))
    loaded.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.diagnostics_ == loaded.diagnostics_
    TopicModel(2).fit(A).save(tmp_path / "bare")
    assert et.load(tmp_path / "bare").moments_ is None


def test_a_file_whose_moments_are_of_other_words(tmp_path):
    whole().fit(A).save(tmp_path / "model")
    arrays, about = et.storage.read_saved(tmp_path / "model")
    arrays["moments.words"] = ["x" + word for word in arrays["moments.words"]]
    et.storage.write_saved(tmp_path / "damaged", about.pop("format"), arrays, about)
    with pytest.raises(et.errors.ModelFileError, match="moments lack the word"):
        et.load(tmp_path / "damaged")
    for wrong in (7, {}, {"n_empty": -1}):
        et.storage.write_saved(
            tmp_path / "damaged", "eigentext.topics.v1", arrays, about | {"moments": wrong}
        )
        with pytest.raises(et.errors.ModelFileError, match="damaged"):
            et.load(tmp_path / "damaged")


def test_growing_after_choices_keeps_what_was_chosen():
    rng = np.random.default_rng(0)
    words = np.array(["ham", "eggs", "cheese", "bread", "goal", "team", "match", "win"])
    texts = [" ".join(rng.choice(words[:4] if i % 2 else words[4:], 9)) for i in range(80)]
    vectors = words.tolist(), rng.normal(size=(8, 3))
    model = whole("auto", alpha0="moments", vectors=vectors, set_apart=True).fit(texts)
    n, alpha0 = model.n_topics_, model.alpha0_
    model.partial_fit(["planet star moon orbit"] * 20)
    assert (model.n_topics_, model.alpha0_) == (n, alpha0)
    model.partial_fit(["planet star moon orbit rocket"] * 20, new_topics=1)
    assert (model.n_topics_, model.alpha0_) == (n + 1, alpha0)
