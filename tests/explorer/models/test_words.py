import numpy as np
import pytest

import eigentext as et
from eigentext.corpus import Vocabulary
from eigentext.explorer.models.words import Lookup


def test_neighbors_are_the_models(server, numbers, model_files):
    model = et.load(model_files["words"])
    answer = server.get(f"/api/{numbers['words']}/neighbors", word="cat", topn=5).json()
    assert answer["count"] == model.vocabulary_.counts[model.vocabulary_["cat"]]
    found = [(one["word"], one["cosine"]) for one in answer["neighbors"]]
    assert found == [(word, pytest.approx(p)) for word, p in model.most_similar("cat", 5)]


def test_an_unknown_word_comes_with_near_spellings(server, numbers):
    answer = server.get(f"/api/{numbers['words']}/neighbors", word="teachr")
    assert answer.status_code == 404
    assert "teacher" in answer.json()["suggestions"]
    assert "teacher" in answer.json()["error"]


def test_analogies_are_the_models(server, numbers, model_files):
    query = {"a": "cat", "b": "dog", "c": "old"}
    answer = server.get(f"/api/{numbers['words']}/analogy", **query, topn=3).json()
    expected = et.load(model_files["words"]).analogy("cat", "dog", "old", 3)
    found = [(one["word"], one["score"]) for one in answer["answers"]]
    assert found == [(word, pytest.approx(score, abs=1e-5)) for word, score in expected]
    missing = server.get(f"/api/{numbers['words']}/analogy", a="cat", b="zzz", c="old")
    assert missing.status_code == 404


def test_words_are_found_by_their_beginning(server, numbers, model_files):
    vocabulary = et.load(model_files["words"]).vocabulary_
    answer = server.get(f"/api/{numbers['words']}/words", prefix="f", limit=3).json()
    expected = [word for word in vocabulary if word.startswith("f")][:3]
    assert [one["word"] for one in answer["words"]] == expected
    assert len(server.get(f"/api/{numbers['words']}/words").json()["words"]) == 20
    upper = server.get(f"/api/{numbers['words']}/words", prefix="Ca").json()
    assert [one["word"] for one in upper["words"]] == ["cat"]


def test_a_map_has_all_frequent_words_in_its_square(server, numbers):
    answer = server.get(f"/api/{numbers['words']}/map", n=15)
    points = answer.json()["points"]
    assert len({one["word"] for one in points}) == 15
    at = np.array([(one["x"], one["y"]) for one in points])
    assert np.abs(at).max() <= 1
    assert {one["cluster"] for one in points} == set(range(answer.json()["n_clusters"]))
    again = server.get(f"/api/{numbers['words']}/map", n=15)
    assert again.content == answer.content


def test_the_spectrum_is_kept_and_dropped(server, numbers, model_files):
    model = et.load(model_files["words"])
    answer = server.get(f"/api/{numbers['words']}/spectrum").json()
    assert answer["kept"] == pytest.approx(model.singular_values_.tolist())
    assert answer["dropped"] == pytest.approx(model.diagnostics_["dropped_singular_values"])


def test_eigentokens_have_words_too(server, numbers):
    number = numbers["eigentokens"]
    assert server.get(f"/api/{number}/neighbors", word="cat").status_code == 200
    assert server.get(f"/api/{number}/map", n=10).status_code == 200
    assert server.get(f"/api/{number}/spectrum").status_code == 200
    assert server.get(f"/api/{number}/analogy", a="a", b="b", c="c").status_code == 404


@pytest.mark.parametrize("prefix", ["", "a", "ab", "abc", "b", "\U0010ffff", "zz"])
def test_beginnings_against_all_words(prefix):
    rng = np.random.default_rng(0)
    words = sorted({"".join(rng.choice(list("abc"), rng.integers(1, 6))) for _ in range(200)})
    rng.shuffle(words)
    lookup = Lookup(Vocabulary(words, range(len(words), 0, -1)), {})
    expected = [place for place, word in enumerate(words) if word.startswith(prefix)]
    for limit in (1, 5, 500):
        assert lookup.beginning(prefix, limit) == expected[:limit]
