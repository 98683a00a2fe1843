"""What notebooks show: every estimator, fitted or not; everything escaped; no scripts, no files."""

import importlib
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import eigentext as et
from contract.case import all_cases
from eigentext import evaluate, notebook
from eigentext.notebook import Glance
from eigentext.reranking.report import Report
from eigentext.topics.inference import TopWords

CASES = all_cases()
every = pytest.mark.parametrize("case", CASES, ids=str)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
NASTY = "<script>alert('&')</script>"


def tree(html: str) -> ET.Element:
    """The HTML as XML, so that it must be well formed."""
    return ET.fromstring(html.replace("&nbsp;", " "))


def text_of(html: str) -> str:
    return " ".join(" ".join(tree(html).itertext()).split())


def check_is_safe(html: str) -> None:
    tags = {node.tag for node in tree(html).iter()}
    assert not tags & {"script", "style", "link", "img", "iframe", "object", "embed"}
    assert "http" not in html
    assert not re.search(r"\son\w+=", html)
    assert not re.search(r"(?<!-)color:\s*(black|white|#000|#fff)", html)  # of either theme alone


# Estimators.


@every
def test_a_fitted_model_shows_itself(case):
    model = case.fitted()
    html = model._repr_html_()
    check_is_safe(html)
    shown = text_of(html)
    assert shown.startswith(type(model).__name__)
    assert "not fitted" not in shown
    for finding in model.findings():
        assert " ".join(finding.line.split()) in shown
    assert "Next" in shown
    for call in re.findall(r"model\.(\w+)\(", shown.partition("Next")[2]):
        assert hasattr(model, call), call
    assert model._repr_mimebundle_() == {"text/plain": repr(model), "text/html": html}


@every
def test_an_unfitted_model_shows_its_parameters(case):
    model = case.make()
    html = model._repr_html_()
    check_is_safe(html)
    shown = text_of(html)
    assert "(not fitted)" in shown
    assert "model.fit(…)" in shown
    assert not re.search(r"`|:\w+:", shown.partition("Parameters")[0] + shown.partition("Next")[2])
    for name in model.get_params(deep=False):
        assert name in shown


def test_every_public_estimator_has_a_glance():
    for case in CASES:
        cls = type(case.make())
        room = cls.__module__.split(".")[1]
        known = importlib.import_module(f"eigentext.{room}.glances").GLANCES
        assert cls.__name__ in known, f"no glance for {cls.__name__}"


def test_kernels_have_no_fit():
    shown = text_of(et.TreeKernel(0.4)._repr_html_())
    assert "decay=0.4" in shown
    assert "not fitted" not in shown
    assert "kernel.gram(A)" in shown


def test_a_class_derived_by_a_user_shows_what_its_base_shows():
    class Mine(et.KneserNey):
        """My own."""

    shown = text_of(Mine(2).fit([["a", "b"], ["b", "a"]])._repr_html_())
    assert shown.startswith("Mine n-grams of up to 2 words")


def test_words_that_look_like_markup_are_shown_as_words():
    text = [[NASTY, "b", "cat"], ["b", NASTY, "cat"], ["cat", NASTY, "b"]] * 9
    words = et.Eigenwords(2, window=1, min_count=1).fit(text)
    models = [
        words,
        et.WordClusters(2).fit(words),
        et.HMM(2, method="em", n_iter=2, n_init=1).fit(text),
        et.Tagger().fit([[(NASTY, f"<b>{NASTY}"), ("b", "O")]] * 3),
        et.TopicModel(2, stop_words=None, min_df=1, max_df=1.0).fit(text),
    ]
    for model in models:
        html = model._repr_html_()
        check_is_safe(html)
        assert NASTY in text_of(html)
        assert "<script" not in html


def test_scikit_learn_does_not_take_over():
    from sklearn.pipeline import make_pipeline

    words = et.Eigenwords(2, window=1, min_count=1).fit([["a", "b", "c"]] * 5)
    clusters = et.WordClusters(2).fit(words)
    assert "classes of words" in clusters._repr_mimebundle_()["text/html"]
    assert "TopicModel" in make_pipeline(et.TopicModel(2))._repr_html_()


# Results.


