import json

import pytest

from eigentext.explorer.models import explored
from eigentext.explorer.models.base import Explored, spectrum_told

KINDS = {
    "words": "words", "clusters": "clusters", "eigentokens": "eigentokens", "hmm": "hmm",
    "spectral-hmm": "hmm", "bigram": "bigram", "kneser-ney": "kneser-ney", "pcfg": "grammar",
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


def test_every_model_is_listed_with_what_there_is_to_say(server, numbers):
    models = server.get("/api/models").json()["models"]
    assert [one["id"] for one in models] == list(range(len(numbers)))
    assert {one["name"]: one["kind"] for one in models} == KINDS
    for one in models:
        assert one["title"]
        assert one["facts"]
        assert all(isinstance(part, str) for fact in one["facts"] for part in fact)
        if one["kind"] != "other":
            assert one["parameters"]
        for told in one["diagnostics"]:
            assert told["level"] in ("good", "note", "warning")
            assert told["text"].endswith(".")
    views = {one["name"]: one["views"] for one in models}
    assert {name: views[name] for name in VIEWS} == VIEWS


def test_what_is_not_known_is_listed_and_not_asked():
    model = explored(object(), "thing")
    assert type(model) is Explored
    assert json.dumps(model.about(0))
    with pytest.raises(Exception, match="nothing to ask"):
        model.ask("neighbors", {})


def test_a_gap_in_the_spectrum_is_good_and_none_is_noted():
    assert [level for level, _ in spectrum_told([3.0, 2.0], [0.1], "dimensions")] == ["good"]
    assert [level for level, _ in spectrum_told([3.0, 2.0], [1.99], "dimensions")] == ["note"]
    assert [level for level, _ in spectrum_told([1e8, 1.0], [], "dimensions")] == ["warning"]
    assert list(spectrum_told([], [], "dimensions")) == []
