"""`eigentext words tokens`: eigentokens for taggers."""

import json

import numpy as np

import eigentext as et


def test_tokens(cli, text, tmp_path):
    path = tmp_path / "tokens"
    options = ("--dim", 3, "--window", 1, "--side", "left", "--no-cache", "--json")
    told = json.loads(cli("words", "tokens", text, "-o", path, *options).out)
    assert (told["dim"], told["model"]) == (3, str(path))
    found = et.load(path)
    same = et.Eigentokens(3, window=1, side="left").fit(et.TextCorpus(str(text)), cache=False)
    sentence = [["the", "old", "farmer", "sees"]]
    np.testing.assert_array_equal(found.transform(sentence)[0], same.transform(sentence)[0])


def test_a_tagger_takes_them(cli, text, tmp_path):
    path, tagged = tmp_path / "tokens", tmp_path / "tagged"
    assert cli("words", "tokens", text, "-o", path, "--dim", 2, "--no-cache").status == 0
    tagged.write_text("the D\nold A\nfarmer N\n\n" * 3)
    done = cli("tagger", "fit", tagged, "-o", tmp_path / "tagger", "--eigentokens", path)
    assert done.status == 0, done.err
    assert "token[0]" in et.load(tmp_path / "tagger").templates_


def test_too_many_dimensions(cli, text, tmp_path):
    told = cli("words", "tokens", text, "-o", tmp_path / "x", "--dim", 999, "--no-cache", "-q")
    assert "n_components (--dim) is 999" in told.mistake
    assert not (tmp_path / "x").exists()
