"""Tables of results: what is written is read again, by our own readers and by those of others."""

import csv
import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import TextCorpus
from eigentext.corpus.documents import in_batches
from eigentext.corpus.table_output import (
    TABLE_FORMATS,
    as_pandas,
    format_for,
    names_array,
    plain,
    table_writer,
    vectors_array,
    write_table,
)
from eigentext.errors import ParameterError

WORDS = ["ham", 'a "dog"', "a,b;c\td", "two\nlines", "é猫", "", "null", "007"]
TABLE = pa.table(
    {
        "word": WORDS,
        "count": range(8),
        "score": pa.array([0.1, 1, -0.0, 1e-30, 1e30, 2.5, 3, None], pa.float32()),
        "vector": vectors_array(np.arange(16, dtype=np.float32).reshape(8, 2) / 10),
    }
)


def read(path, format):
    """The table in a file, by the reader of its format that most people have."""
    if format == "parquet":
        return pq.read_table(path).to_pylist()
    if format == "arrow":
        return pa.ipc.open_file(pa.memory_map(str(path))).read_all().to_pylist()
    if format == "jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    text = path.read_text()
    rows = [*csv.DictReader(text.splitlines(keepends=True), delimiter=",\t"[format == "tsv"])]
    return [
        {
            "word": row["word"],
            "count": int(row["count"]),
            "score": np.float32(row["score"]).item() if row["score"] else None,
            "vector": [np.float32(row[f"vector{k}"]).item() for k in range(2)],
        }
        for row in rows
    ]


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_every_format_keeps_every_value(tmp_path, format):
    path = tmp_path / "table"
    write_table(path, TABLE, format)
    expected = TABLE.to_pylist()
    if format == "jsonl":  # numbers are those that people see: 0.1
        assert json.loads(path.read_text().split("\n")[1])["vector"] == [0.2, 0.3]
    for row, right in zip(read(path, format), expected, strict=True):
        for name in ("word", "count"):
            assert row[name] == right[name]
        assert [np.float32(x) for x in row["vector"]] == [np.float32(x) for x in right["vector"]]
        if right["score"] is None:
            assert row["score"] is None
        else:
            assert np.float32(row["score"]) == np.float32(right["score"])


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_parts_are_the_whole(tmp_path, format):
    write_table(tmp_path / "whole", TABLE, format)
    with table_writer(tmp_path / "parts", TABLE.schema, format) as write:
        for start, length in ((0, 3), (3, 0), (3, 3), (6, 2)):
            write(TABLE.slice(start, length))
    assert read(tmp_path / "parts", format) == read(tmp_path / "whole", format)


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_tables_without_rows(tmp_path, format):
    write_table(tmp_path / "table", TABLE[:0], format)
    assert read(tmp_path / "table", format) == []


@pytest.mark.parametrize("format", TABLE_FORMATS)
def test_all_or_nothing(tmp_path, format):
    (tmp_path / "table").write_text("old")
    writing = table_writer(tmp_path / "table", TABLE.schema, format)
    with pytest.raises(ZeroDivisionError), writing as write:
        write(TABLE)
        1 / 0  # noqa: B018
    assert [path.name for path in tmp_path.iterdir()] == ["table"]
    assert (tmp_path / "table").read_text() == "old"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=6))
def test_delimited_text_is_that_of_the_csv_module(tmp_path_factory, words):
    path = tmp_path_factory.mktemp("table") / "table"
    for format, delimiter in (("csv", ","), ("tsv", "\t")):
        write_table(path, pa.table({"n": range(len(words)), "word": words}), format)
        with path.open(newline="", encoding="utf-8") as file:
            rows = [*csv.reader(file, delimiter=delimiter)]
        assert rows == [["n", "word"], *([str(n), word] for n, word in enumerate(words))]


def test_numbers_that_json_does_not_have(tmp_path):
    table = pa.table({"x": [math.inf, -math.inf, math.nan, 1.0]})
    write_table(tmp_path / "a.jsonl", table, "jsonl")
    assert (tmp_path / "a.jsonl").read_text().splitlines() == [*['{"x": null}'] * 3, '{"x": 1.0}']
    write_table(tmp_path / "a.csv", table, "csv")
    found = pd.read_csv(tmp_path / "a.csv")["x"]
    assert found[:2].tolist() == [math.inf, -math.inf]
    assert math.isnan(found[2])


