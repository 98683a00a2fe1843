"""Tables on the command line: documents from columns, results as tables, and bad input."""

import csv
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import eigentext as et
from eigentext.cli._tables import PLAIN, table_format
from eigentext.errors import ParameterError

FOOD = ["ham", "eggs", "cheese", "bread", "butter", "soup"]
SPORT = ["goal", "team", "match", "league", "coach", "ball"]
FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow")


def texts(n=60):
    rng = np.random.default_rng(0)
    return [" ".join(rng.choice((FOOD, SPORT)[k % 2], 8)) for k in range(n)]


def table(n=60):
    return pa.table({"id": range(1000, 1000 + n), "text": texts(n)})


@pytest.fixture
def reviews(tmp_path):
    """60 reviews with numbers, as a Parquet file."""
    pq.write_table(table(), tmp_path / "reviews.parquet")
    return tmp_path / "reviews.parquet"


@pytest.fixture
def topics(cli, reviews, tmp_path):
    """A model of them."""
    command = ("topics", "fit", reviews, "--column", "text", "-o", tmp_path / "topics", "-k", 2)
    assert cli(*command, "--no-cache", "-q").status == 0
    return tmp_path / "topics"


def read(path, format):
    """A table as a data frame, by pandas."""
    if format in ("csv", "tsv"):
        return pd.read_csv(path, sep=",\t"[format == "tsv"])
    if format == "jsonl":
        return pd.read_json(path, lines=True)
    return (pd.read_parquet if format == "parquet" else pyarrow.feather.read_feather)(path)


# Documents from columns.


def write(path, name):
    match name.partition(".")[2]:
        case "csv":
            table().to_pandas().to_csv(path / name, index=False)
        case "tsv.gz":
            table().to_pandas().to_csv(path / name, index=False, sep="\t")
        case "jsonl":
            table().to_pandas().to_json(path / name, orient="records", lines=True)
        case "parquet":
            pq.write_table(table(), path / name)
        case "feather":
            pyarrow.feather.write_feather(table(), path / name)
    return path / name


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl", "a.parquet", "a.feather"])
def test_fits_of_columns_are_those_of_the_texts(fit_of, tmp_path, name):
    path = write(tmp_path, name)
    options = (path, "--column", "text", "--no-cache")
    model, _ = fit_of("words", *options, "--dim", "2", "--min-count", "1")
    assert np.array_equal(model.vectors_, et.Eigenwords(2, min_count=1).fit(texts()).vectors_)
    model, _ = fit_of("topics", *options, "-k", "2")
    corpus = et.TextCorpus(table(), column="text", tokenizer="words", lowercase=True)
    assert np.array_equal(model.components_, et.TopicModel(2).fit(corpus).components_)
    model, _ = fit_of("kneser-ney", *options, "--order", "2")
    assert len(model.vocabulary_) == 12


# Results.


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("by_name", [True, False])
def test_shares_with_the_ids_of_the_rows(cli, reviews, topics, tmp_path, format, by_name):
    output = tmp_path / (f"shares.{format}" if by_name else "shares")
    options = () if by_name else ("--format", format)
    command = ("topics", "transform", topics, reviews, "--column", "text", "--id", "id")
    result = cli(*command, "-o", output, *options)
    assert (result.err, result.out) == ("", f"{output}: 60 documents, 2 topics\n")
    found = read(output, format)
    assert list(found.columns) == ["id", "topic0", "topic1"]
    assert found["id"].tolist() == list(range(1000, 1060))  # numbers, as in the table
    expected = et.load(topics).transform(texts())
    assert np.allclose(found[["topic0", "topic1"]], expected, rtol=1e-12)
    joined = reviews_with(found)
    assert joined["text"].tolist() == texts()
    top = cli(*command, "--top", "--format", "csv").out.splitlines()
    assert top[0] == "id,topic,share"
    assert top[1].split(",")[:2] == ["1000", str(expected[0].argmax())]


