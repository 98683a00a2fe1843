"""`eigentext tagger evaluate`: scores, speed, and labels that were never learned."""

import json

import pytest

import eigentext as et


@pytest.fixture
def told(cli):
    def run(*arguments):
        result = cli("tagger", "evaluate", *arguments, "--json")
        assert (result.status, result.err) == (0, ""), result.err
        return json.loads(result.out)

    return run


def test_as_the_library_says(told, chunker, dev, tagger, words, loaded, tagged):
    found = told(chunker, dev)
    expected = loaded[0].evaluate(tagged[1]).to_dict()
    assert {name: found[name] for name in expected} == expected
    assert found["f1"] > 0.8
    assert (found["model"], found["n_sentences"]) == (str(chunker), 15)
    assert found["n_tokens"] == sum(map(len, tagged[1]))
    assert found["n_tokens"] / found["tokens_per_second"] == pytest.approx(
        found["seconds"], abs=1e-3
    )
    assert found["unseen_labels"] == {}
    found = told(tagger, words, "--threads", 1)
    expected = loaded[1].evaluate(et.read_conll(words, columns=("word", "label"))).to_dict()
    assert {name: found[name] for name in expected} == expected
    assert set(found["by_tag"]) == {".", "DT", "JJ", "NN", "VBZ"}


def test_what_people_read(cli, chunker, dev, loaded, tagged):
    shown = cli("tagger", "evaluate", chunker, dev)
    *table, last = shown.out.splitlines()
    assert "\n".join(table) == str(loaded[0].evaluate(tagged[1]))
    assert last.startswith(f"{sum(map(len, tagged[1]))} tokens in ")
    assert last.endswith("/s)")
    assert "tag: " in shown.err
    quiet = cli("tagger", "evaluate", chunker, dev, "-q")
    assert (quiet.out, quiet.err) == ("\n".join([*table, ""]), "")


def test_labels_that_were_never_learned(cli, told, chunker, standard_input, tmp_path):
    text = b"the DT B-NP\ncat NN I-NP\nof IN B-PP\n\nof IN B-PP\n, , B-X\n"
    standard_input(text)
    shown = cli("tagger", "evaluate", chunker, "-", "-q")
    assert shown.status == 0
    assert shown.err == (
        f"eigentext: warning: labels that {chunker} has not learned: "
        "B-PP (2 tokens), B-X (1 token)\n"
    )
    standard_input(text)
    found = told(chunker, "-")
    assert found["unseen_labels"] == {"B-PP": 2, "B-X": 1}
    assert found["by_type"]["PP"]["recall"] == 0
    many = tmp_path / "many"
    many.write_text("".join(f"w NN B-{letter}\n" for letter in "ABCDEFGHIJKL"))
    shown = cli("tagger", "evaluate", chunker, many, "-q")
    assert shown.err.endswith("B-J (1 token), …\n")


def test_other_columns(told, cli, chunker, dev, tagged, tmp_path):
    four = tmp_path / "four"
    lines = ("".join(f"{y}\t{w}\tx\t{p}\n" for w, p, y in one) for one in tagged[1])
    four.write_text("\n".join(lines))
    found = told(chunker, four, "--columns", "chunk,word,_,pos")
    expected = told(chunker, dev)
    for name in ("f1", "accuracy", "by_type", "n_sentences"):
        assert found[name] == expected[name]


def test_mistakes_are_one_line(cli, chunker, model, dev, train, words, tmp_path):
    (tmp_path / "empty").touch()
    for arguments, reason in (
        ((chunker,), "FILE"),
        ((model, dev), "holds Eigenwords("),
        ((model, dev), "not a tagger that `tagger fit` wrote"),
        ((train, dev), "not an eigentext file"),
        ((chunker, tmp_path / "none"), "none: no such file"),
        ((chunker, dev, tmp_path / "empty"), "empty: contains no sentences; is the file empty?"),
        ((chunker, words), "has 2 columns, not 3; the model uses word, pos: correct it, or name"),
        ((chunker, dev, "--columns", "word,_,label"), "the model needs word, pos and a label"),
        ((chunker, dev, "--columns", "word,pos,_"), "the model needs word, pos and a label"),
    ):
        assert reason in cli("tagger", "evaluate", *arguments, "-q").mistake
    line = cli("tagger", "evaluate", chunker, words, "-q").mistake
    assert line.startswith(f"{words}, line 1: ")
    assert "--labelled" not in line
