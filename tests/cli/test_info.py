"""`eigentext info`: what a saved model is."""

import json

import eigentext as et


def test_info_tells_all(cli, model):
    result = cli("info", model)
    assert result.status == 0
    assert f"{model}  eigentext.words.v2, written by eigentext {et.__version__}" in result.out
    for line in ("n_components             4", "words_without_context    0", "vectors"):
        assert line in result.out
    told = json.loads(cli("info", model, "--json").out)
    loaded = et.load(model)
    assert told["parameters"] == loaded.get_params()
    assert told["diagnostics"] == loaded.diagnostics_
    assert told["arrays"]["vectors"] == list(loaded.vectors_.shape)


def test_info_of_statistics_and_of_a_newer_format(cli, tmp_path, model):
    et.CooccurrenceMoments.from_corpus(["a b", "b c"]).save(tmp_path / "moments")
    assert "eigentext.cooccurrence.v2" in cli("info", tmp_path / "moments").out
    arrays, _ = et.storage.read_saved(model)
    et.storage.write_saved(tmp_path / "newer", "eigentext.words.v99", arrays, {"[/]": "[b]"})
    told = cli("info", tmp_path / "newer").out
    assert "eigentext.words.v99" in told
    assert "[/]  [b]" in told  # no markup of ours
