"""`eigentext tagger tag --spans`."""

import json

import pytest

from eigentext import load

TEXT = "the small cat sees the dog.\n\n  the (green) horse hears a village\r\n"


def test_lines_of_json(cli, tagger, standard_input, tmp_path):
    library = load(tagger)
    standard_input(TEXT.encode())
    done = cli("tagger", "tag", tagger, "--spans")
    assert done.status == 0
    assert done.err.startswith("3 lines in ")
    told = [json.loads(line) for line in done.out.splitlines()]
    assert [one["text"] for one in told] == TEXT.replace("\r", "").splitlines()
    for one in told:
        expected = library.spans(one["text"])
        assert [tuple(span.values())[:3] for span in one["spans"]] == [x[:3] for x in expected]
        assert [span["confidence"] for span in one["spans"]] == [
            round(x.confidence, 4) for x in expected
        ]
    assert list(told[0]["spans"][0]) == ["start", "end", "label", "confidence"]
    (tmp_path / "in").write_text(TEXT)
    assert cli("tagger", "tag", tagger, tmp_path / "in", "--spans", "-q").out == done.out


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--tokenized"], "leave --tokenized out"),
        (["--labelled"], "leave --labelled out"),
        (["--format", "csv"], "leave --format out"),
    ],
)
def test_mistakes(cli, tagger, chunker, standard_input, options, reason):
    standard_input(TEXT.encode())
    done = cli("tagger", "tag", tagger, "--spans", *options)
    assert (done.status, reason in done.err) == (2, True)


def test_other_mistakes(cli, tagger, chunker, standard_input):
    standard_input(TEXT.encode())
    done = cli("tagger", "tag", chunker, "--spans")
    assert done.status == 2
    assert "needs word, pos for each token" in done.err
    standard_input(b" \n")
    assert cli("tagger", "tag", tagger, "--spans").status == 2
