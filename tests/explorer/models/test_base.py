import json

import pytest

import eigentext as et
from eigentext.estimators import SEVERITIES, Finding, Findings
from eigentext.explorer.models import explored
from eigentext.explorer.models.base import Explored, findings_of_noise

KINDS = {
    "words": "words", "clusters": "clusters", "eigentokens": "eigentokens", "hmm": "hmm",
    "spectral-hmm": "hmm", "bigram": "bigram", "class-bigram": "class-bigram",
    "kneser-ney": "kneser-ney", "pcfg": "grammar",
    "latent": "grammar", "topics": "topics", "tagger": "tagger", "hmm-tagger": "tagger",
    "reranker": "reranker", "moments": "other",
}  # fmt: skip
VIEWS = {
    "words": ["neighbors", "analogy", "map", "spectrum"],
    "latent": ["parse", "marginals", "states"],
    "topics": ["topics", "documents", "proportions", "spectrum"],
    "reranker": ["kernel"],
    "moments": [],
}


def test_every_model_is_listed_with_facts_and_findings(server, numbers):
    models = server.get("/api/models").json()["models"]
    assert [one["id"] for one in models] == list(range(len(numbers)))
    assert {one["name"]: one["kind"] for one in models} == KINDS
    for one in models:
        assert one["title"]
        assert one["facts"]
        assert all(isinstance(part, str) for fact in one["facts"] for part in fact)
        if one["kind"] != "other":
            assert one["parameters"]
        for finding in one["diagnostics"]:
            assert finding["level"] in SEVERITIES
            assert finding["text"].endswith(".")
    views = {one["name"]: one["views"] for one in models}
    assert {name: views[name] for name in VIEWS} == VIEWS


def test_an_unknown_kind_of_model_is_listed_and_has_no_queries():
    model = explored(object(), "thing")
    assert type(model) is Explored
    assert json.dumps(model.about(0))
    with pytest.raises(Exception, match="nothing to ask"):
        model.ask("neighbors", {})


def test_diagnostics_are_the_findings_of_the_model(server, model_files):
    for one in server.get("/api/models").json()["models"]:
        model = et.load(model_files[one["name"]])
        if isinstance(model, Findings):
            assert [
                (diagnostic["level"], diagnostic["text"]) for diagnostic in one["diagnostics"]
            ] == [
                (finding.severity, " ".join(filter(None, finding[1:])))
                for finding in model.findings()
            ]


def test_the_most_severe_findings_come_first():
    class Odd(Explored):
        def more_findings(self):
            yield Finding("note", "It is small.")
            yield Finding("problem", "It is wrong.", "Learn it again.")

    assert Odd(None, "odd").about(0)["diagnostics"] == [
        {"level": "problem", "text": "It is wrong. Learn it again."},
        {"level": "note", "text": "It is small."},
    ]


def test_a_very_small_singular_value_may_be_noise():
    assert [one.severity for one in findings_of_noise([1e8, 1.0], "topics")] == ["warning"]
    for kept in ([3.0, 2.0], [3.0, 0.0], []):
        assert list(findings_of_noise(kept, "topics")) == []
