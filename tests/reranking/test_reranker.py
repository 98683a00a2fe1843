"""Reranking: it learns what a base model cannot, and stored scores choose like separate fits."""

from collections import Counter
from functools import partial
from itertools import pairwise, product

import numpy as np
import pytest

import eigentext as et
from eigentext import engine
from eigentext.errors import ModelFileError, ParameterError
from eigentext.kernels import Candidate, LinearKernel
from eigentext.reranking.parameters import BETAS
from eigentext.reranking.reranker import DECAYS, Reranker

PRIOR = {"X": np.log(0.6), "Y": np.log(0.4)}
WORDS = "abcde"


def fragments(tagging):
    """Single tags with their words, and pairs of tags."""
    tags = [tag for _, tag in tagging]
    return Counter(
        [f"{word}/{tag}" for word, tag in tagging] + ["".join(p) for p in pairwise(tags)]
    )


def weakly_proposed(words):
    """All taggings, from a model that knows only the frequencies of tags."""
    taggings = [list(zip(words, tags)) for tags in product("XY", repeat=len(words))]
    candidates = [Candidate(one, sum(PRIOR[tag] for _, tag in one)) for one in taggings]
    return sorted(candidates, key=lambda one: -one.log_probability)


def alternating(n, seed=0):
    """Lists and gold: sentences begin with s, which is X, and then every second tag is Y."""
    rng = np.random.default_rng(seed)
    draws = [["s", *rng.choice(list(WORDS), length)] for length in rng.integers(1, 4, n)]
    gold = [[(str(word), tag) for word, tag in zip(words, "XYXY")] for words in draws]
    return [weakly_proposed([word for word, _ in one]) for one in gold], gold


@pytest.fixture(scope="module")
def train():
    return alternating(60)


@pytest.fixture(scope="module")
def validation():
    return alternating(30, seed=1)


@pytest.fixture(scope="module")
def reranker(train, validation):
    return Reranker(LinearKernel(fragments)).fit(*train, validation=validation)


# What it learns.


@pytest.mark.parametrize("margin", [0, 0.2])
@pytest.mark.parametrize("average", ["mean", "vote", None])
@pytest.mark.parametrize("kernel", [LinearKernel(fragments), LinearKernel(fragments).normalized()])
def test_a_reranker_learns_what_the_base_model_cannot(train, validation, average, margin, kernel):
    model = Reranker(kernel, average=average, margin=margin)
    report = model.fit(*train).evaluate(*validation)
    assert report.first < 0.7
    assert report.reranked > 0.95
    assert report.oracle == 1.0
    assert report.n_inputs == 30
    assert report.n_candidates == sum(map(len, validation[0]))
    assert report.n_changed >= report.n_better > 0
    assert report.measure == "accuracy of tags"


def test_a_score_is_beta_times_the_log_probability_and_the_kernel_score(reranker, validation):
    perceptron, kernel = reranker.perceptron_, LinearKernel(fragments)
    for given, ranked in zip(validation[0][:5], reranker.rerank(validation[0][:5])):
        own = kernel.scores(
            perceptron.support_, perceptron.averaged_alpha_, [one.structure for one in given]
        )
        logs = np.array([one.log_probability for one in given])
        expected = own + reranker.beta_ * (logs - logs.max())
        order = np.argsort(-expected, kind="stable")
        assert [one.structure for one in ranked] == [given[i].structure for i in order]
        np.testing.assert_allclose([one.log_probability for one in ranked], expected[order])


def test_all_answers_are_of_one_ranking(reranker, validation):
    lists = validation[0]
    ranked, places = reranker.rerank(lists), reranker.predict(lists)
    assert [one[0].structure for one in ranked] == reranker.best(lists)
    assert [one[i].structure for one, i in zip(lists, places)] == reranker.best(lists)


def test_all_weight_on_the_base_model_is_its_ranking(train, validation):
    report = Reranker(LinearKernel(fragments), beta=1e9).fit(*train).evaluate(*validation)
    assert report.reranked == report.first
    assert report.n_changed == 0


def test_the_order_of_lists_without_log_probabilities_is_the_base_model(train, validation):
    plain = [
        [[one.structure for one in candidates] for candidates in part[0]]
        for part in (train, validation)
    ]
    report = (
        Reranker(LinearKernel(fragments)).fit(plain[0], train[1]).evaluate(plain[1], validation[1])
    )
    assert report.first < 0.7
    assert report.reranked > 0.95


# Choosing.


