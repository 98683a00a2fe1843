"""Tables in memory, by their shape: all give the same rows, and what is no text is refused."""

import datetime
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from eigentext import TextCorpus
from eigentext.corpus import encode, encode_sequences
from eigentext.corpus.documents import as_documents, document_ids, in_batches
from eigentext.corpus.shards import shards_of
from eigentext.corpus.tables import is_column, is_table
from eigentext.corpus.vocabulary import Vocabulary
from eigentext.errors import ClusterError, CorpusError

TEXTS = ["I ate ham", "you\nate", None, "é"]
IDS = [7, 8, 9, 10]
UNITS = [["I", "ate", "ham"], ["you", "ate"], ["é"]]


class DataSet:
    """The shape of a data set of Hugging Face."""

    def __init__(self, **columns):
        self.columns_of = columns
        self.column_names = list(columns)

    def __len__(self):
        return len(next(iter(self.columns_of.values())))

    def __iter__(self):
        return (dict(zip(self.columns_of, row)) for row in zip(*self.columns_of.values()))

    def __getitem__(self, name):
        return DataSetColumn(name, self.columns_of[name])

    def iter(self, batch_size):
        for start in range(0, len(self), batch_size):
            stop = start + batch_size
            yield {name: values[start:stop] for name, values in self.columns_of.items()}


class DataSetColumn:
    """The shape of its column."""

    def __init__(self, name, values):
        self.column_name = name
        self.values = values

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return iter(self.values)

    def __getitem__(self, place):
        return self.values[place]


def polars(columns):
    return pytest.importorskip("polars").DataFrame(columns)


TABLES = {
    "pandas": pd.DataFrame,
    "pandas of objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas with categories": lambda columns: pd.DataFrame(columns).astype({"text": "category"}),
    "polars": polars,
    "polars, lazy": lambda columns: polars(columns).lazy(),
    "pyarrow": pa.table,
    "pyarrow in chunks": lambda columns: pa.Table.from_batches(
        pa.table(columns).to_batches(max_chunksize=1)
    ),
    "pyarrow batch": lambda columns: pa.table(columns).to_batches()[0],
    "Hugging Face": lambda columns: DataSet(**columns),
    "mapping": dict,
    "records": lambda columns: pa.table(columns).to_pylist(),
}
FRAMES = [name for name in TABLES if name not in ("mapping", "records")]


def table(kind, texts=TEXTS):
    return TABLES[kind]({"id": IDS[: len(texts)], "text": texts})


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_table_gives_the_same_rows(kind):
    corpus = TextCorpus(table(kind), column="text", id="id")
    with pytest.warns(UserWarning, match="the table: 1 of 4 rows have no text"):
        assert list(corpus) == UNITS
    assert list(corpus) == UNITS
    ((places, part),) = in_batches(corpus)
    assert places == [("", 0), ("", 1), ("", 2), ("", 3)]
    assert part.texts == ["I ate ham", "you ate", "", "é"]
    assert part.ids == IDS
    expected = TextCorpus(table("pandas"), column="text").fingerprint()
    assert corpus.fingerprint() == expected
    assert repr(corpus).startswith("TextCorpus(a table")


@pytest.mark.filterwarnings("ignore:.*have no text")
def test_rows_without_text_are_documents():
    corpus = TextCorpus(table("pandas"), column="text")
    ids = document_ids(as_documents(corpus), Vocabulary(["ate", "é"], [2, 1]))
    assert ids.tolist() == [-2, 0, -2, -1, -2, 0, -1, -1, 1, -1]


