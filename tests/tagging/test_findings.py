"""What taggers and two-view models say about themselves."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from eigentext import Tagger, TwoViewClassifier, TwoViewRegressor
from eigentext.tagging._findings import tagger_findings, two_view_findings

TAGGED = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]] * 5
GOOD = {"n_tokens": 1000, "wrong_tags": [90, 20], "coverage": {}}
VIEWS = {
    "n_components": 3,
    "correlations": [0.9, 0.5, 0.2],
    "n_labelled": 100,
    "n_unlabelled": 500,
    "first": {"constant_columns": 0},
    "second": {"constant_columns": 0},
}


def found(temperature=3.0, **changes):
    return list(tagger_findings(GOOD | changes, n_epochs=2, n_iter=5, temperature=temperature))


def test_a_good_tagger():
    (one,) = found()
    assert one == (
        "note",
        "In its last pass, 2.0% of the tags that it learned from were wrong.",
        "",
    )


@pytest.mark.parametrize(
    ("changes", "severity", "sentence", "remedy"),
    [
        ({"wrong_tags": [200]}, "note", "20.0% of the tags", "Raise n_epochs"),
        ({"temperature": 1.0}, "warning", "confidences are not calibrated", "Call calibrate"),
        ({"loss": [5.0] * 5}, "note", "used all of its 5 iterations", "Raise n_iter"),
        ({"validation": [0.5, 0.6]}, "note", "after pass 2 of 2: 60.0%", "Raise n_epochs"),
        ({"validation": [0.7, 0.6]}, "note", "after pass 1 of 2: 70.0%", ""),
        ({"coverage": {"vector": 0.95}}, "note", "95% of the training tokens are known to", ""),
        ({"coverage": {"cluster": 0.6}}, "warning", "60% of the training", "Learn clusters from"),
    ],
)
def test_findings_of_taggers(changes, severity, sentence, remedy):
    (one,) = [one for one in found(**changes) if sentence in one.sentence]
    assert one.severity == severity
    assert one.remedy.startswith(remedy)
    assert bool(one.remedy) == bool(remedy)


def test_a_crf_that_stops_early_says_nothing():
    crf = {"n_tokens": 9, "coverage": {}, "loss": [5.0, 4.0]}
    assert not list(tagger_findings(crf, n_epochs=2, n_iter=5, temperature=1.0))


def test_fitted_taggers_have_findings():
    with pytest.raises(NotFittedError):
        Tagger().findings()
    tagger = Tagger(vectors=(["dogs", "bark"], np.eye(2))).fit(TAGGED, validation=TAGGED[:2])
    severities = [one.severity for one in tagger.findings()]
    assert severities[0] == "warning"  # half of the tokens have no vector
    assert "note" in severities


def judged(n_components=3, **changes):
    return list(two_view_findings(VIEWS | changes, n_components=n_components))


def test_a_good_two_view_model():
    (one,) = judged()
    assert one == ("note", "The two views have correlations from 0.90 to 0.20.", "")


@pytest.mark.parametrize(
    ("changes", "severity", "sentence"),
    [
        ({"correlations": [0.05, 0.01, 0.0]}, "warning", "correlations from 0.05 to 0.00"),
        ({"n_components": 10}, "warning", "It keeps 3 of 10 coordinates"),
        ({"n_labelled": 20, "n_unlabelled": 0}, "note", "20 labeled rows and no unlabeled ones"),
        ({"second": {"constant_columns": 4}}, "note", "In the second view, 4 columns are constant"),
    ],
)
def test_findings_of_two_views(changes, severity, sentence):
    (one,) = [one for one in judged(**changes) if sentence in one.sentence]
    assert one.severity == severity
    assert one.remedy


@pytest.mark.parametrize("make", [TwoViewClassifier, TwoViewRegressor])
def test_fitted_two_view_models_have_findings(make):
    with pytest.raises(NotFittedError):
        make().findings()
    rng = np.random.default_rng(0)
    h = rng.normal(size=(80, 1))
    X = np.c_[h + rng.normal(size=(80, 2)) / 2, np.ones(80), h + rng.normal(size=(80, 3)) / 2]
    y = (h[:, 0] > 0).astype(int)
    model = make(2, n_first=3).fit(X[:40], y[:40], unlabeled=X[40:])
    sentences = [one.sentence for one in model.findings()]
    assert any("In the first view, 1 columns are constant" in one for one in sentences)
