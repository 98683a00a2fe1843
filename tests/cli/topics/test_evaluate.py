"""`eigentext topics evaluate`: perplexity, coherence and distinct words."""

import json

import pytest

import eigentext as et
from eigentext.evaluate import coherence, distinct_words
from eigentext.moments import document_counts


@pytest.fixture
def expected(topics, unseen):
    """What the library says of `unseen`."""
    model = et.load(topics)
    corpus = et.TextCorpus(unseen, tokenizer="words", lowercase=True)
    X = document_counts(corpus, model.vocabulary_, corpus.options)

    def figures(n_words=10):
        top, words = model.top_words(n_words), model.vocabulary_.words
        return {
            "perplexity": model.perplexity(corpus),
            "npmi": coherence(top, X, words=words).mean,
            "umass": coherence(top, X, words=words, measure="umass").mean,
            "distinct_words": distinct_words(top),
        }

    return figures


@pytest.mark.parametrize("n_words", [3, 10])
def test_figures_are_the_library_s(cli, topics, unseen, expected, n_words):
    result = cli("topics", "evaluate", topics, unseen, "--words", n_words, "--json")
    assert (result.status, result.err) == (0, "")
    told = json.loads(result.out)
    for name, figure in expected(n_words).items():
        assert told[name] == pytest.approx(figure), name
    assert (told["n_documents"], told["n_tokens"], told["n_empty"]) == (6, 75, 1)
    assert {len(figures) for figures in told["by_topic"].values()} == {3}
    assert told["diversity"] == told["distinct_words"]
    assert told["purity"] is told["stability"] is None


def test_what_people_read(cli, topics, unseen, expected, standard_input):
    standard_input(unseen)
    shown = cli("topics", "evaluate", topics, "-")
    assert shown.status == 0
    lines = dict(line.rsplit("  ", 1) for line in shown.out.splitlines()[:4])
    figures = expected()
    assert {name.strip(): float(value) for name, value in lines.items()} == {
        "perplexity": pytest.approx(figures["perplexity"], abs=0.05),
        "NPMI": pytest.approx(figures["npmi"], abs=5e-4),
        "UMass": pytest.approx(figures["umass"], abs=5e-4),
        "distinct words": pytest.approx(figures["distinct_words"], abs=5e-3),
    }
    assert shown.out.endswith("75 known words of 6 documents, 1 of them without any\n")
    assert "\nscore: " in shown.err
    quiet = cli("topics", "evaluate", topics, unseen, "--quiet")
    assert quiet.err == ""
    assert len(quiet.out.splitlines()) == 5


def test_good_topics_are_better_than_bad_ones(cli, topics, documents, tmp_path):
    good = json.loads(cli("topics", "evaluate", topics, documents, "--json").out)
    model = et.load(topics)
    model.components_ = model.components_[:, ::-1]
    model.save(tmp_path / "bad")
    bad = json.loads(cli("topics", "evaluate", tmp_path / "bad", documents, "--json").out)
    assert good["perplexity"] < bad["perplexity"]
    assert good["npmi"] > bad["npmi"]
    assert good["umass"] > bad["umass"]


def test_mistakes_are_one_line(cli, topics, model, unseen, tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "blank").write_text("\n" * 6)
    (tmp_path / "foreign").write_text("kein Wort davon\n")
    for arguments, reason in (
        ((topics,), "FILE"),
        ((model, unseen), "not topics"),
        ((topics, tmp_path / "missing"), "missing: no such file"),
        ((topics, tmp_path / "empty"), "empty: contains no documents; is the file empty?"),
        ((topics, tmp_path / "foreign"), "no document has two known words or more"),
        ((topics, unseen, "--labels", tmp_path / "none"), "none: no such file (--labels is a file"),
        ((topics, unseen, "--labels", tmp_path / "foreign"), "1 labels, but there are 6 documents"),
        ((topics, unseen, "--labels", tmp_path / "blank"), "has exactly one label"),
        ((topics, unseen, "--words", 1), "see eigentext topics evaluate --help"),
    ):
        assert reason in cli("topics", "evaluate", *arguments, "--quiet").mistake


def test_labels_are_lines_or_a_column(cli, topics, documents, tmp_path):
    model = et.load(topics)
    texts = documents.read_text().splitlines()
    found = model.transform(texts).argmax(axis=1).tolist()
    (tmp_path / "labels").write_text("".join(f"group {k}\n" for k in found))
    labels = ("--labels", tmp_path / "labels")
    told = json.loads(cli("topics", "evaluate", topics, documents, *labels, "--json").out)
    assert (told["purity"], told["nmi"], told["ari"]) == pytest.approx((1, 1, 1))
    blank = tmp_path / "blanks.txt"
    blank.write_text("\n" + documents.read_text())
    (tmp_path / "labels").write_text("\n" + (tmp_path / "labels").read_text())
    told = json.loads(cli("topics", "evaluate", topics, blank, *labels, "--json").out)
    assert told["nmi"] == pytest.approx(1)  # lines of labels are lines of the file
    rows = (json.dumps({"body": text, "kind": f"k{k}"}) for text, k in zip(texts, found))
    (tmp_path / "table.jsonl").write_text("\n".join(rows) + "\n")
    table = tmp_path / "table.jsonl"
    shown = cli("topics", "evaluate", topics, table, "--column", "body", "--labels", "kind")
    assert shown.status == 0, shown.err
    assert "\nNMI              1.000\n" in shown.out
    missing = cli("topics", "evaluate", topics, table, "--column", "body", "--labels", "absent")
    assert "no column 'absent'" in missing.err


def test_stability_learns_again(cli, topics, documents):
    told = json.loads(cli("topics", "evaluate", topics, documents, "--stability", 1, "--json").out)
    assert set(told["stability"]) == {"seed", "order", "resample", "n_words", "overlaps"}
    assert told["stability"]["order"] > 0.5