def test_whole_numbers_of_a_float_column_look_like_floats(tmp_path):
    # polars guesses the type of a column by its first hundred rows.
    write_table(tmp_path / "a.csv", pa.table({"x": [1.0] * 200 + [0.5]}), "csv")
    assert (tmp_path / "a.csv").read_text().split()[1] == "1.0"
    polars = pytest.importorskip("polars")
    assert polars.read_csv(tmp_path / "a.csv")["x"].sum() == 200.5


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.gz", "a.jsonl.zst", "a.parquet", "a.feather"])
def test_our_own_reader_reads_it(tmp_path, name):
    texts = ["I ate", 'a "dog", and\ta cat', "é"]
    table = pa.table({"id": ["a", "b", "c"], "text": texts})
    write_table(tmp_path / name, table, format_for(name, None, default="csv"))
    ((_, part),) = in_batches(TextCorpus(tmp_path / name, column="text", id="id"))
    assert (part.ids, part.texts) == (["a", "b", "c"], texts)


def test_polars_and_pandas_read_vectors(tmp_path):
    write_table(tmp_path / "a.parquet", TABLE, "parquet")
    assert np.stack(pd.read_parquet(tmp_path / "a.parquet")["vector"]).shape == (8, 2)
    polars = pytest.importorskip("polars")
    assert polars.read_parquet(tmp_path / "a.parquet")["vector"].to_numpy().shape == (8, 2)
    assert polars.from_arrow(TABLE).shape == (8, 4)


# Which format.


@pytest.mark.parametrize(
    ("path", "given", "expected"),
    [
        ("a.parquet", None, "parquet"),
        ("a.PQ", None, "parquet"),
        ("a.feather", None, "arrow"),
        ("a.csv.gz", None, "csv"),
        ("a.b/c", None, "rows"),
        ("a", None, "rows"),
        ("a.dat", None, "rows"),
        ("a.dat", "jsonl", "jsonl"),
        ("-", "parquet", "parquet"),
        ("a.tsv", "tsv", "tsv"),
        ("a.own", None, "first"),
        ("a.own", "second", "second"),
    ],
)
def test_the_ending_says_the_format(path, given, expected):
    endings = {".own": ("first", "second")}
    assert format_for(path, given, default="rows", endings=endings) == expected


@pytest.mark.parametrize(
    ("path", "given", "reason"),
    [
        ("a.parquet", "csv", "the name says parquet, but the format .--format. is csv"),
        ("a.csv.gz", "jsonl", "the name says csv"),
        ("a.npy", None, "no such format, .npy; the endings are .csv, .tsv, .*, and other endings"),
        ("a.xlsx", "csv", "no such format, .xlsx"),
        ("a.parquet.gz", None, "leave .gz out of the name"),
        ("a.gz", "parquet", "leave .gz out of the name"),
    ],
)
def test_contradictions_are_refused(path, given, reason):
    with pytest.raises(ParameterError, match=reason):
        format_for(path, given, default="rows")


def test_an_unknown_format(tmp_path):
    with pytest.raises(ParameterError, match="csv, tsv, jsonl, parquet, arrow, not 'xml'"):
        write_table(tmp_path / "a", TABLE, "xml")


# Names, and pandas.


def test_names_of_rows():
    assert names_array([3, 4]).type == pa.int64()
    assert names_array([3, "row 2", 2**70]).to_pylist() == ["3", "row 2", str(2**70)]
    assert plain("a\udcff") == "a\\udcff"
    assert names_array([]).to_pylist() == []


def test_pandas_is_asked_for_only_when_used():
    assert as_pandas(TABLE)["word"].tolist() == WORDS
    code = """
import sys
class WithoutPandas:
    def find_spec(self, name, *rest):
        if name == "pandas":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, WithoutPandas())
import eigentext as et
words = et.Eigenwords(1, min_count=1).fit(["a b", "b a"] * 9)
print(words.to_arrow().num_rows)
try:
    words.to_pandas()
except et.EigentextError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "2\nto_pandas needs pandas; run pip install pandas, or use to_arrow\n"


def test_lists_of_different_lengths_in_text(tmp_path):
    lists = {"a": [[1, 2], [], None], "b": [[0.5], [1.0, 2.5], []], "c": [["x,y"], [], ["z", "w"]]}
    table = pa.table(lists)
    with table_writer(tmp_path / "a.csv", table.schema, "csv") as write:
        write(table)
    text = (tmp_path / "a.csv").read_text()
    assert text == 'a,b,c\n1 2,0.5,"x,y"\n,1 2.5,\n,,z w\n'
