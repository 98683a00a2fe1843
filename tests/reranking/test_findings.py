"""What a reranker says about itself."""

import pytest
from sklearn.exceptions import NotFittedError

from eigentext import Reranker
from eigentext.reranking._findings import reranker_findings

RIGHT, WRONG = [("time", "N"), ("flies", "V")], [("time", "N"), ("flies", "N")]
GOOD = {
    "n_inputs": 10,
    "n_mistakes": [5, 1],
    "n_replaced": 0,
    "n_empty": 0,
    "n_single": 0,
    "n_support": 4,
    "measure": "F1 of chunks",
    "validation": 0.91,
}


def sentences(**changes):
    return [one.sentence for one in reranker_findings(GOOD | changes)]


def test_a_good_model():
    found = list(reranker_findings(GOOD))
    assert [one.severity for one in found] == ["note", "note"]
    assert found[0].sentence.startswith("In its last pass it was wrong about 10% of the lists")
    assert "the F1 of chunks of its choices is 91.0%" in found[1].sentence


@pytest.mark.parametrize(
    ("changes", "severity", "sentence"),
    [
        ({"n_replaced": 2}, "note", "In 20% of the lists the gold structure was missing"),
        ({"n_replaced": 8}, "warning", "In 80% of the lists the gold structure was missing"),
        ({"n_empty": 1, "n_single": 2}, "note", "3 of the lists have fewer than two candidates"),
        ({"n_empty": 1, "n_single": 8}, "warning", "9 of the lists have fewer than two"),
        ({"n_support": 0, "n_mistakes": [0]}, "warning", "It made no mistakes while it learned"),
    ],
)
def test_each_finding_has_a_remedy(changes, severity, sentence):
    (one,) = [one for one in reranker_findings(GOOD | changes) if sentence in one.sentence]
    assert one.severity == severity
    assert one.remedy


def test_no_held_out_lists_no_word_about_them():
    assert len(sentences(validation=None)) == 1


def test_a_fitted_model_has_findings():
    lists = [[(WRONG, -1.0), (RIGHT, -1.5)]] * 4 + [[(RIGHT, -1.0)]]
    model = Reranker(decay=[0.5])
    with pytest.raises(NotFittedError):
        model.findings()
    found = model.fit(lists, [RIGHT] * 5).findings()
    assert any("1 of the lists have fewer than two" in one.sentence for one in found)
