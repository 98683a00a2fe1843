import numpy as np
import pytest

import eigentext as et

TEXT = "the old dog zzz sees"


def _distribution(model, prefix):
    match model:
        case et.HMM():
            return model.predict_next(prefix)
        case et.BigramModel() | et.ClassBigram():
            return model.distribution(prefix[-1])
        case _:
            return model.distribution(prefix[-1:])


@pytest.mark.parametrize("name", ["hmm", "spectral-hmm", "bigram", "class-bigram", "kneser-ney"])
def test_each_beginning_has_the_models_distribution(server, numbers, model_files, name):
    model = et.load(model_files[name])
    steps = server.post(f"/api/{numbers[name]}/next", text=TEXT, topn=5).json()["steps"]
    words = TEXT.split()
    assert [one["word"] for one in steps] == [None, *words]
    assert [one["known"] for one in steps] == [True, True, True, True, False, True]
    for t, step in list(enumerate(steps))[1:]:
        p = np.sort(np.nan_to_num(_distribution(model, words[:t])))[::-1][:5]
        found = [one["probability"] for one in step["next"]]
        assert found == pytest.approx(p[p > 0].tolist(), rel=1e-5)


@pytest.mark.parametrize("name", ["bigram", "class-bigram", "kneser-ney"])
def test_a_sentence_begins_where_units_do(server, numbers, name):
    """All sentences begin with "the", but most words are others."""
    (first, *_) = server.post(f"/api/{numbers[name]}/next", text=TEXT).json()["steps"]
    assert first["next"][0]["word"] == "the"
    assert first["next"][0]["probability"] > 0.9


def test_filtered_states_are_the_models(server, numbers, model_files):
    model = et.load(model_files["hmm"])
    answer = server.post(f"/api/{numbers['hmm']}/next", text="the old dog").json()
    states = [one["state"] for one in answer["steps"]]
    assert states[0] is None
    assert np.allclose(states[1:], model.filter(["the", "old", "dog"]), atol=1e-6)
    assert np.allclose(np.sum(states[1:], axis=1), 1, atol=1e-4)
    assert answer["states"] == "probabilities"
    spectral = server.post(f"/api/{numbers['spectral-hmm']}/next", text="the old").json()
    assert spectral["states"] == "coordinates"


def test_the_bigrams_states_are_those_after_a_word(server, numbers, model_files):
    model = et.load(model_files["bigram"])
    steps = server.post(f"/api/{numbers['bigram']}/next", text="the old").json()["steps"]
    assert np.allclose(steps[2]["state"], model.states("old"), atol=1e-6)


def test_n_grams_have_no_states(server, numbers):
    answer = server.post(f"/api/{numbers['kneser-ney']}/next", text="the old").json()
    assert answer["states"] is None
    assert {one["state"] for one in answer["steps"]} == {None}


def test_spectra(server, numbers):
    for name in ("hmm", "spectral-hmm", "bigram"):
        assert server.get(f"/api/{numbers[name]}/spectrum").json()["kept"]
    assert server.get(f"/api/{numbers['kneser-ney']}/spectrum").status_code == 404


def test_long_sentences_are_refused(server, numbers):
    answer = server.post(f"/api/{numbers['hmm']}/next", text="the " * 201)
    assert answer.status_code == 400
    assert "201 words" in answer.json()["error"]