def results():
    """A result of each kind."""
    gold = "(S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars))))"
    taggings = [["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]]
    brackets = evaluate.brackets([gold, gold], [gold, None])
    vectors = [NASTY, "b", "c", "d"], [[1.0, 0.2], [0.0, 1.0], [1.0, 1.0], [0.5, 0.1]]
    documents = et.DocumentMoments.from_corpus([[NASTY, "b", "c"], [NASTY, "b"]] * 5)
    topics = [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]]
    return {
        "brackets": (brackets, "66.67"),
        "empty brackets": (evaluate.brackets([], []), "–"),
        "comparison": (evaluate.compare([gold], [gold], [gold]), "Two parsers"),
        "folds": (evaluate.cross_validate(et.PCFG(), [gold] * 4, 2), "Cross-validation"),
        "chunks": (evaluate.chunks(*taggings), "NP"),
        "tags": (evaluate.tags([[NASTY, "V"]], [[NASTY, NASTY]]), NASTY),
        "similarity": (
            evaluate.similarity(vectors, [("b", "c", 1), ("b", "d", 2), (NASTY, "zebra", 3)]),
            "zebra",
        ),
        "analogies": (evaluate.analogies(vectors, [(NASTY, "b", "c", "d", NASTY)]), NASTY),
        "coherence": (evaluate.coherence([[NASTY, "b"]], documents), "NPMI"),
        "completion": (
            evaluate.completion_perplexity(topics, [[40, 40, 0, 0], [0, 0, 20, 20]]),
            "2.0",
        ),
        "calibration": (evaluate.calibration([0.9, 0.1], [True, False], n_bins=2), "Brier"),
        "top words": (
            et.TopicModel(1, stop_words=None, min_df=1, max_df=1.0).fit(documents).top_words(2),
            NASTY,
        ),
        "reranking": (Report(0.5, 0.75, 1.0, 4, 8, 0, 1, 1, 0, NASTY), "75.0%"),
        "tree": (et.Tree.parse("(S (A <b>) (B &))"), "<b>"),
    }


def test_results_show_themselves():
    for name, (result, part) in results().items():
        html = result._repr_html_()
        if name != "tree":
            check_is_safe(html)
        assert part in text_of(html), name


def test_top_words_are_a_list():
    words = TopWords([["a", "b"]])
    assert words == [["a", "b"]]
    assert isinstance(words, list)


# Pictures and tables.


def test_a_spectrum_has_a_bar_for_each_value():
    drawn = tree(f"<div>{notebook.spectrum([4.0, 2.0, 1.0], [0.5])}</div>")
    bars = [node for node in drawn.iter() if node.tag == "rect"]
    assert [float(bar.get("height")) for bar in bars] == [64, 32, 16, 8]
    assert [bar.get("opacity") for bar in bars] == ["1", "1", "1", "0.35"]
    long = notebook.spectrum(list(range(1000, 0, -1)))
    assert 100 <= long.count("<rect") <= 150
    assert notebook.spectrum([]) == notebook.spectrum([0.0]) == ""


def test_a_curve_goes_from_the_first_to_the_last_value():
    html = notebook.curve([3.0, float("nan"), 2.0, 1.0], title="loss")
    assert "loss: 3 to 1 in 3 steps" in html
    places = re.search(r'points="([^"]*)"', html)[1].split()
    heights = [float(place.split(",")[1]) for place in places]
    assert heights == sorted(heights)
    assert notebook.curve([1.0], title="loss") == ""


def test_tables_put_numbers_to_the_right_and_have_an_end():
    html = notebook.table(("word", "n"), [("a", 1000), (NASTY, 2)], title="<T>", last="<end>")
    check_is_safe(f"<div>{html}</div>")
    right = [
        "".join(cell.itertext())
        for cell in tree(f"<div>{html}</div>").iter()
        if "text-align:right" in cell.get("style", "")
    ]
    assert right == ["n", "1,000", "2"]
    many = notebook.table(("n",), [(n,) for n in range(100)])
    assert "and 40 more" in many


@pytest.mark.parametrize(
    ("value", "shown"),
    [(34091, "34,091"), (0.123456, "0.1235"), (194.86584798739815, "194.9"), (True, "True"),
     (None, "None"), (1e6, "1,000,000"), (["a", "b"], "a, b"), ("x" * 300, "x" * 120 + "…")],
)  # fmt: skip
def test_values_are_rounded(value, shown):
    assert notebook.shown(value) == shown


def test_a_page_escapes_all_its_parts():
    html = notebook.page(
        NASTY,
        Glance(NASTY, facts=[(NASTY, NASTY)], calls=[(NASTY, NASTY)]),
        findings=[("warning", NASTY, NASTY)],
        parameters={NASTY: NASTY},
        changed=[NASTY],
        state=NASTY,
    )
    check_is_safe(html)
    assert text_of(html).count("<script>") >= 9


def test_bars_are_as_long_as_their_values():
    html = notebook.bars({"a": 2.0, NASTY: 1.0}, title="sizes")
    check_is_safe(f"<div>{html}</div>")
    assert [int(n) for n in re.findall(r"width:(\d+)px", html)] == [90, 45]
    assert notebook.bars({}) == ""


def test_the_rooms_with_estimators_have_glances():
    source = Path(et.__file__).parent
    rooms = {type(case.make()).__module__.split(".")[1] for case in CASES}
    assert rooms == {path.parent.name for path in source.glob("*/glances.py")}
