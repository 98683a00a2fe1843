"""The dual perceptron against the loop of [Collins 2003], the primal form, and its own files."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext import (
    KernelPerceptron,
    Perceptron,
    PolynomialKernel,
    SequenceKernel,
    TreeKernel,
    engine,
)
from eigentext.errors import EigentextError, ModelFileError, ParameterError
from eigentext.kernels import Candidate, LinearKernel
from eigentext.linear import _kept

XOR = [[(0, 0), (0, 1)], [(1, 1), (1, 0)], [(0, 0), (1, 0)]]


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    """Make blocks of a few examples, so that small data uses the same code as large data."""
    monkeypatch.setattr(_kept, "_LEAST", 8)


def drawn(seed, n=20, d=4, most=5, whole=True, separable=False):
    """Lists of vectors with few different values, which are often equal, and the right indices."""
    rng = np.random.default_rng(seed)
    lists = [rng.integers(-2, 3, (rng.integers(1, most + 1), d)) for _ in range(n)]
    if not whole:
        lists = [one + rng.normal(size=one.shape) for one in lists]
    U = rng.normal(size=d)
    gold = [int((one @ U).argmax()) if separable else int(rng.integers(len(one))) for one in lists]
    return [[tuple(c) for c in one.tolist()] for one in lists], gold


def written_loop(kernel, lists, gold, n_epochs, offsets=None):
    """The algorithm as it is written: alpha of all candidates after each step, and the mistakes."""
    flat = [c for one in lists for c in one]
    starts = np.cumsum([0, *map(len, lists)])
    K, base = kernel.gram(flat), np.concatenate(offsets) if offsets else np.zeros(len(flat))
    alpha, history, mistakes = np.zeros(len(flat)), [], []
    for epoch in range(n_epochs):
        before = len(mistakes)
        for i, y in enumerate(gold):
            span = slice(starts[i], starts[i + 1])
            z = int((alpha @ K + base)[span].argmax())
            if lists[i][z] != lists[i][y]:
                alpha[starts[i] + y] += 1
                alpha[starts[i] + z] -= 1
                mistakes.append((epoch, i, z))
            history.append(alpha.copy())
        if len(mistakes) == before:
            break
    return np.array(history), mistakes, flat


def by_structure(structures, alpha):
    """The weights of distinct structures, without zeros."""
    total = {}
    for one, weight in zip(structures, alpha):
        total[one] = total.get(one, 0) + weight
    return {one: pytest.approx(weight) for one, weight in total.items() if abs(weight) > 1e-12}


def test_a_run_by_hand():
    # At first all scores are 0, and the first candidate wins: (0, 1) up, (0, 0) down. Then
    # f(x, y) = (1 + y)^2 - 1 prefers (1, 1) to (1, 0): a second mistake. Then
    # f(x, y) = (1 + y)^2 - 1 + (1 + x)^2 - (1 + x + y)^2 = -2xy is 0 for both: a third.
    model = KernelPerceptron(PolynomialKernel(2), n_epochs=1).fit(XOR, [1, 1, 1])
    assert model.mistakes_ == [(0, 0, 0), (0, 1, 0), (0, 2, 0)]
    assert model.support_ == [(0, 1), (0, 0), (1, 0), (1, 1)]
    assert model.alpha_.tolist() == [1, -2, 2, -1]
    assert model.averaged_alpha_.tolist() == [1, -4 / 3, 1, -2 / 3]
    assert model.updates_.gold.tolist() == [0, 2, 2]
    assert model.updates_.predicted.tolist() == [1, 3, 1]
    assert model.updates_.step.tolist() == [0, 1, 2]
    assert (model.n_mistakes_, model.separable_, model.n_steps_) == ([3], False, 3)
    # f(x, y) = x^2 + 2x - 2xy.
    assert model.scores([[(2, 3), (0, 1)]], average=None)[0].tolist() == [-4, 0]


def test_xor_is_separable_by_squares_and_not_by_lines():
    lists = [*XOR, [(1, 1), (0, 1)]]
    lines = KernelPerceptron(LinearKernel(), n_epochs=20).fit(lists, [1] * 4)
    squares = KernelPerceptron(PolynomialKernel(2), n_epochs=20).fit(lists, [1] * 4)
    assert (lines.separable_, squares.separable_) == (False, True)
    assert squares.score(lists, [1] * 4) == 1


@pytest.mark.parametrize("kernel", [LinearKernel(), PolynomialKernel(3)])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_loop_of_collins_2003(kernel, seed):
    lists, gold = drawn(seed, separable=seed % 2 == 0)
    rng = np.random.default_rng(seed)
    offsets = [rng.integers(0, 9, len(one)) * 1.0 for one in lists] if seed > 1 else None
    history, mistakes, flat = written_loop(kernel, lists, gold, 4, offsets)
    model = KernelPerceptron(kernel, n_epochs=4).fit(lists, gold, offsets=offsets)
    assert model.mistakes_ == mistakes
    assert model.n_steps_ == len(history)
    assert by_structure(model.support_, model.alpha_) == by_structure(flat, history[-1])
    mean = history.mean(axis=0)
    assert by_structure(model.support_, model.averaged_alpha_) == by_structure(flat, mean)

    tests, _ = drawn(seed + 100)
    bases = [rng.integers(0, 99, len(one)) * 1.0 for one in tests]
    for one, base, last, average, votes in zip(
        tests,
        bases,
        model.scores(tests, average=None),
        model.scores(tests, average="mean", offsets=bases),
        model.scores(tests, average="vote", offsets=bases),
    ):
        scores = history @ kernel.gram(flat, one)
        np.testing.assert_array_equal(last, scores[-1])
        np.testing.assert_allclose(average, scores.mean(axis=0) + base, rtol=1e-12, atol=1e-9)
        chosen = (scores + base).argmax(axis=1)
        np.testing.assert_array_equal(votes, np.bincount(chosen, minlength=len(one)))
    voted = model.predict(tests, average="vote", offsets=bases)
    assert voted.tolist() == [
        one.argmax() for one in model.scores(tests, average="vote", offsets=bases)
    ]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_primal_and_dual_make_the_same_mistakes(seed, separable):
    lists, gold = drawn(seed, n=15, d=3, separable=separable)
    primal = Perceptron(n_epochs=5).fit(lists, gold)
    dual = KernelPerceptron(LinearKernel(), n_epochs=5).fit(lists, gold)
    assert primal.mistakes_ == dual.mistakes_
    assert primal.n_mistakes_ == dual.n_mistakes_
    assert primal.separable_ == dual.separable_
    support = np.array(dual.support_).reshape(-1, 3)
    np.testing.assert_array_equal(dual.alpha_ @ support, primal.weights_)
    np.testing.assert_allclose(dual.averaged_alpha_ @ support, primal.averaged_, atol=1e-12)
    assert (dual.bound() is None) == (primal.bound() is None)
    if primal.separable_:
        assert dual.bound() == pytest.approx(primal.bound())
        assert dual.bound().n_mistakes <= dual.bound().limit


def features(tagged):
    """The features of a tagger: words with tags, and pairs of tags."""
    found = {}
    for i, (word, tag) in enumerate(tagged):
        for name in (("word", word, tag), ("tags", tagged[i - 1][1] if i else "<s>", tag)):
            found[name] = found.get(name, 0) + 1
    return found


def tagged_lists(n=60, seed=0):
    """Lists of taggings with log-probabilities, in which the last but one is right."""
    rng = np.random.default_rng(seed)
    lists, gold = [], []
    for _ in range(n):
        words = [f"w{w}" for w in rng.integers(0, 12, rng.integers(2, 9))]
        right = [(word, "ABC"[int(word[1:]) % 3]) for word in words]
        wrong = [[(word, "ABC"[t]) for word, t in zip(words, rng.integers(0, 3, len(words)))]]
        for _ in range(3):
            k = rng.integers(len(words))
            wrong.append([*right[:k], (words[k], "ABC"[rng.integers(3)]), *right[k + 1 :]])
        one = [*wrong[:3], right, wrong[3]]
        lists.append([Candidate(c, -float(k)) for k, c in enumerate(one)])
        gold.append(3)
    return lists, gold


def test_taggings_by_features_and_by_a_kernel():
    lists, gold = tagged_lists()
    primal = Perceptron(features, n_epochs=8).fit(lists, gold)
    dual = KernelPerceptron(LinearKernel(features), n_epochs=8).fit(lists, gold)
    assert primal.mistakes_ == dual.mistakes_
    others, right = tagged_lists(seed=1)
    for average in (True, False):
        twin = dual.scores(others, average="mean" if average else None)
        for one, two in zip(primal.scores(others, average=average), twin):
            np.testing.assert_allclose(one, two, atol=1e-9)
    assert dual.score(others, right) > 0.9


def test_the_bound_holds_on_separable_data():
    for seed in range(5):
        lists, gold = drawn(seed, n=15, whole=False, separable=True)
        model = KernelPerceptron(LinearKernel(), n_epochs=500).fit(lists, gold)
        bound = model.bound()
        assert model.separable_
        assert 0 < bound.n_mistakes <= bound.limit < np.inf
        W = model.alpha_ @ np.array(model.support_)
        wrong = [np.subtract(one[y], c) for one, y in zip(lists, gold) for c in one if c != one[y]]
        assert max(np.linalg.norm(d) for d in wrong) == pytest.approx(bound.R)
        assert bound.delta == pytest.approx(min(d @ W for d in wrong) / np.linalg.norm(W))


def test_no_bound_without_separation_or_with_offsets():
    both = [[(0,), (1,)], [(0,), (1,)]]
    assert KernelPerceptron(LinearKernel()).fit(both, [0, 1]).bound() is None
    shifted = KernelPerceptron(LinearKernel()).fit(both, [1, 1], offsets=[[0, 0.5]] * 2)
    assert shifted.separable_
    assert shifted.bound() is None
    never = KernelPerceptron(LinearKernel()).fit(both, [0, 0])
    assert never.bound().limit == np.inf  # W = 0 has no margin


def test_equal_structures_are_one():
    # The gold of both lists and the second candidate of the second list are the same structure.
    lists = [[(1, 0), (0, 1)], [(1, 0), (0, 1), (0, 1)], [(0, 2), (0, 2)]]
    model = KernelPerceptron(LinearKernel(), n_epochs=3).fit(lists, [1, 2, 1])
    assert model.support_ == [(0, 1), (1, 0)]
    assert model.mistakes_ == [(0, 0, 0)]  # a candidate that equals the gold is right
    assert model.predict(lists).tolist() == [1, 1, 0]
    assert model.score(lists, [1, 2, 1]) == 1
    assert model.diagnostics_["n_distinct"] == 3


def test_offsets_are_the_default_ranking():
    lists, _ = drawn(3, n=10)
    offsets = [np.arange(len(one)) * 1e6 for one in lists]
    model = KernelPerceptron(LinearKernel(), n_epochs=1)
    last = [len(one) - 1 for one in lists]
    assert model.fit(lists, last, offsets=offsets).mistakes_ == []
    assert model.support_ == []
    for average in ("vote", "mean", None):
        assert model.predict(lists, average=average, offsets=offsets).tolist() == last
        assert model.predict(lists, average=average).tolist() == [0] * 10
    assert model.scores(lists, average="vote")[0][0] == 10  # all steps vote for the first


def test_the_baseline_is_a_kernel():
    lists, gold = tagged_lists(20)
    kernel = LinearKernel(features)
    short = KernelPerceptron(kernel, n_epochs=3, baseline=0.5).fit(lists, gold)
    long = KernelPerceptron(kernel.with_baseline(0.5), n_epochs=3).fit(lists, gold)
    assert short.mistakes_ == long.mistakes_
    for one, two in zip(short.scores(lists), long.scores(lists)):
        np.testing.assert_array_equal(one, two)
    with pytest.raises(ParameterError, match="log-probability"):
        short.predict([[[("w1", "B")]]])


def test_the_same_bits_on_any_number_of_threads(monkeypatch):
    lists, gold = drawn(5, whole=False)
    monkeypatch.setattr(et.linear.dual, "_CELLS", 1 << 12)  # several tasks
    answers = []
    for n_threads in (1, 2, 5):
        with engine.use(engine.ThreadEngine(n_threads)):
            model = KernelPerceptron(PolynomialKernel(2), n_epochs=3).fit(lists, gold)
            scores = [model.scores(lists, average=a) for a in ("vote", "mean", None)]
            answers.append(np.concatenate([x for one in scores for x in one]).tobytes())
    assert answers[0] == answers[1] == answers[2]


def test_progress_counts_examples():
    class Listener:
        done = 0

        def started(self, phase): ...
        def finished(self, phase): ...
        def advanced(self, phase):
            self.done = phase.done

    listener = Listener()
    lists, gold = drawn(0)
    with engine.report_to(listener):
        model = KernelPerceptron(LinearKernel(), n_epochs=3).fit(lists, gold)
    assert listener.done == model.n_steps_ == 60


@pytest.mark.parametrize(
    ("candidates", "gold", "message"),
    [
        ([], [], "no examples"),
        ([[(1,)], []], [0, 0], "example 1 has no candidates; leave it out"),
        ([[(1,)]], [0, 0], "1 lists of candidates but 2 gold"),
        ([[(1,), (2,)]], [2], "gold of example 0 is 2, but its 2 candidates"),
        ([[(1,), (2,)]], [-1], "gold of example 0 is -1"),
        ([[(1,), (2,)]], [(2,)], "closest"),
        ([[(1,), (2,)]], [True], "gold of example 0 is True"),
        (["(S (NN a))"], [0], "not a list of candidates"),
        ([3], [0], "example 0 is 3, not a list of candidates"),
    ],
)
def test_bad_examples(candidates, gold, message):
    with pytest.raises(ParameterError, match="(?i)" + message.replace("(", r"\(")):
        KernelPerceptron(LinearKernel()).fit(candidates, gold)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([[1.0]], "3 lists of candidates but 1 of offsets"),
        ([[1.0, 2.0], [1.0], [1.0, 2.0]], "offsets of example 1 must be 2 finite numbers"),
        ([[1.0, np.nan], [1.0, 0], [1.0, 2.0]], "offsets of example 0 must be 2 finite"),
    ],
)
def test_bad_offsets(offsets, message):
    with pytest.raises(ParameterError, match=message):
        KernelPerceptron(LinearKernel()).fit(XOR, [1, 1, 1], offsets=offsets)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "tree"}, "kernel must be a kernel, as TreeKernel"),
        ({"n_epochs": 0}, "n_epochs must be a whole number, 1 or more"),
        ({"n_epochs": 2.5}, "n_epochs"),
        ({"average": "median"}, "average must be 'mean', 'vote' or None"),
        ({"baseline": -1.0}, "baseline must be a number, 0 or more"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ParameterError, match=message):
        KernelPerceptron(**{"kernel": LinearKernel(), **parameters}).fit(XOR, [1, 1, 1])


def test_bad_use():
    model = KernelPerceptron(LinearKernel())
    with pytest.raises(NotFittedError):
        model.predict(XOR)
    with pytest.raises(NotFittedError):
        model.bound()
    model.fit(XOR, [1, 1, 1])
    with pytest.raises(ParameterError, match="average"):
        model.predict(XOR, average="last")
    with pytest.raises(ParameterError, match="example 0 has no candidates"):
        model.predict([[]])
    assert model.predict([]).tolist() == []
    assert model.scores([], average="vote") == []


def test_a_fit_that_fails_leaves_the_model():
    model = KernelPerceptron(PolynomialKernel(2)).fit(XOR, [1, 1, 1])
    before = np.concatenate(model.scores(XOR)).tolist()
    with pytest.raises(ParameterError, match="floating point"):
        model.fit([[(0.0, 1.0), (1e200, 1.0)]] * 2, [1, 1])
    assert np.concatenate(model.scores(XOR)).tolist() == before
    assert model.bound().n_mistakes == len(model.mistakes_)


def test_is_an_estimator():
    model = clone(KernelPerceptron(PolynomialKernel(3), average="vote", n_epochs=2))
    assert repr(model) == (
        "KernelPerceptron(kernel=PolynomialKernel(degree=3), n_epochs=2, average='vote')"
    )
    assert model.fit(XOR, [1, 1, 1]) is model


# Files.


@pytest.mark.parametrize("average", ["vote", "mean", None])
def test_a_file_gives_the_same_bits(tmp_path, average):
    lists, gold = drawn(8, whole=False)
    kernel = PolynomialKernel(2).normalized() + 0.5 * LinearKernel()
    model = KernelPerceptron(kernel, n_epochs=4, average=average).fit(lists, gold)
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert repr(again) == repr(model)
    for one, two in zip(model.scores(lists), again.scores(lists)):
        np.testing.assert_array_equal(one, two)
    assert again.support_ == model.support_
    for name in ("mistakes_", "n_mistakes_", "separable_", "n_steps_", "diagnostics_"):
        assert getattr(again, name) == getattr(model, name)
    again.fit(lists, gold)
    assert again.mistakes_ == model.mistakes_


def test_a_parameter_set_after_the_fit_is_not_what_was_fitted(tmp_path):
    model = KernelPerceptron(PolynomialKernel(2)).fit(XOR, [1, 1, 1])
    expected = np.concatenate(model.scores(XOR)).tolist()
    model.set_params(kernel=LinearKernel()).save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert np.concatenate(again.scores(XOR)).tolist() == expected
    assert repr(again) == "KernelPerceptron(kernel=PolynomialKernel())"


def test_structures_encoded_for_something_else():
    trees, tagged = ["(S (NN a))"], [[("a", "N")]]
    for kernel, encoded in (
        (SequenceKernel(), TreeKernel().encode(trees)),
        (TreeKernel(), SequenceKernel().encode(tagged)),
        (SequenceKernel(joint=True), SequenceKernel().encode(tagged)),
        (TreeKernel(0.5).normalized(), TreeKernel(0.4).normalized().encode(trees)),
        (LinearKernel(), LinearKernel(lambda word: {word: 1}).encode(["a"])),
    ):
        with pytest.raises(ParameterError, match="encoded by a kernel that reads them in another"):
            kernel.gram(encoded)
    assert TreeKernel(0.5).gram(TreeKernel(0.2).encode(trees)) == TreeKernel(0.5).gram(trees)


def test_encoded_structures_of_another_number():
    model = KernelPerceptron(LinearKernel()).fit(XOR, [1, 1, 1])
    one = LinearKernel().encode([XOR[0][0]])
    for use in (
        lambda: model.scores(XOR, encoded=one),
        lambda: model.fit(XOR, [1, 1, 1], encoded=one),
    ):
        with pytest.raises(ParameterError, match="encoded has 1 structures, but 6 candidates"):
            use()


def test_the_bound_is_saved(tmp_path):
    model = KernelPerceptron(PolynomialKernel(2)).fit(XOR, [1, 1, 1])
    model.save(tmp_path / "model")
    assert et.load(tmp_path / "model").bound() == model.bound() is not None


def test_a_kernel_with_a_function_is_not_saved(tmp_path):
    model = KernelPerceptron(LinearKernel(features)).fit(*tagged_lists(5))
    with pytest.raises(ParameterError, match=r"phi=.* cannot be saved"):
        model.save(tmp_path / "model")
    with pytest.raises(NotFittedError):
        KernelPerceptron(LinearKernel()).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", np.zeros(1)),
        ("gold", np.array([0, 99])),
        ("predicted", np.array([0, -1])),
        ("step", np.array([3, 1])),
        ("step", np.array([0, 99])),
        ("mistakes", np.zeros((1, 3), np.int64)),
        ("support", ["[1, 2]"]),
        ("support", ["[1, 2"] * 4),
        ("support", ['{"call": "os.system"}'] * 4),
    ],
)
def test_a_damaged_file(tmp_path, name, value):
    from eigentext.storage import write_saved

    model = KernelPerceptron(PolynomialKernel(2), n_epochs=1).fit(XOR, [1, 1, 1])
    arrays, about = model._to_saved()
    write_saved(tmp_path / "model", model._format, {**arrays, name: value}, about)
    with pytest.raises(ModelFileError):
        et.load(tmp_path / "model")


# Kernels of structures.


def test_taggings_by_all_fragments(tmp_path):
    lists, gold = tagged_lists()
    kernel = et.SequenceKernel(decay=0.5)
    history, mistakes, flat = written_loop(
        kernel, [[c.structure for c in one] for one in lists], gold, 4
    )
    model = KernelPerceptron(kernel, n_epochs=4).fit(lists, gold)
    assert model.mistakes_ == mistakes
    others, right = tagged_lists(seed=1)
    expected = history.mean(axis=0) @ kernel.gram(flat, [c for one in others for c in one])
    np.testing.assert_allclose(np.concatenate(model.scores(others)), expected, atol=1e-9)
    assert model.score(others, right) > 0.8
    model.save(tmp_path / "model")
    for one, two in zip(model.scores(others), et.load(tmp_path / "model").scores(others)):
        np.testing.assert_array_equal(one, two)


def attachments(n=40, seed=0):
    """Sentences whose last phrase belongs to the noun or to the verb, by its preposition."""
    rng = np.random.default_rng(seed)
    lists, gold = [], []
    for _ in range(n):
        verb, noun, last = (rng.choice(list(w)) for w in ("vwx", "nop", "abc"))
        prep = rng.choice(["of", "with"])
        phrase = f"(PP (P {prep}) (NP (N {last})))"
        low = f"(S (VP (V {verb}) (NP (NP (N {noun})) {phrase})))"
        high = f"(S (VP (V {verb}) (NP (N {noun})) {phrase}))"
        lists.append([low, high])
        gold.append(int(prep == "with"))
    return lists, gold


@pytest.mark.parametrize("normalized", [False, True])
def test_attachment_by_all_subtrees(tmp_path, normalized):
    lists, gold = attachments()
    kernel = et.TreeKernel(decay=0.5)
    kernel = kernel.normalized() if normalized else kernel
    model = KernelPerceptron(kernel, average="vote").fit(lists, gold)
    if not normalized:
        assert model.mistakes_ == written_loop(kernel, lists, gold, 10)[1]
    others, right = attachments(seed=1)
    assert model.score(others, right) == 1
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    for average in ("vote", "mean", None):
        for one, two in zip(
            model.scores(others, average=average), again.scores(others, average=average)
        ):
            np.testing.assert_array_equal(one, two)


def test_mixed_types_are_an_error():
    with pytest.raises(EigentextError):
        KernelPerceptron(et.TreeKernel()).fit([["(S (N a))", [("a", "N")]]], [0])


def test_a_model_without_mistakes_is_saved_and_loaded(tmp_path):
    model = KernelPerceptron(LinearKernel()).fit([[(1.0, 0.0), (0.0, 1.0)]], [0])
    assert model.diagnostics_["n_support"] == 0
    model.save(tmp_path / "model")
    again = et.load(tmp_path / "model")
    assert again.alpha_.dtype == again.averaged_alpha_.dtype == np.float64
