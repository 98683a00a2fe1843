"""Files of tables: every format gives the same rows, and bad files are refused by name."""

import bz2
import gzip
import json
import warnings

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from eigentext import TextCorpus
from eigentext.corpus import encode, readers
from eigentext.corpus.documents import in_batches
from eigentext.errors import BadItemsWarning, CorpusError, ParameterError

TEXTS = ["I ate, ham", 'she said "hi"\nand left', "", "Ünïcode; é | x\ty", "007"]
IDS = ["a", "b", "c", "d", "e"]
UNITS = [
    ["I", "ate,", "ham"],
    ["she", "said", '"hi"', "and", "left"],
    ["Ünïcode;", "é", "|", "x", "y"],
    ["007"],
]


def table():
    return pa.table({"id": IDS, "stars": [1, 2, 3, 4, 5], "text": TEXTS})


def delimited(mark, encoding="utf-8"):
    def quoted(value):
        return '"' + str(value).replace('"', '""') + '"'

    rows = [table().column_names, *zip(*(column.to_pylist() for column in table().columns))]
    return "".join(mark.join(map(quoted, row)) + "\r\n" for row in rows).encode(encoding)


def json_lines(encoding="utf-8"):
    rows = table().to_pylist()
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode(encoding)


def stream(path):
    with pa.ipc.new_stream(str(path), table().schema) as writer:
        for batch in table().to_batches(max_chunksize=2):
            writer.write_batch(batch)


FILES = {
    "a.csv": lambda path: path.write_bytes(delimited(",")),
    "b.csv": lambda path: path.write_bytes(delimited(";")),
    "bom.csv": lambda path: path.write_bytes(delimited(",", "utf-8-sig")),
    "a.tsv": lambda path: path.write_bytes(delimited("\t")),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(delimited(","))),
    "a.jsonl": lambda path: path.write_bytes(json_lines()),
    "a.ndjson.bz2": lambda path: path.write_bytes(bz2.compress(json_lines())),
    "a.parquet": lambda path: pq.write_table(table(), path, row_group_size=2),
    "a.feather": lambda path: feather.write_feather(table(), str(path), chunksize=2),
    "stream.arrow": stream,
    # Without an ending, the content decides.
    "csv": lambda path: path.write_bytes(delimited(",")),
    "tsv": lambda path: path.write_bytes(delimited("\t")),
    "json": lambda path: path.write_bytes(json_lines()),
    "parquet": lambda path: pq.write_table(table(), path),
    "feather": lambda path: feather.write_feather(table(), str(path)),
    "stream": stream,
}


@pytest.fixture
def file(tmp_path):
    def write(name, content=None):
        path = tmp_path / name
        FILES[name](path) if content is None else path.write_bytes(content)
        return path

    return write


def read(*arguments, **options):
    """The units of a corpus; the one row without text is told."""
    corpus = TextCorpus(*arguments, **{"column": "text", **options})
    with pytest.warns(UserWarning, match="1 of 5 rows have no text in the column 'text'"):
        units = list(corpus)
    assert list(corpus) == units  # it can be read again, and tells only once
    return units


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_rows(file, name, monkeypatch):
    path = file(name)
    assert read(path) == read(str(path)) == UNITS
    assert read(path, unit="document") == UNITS
    assert read(path, unit="stream") == [[token for unit in UNITS for token in unit]]
    monkeypatch.setattr(readers, "BLOCK_BYTES", 7)
    assert read(path) == UNITS


@pytest.mark.parametrize("name", FILES)
def test_rows_without_text_are_documents_so_that_ids_stay_aligned(file, name):
    # Whole numbers stay what they are, also in CSV, which has only text.
    for options, ids in (({"id": "id"}, IDS), ({"id": "stars"}, [1, 2, 3, 4, 5]), ({}, [])):
        corpus = TextCorpus(file(name), column="text", **options)
        with pytest.warns(UserWarning, match="empty documents"):
            ((places, part),) = in_batches(corpus)
        assert part.texts == [text.replace("\n", " ") for text in TEXTS]
        assert part.ids == ids
        assert [number for _, number in places] == [1, 2, 3, 4, 5]


def test_ids_in_csv_stay_as_they_are_written(tmp_path):
    written = ["7", "-1", "0", "007", "+1", "1.0", "-0", "1" * 30, "a"]
    (tmp_path / "a.csv").write_text("id,text\n" + "".join(f"{one},ham\n" for one in written))
    ((_, part),) = in_batches(TextCorpus(tmp_path / "a.csv", column="text", id="id"))
    assert part.ids == [7, -1, 0, *written[3:]]
    assert [str(one) for one in part.ids] == written
    table = pa.table({"id": ["7", "8"], "text": ["ham", "eggs"]})
    pq.write_table(table, tmp_path / "a.parquet")  # a type says that these are text
    ((_, part),) = in_batches(TextCorpus(tmp_path / "a.parquet", column="text", id="id"))
    assert part.ids == ["7", "8"]