@pytest.mark.parametrize("margin", [0, 0.5])
def test_trials_are_what_separate_fits_would_be(train, validation, margin):
    averages, betas = ("mean", "vote", None), (0.0, 0.5, 8.0, 64.0)
    settings = {"margin": margin, "n_epochs": 2, "training_beta": 0.5}
    kernel = LinearKernel(fragments)
    model = Reranker(kernel, beta=betas, average=averages, **settings).fit(
        *train, validation=validation
    )
    trials = model.diagnostics_["trials"]
    assert len(trials) == 4 + 1 + 4
    for trial in trials:
        alone = Reranker(kernel, beta=trial["beta"], average=trial["average"], **settings)
        assert alone.fit(*train).evaluate(*validation).reranked == trial["value"]
        assert alone.beta_ == trial["beta"]
        assert alone.diagnostics_["trials"] == []
        assert alone.diagnostics_["validation"] is None
    assert model.diagnostics_["validation"] == max(trial["value"] for trial in trials)
    assert model.evaluate(*validation).reranked == model.diagnostics_["validation"]


def test_several_weights_as_good_as_the_best_leave_the_middle_one(train, validation):
    model = Reranker(LinearKernel(fragments), beta=(0.0, 1e-6, 2e-6, 1e9)).fit(
        *train, validation=validation
    )
    values = [trial["value"] for trial in model.diagnostics_["trials"]]
    assert values[0] == values[1] == values[2] > values[3]
    assert model.beta_ == 1e-6


def test_without_dev_a_share_is_held_out_and_all_is_learned_in_the_end(train):
    kernel = LinearKernel(fragments)
    model = Reranker(kernel, random_state=3).fit(*train)
    again = Reranker(kernel, random_state=3).fit(*train)
    trials = model.diagnostics_["trials"]
    assert trials == again.diagnostics_["trials"]
    assert model.beta_ == again.beta_
    assert model.perceptron_.diagnostics_["n_examples"] == 60
    # The weight b grows like the number of updates, which is the scale of kernel scores.
    order = np.random.default_rng(3).permutation(60)
    rest = [[part[i] for i in np.sort(order[12:])] for part in train]
    fewer = Reranker(kernel, beta=1.0).fit(*rest)
    n_updates = [len(one.perceptron_.mistakes_) for one in (fewer, model)]
    chosen = max(trial["value"] for trial in trials)
    best = [trial["beta"] for trial in trials if trial["value"] == chosen]
    assert model.beta_ == pytest.approx(best[len(best) // 2] * n_updates[1] / n_updates[0])


def test_other_draws_hold_out_other_inputs(train):
    kernel = LinearKernel(fragments)
    found = [Reranker(kernel, random_state=seed).fit(*train).diagnostics_ for seed in range(4)]
    assert len({str(one["trials"]) for one in found}) > 1


def test_the_same_bits_on_any_number_of_threads(train, validation):
    found = []
    for n_threads in (1, 3):
        with engine.use(engine.ThreadEngine(n_threads)):
            model = Reranker(decay=(0.3, 0.6, 0.9), n_epochs=2).fit(*train)
            found.append((model.diagnostics_, model.rerank(validation[0])))
    assert found[0] == found[1]


# Candidates that are missing.


def test_inputs_without_a_choice_are_left_out_of_training_and_counted(train, validation):
    lists, gold = [*train[0], [], [Candidate(train[1][0], -1.0)]], [*train[1], *train[1][:2]]
    kernel = LinearKernel(fragments)
    model, plain = (
        Reranker(kernel, beta=1.0).fit(lists, gold),
        Reranker(kernel, beta=1.0).fit(*train),
    )
    assert model.predict(validation[0]).tolist() == plain.predict(validation[0]).tolist()
    found = model.diagnostics_
    assert (found["n_inputs"], found["n_empty"], found["n_single"]) == (62, 1, 1)
    assert found["n_candidates"] == sum(map(len, lists))
    assert found["n_support"] == len(model.perceptron_.support_)


def test_an_empty_list_has_no_answer(reranker, validation):
    lists, gold = (
        [[], *validation[0][:2], []],
        [validation[1][0], *validation[1][:2], validation[1][0]],
    )
    assert reranker.predict(lists)[[0, 3]].tolist() == [-1, -1]
    assert reranker.best(lists)[::3] == [None, None]
    assert [len(one) for one in reranker.rerank(lists)] == [0, *map(len, validation[0][:2]), 0]
    report = reranker.evaluate(lists, gold)
    n_words = [len(one) for one in gold]
    assert report.n_empty == 2
    assert report.oracle == pytest.approx(sum(n_words[1:3]) / sum(n_words))
    assert reranker.predict([]).tolist() == []
    assert reranker.predict([[], []]).tolist() == [-1, -1]
    assert reranker.rerank([]) == []


def test_the_closest_candidate_replaces_missing_gold(train, validation):
    lists = [
        [one for one in candidates if one.structure != right] if i < 5 else candidates
        for i, (candidates, right) in enumerate(zip(*train))
    ]
    model = Reranker(LinearKernel(fragments)).fit(lists, train[1])
    assert model.diagnostics_["n_replaced"] == 5
    assert model.evaluate(*validation).reranked > 0.9
    with pytest.raises(ParameterError, match="gold structure of input 0 is not among"):
        Reranker(LinearKernel(fragments), closest=False).fit(lists, train[1])


def test_gold_may_be_places(train, reranker, validation):
    places = [
        [one.structure for one in candidates].index(right) for candidates, right in zip(*train)
    ]
    model = Reranker(LinearKernel(fragments)).fit(train[0], places, validation=validation)
    assert model.diagnostics_["trials"] == reranker.diagnostics_["trials"]


# Bad input.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"margin": -1}, "margin must be a number, 0 or more, not -1"),
        (
            {"average": "median"},
            "average must be 'mean', 'vote' or None, or several",
        ),
        ({"beta": (1.0, -1.0)}, "beta must be one or several numbers, 0 or more, not"),
        ({"beta": "much"}, "beta must be one or several numbers, 0 or more, not 'much'"),
        ({"beta": ()}, "beta must be one or several numbers"),
        ({"training_beta": np.inf}, "training_beta must be a number, 0 or more, not inf"),
        (
            {"validation_share": 1.0},
            "validation_share must be a number, above 0 and less than 1",
        ),
        ({"decay": 0.3}, "has no decay to choose"),
        ({"n_epochs": 0}, r"n_epochs \(--epochs\) must be a whole number"),
    ],
)
def test_bad_parameters(train, parameters, message):
    with pytest.raises(ParameterError, match=message):
        Reranker(LinearKernel(fragments), **parameters).fit(*train)