def reviews_with(found):
    """The reviews, joined with the results by their ids, as users do."""
    return table().to_pandas().merge(found, on="id")


def test_ids_without_a_format(cli, reviews, topics):
    command = ("topics", "transform", topics, reviews, "--column", "text")
    assert cli(*command, "--id", "id").out.startswith("1000\t0.")
    assert cli(*command).out.startswith("1\t0.")
    told = json.loads(cli(*command, "--id", "id", "--json").out)
    assert told["documents"][0]["document"] == "1000"


def test_rows_without_text_keep_their_places(process, topics, tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("id,text\na,ham eggs\nb,\nc,goal\n")
    command = ("topics", "transform", topics, path, "--column", "text", "--id", "id")
    result = process(*command, "--format", "tsv")
    assert [line.split("\t")[0] for line in result.out.splitlines()] == ["id", "a", "b", "c"]
    assert "1 of 3 rows have no text in the column 'text'" in result.err


def test_topics_as_a_table(cli, topics, tmp_path):
    model = et.load(topics)
    output = tmp_path / "words.parquet"
    assert cli("topics", "show", topics, "-n", 3, "-o", output).status == 0
    found = pd.read_parquet(output)
    assert found.equals(model.to_pandas(n_words=3))
    assert cli("topics", "show", topics, "-n", 3, "-o", tmp_path / "plain").status == 0
    assert (tmp_path / "plain").read_text() == cli("topics", "show", topics, "-n", 3).out
    shown = cli("topics", "show", topics, "--json").out
    assert cli("topics", "show", topics, "--json", "-o", tmp_path / "a.json").out == ""
    assert json.loads((tmp_path / "a.json").read_text()) == json.loads(shown)


@pytest.mark.parametrize("format", FORMATS)
def test_exported_vectors(cli, model, tmp_path, format):
    output, loaded = tmp_path / f"v.{format}", et.load(model)
    result = cli("words", "export", model, "-o", output)
    assert result.out == f"{output}: 23 vectors of 4 dimensions, {format} format\n"
    found = read(output, format)
    assert found["word"].tolist() == loaded.vocabulary_.words
    assert found["count"].tolist() == list(loaded.vocabulary_.counts)
    if "vector" in found:
        vectors = np.array(found["vector"].tolist(), np.float32)
    else:
        vectors = found[[f"vector{k}" for k in range(4)]].to_numpy(np.float32)
    assert np.array_equal(vectors, loaded.vectors_)
    told = json.loads(cli("words", "export", model, "-o", output, "--json").out)
    assert told == {"output": str(output), "format": format, "n_words": 23, "dim": 4}


def test_neighbors_and_clusters(cli, model, tmp_path):
    near = et.load(model).most_similar("cat", 2)
    shown = cli("words", "neighbors", model, "cat", "-n", 2, "--format", "csv").out
    rows = [*csv.reader(shown.splitlines())]
    assert rows[0] == ["word", "neighbor", "cosine"]
    assert [(row[1], float(row[2])) for row in rows[1:]] == near
    for name in ("plain.txt", "a.json"):
        options = ["--json"] if name == "a.json" else []
        output = tmp_path / name
        assert cli("words", "neighbors", model, "cat", "-o", output, *options).out == ""
        assert output.read_text() == cli("words", "neighbors", model, "cat", *options).out
    output = tmp_path / "clusters.parquet"
    command = ("words", "cluster", model, "--clusters", 3, "-q")
    assert cli(*command, "-o", output).status == 0
    found = pd.read_parquet(output)
    assert list(found.columns) == ["word", "count", "cluster", "bits"]
    assert found["cluster"].nunique() == 3
    cli(*command, "-o", tmp_path / "paths.tsv")  # the format of wcluster has tabs, too
    paths = et.WordClusters.read_paths(tmp_path / "paths.tsv")
    assert dict(zip(found["word"], found["bits"])) == {word: paths[word] for word in found["word"]}
    cli(*command, "-o", tmp_path / "table.tsv", "--format", "tsv")
    assert (tmp_path / "table.tsv").read_text().startswith("word\tcount\tcluster\tbits\n")


@pytest.mark.filterwarnings("ignore:.*1 of 3 rows have no text")
def test_scores_of_an_hmm(cli, reviews, tmp_path):
    hmm = et.HMM(2, method="em", min_count=1).fit(et.TextCorpus(table(), column="text"))
    hmm.save(tmp_path / "hmm")
    pq.write_table(
        pa.table({"id": ["a", "b", "c"], "text": ["ham eggs", None, "goal"]}),
        tmp_path / "some.parquet",
    )
    command = ("hmm", "score", tmp_path / "hmm", tmp_path / "some.parquet", "--column", "text")
    expected = hmm.score_samples([["ham", "eggs"], ["goal"]])
    for format in FORMATS:
        output = tmp_path / f"scores.{format}"
        result = cli(*command, "--id", "id", "-o", output)
        assert "perplexity" in result.err
        found = read(output, format)
        assert list(found.columns) == ["id", "log_probability", "n_tokens", "text"]
        assert found["id"].tolist() == ["a", "b", "c"]  # rows without text have no score
        assert found["log_probability"].isna().tolist() == [False, True, False]
        assert found["log_probability"].dropna().tolist() == pytest.approx(expected)
    rows = [line.split("\t") for line in cli(*command, "--id", "id").out.splitlines()]
    assert [row[0] for row in rows] == ["a", "b", "c"]
    assert [row[2] for row in rows] == ["2", "0", "1"]
    told = json.loads(cli(*command, "--id", "id", "--json").out)
    assert [one["id"] for one in told["scores"]] == ["a", "b", "c"]
    without = cli(*command)
    assert [line.split("\t")[1] for line in without.out.splitlines()] == ["2", "1"]
    cli(*command, "-o", tmp_path / "plain", "-q")
    assert (tmp_path / "plain").read_text() == without.out


def test_an_impossible_line_in_a_table(cli, tmp_path):
    et.HMM(2, method="em", min_count=1).fit([["ham", "eggs"]] * 9).save(tmp_path / "hmm")
    (tmp_path / "text").write_text("ham zebra\nham\n")
    shown = cli("hmm", "score", tmp_path / "hmm", tmp_path / "text", "--format", "jsonl").out
    first, second = map(json.loads, shown.splitlines())
    assert (first["document"], first["log_probability"]) == (1, None)
    assert second["log_probability"] < 0


@pytest.mark.parametrize("format", FORMATS)
def test_tagged_tokens(cli, tmp_path, format):
    tagged = [[("a", "D"), ("dog", "N")], [("the", "D"), ("cat", "N")]] * 5
    tagger = et.Tagger().fit(tagged)
    tagger.save(tmp_path / "tagger")
    (tmp_path / "text").write_text("the dog\n\na cat\n")
    output = tmp_path / f"tags.{format}"
    command = ("tagger", "tag", tmp_path / "tagger", tmp_path / "text")
    assert cli(*command, "-o", output, "--confidence").status == 0
    found = read(output, format)
    assert list(found.columns) == ["sentence", "token", "word", "tag", "confidence"]
    assert found["sentence"].tolist() == [1, 1, 3, 3]  # the lines
    assert found["token"].tolist() == [1, 2, 1, 2]
    assert found["word"].tolist() == ["the", "dog", "a", "cat"]
    expected = tagger.to_pandas(["the dog", "", "a cat"], confidence=True)
    assert found["tag"].tolist() == expected["tag"].tolist()
    assert np.allclose(found["confidence"], expected["confidence"])
    shown = cli(*command, "--format", "csv").out.splitlines()
    assert shown[0] == "sentence,token,word,tag"


# Mistakes.


def test_the_format_that_is_asked_for(tmp_path):
    assert table_format(tmp_path / "a", None) == PLAIN
    assert table_format(tmp_path / "a.csv", None) == "csv"
    assert table_format(tmp_path / "a.json", None, json=True) == PLAIN
    with pytest.raises(ParameterError, match="--json and a table"):
        table_format(tmp_path / "a.csv", None, json=True)


def test_contradictions_are_one_line(cli, model, topics, reviews, tmp_path):
    parquet = tmp_path / "v.parquet"
    transform = ("topics", "transform", topics, reviews, "--column", "text")
    for command, reason in (
        (("words", "export", model, "-o", parquet, "--format", "word2vec"), "says parquet, but"),
        (("words", "export", model, "-o", tmp_path / "v.npy"), "no such format, .npy; the endings"),
        (("words", "export", model, "-o", tmp_path / "v.bin", "--format", "glove"), "says word2v"),
        (("words", "export", model, "-o", tmp_path / "v.txt", "--format", "csv"), "says word2vec"),
        (("words", "neighbors", model, "cat", "--json", "--format", "csv"), "choose one"),
        (("words", "neighbors", model, "cat", "-o", model), "would be written over"),
        (("words", "cluster", model, "-o", parquet, "--format", "paths"), "says parquet, but"),
        ((*transform, "-o", parquet, "--format", "csv"), "says parquet, but"),
        ((*transform, "-o", reviews), "would be written over what is read"),
        ((*transform, "--json", "--format", "csv"), "choose one"),
        (("topics", "show", topics, "--html", "a", "--format", "csv"), "exclude each other"),
    ):
        assert reason in cli(*command).mistake
    assert not parquet.exists()


def test_zero_vectors_are_told(cli, process, tmp_path):
    text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5 + ["alone"] * 6
    et.Eigenwords(2, window=1).fit(text).save(tmp_path / "model")
    command = ("words", "export", tmp_path / "model", "-o", tmp_path / "v.csv")
    result = process(*command)
    assert result.out == f"{tmp_path}/v.csv: 6 vectors of 2 dimensions, csv format\n"
    assert "warning: 1 of 7 words are not written: their vectors are zero" in result.err
    assert "alone" not in (tmp_path / "v.csv").read_text()
    kept = cli(*command, "--zero-vectors", "keep", "--json")
    assert (json.loads(kept.out)["n_words"], json.loads(kept.out)["n_zero_vectors"]) == (7, 1)
    assert kept.err == ""
    assert "alone" in (tmp_path / "v.csv").read_text()


@pytest.mark.parametrize("command", [("topics", "fit", "-k", 2), ("words", "fit", "--dim", 2)])
def test_bad_tables_are_one_line(cli, tmp_path, command):
    group, verb, *options = command
    pq.write_table(pa.table({"id": [1, 2], "text": [None, ""]}), tmp_path / "empty.parquet")
    pq.write_table(table(), tmp_path / "good.parquet")
    whole = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "mixed.jsonl").write_text('{"text": "ham"}\n{"text": 5}\n')
    (tmp_path / "good.csv").write_text("id,text\n1,ham eggs\n")
    for name, column, reason in (
        ("empty.parquet", "text", "empty.parquet: the column 'text' is empty in all 2 rows"),
        ("good.parquet", "body", "no column 'body'; its columns are 'id', 'text'"),
        ("good.csv", "body", "no column 'body'; its columns are 'id', 'text'"),
        ("good.parquet", "id", "the column 'id' is of type int64, not text"),
        ("cut.parquet", "text", "cut.parquet: not a complete .parquet file"),
        ("mixed.jsonl", "text", "mixed.jsonl, line 2: 'text' is a number, 5, not text"),
    ):
        arguments = (tmp_path / name, "--column", column, "-o", tmp_path / "model", *options)
        assert reason in cli(group, verb, *arguments, "--no-cache").mistake
    forgotten = cli(group, verb, tmp_path / "good.parquet", "-o", tmp_path / "model", *options)
    assert "is a table with the columns 'id', 'text'" in forgotten.mistake
    assert "--column text" in forgotten.err
    assert not (tmp_path / "model").exists()
