"""Delimited values: dialects by looking, and rows as Python's csv module reads them."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.bad_items import BadItems
from eigentext.corpus.delimited import ByteStream, dialect_of, looks_like_table, read_delimited
from eigentext.errors import CorpusError

VALUES = st.text("ab,;\t|\"' \né", max_size=8)
ROWS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=8)


@given(ROWS, st.sampled_from(",;\t|"), st.sampled_from(["\n", "\r\n"]))
def test_rows_are_those_of_the_csv_module(tmp_path_factory, rows, delimiter, end):
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL)
    writer.writerows([("first", "second"), *rows])
    path = tmp_path_factory.mktemp("csv") / "x"
    path.write_bytes(file.getvalue().encode())
    dialect = dialect_of(path.read_bytes(), "second")
    assert dialect.delimiter == delimiter
    assert dialect.quotes
    found, numbers = [], []
    for columns, places in read_delimited(
        path, dialect, ["second", "first"], BadItems("raise", "")
    ):
        found += zip(columns[1].to_pylist(), columns[0].to_pylist())
        numbers += places.tolist()
    assert [tuple(value.decode() for value in row) for row in found] == rows
    assert numbers == list(range(1, len(rows) + 1))


def test_quotes_that_are_plain_characters(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b'id\ttext\n1\t"Ham" she said\n2\t"eggs\n3\tcheese"\n')
    dialect = dialect_of(path.read_bytes(), "text", tabs=True)
    assert not dialect.quotes
    ((columns, _),) = read_delimited(path, dialect, ["text"], BadItems("raise", "rows"))
    assert columns[0].to_pylist() == [b'"Ham" she said', b'"eggs', b'cheese"']


@pytest.mark.parametrize(
    ("head", "names"),
    [
        (b"id,text\n1,ham\n", ["id", "text"]),
        (b'id;text\n1;"a; b"\n', ["id", "text"]),
        (b"text\nham\n", []),
        (b"I ate, ham\nand cheese\n", []),
        (b"no delimiter at all\n", []),
        (b"", []),
    ],
)
def test_what_looks_like_a_table(head, names):
    assert looks_like_table(head) == names


def test_numbers_of_rows_count_those_that_were_skipped(tmp_path):
    path = tmp_path / "x.csv"
    rows = ["1,a", "2", "3,c", "4,d,e", "5", "6,f"] + ["7,g"] * 60
    path.write_text("n,text\n" + "\n".join(rows) + "\n")
    bad = BadItems("skip", "rows")
    ((columns, numbers),) = read_delimited(path, dialect_of(path.read_bytes()), ["n"], bad)
    assert bad.n_bad == 3
    assert columns[0].to_pylist()[:3] == [b"1", b"3", b"6"]
    assert numbers[:4].tolist() == [1, 3, 6, 7]


def test_a_stream_gives_the_bytes_that_are_asked_for():
    class Generous:
        """Reads more than it is asked for, as recoding does."""

        pieces = iter([b'ab"cd', b"e", b"fgh", b""])

        def read(self, size):
            return next(self.pieces, b"")

    stream = ByteStream(Generous())
    assert [stream.read(2) for _ in range(7)] == [b"ab", b'"c', b"d", b"e", b"fg", b"h", b""]
    assert stream.n_quotes == 1


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_bytes_that_are_not_utf_8(size):
    data = "x,y\nd\u00e9j\u00e0,\u20ac\n".encode() + b"\xe9,z\n"

    def read(errors):
        stream = ByteStream(io.BytesIO(data), "x.csv", errors)
        return b"".join(iter(lambda: stream.read(size), b"")).decode()

    assert read("surrogateescape") == "x,y\nd\u00e9j\u00e0,\u20ac\n\0,z\n"
    assert read("replace") == "x,y\nd\u00e9j\u00e0,\u20ac\n\ufffd,z\n"
    with pytest.raises(CorpusError, match=r"x\.csv, line 3: byte 0xe9 is not UTF-8"):
        read("strict")


def test_a_row_that_is_too_long(tmp_path, monkeypatch):
    from eigentext.corpus import delimited

    monkeypatch.setattr(delimited, "_LONGEST_ROW", 1 << 10)
    path = tmp_path / "x.csv"
    path.write_bytes(b'text,id\n"' + b"ham, eggs\n" * 1000)
    with pytest.raises(CorpusError, match="is a quote not closed"):
        list(read_delimited(path, dialect_of(b"text,id\n"), ["text"], BadItems("raise", "rows")))
    assert np.array_equal(delimited._with_skipped(np.array([1, 2]), []), [1, 2])
