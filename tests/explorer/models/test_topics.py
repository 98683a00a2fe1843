import numpy as np
import pytest

import eigentext as et
from eigentext.explorer.models import explored


def test_topics_are_the_models(server, numbers, model_files):
    model = et.load(model_files["topics"])
    answer = server.get(f"/api/{numbers['topics']}/topics").json()
    assert [one["share"] for one in answer["topics"]] == pytest.approx(model.weights_.tolist())
    words = [[word["word"] for word in one["words"][:5]] for one in answer["topics"]]
    assert words == model.top_words(5)
    assert answer["n_documents"] == 200


def test_typical_documents_are_of_the_topic(server, numbers, model_files):
    model = et.load(model_files["topics"])
    for topic in (0, 1):
        answer = server.get(f"/api/{numbers['topics']}/topics/{topic}/documents").json()
        assert answer["documents"]
        for one in answer["documents"]:
            assert model.transform([one["text"]]).argmax() == topic
    assert server.get(f"/api/{numbers['topics']}/topics/2/documents").status_code == 400
    assert server.get(f"/api/{numbers['words']}/topics/0/documents").status_code == 404


def test_a_pasted_document_has_proportions(server, numbers, model_files):
    text = "Ham and eggs, with a goal!"
    answer = server.post(f"/api/{numbers['topics']}/proportions", text=text).json()
    expected = et.load(model_files["topics"]).transform([text])[0]
    assert np.allclose(answer["proportions"], expected, atol=1e-6)
    assert (answer["known_words"], answer["unknown_words"]) == (3, 2)


def test_a_document_of_unknown_words_or_signs(server, numbers):
    path = f"/api/{numbers['topics']}/proportions"
    answer = server.post(path, text="nothing known").json()
    assert answer["known_words"] == 0
    assert sum(answer["proportions"]) == pytest.approx(1, abs=1e-4)
    assert server.post(path, text="!!! 123").status_code == 400


def test_documents_of_more_than_5000_words_are_refused(server, numbers):
    path = f"/api/{numbers['topics']}/proportions"
    assert server.post(path, text="ham eggs " * 2500).status_code == 200
    answer = server.post(path, text="ham eggs " * 2501)
    assert answer.status_code == 400
    assert "5,000" in answer.json()["error"]


@pytest.mark.parametrize("alpha0", [0.0, 1.0])
def test_proportions_are_what_transform_gives(alpha0):
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(list("abcdefgh"), 20)) + " ham" for _ in range(60)]
    model = et.TopicModel(2, alpha0=alpha0).fit([text.split() for text in texts])
    one = explored(model, "topics")
    for text in (*texts[:5], "unknown", "a a a a a a"):
        found = one.ask("proportions", {"text": text})["proportions"]
        assert np.allclose(found, model.transform([text.split()])[0], atol=1e-6)
