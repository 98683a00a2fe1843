import pytest

import eigentext as et
from eigentext.explorer.asking import RefusedError
from eigentext.explorer.models import explored


@pytest.mark.parametrize("name", ["tagger", "hmm-tagger"])
def test_tags_are_the_models(server, numbers, model_files, name):
    text = "the old cat sees the river"
    answer = server.post(f"/api/{numbers[name]}/tag", text=text).json()
    model = et.load(model_files[name])
    expected = model.tag([text])[0] if name == "tagger" else model.tag(text)
    assert [(one["word"], one["tag"]) for one in answer["tokens"]] == expected
    if name == "tagger":
        sure = model.confidences([text])[0].tolist()
        assert [one["confidence"] for one in answer["tokens"]] == pytest.approx(sure)
    else:
        assert {one["confidence"] for one in answer["tokens"]} == {None}


def test_columns_are_behind_bars():
    tagged = [[("dogs", "NNS", "B"), ("bark", "VB", "O")], [("cats", "NNS", "B")]] * 3
    model = explored(et.Tagger(n_epochs=1).fit(tagged), "columns")
    answer = model.ask("tag", {"text": "cats|NNS bark|VB"})
    assert [one["tag"] for one in answer["tokens"]] == ["B", "O"]
    for text in ("cats", "cats|", "a|b|c"):
        with pytest.raises(RefusedError, match=r"word\|pos"):
            model.ask("tag", {"text": text})


def test_confidences_are_marginals():
    tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]] * 20
    tagger = et.RefinementHMM(2).fit(tagged)
    answer = explored(tagger, "states").ask("tag", {"text": "dogs sleep"})
    assert [(one["word"], one["tag"]) for one in answer["tokens"]] == tagger.tag("dogs sleep")
    sure = tagger.marginals("dogs sleep").max(axis=1)
    assert [one["confidence"] for one in answer["tokens"]] == pytest.approx(sure)
