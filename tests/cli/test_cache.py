"""`eigentext cache`: where things are kept, how large they are, and clearing them."""

import json
import os

import pytest

from eigentext.cli.cache import _in_words
from eigentext.corpus import TextCorpus, encode

COMPILED = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled in this run"
)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A cache of texts, and one of loops, with things of other people inside."""
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path / "texts"))
    monkeypatch.setattr("numba.config.CACHE_DIR", str(tmp_path / "loops"))
    others = [
        tmp_path / "texts" / "thesis.txt",
        tmp_path / "texts" / "data" / "mine.zip",
        tmp_path / "texts" / "folder" / "words.safetensors",
        tmp_path / "texts" / ".eigentext-new-abc" / "tokens.i32",  # being written just now
        tmp_path / "loops" / "other_0123" / "loops.f-1.py311.nbi",
    ]
    for path in others:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("precious")
    encode(TextCorpus(["a b c"]), cache=True)
    yield others
    assert all(path.read_text() == "precious" for path in others)


def test_texts(cli, folders, tmp_path):
    (row,) = json.loads(cli("cache", "texts", "--json").out)
    assert row["folder"] == str(tmp_path / "texts")
    assert row["files"] == 3
    told = cli("cache", "texts").out
    assert told.startswith("encoded texts ")
    assert told.rstrip().endswith(str(tmp_path / "texts"))
    assert json.loads(cli("cache", "texts", "--clear", "--json").out) == {
        "cleared": {"texts": row["bytes"]}
    }
    (row,) = json.loads(cli("cache", "texts", "--json").out)
    assert (row["files"], row["bytes"]) == (0, 0)
    assert cli("cache", "texts", "--clear").out.split()[-3:] == ["0", "bytes", "deleted"]


def test_data_sets_are_deleted_only_by_name(cli, folders, tmp_path):
    path = tmp_path / "texts" / "data" / "nltk_data" / "corpora" / "brown.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"12345")
    rows = {row["kind"]: row for row in json.loads(cli("cache", "--json").out)}
    assert list(rows) == ["loops", "texts", "data"]
    assert (rows["data"]["files"], rows["data"]["bytes"]) == (1, 5)
    assert cli("cache", "--clear").status == 0
    assert path.exists()
    assert "5 bytes  deleted" in cli("cache", "data", "--clear").out
    assert not path.exists()


@COMPILED
def test_compiled_loops(process, tmp_path):
    environment = {
        "NUMBA_CACHE_DIR": str(tmp_path / "loops"),
        "EIGENTEXT_SHIPPED_LOOPS": "off",
        "EIGENTEXT_CACHE": str(tmp_path / "texts"),
    }
    code = "from eigentext.kernels import TreeKernel; TreeKernel()('(A b)', '(A b)')"
    assert process("cache", before=code, env=environment).status == 0
    (row,) = json.loads(process("cache", "loops", "--json", env=environment).out)
    assert row["folder"] == str(tmp_path / "loops")
    assert row["files"] == len([*(tmp_path / "loops").rglob("*.nb?")]) > 1
    assert process("cache", "--clear", env=environment).status == 0
    assert [*(tmp_path / "loops").rglob("*")] == []


def test_mistakes(cli):
    assert "'models' is no kind of cache; there are loops, texts, data" in (
        cli("cache", "models").mistake
    )


def test_sizes_in_words():
    assert [_in_words(n) for n in (0, 7, 999, 1234, 20_345_678, 5 * 10**13)] == [
        "0 bytes", "7 bytes", "999 bytes", "1.23 kB", "20.3 MB", "5e+04 GB",
    ]  # fmt: skip