def test_several_files_are_read_in_order(file):
    corpus = TextCorpus([file("a.csv"), file("a.parquet"), file("a.jsonl")], column="text")
    with pytest.warns(UserWarning, match="3 of 15 rows"):
        assert list(corpus) == 3 * UNITS


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "latin-1", "cp1252"])
@pytest.mark.parametrize(("name", "content"), [("a.csv", delimited), ("a.jsonl", json_lines)])
def test_encodings(file, encoding, name, content):
    mark = [","] if name == "a.csv" else []
    path = file(name, content(*mark, encoding=encoding))
    assert read(path, encoding=encoding) == UNITS
    with pytest.raises(CorpusError, match=r"line \d|row \d.*encoding="):
        list(TextCorpus(path, column="text"))


def test_fingerprints_know_the_column_and_the_encoding(file, tmp_path):
    content = 'id,text,title\n1,"é ham",eggs\n'.encode()
    path = file("x.csv", content)
    options = [
        {"column": "text"},
        {"column": "title"},
        {"column": "text", "encoding": "latin-1"},
        {"column": "text", "unit": "stream"},
        {"column": "text", "errors": "skip"},
    ]
    assert len({TextCorpus(path, **each).fingerprint() for each in options}) == 5
    # An id changes no token. A copy is the same text.
    same = [{"column": "text"}, {"column": "text", "id": "id"}]
    assert len({TextCorpus(path, **each).fingerprint() for each in same}) == 1
    # So the cache never answers for another column or encoding.
    for each in options[:3] * 2:
        again = encode(TextCorpus(path, **each), cache=tmp_path / "cache")
        assert again.words == encode(TextCorpus(path, **each)).words


# A table that is read as plain text.


@pytest.mark.parametrize("name", [name for name in FILES if "." in name])
def test_a_table_is_not_read_as_text_silently(file, name):
    with pytest.raises(CorpusError) as caught:
        TextCorpus(file(name))
    assert "'id', 'stars', 'text'" in str(caught.value)
    assert "column='text' (--column text)" in str(caught.value)
    is_binary = name in ("a.parquet", "a.feather", "stream.arrow")
    assert ("rename" in str(caught.value)) != is_binary


def test_text_under_the_ending_of_a_table_is_text(file):
    for name in ("x.csv", "x.tsv", "x.jsonl"):
        lines = b"I ate, ham\nYou, and I, ate\nno comma\n"
        assert len(list(TextCorpus(file(name, lines)))) == 3
    assert list(TextCorpus(file("x.txt", delimited(","))))  # a name that says "text"


# Bad input.


def refused(path, **options):
    with pytest.raises(CorpusError) as caught, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(TextCorpus(path, **{"column": "text", **options}))
    message = str(caught.value)
    assert str(path) in message
    return message


@pytest.mark.parametrize("name", FILES)
def test_a_missing_column_names_those_there_are(file, name):
    message = refused(file(name), column="texts")
    assert "no column 'texts'; its columns are 'id', 'stars', 'text'" in message
    assert "no column 'no'" in refused_id(file(name))


def refused_id(path):
    with pytest.raises(CorpusError) as caught:
        list(in_batches(TextCorpus(path, column="text", id="no")))
    return str(caught.value)


def test_an_id_needs_a_column(file):
    with pytest.raises(ParameterError, match="--column"):
        TextCorpus(file("a.csv"), id="id")


@pytest.mark.parametrize("name", FILES)
def test_numbers_are_not_text(file, name):
    message = refused(file(name), column="stars")
    assert "'stars'" in message
    assert "number" in message or "int64" in message
    assert "column" in message


def write(path, columns):
    data = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(data, path)
    elif path.suffix == ".feather":
        feather.write_feather(data, str(path))
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in data.to_pylist()))
    return path


@pytest.mark.parametrize("name", ["x.parquet", "x.feather", "x.jsonl"])
def test_empty_and_nested_columns(tmp_path, name):
    path = write(tmp_path / name, {"id": ["a", "b"], "text": pa.array([None, None], pa.string())})
    assert "the column 'text' is empty in all 2 rows" in refused(path)
    path = write(tmp_path / name, {"text": pa.array([None, None], pa.null())})
    assert "is empty in all 2 rows" in refused(path)
    path = write(tmp_path / name, {"text": [["a", "b"], ["c"]]})
    assert "list" in refused(path)
    path = write(tmp_path / name, {"text": [{"a": 1}, {"a": 2}]})
    assert "not text" in refused(path)


def test_empty_csv_columns_and_tables(file, tmp_path):
    assert "empty in all 2 rows" in refused(file("x.csv", b"id,text\n1,\n2,\n"))
    assert "the table has no rows" in refused(file("x.csv", b"id,text\n"))
    assert "the table is empty" in refused(file("x.csv", b""))
    assert "the table is empty" in refused(file("x.csv", b"\n \n"))
    assert "the table has no rows" in refused(file("x.jsonl", b""))
    for name in ("x.parquet", "x.feather"):
        path = write(tmp_path / name, {"text": pa.array([], pa.string())})
        assert "the table has no rows" in refused(path)


