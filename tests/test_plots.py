"""Figures by what is in their Axes: the numbers drawn, and the names beside them."""

import sys

import numpy as np
import pytest

import eigentext as et
from eigentext import plots
from eigentext.errors import EigentextError, ParameterError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close():
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def lines(ax):
    return {line.get_label(): list(line.get_ydata()) for line in ax.lines}


def names(ax):
    return [text.get_text() for text in ax.texts]


# The room itself.


def test_spectrum():
    ax = plots.spectrum([3, 2, 1], [0.5, 0.25], noise=0.6)
    assert lines(ax) == {"kept": [3, 2, 1], "dropped": [0.5, 0.25], "noise": [0.6, 0.6]}
    assert ax.lines[1].get_xdata().tolist() == [4, 5]
    assert ax.get_ylim()[0] == 0
    assert {text.get_text() for text in ax.get_legend().get_texts()} == set(lines(ax))
    assert plots.spectrum([1.0]).get_legend() is None
    with pytest.raises(ParameterError, match="no values"):
        plots.spectrum([])


def test_curves():
    ax = plots.curves({"train": [3, 2], "none": [], "held out": [4, 3, 5]}, chosen=2, ylabel="loss")
    assert ax.lines[0].get_xdata().tolist() == [1, 2]
    assert set(lines(ax)) == {"train", "held out", "chosen"}
    assert ax.get_ylabel() == "loss"
    assert plots.curves({"loss": [1]}).get_ylabel() == "loss"
    with pytest.raises(ParameterError, match="without steps"):
        plots.curves({"a": []})


def test_points_are_principal_components():
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(20, 2)) * [3, 1]
    basis = np.linalg.qr(rng.normal(size=(7, 2)))[0]
    ax = plots.points(plane @ basis.T + 5, [f"w{i}" for i in range(20)])
    drawn = ax.collections[0].get_offsets()
    # Distances on the plane are those of the vectors: nothing was lost.
    between = np.linalg.norm(plane[:, None] - plane, axis=2)
    np.testing.assert_allclose(np.linalg.norm(drawn[:, None] - drawn, axis=2), between, atol=1e-9)
    assert drawn[np.abs(drawn).argmax(axis=0), [0, 1]].min() > 0
    assert names(ax) == [f"w{i}" for i in range(20)]
    assert "of variance" in ax.get_xlabel()


def test_points_as_they_are():
    ax = plots.points([[0, 1], [2, 3], [4, 4]], ["$a$", "b", "c"], groups=["x", "y", "x"])
    assert ax.collections[0].get_offsets().tolist() == [[0, 1], [2, 3], [4, 4]]
    colours = [text.get_color() for text in ax.texts]
    assert colours == ["C0", "C1", "C0"]
    ax.figure.canvas.draw()  # no formula in a name
    assert plots.points([[1.0], [2.0]], ["a", "b"]).collections[0].get_offsets()[:, 1].tolist() == [
        0,
        0,
    ]
    with pytest.raises(ParameterError, match="a name for each"):
        plots.points([[1, 2]], ["a"])


def test_names_on_a_map_are_lifted_over_one_another():
    ax = plots.points([[0, 0], [0, 0], [0, 0.01], [5, 5]], ["first", "second", "third", "far"])
    heights = [text.xyann[1] for text in ax.texts]
    assert heights[0] == 0
    assert heights[3] == 0
    assert sorted(heights[:3])[1] >= 8
    assert sorted(heights[:3])[2] >= 16


def test_topics():
    panels = plots.topics([[0.5, 0.2], [0.4, 0.1]], [["a", "b"], ["c", "d"]], ["one", "two"])
    assert [ax.get_title() for ax in panels] == ["one", "two"]
    assert [[bar.get_width() for bar in ax.patches] for ax in panels] == [[0.5, 0.2], [0.4, 0.1]]
    assert [label.get_text() for label in panels[1].get_yticklabels()] == ["c", "d"]
    assert panels[0].get_xlim() == panels[1].get_xlim()
    assert len(plots.topics([[1.0]] * 5, [["w"]] * 5, list("abcde"))) == 5
    with pytest.raises(ParameterError, match="no topics"):
        plots.topics([], [], [])


def test_table():
    ax = plots.table([[0.25, 0.75]], ["row"], ["a", "b"], xlabel="to")
    assert ax.images[0].get_array().tolist() == [[0.25, 0.75]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]
    with pytest.raises(ParameterError, match="rows and columns"):
        plots.table([])


def test_an_axes_of_ones_own():
    from matplotlib import pyplot

    figure, ax = pyplot.subplots()
    assert plots.spectrum([2, 1], ax=ax) is ax
    assert plots.table([[1.0]], ax=ax).figure is figure


