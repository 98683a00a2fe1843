"""The perceptron: a run by hand, the mean, the bound, the dual form, files and bad input."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import Perceptron, engine
from eigentext.errors import ModelFileError, ParameterError
from eigentext.kernels import Candidate, LinearKernel
from eigentext.storage import read_saved, write_saved

CANDIDATES = [
    [{"x": 1}, {"y": 1}],
    [{"y": 2}, {"x": 1, "z": 1}],
    [{"z": 1}, {"y": 1}],
]
GOLD = [1, 1, 0]
# Done by hand: W = (x, y, z) goes (-1, 1, 0), (0, -1, 1) | (-1, 0, 1), (0, -2, 2) | (-1, -1, 2) |
# (-2, 0, 2), (-1, -2, 3) | (-2, -1, 3) | no mistake.
MISTAKES = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (2, 0, 0), (3, 0, 0), (3, 1, 0), (4, 0, 0)]


def steps(candidates, gold, n_epochs):
    """The algorithm of [Collins 2003] on lists of vectors: W after each example, and mistakes."""
    W = np.zeros(len(candidates[0][0]))
    for t in range(n_epochs):
        clean = True
        for i, (one, y) in enumerate(zip(candidates, gold)):
            z = max(range(len(one)), key=lambda k: (np.dot(one[k], W), -k))
            wrong = list(one[z]) != list(one[y])
            if wrong:
                W = W + np.array(one[y]) - np.array(one[z])
                clean = False
            yield W, (t, i, z) if wrong else None
        if clean:
            return


def separable(seed, n=40, d=5, k=4):
    """Random lists whose right candidate wins under a unit vector U by a margin."""
    rng = np.random.default_rng(seed)
    U = rng.normal(size=d)
    U /= np.linalg.norm(U)
    lists = rng.normal(size=(n, k, d))
    scores = lists @ U
    gold = scores.argmax(axis=1)
    lists[np.arange(n), gold] += 0.5 * U
    return lists, gold, U


def test_a_run_by_hand():
    model = Perceptron().fit(CANDIDATES, GOLD)
    assert model.mistakes_ == MISTAKES
    assert model.n_mistakes_ == [2, 2, 1, 2, 1, 0]
    assert model.separable_
    assert model.columns_ == {"x": 0, "y": 1, "z": 2}
    assert model.weights_.tolist() == [-2, -1, 3]
    assert model.top_features(2, average=False) == [("z", 3.0), ("x", -2.0)]
    bound = model.bound()
    assert bound.n_mistakes == 8
    assert pytest.approx(6**0.5) == bound.R
    assert bound.delta == pytest.approx(14**-0.5)
    assert bound.limit == pytest.approx(84)
    assert model.diagnostics_["bound"] == bound.limit
    last = model.scores(CANDIDATES, average=False)
    assert [scores.tolist() for scores in last] == [[-2, -1], [-2, 1], [3, -1]]
    assert model.predict(CANDIDATES).tolist() == GOLD
    assert model.score(CANDIDATES, GOLD) == 1
    assert model.score(CANDIDATES, [0, 1, 0]) == pytest.approx(2 / 3)


def test_few_passes_are_not_called_separable():
    model = Perceptron(n_epochs=2).fit(CANDIDATES, GOLD)
    assert model.mistakes_ == MISTAKES[:4]
    assert not model.separable_
    assert model.bound() is None
    assert "bound" not in model.diagnostics_
    assert model.weights_.tolist() == [0, -2, 2]
    np.testing.assert_allclose(model.averaged_, [-2 / 6, -5 / 6, 7 / 6], rtol=1e-15)


vectors = st.lists(st.integers(-2, 2), min_size=3, max_size=3)
lists = st.lists(st.lists(vectors, min_size=1, max_size=4), min_size=1, max_size=6)


@given(lists, st.randoms(use_true_random=False), st.integers(1, 5))
def test_equals_the_algorithm_of_collins_2003(candidates, random, n_epochs):
    gold = [random.randrange(len(one)) for one in candidates]
    model = Perceptron(n_epochs=n_epochs).fit(candidates, gold)
    run = list(steps(candidates, gold, n_epochs))
    assert model.mistakes_ == [mistake for _, mistake in run if mistake]
    assert (model.weights_ == run[-1][0]).all()
    np.testing.assert_allclose(model.averaged_, np.mean([W for W, _ in run], axis=0), atol=1e-12)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.randoms(use_true_random=False))
def test_the_bound_holds_in_any_order(seed, random):
    candidates, gold, U = separable(seed)
    order = list(range(len(gold)))
    random.shuffle(order)
    model = Perceptron(n_epochs=1000).fit(candidates[order], gold[order])
    bound = model.bound()
    assert model.separable_
    assert model.predict(candidates).shape == gold.shape
    right = candidates[np.arange(len(gold)), gold][:, None] - candidates
    distances, margins = np.linalg.norm(right, axis=2), right @ U
    margins[np.arange(len(gold)), gold] = np.inf
    assert pytest.approx(distances.max()) == bound.R
    assert bound.n_mistakes == sum(model.n_mistakes_) <= (bound.R / margins.min()) ** 2
    assert bound.n_mistakes <= bound.limit
    assert bound.delta > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_dual_form_makes_the_same_mistakes(seed):
    rng = np.random.default_rng(seed)
    candidates = rng.integers(-2, 3, (15, 4, 6)).astype(float)
    gold = rng.integers(0, 4, 15)
    K = LinearKernel().gram(candidates.reshape(60, 6))
    alpha, mistakes = np.zeros(60), []
    for t, i in product(range(8), range(15)):
        z = int(np.argmax((alpha @ K)[4 * i : 4 * i + 4]))
        if z != gold[i]:
            alpha[4 * i + gold[i]] += 1
            alpha[4 * i + z] -= 1
            mistakes.append((t, i, z))
    model = Perceptron(n_epochs=8).fit(candidates, gold)
    assert model.mistakes_ == mistakes
    assert (model.weights_ == alpha @ candidates.reshape(60, 6)).all()


def test_the_first_of_equals_wins_and_equals_of_the_right_one_are_right():
    model = Perceptron().fit([[{"a": 1}, {"b": 1}, {"a": 1, "c": 0}]], [2])
    assert model.mistakes_ == []
    assert model.separable_
    # W is zero and separates nothing, so that there is no bound.
    assert (model.bound().delta, model.bound().limit) == (0, np.inf)
    assert model.score([[{"b": 1}, {"b": 1}, {"a": 1}]], [1]) == 1
    assert model.predict([[{"b": 1}, {"c": 1}]]).tolist() == [0]


def test_kinds_of_features_candidates_and_gold_agree():
    as_vectors = [[[1, 0, 0], [0, 1, 0]], [[0, 2, 0], [1, 0, 1]], [[0, 0, 1], [0, 1, 0]]]
    as_pairs = [[(np.flatnonzero(v), [n for n in v if n]) for v in one] for one in as_vectors]
    as_candidates = [[Candidate(one, -1.0) for one in each] for each in CANDIDATES]
    by_structure = [each[y] for each, y in zip(CANDIDATES, GOLD)]
    for candidates, gold in (
        (as_vectors, GOLD),
        (np.array(as_vectors), np.array(GOLD)),
        (as_pairs, GOLD),
        (as_candidates, GOLD),
        (CANDIDATES, by_structure),
        (as_candidates, by_structure),
    ):
        model = Perceptron().fit(iter(candidates), gold)
        assert model.mistakes_ == MISTAKES
        assert model.weights_.tolist() == [-2, -1, 3]
        assert model.score(candidates, gold) == 1


def test_gen_and_phi_of_an_input_and_a_candidate():
    colors = {"sky": "blue", "grass": "green", "sea": "blue", "leaf": "green"}

    def phi(x, y):
        return {(x, y): 1}

    model = Perceptron(phi, gen=lambda x: ["blue", "green"]).fit(colors, colors.values())
    assert model.mistakes_ == [(0, 1, 0), (0, 3, 0)]
    assert model.predict(["leaf", "sky", "unheard of"]) == ["green", "blue", "blue"]
    assert model.score(["leaf", "sky"], ["green", "green"]) == 0.5
    assert model.score(["leaf"], ["red"]) == 0
    # Labels that are numbers are structures, not indices.
    numbers = Perceptron(phi, gen=lambda x: [3, 1, 2]).fit("abc", [1, 2, 3])
    assert numbers.predict("abc") == [1, 2, 3]


def test_unknown_features_count_for_nothing():
    model = Perceptron().fit(CANDIDATES, GOLD)
    (scores,) = model.scores([[{"x": 1, "new": 9}, {"newer": 1}, {}]], average=False)
    assert scores.tolist() == [-2, 0, 0]


def test_progress():
    class Listener:
        done: int

        def started(self, phase):
            assert (phase.name, phase.total, phase.unit) == ("perceptron", 10, "epochs")

        def advanced(self, phase):
            self.done = phase.done

        def finished(self, phase):
            pass

    listener = Listener()
    with engine.report_to(listener):
        Perceptron().fit(CANDIDATES, GOLD)
    assert listener.done == 6


# Files.


def test_save_and_load(tmp_path):
    path = tmp_path / "model"
    names = {"x": ("tag", 1, ("a", None)), "y": "ü\n", "z": np.int64(7)}
    candidates = [[{names[n]: v for n, v in c.items()} for c in one] for one in CANDIDATES]
    model = Perceptron(n_epochs=9, average=False).fit(candidates, GOLD)
    model.save(path)
    loaded = et.load(path)
    assert loaded.get_params() == model.get_params()
    for name in ("columns_", "mistakes_", "n_mistakes_", "separable_", "diagnostics_"):
        assert getattr(loaded, name) == getattr(model, name)
    assert loaded.bound() == model.bound()
    assert loaded.averaged_.tolist() == model.averaged_.tolist()
    assert loaded.predict(candidates).tolist() == GOLD
    with pytest.raises(ParameterError, match="a vector for features, the other a dictionary"):
        loaded.predict([[[1.0, 2.0, 3.0]]])


def test_functions_are_given_again_after_loading(tmp_path):
    def phi(x, y):
        return {(x, y): 1}

    def gen(x):
        return ["left", "right"]

    Perceptron(phi, gen=gen).fit("ab", ["right", "left"]).save(tmp_path / "model")
    et.load(tmp_path / "model").save(tmp_path / "again")
    loaded = et.load(tmp_path / "again")
    with pytest.raises(ParameterError, match=r"function phi, .*\.with_functions\(phi="):
        loaded.predict("ab")
    with pytest.raises(ParameterError, match=r"function gen, .*\.with_functions\(gen="):
        loaded.with_functions(phi=phi).predict("ab")
    assert loaded.with_functions(phi=phi, gen=gen).predict("ab") == ["right", "left"]
    with pytest.raises(ParameterError, match="give phi or gen, not 'psi'"):
        loaded.with_functions(psi=phi)


def test_a_plain_pair_is_given_to_phi_whole():
    seen = []

    def phi(pair):
        seen.append(pair)
        return {pair[0]: pair[1]}

    Perceptron(phi).fit([[("a", 1), ("b", 2)]], [1])
    assert seen == [("a", 1), ("b", 2)]
    # Only the structure of a Candidate is used.
    model = Perceptron(lambda word: {word: 1}).fit([[Candidate("a", -1.0), "b"]], [1])
    assert list(model.columns_) == ["a", "b"]


def test_names_that_a_file_cannot_contain(tmp_path):
    model = Perceptron().fit([[{frozenset("a"): 1}, {}]], [1])
    with pytest.raises(ParameterError, match="cannot be saved; use strings"):
        model.save(tmp_path / "model")


def test_damaged_files(tmp_path):
    path = tmp_path / "model"
    Perceptron().fit(CANDIDATES, GOLD).save(path)
    arrays, about = read_saved(path)
    arrays["names"] = arrays["names"][:2]
    write_saved(path, about.pop("format"), arrays, about)
    with pytest.raises(ModelFileError, match="made by something else: weights has shape"):
        et.load(path)


# Contracts and bad input.


def test_estimator_contract():
    model = Perceptron(len, n_epochs=3)
    assert clone(model).get_params() == model.get_params()
    assert repr(Perceptron(n_epochs=3)) == "Perceptron(n_epochs=3)"
    for call in (model.bound, model.top_features, lambda: Perceptron().predict([[[1.0]]])):
        with pytest.raises(NotFittedError):
            call()


@pytest.mark.parametrize(
    ("candidates", "gold", "message"),
    [
        ([], [], "no examples; give at least one"),
        ([[[1.0]], []], [0, 0], "example 1 has no candidates; leave it out"),
        ([[[1.0]], [[2.0]]], [0], "2 lists of candidates but 1 right ones"),
        ([[[1.0]], [[2.0]]], [0, 1], "candidate of example 1 has the index 1, but there are 1"),
        (
            [[[1.0]], [[2.0]]],
            [-1, 0],
            "example 0 has the index -1.*leave the example out",
        ),
        ([[[1.0], [2.0]]], [[3.0]], "structure of example 0 is not among .*closest"),
        (["(S x)"], [0], r"example 0 is '\(S x\)'; give a list of its candidates"),
        ([{"a": 1}], [0], "example 0 is {'a': 1}; give a list of its candidates"),
        ([3], [0], "example 0 is 3; give a list of its candidates"),
        ([[[1.0]], [[2.0], "x"]], [0, 0], "the features of candidate 1 of example 1 cannot be 'x'"),
        ([[[1.0]], [[2.0], [np.nan]]], [0, 0], "feature 0 of candidate 1 of example 1 is nan"),
        (
            [[[1.0]], [[2.0]]],
            [[1.0], "x"],
            "of the right structure of example 1 cannot be",
        ),
    ],
)
def test_bad_examples(candidates, gold, message):
    with pytest.raises(ParameterError, match=message):
        Perceptron().fit(candidates, gold)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_epochs": 0}, "n_epochs must be a whole number, 1 or more, not 0"),
        ({"n_epochs": 1.5}, "n_epochs must be a whole number, 1 or more, not 1.5"),
        (
            {"phi": "words"},
            "phi must be a function from a candidate .*, not 'words'",
        ),
        ({"gen": [1]}, r"gen must be a function from an input .*, not \[1\]"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        Perceptron(**parameters).fit(CANDIDATES, GOLD)