def test_mixed_types_in_json_lines(file):
    path = file("x.jsonl", b'{"text": "ham"}\n\n{"text": 5}\n{"text": "eggs"}\n')
    assert "line 3: 'text' is a number, 5, not text" in refused(path)


def test_a_missing_key_is_a_missing_value(file):
    corpus = TextCorpus(file("x.jsonl", b'{"text": "ham"}\n{"id": 2}\n'), column="text")
    with pytest.warns(UserWarning, match="1 of 2 rows have no text"):
        assert list(corpus) == [["ham"]]


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "stream.arrow"])
def test_files_cut_short(file, name):
    content = file(name).read_bytes()
    for size in range(0, len(content) - 8, max(1, len(content) // 25)):
        path = file(name, content[:size])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                units = list(TextCorpus(path, column="text"))
        except CorpusError as error:
            assert str(path) in str(error)
        else:  # a stream may end after any batch
            assert name == "stream.arrow"
            assert units == UNITS[: len(units)]


def test_a_packed_parquet_file_is_refused(tmp_path, file):
    path = tmp_path / "a.parquet.gz"
    path.write_bytes(gzip.compress(file("a.parquet").read_bytes()))
    assert "unpack it first" in refused(path)


def test_parquet_with_a_name_of_another_format(file):
    assert refused(file("x.parquet", delimited(",")))
    assert refused(file("x.feather", json_lines()))


def test_bytes_that_are_not_text(file, tmp_path):
    content = b"id,text\n1,ham\n2,d\xe9j\xe0\n3,eggs\n"
    message = refused(file("x.csv", content))
    assert "line 3: byte 0xe9 is not UTF-8" in message
    assert "--encoding cp1252" in message
    assert "errors='replace'" in message
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"text": pa.array([b"ham", b"d\xe9j\xe0"], pa.binary())}), path)
    assert "row 2: byte 0xe9" in refused(path)
    corpus = TextCorpus(path, column="text", errors="replace")
    assert list(corpus) == [["ham"], ["d\ufffdj\ufffd"]]


# Rows that are skipped.


def with_bad(good, bad, n_good=30):
    return good * n_good + bad + good


@pytest.mark.parametrize(
    ("name", "head", "good", "bad", "reason"),
    [
        ("x.jsonl", b"", b'{"text": "a b"}\n', b"{oops\n", "line 31: not JSON"),
        ("x.jsonl", b"", b'{"text": "a b"}\n', b"[1]\n", "line 31: not a JSON object"),
        ("x.jsonl", b"", b'{"text": "a b"}\n', b'{"text": 1}\n', "line 31: 'text' is a number"),
        (
            "x.jsonl",
            b"",
            b'{"text": "a b"}\n',
            b'{"text": "\\ud800"}\n',
            "line 31: 'text' has half",
        ),
        ("x.jsonl", b"", b'{"text": "a b"}\n', b'{"text": "\xff"}\n', "line 31: byte 0xff"),
        ("x.jsonl", b"", b'{"text": "a b"}\n', b"[" * 10**5 + b"\n", "line 31: "),
        ("x.csv", b"text,id\n", b"a b,1\n", b"a,b,c\n", "row 31: 3 values for 2 columns"),
        ("x.csv", b"text,id\n", b"a b,1\n", b"a\n", "row 31: 1 values for 2 columns"),
        ("x.csv", b"text,id\n", b"a b,1\n", b"\xff,1\n", "not UTF-8"),
        ("x.csv", b"text,id\n", b"a b,1\n", b"\xff,1,2\n", ""),  # both at once
    ],
)
def test_bad_rows_are_refused_or_skipped(file, name, head, good, bad, reason):
    path = file(name, head + with_bad(good, bad))
    message = refused(path)
    assert reason in message
    corpus = TextCorpus(path, column="text", errors="skip")
    with pytest.warns(BadItemsWarning, match="skipped 1 of 32 rows") as caught:
        assert list(corpus) == [["a", "b"]] * 31
    assert reason in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(corpus) == [["a", "b"]] * 31  # told once
    ((places, _),) = in_batches(corpus)
    assert [number for _, number in places] == [*range(1, 31), 32]  # as in the file
    path = file(name, head + with_bad(good, bad, n_good=3))
    assert "more than a tenth" in refused(path, errors="skip")


def test_a_quote_that_never_ends(file):
    rows = b'id,text\n1,ham\n2,"eggs\n3,cheese\n4,bread\n'
    assert "line 3: a quote begins here and never ends" in refused(file("x.csv", rows))
    rows = b'text,id\nham,1\n"eggs,2\ncheese,3\n'
    assert "row 2: 1 values for 2 columns" in refused(file("x.csv", rows))
    rows = b'id,text,note\n1,ham,x\n2,eggs,"y\n3,cheese,z\n'  # in a column that is not read
    assert "line 3: a quote begins here" in refused(file("x.csv", rows))