def test_without_matplotlib(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(EigentextError, match=r"pip install 'eigentext\[plot\]'"):
        plots.spectrum([1.0])


# The estimators.

TEXT = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(2, window=1).fit(TEXT)


def test_eigenwords(words):
    ax = words.plot()
    assert names(ax) == words.vocabulary_.words
    ax = words.plot(words=["cat", "dog"], groups=[0, 0])
    np.testing.assert_array_equal(
        ax.collections[0].get_offsets(), np.array([words["cat"], words["dog"]], np.float64)
    )
    ax = words.plot("spectrum")
    np.testing.assert_array_equal(lines(ax)["kept"], words.singular_values_)
    assert lines(ax)["dropped"] == words.diagnostics_["dropped_singular_values"]
    with pytest.raises(ParameterError, match="'map', 'spectrum', not 'mop'"):
        words.plot("mop")
    with pytest.raises(EigentextError, match="cow"):
        words.plot(words=["cow", "cat"])
    with pytest.raises(Exception, match="not fitted"):
        et.Eigenwords().plot()


def test_topic_model():
    texts = ["ham eggs bread ham", "eggs bread ham", "sun moon stars sun", "moon stars sun"] * 10
    model = et.TopicModel(2, robust=0).fit(texts)
    panels = model.plot(n_words=3)
    assert [ax.get_title() for ax in panels] == ["topic 0 (50%)", "topic 1 (50%)"]
    for ax, top in zip(panels, model.top_words(3)):
        assert [label.get_text() for label in ax.get_yticklabels()] == top
    assert lines(model.plot("spectrum"))["kept"] == model.diagnostics_["eigenvalues"]
    assert lines(model.plot("curve"))["perplexity"] == model.diagnostics_["perplexities"]
    with pytest.raises(ParameterError, match="without steps"):
        et.TopicModel(2, robust=0, refine=0).fit(texts).plot("curve")


def test_hmm():
    true = et.HMM.from_parameters([1, 0], [[0.1, 0.9], [0.8, 0.2]], [[0.5, 0.5, 0], [0, 0.1, 0.9]])
    assert true.plot().images[0].get_array().tolist() == [[0.1, 0.9], [0.8, 0.2]]
    sample = true.sample(200, 6)
    both = et.HMM(2, method="spectral+em").fit(sample)
    told = both.diagnostics_
    drawn = lines(both.plot())
    assert drawn["kept"] + drawn["dropped"] == told["singular_values"].tolist()
    assert drawn["noise"][0] == told["noise"]
    assert lines(both.plot("curve"))["log-likelihood per token"] == both.history_
    with pytest.raises(ParameterError, match="no spectrum"):
        true.plot("spectrum")
    with pytest.raises(ParameterError, match="spectral"):
        et.HMM(2).fit(sample).plot("transitions")


def test_bigram_model():
    model = et.BigramModel(2).fit([text.split() for text in TEXT])
    drawn = lines(model.plot())
    assert drawn["heldout perplexity"] == model.history_["heldout_perplexity"]
    assert drawn["chosen"] == [0, 1]


def test_latent_pcfg():
    trees = [
        "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))",
        "(S (NP (PRP she)) (VP (VBZ sees) (NP (DT the) (NN cat))))",
    ] * 30
    model = et.LatentPCFG(2, method="em", n_grammars=2).fit(trees)
    drawn = lines(model.plot())
    told = model.history_[1]
    assert set(drawn) == {"grammar 1", "grammar 2"}
    assert drawn["grammar 2"] == told["em"] + told["smoothed"]
    spectral = et.LatentPCFG(2).fit(trees)
    values = spectral.history_[0]["singular_values"]
    assert lines(spectral.plot()) == {label: one["kept"] for label, one in values.items()}


def test_perceptrons_and_taggers():
    features = [[{"a": 1}, {"b": 1}], [{"b": 1}, {"c": 1}]]
    for model in (et.Perceptron(), et.KernelPerceptron(et.PolynomialKernel(2))):
        model.fit(features, [1, 1])
        assert lines(model.plot())["mistakes"] == model.n_mistakes_
    tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]]
    tagger = et.Tagger().fit(tagged)
    assert lines(tagger.plot())["wrong tags"] == tagger.diagnostics_["wrong_tags"]
    crf = et.Tagger(model="crf").fit(tagged)
    assert lines(crf.plot())["loss"] == crf.diagnostics_["loss"]


def test_bands():
    from datetime import date

    values = {"a": ([0.1, 0.2], [0.05, np.nan], [0.3, np.nan]), "b$": ([0.3, 0.1],) * 3}
    over_time = plots.bands([date(2024, 1, 1), date(2024, 3, 1)], values)
    assert len(over_time.lines) == len(over_time.collections) == 2
    beside = plots.bands(["x", "y"], values, ylabel="share")
    assert [label.get_text() for label in beside.get_xticklabels()] == ["x", "y"]
    assert beside.get_ylabel() == "share"
    for axis in (over_time, beside):  # the legend is outside, so that it hides no value
        axis.figure.draw_without_rendering()
        assert axis.get_legend().get_window_extent().x0 >= axis.get_window_extent().x1
    for places, series in (([], {}), (["x"], values), (["x", "y"], {})):
        with pytest.raises(ParameterError, match="give a value"):
            plots.bands(places, series)