def test_too_few_inputs_to_hold_some_out(train):
    lists, gold = train[0][:2], train[1][:2]
    with pytest.raises(ParameterError, match="2 inputs are too few to hold out"):
        Reranker(LinearKernel(fragments)).fit(lists, gold)
    Reranker(LinearKernel(fragments), beta=1.0).fit(lists, gold)


def test_nothing_to_learn_from(train):
    with pytest.raises(ParameterError, match="no input has two or more candidates"):
        Reranker(LinearKernel(fragments), beta=1.0).fit([[], train[0][0][:1]], train[1][:2])


def test_not_fitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        Reranker().predict([[]])


# Kernels of fragments, base models, files.


def test_the_kernel_follows_the_candidates(train, validation):
    few = [part[:30] for part in train]
    model = Reranker(beta=(1.0, 10.0), n_epochs=2).fit(*few, validation=validation)
    assert isinstance(model.perceptron_.kernel, et.SequenceKernel)
    assert {trial["decay"] for trial in model.diagnostics_["trials"]} == set(DECAYS)
    assert model.perceptron_.kernel.decay == model.decay_
    assert model.evaluate(*validation).reranked > 0.95


def test_a_given_kernel_keeps_its_decay_unless_others_are_given():
    kernel = et.SequenceKernel(0.7, match="capitalization")
    assert list(Reranker(kernel)._kernels([])) == [0.7]
    made = Reranker(kernel, decay=(0.1, 0.9))._kernels([])
    assert [one.get_params() for one in made.values()] == [
        kernel.get_params() | {"decay": decay} for decay in (0.1, 0.9)
    ]


ATTACHMENTS = {  # decided by the verb, which the rule of a grammar does not see
    "saw": "(S (NP (N {0})) (VP (V saw) (NP (N {1})) (PP (P with) (NP (N {2})))))",
    "ate": "(S (NP (N {0})) (VP (V ate) (NP (NP (N {1})) (PP (P with) (NP (N {2}))))))",
}


@pytest.fixture(scope="module")
def treebank():
    rng = np.random.default_rng(0)
    nouns = ["cats", "dogs", "birds", "fish"]
    verbs = ["saw", "ate", "ate"] * 12
    return [ATTACHMENTS[verb].format(*rng.choice(nouns, 3)) for verb in verbs]


@pytest.fixture(scope="module")
def parser_reranker(treebank):
    plain = partial(et.PCFG, vertical=1, rare=0)
    return Reranker(n_epochs=3).fit_base(plain, treebank, k=4, n_folds=3)