def test_fingerprints_are_those_of_the_texts():
    prints = {
        TextCorpus({"text": texts}, column="text").fingerprint()
        for texts in (["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""])
    }
    assert len(prints) == 4


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_without_a_column_is_refused(kind):
    for read in (TextCorpus, encode, as_documents):
        with pytest.raises(
            CorpusError, match=r"table with the columns 'id', 'text'.*column='text'"
        ):
            read(table(kind))


@pytest.mark.parametrize("kind", TABLES)
def test_bad_columns(kind):
    def refused(texts=TEXTS, column="text"):
        with pytest.raises(CorpusError) as caught, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            list(TextCorpus(table(kind, texts), column=column))
        return str(caught.value)

    assert "no column 'txt'; its columns are 'id', 'text'" in refused(column="txt")
    assert "'id'" in refused(column="id")
    if kind not in ("records", "pyarrow batch", "pyarrow in chunks"):
        assert "no rows" in refused([])
    assert "empty in all 2 rows" in refused([None, None])
    assert "empty in all 2 rows" in refused(["", None])
    if kind != "pandas with categories":
        assert "list" in refused([["a"], ["b", "c"]])


@pytest.mark.parametrize("kind", ["pandas", "Hugging Face", "mapping"])
@pytest.mark.parametrize("other", [5, 2.5, datetime.date(2020, 1, 1), ["ham"]])
def test_mixed_types_name_the_row(kind, other):
    with pytest.raises(CorpusError, match=r"mixed types: row 2 is .*astype"):
        list(TextCorpus(table(kind, ["ham", None, other]), column="text"))


# Columns where a list of texts is expected.

COLUMNS = {
    "pandas": lambda texts: pd.DataFrame({"text": texts})["text"],
    "pandas of objects": lambda texts: pd.Series(texts, dtype=object),
    "pandas with NaN": lambda texts: pd.Series(
        [np.nan if text is None else text for text in texts], dtype=object
    ),
    "pandas with categories": lambda texts: pd.Series(texts, dtype="category"),
    "polars": lambda texts: polars({"text": texts})["text"],
    "pyarrow": lambda texts: pa.table({"text": texts})["text"],
    "pyarrow array": pa.array,
    "Hugging Face": lambda texts: DataSet(text=texts)["text"],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_is_a_list_of_texts(kind):
    texts = ["the cat", "n/a", "é"]
    assert as_documents(COLUMNS[kind](texts)).texts == texts
    assert encode(COLUMNS[kind](texts)).fingerprint == encode(texts).fingerprint
    assert is_column(COLUMNS[kind](texts))
    assert not is_table(COLUMNS[kind](texts))


@pytest.mark.parametrize("kind", COLUMNS)
def test_missing_texts_of_a_column_are_empty_documents(kind):
    with pytest.warns(UserWarning, match="1 of 3 texts are missing"):
        assert as_documents(COLUMNS[kind](["ham", None, "eggs"])).texts == ["ham", "", "eggs"]
    with pytest.raises(CorpusError, match="empty in all 2 rows"):
        as_documents(COLUMNS[kind]([None, None]))


def test_what_is_neither_a_table_nor_a_column():
    data = {"train": table("Hugging Face"), "test": table("Hugging Face")}
    frame = table("pyarrow")
    for read in (
        as_documents,
        encode,
        lambda given: TextCorpus(given, column="text").fingerprint(),
    ):
        with pytest.raises(CorpusError, match="several tables, 'train', 'test'; give one of them"):
            read(data)
        reader = pa.RecordBatchReader.from_batches(frame.schema, frame.to_batches())
        with pytest.raises(CorpusError, match=r"only once; give the table, reader.read_all\(\)"):
            read(reader)


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_not_a_sequence_of_symbols(kind):
    with pytest.raises(CorpusError, match="table with the columns 'id', 'text'; give only the"):
        encode_sequences(table(kind))
    numbers = pd.DataFrame({"a": [0, 1], "b": [1, 0]})  # an array of integers is one
    assert encode_sequences(numbers).tokens.tolist() == [0, 1, -1, 1, 0, -1]


def test_ids_keep_their_type():
    def ids_of(ids):
        rows = {"id": ids, "text": ["a"] * len(ids)}
        ((_, part),) = in_batches(TextCorpus(pd.DataFrame(rows), column="text", id="id"))
        return part.ids

    assert ids_of([7, 8]) == [7, 8]
    assert ids_of([7, None]) == [7, "row 1"]  # of floats, in pandas
    assert ids_of(["007", ""]) == ["007", "row 1"]
    assert ids_of([2.5, 1e300]) == ["2.5", int(1e300)]
    assert ids_of([True, False]) == ["True", "False"]


def test_lists_are_not_columns():
    for given in (["a"], ("a",), np.array(["a"]), "a", iter(["a"])):
        assert not is_column(given)
        assert not is_table(given)
    with pytest.raises(CorpusError, match="item 2 is None"):
        encode(["ham", None])


@pytest.mark.filterwarnings("ignore:.*have no text")
def test_shards_of_tables(tmp_path):
    frame = table("pandas")
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "b.parquet")
    files = [tmp_path / "a.csv", tmp_path / "b.parquet"]
    for corpus in (TextCorpus(files, column="text"), TextCorpus(frame, column="text")):
        for unit in ("line", "document"):
            corpus.unit = unit
            parts = shards_of(corpus, 10)
            assert len(parts) >= 2
            assert [tokens for part in parts for tokens in part] == list(corpus)
    with pytest.raises(ClusterError, match="--skip-bad"):
        shards_of(TextCorpus(files, column="text", errors="skip"), 10)


def test_no_library_of_tables_is_loaded():
    code = "import eigentext.corpus.tables, sys; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
