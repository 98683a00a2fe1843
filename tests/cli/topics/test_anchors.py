"""Files of anchors: `eigentext topics fit --anchors FILE --not-anchors FILE`."""

import pytest

import eigentext as et

TEXTS = ["ham eggs ham cheese", "eggs cheese ham bread", "goal team goal match", "team match goal"]


@pytest.fixture
def fit(cli, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS * 20))

    def run(text, option="--anchors", *more):
        (tmp_path / "words.txt").write_text(text)
        files = (tmp_path / "texts.txt", "-o", tmp_path / "model", option, tmp_path / "words.txt")
        return cli("topics", "fit", *files, "--topics", 2, "--quiet", *more)

    return run


@pytest.mark.parametrize("method", ["anchors", "tensor"])
def test_topics_have_names(fit, cli, tmp_path, method):
    shown = fit("sports: goal team\n\nfood: ham\n", "--anchors", "--method", method)
    assert (shown.status, shown.err) == (0, "")
    model = et.load(tmp_path / "model")
    assert set(model.topic_names_) == {"sports", "food"}
    assert model.parameters_.anchors == {"sports": ["goal", "team"], "food": ["ham"]}
    assert "sports: " in cli("topics", "show", tmp_path / "model").out


def test_lines_without_names(fit, tmp_path):
    assert fit("goal team\nham").status == 0
    assert et.load(tmp_path / "model").parameters_.anchors == [["goal", "team"], ["ham"]]


def test_words_that_may_not_be_anchors(fit, tmp_path):
    shown = fit("goal team\nham\n", "--not-anchors", "--method", "anchors")
    assert (shown.status, shown.err) == (0, "")
    found = et.load(tmp_path / "model").diagnostics_["anchors"]
    assert not set(found) & {"goal", "team", "ham"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no words"),
        ("food:\n", "line 1: 'food:' is not a topic"),
        (": ham\n", "is not a topic"),
        ("a: ham\na: goal\n", "line 2: a second topic 'a'"),
        ("a: ham\ngoal\n", "'goal' has no name"),
        ("a: ham\nb: ham\n", "'ham' belongs to the topics"),
        ("a: hamm\n", "did you mean ham?"),
        ('{"a": ["ham"]}\n', "a line for each topic"),
        ("ham\ngoal\neggs\n", "anchors for 3 topics"),
    ],
)
def test_bad_files(fit, text, told):
    shown = fit(text)
    assert shown.status == 2
    assert told in " ".join(shown.err.split())


def test_a_missing_file(cli, tmp_path):
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS))
    shown = cli("topics", "fit", tmp_path / "texts.txt", "-o", tmp_path / "m", "--anchors", "none")
    assert shown.status == 2
    assert "none" in shown.err