def test_trees_of_a_grammar(parser_reranker, treebank):
    base = parser_reranker.base_
    gold = [et.Tree.parse(one) for one in treebank]
    lists = [base.k_best(one.leaves(), 4) for one in gold]
    report = parser_reranker.evaluate(lists, gold)
    assert report.first < 1.0
    assert report.reranked == report.oracle == 1.0
    assert report.measure == "F1 of labelled brackets"
    sentences = ["cats saw dogs with birds", ["cats", "ate", "dogs", "with", "birds"]]
    assert list(map(str, parser_reranker.apply(base, sentences, k=4))) == [
        ATTACHMENTS[verb].format("cats", "dogs", "birds") for verb in ("saw", "ate")
    ]


def test_taggings_of_a_base_model(train):
    class Weak:
        """A model that only remembers that it was fitted."""

        def fit(self, tagged):
            self.n = len(tagged)
            return self

        def k_best(self, words, k):
            assert self.n in (40, 60)
            return weakly_proposed(words)[:k]

    model = Reranker(LinearKernel(fragments)).fit_base(Weak, train[1], k=16, n_folds=3)
    assert model.base_.n == 60
    assert model.apply(model.base_, [["s", "b", "c"]], k=16) == [
        [("s", "X"), ("b", "Y"), ("c", "X")]
    ]


def test_taggings_of_a_hidden_markov_model(train, tmp_path):
    model = Reranker(decay=0.5, n_epochs=2).fit_base(et.HMMTagger, train[1], k=5, n_folds=2)
    sentences = [[word for word, _ in one] for one in train[1][:5]]
    assert model.apply(model.base_, sentences, k=5) == train[1][:5]
    model.save(tmp_path / "model")
    assert et.load(tmp_path / "model").apply(model.base_, sentences) == train[1][:5]


def test_saved_and_loaded(parser_reranker, treebank, tmp_path):
    parser_reranker.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    gold = [et.Tree.parse(one) for one in treebank]
    lists = [parser_reranker.base_.k_best(one.leaves(), 4) for one in gold]
    assert loaded.rerank(lists) == parser_reranker.rerank(lists)  # to the bit
    assert loaded.evaluate(lists, gold) == parser_reranker.evaluate(lists, gold)
    assert loaded.get_params() == {**parser_reranker.get_params(), "beta": list(BETAS)}
    assert loaded.diagnostics_ == parser_reranker.diagnostics_
    assert not hasattr(loaded, "base_")


def test_a_kernel_of_a_function_is_not_saved(reranker, tmp_path):
    with pytest.raises(ParameterError, match="phi"):
        reranker.save(tmp_path / "model")


def test_a_damaged_file(parser_reranker, tmp_path, monkeypatch):
    arrays, about = parser_reranker._to_saved()
    monkeypatch.setattr(
        parser_reranker, "_to_saved", lambda: (arrays, {**about, "measure": "beauty"})
    )
    parser_reranker.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="damaged"):
        et.load(tmp_path / "model")


# Old names of arguments.


def test_the_old_names_of_validation_work_with_a_warning(train, validation):
    with pytest.warns(DeprecationWarning, match="'dev_share' is called 'validation_share' now"):
        old = Reranker(LinearKernel(fragments), dev_share=0.3)
    assert old.get_params()["validation_share"] == 0.3
    with pytest.warns(DeprecationWarning, match="'dev_share' is called"):
        assert old.set_params(dev_share=0.4).validation_share == 0.4
    with pytest.warns(DeprecationWarning, match="'dev' is called 'validation' now"):
        old.fit(*train, dev=validation)
    new = Reranker(LinearKernel(fragments)).fit(*train, validation=validation)
    assert old.diagnostics_ == new.diagnostics_
    with (
        pytest.warns(DeprecationWarning),
        pytest.raises(ParameterError, match="validation is given twice"),
    ):
        old.fit(*train, validation=validation, dev=validation)


def test_files_with_the_old_names_are_read(train):
    model = Reranker(et.SequenceKernel(), validation_share=0.3, beta=[0.1, 1.0]).fit(*train)
    arrays, about = model._to_saved()
    about["parameters"]["dev_share"] = about["parameters"].pop("validation_share")
    about["diagnostics"] = {
        {"validation": "dev"}.get(name, name): value for name, value in model.diagnostics_.items()
    }
    old = Reranker._from_saved(arrays, about)
    assert old.parameters_.validation_share == 0.3
    assert old.diagnostics_ == model.diagnostics_
