"""Encoded texts and data sets in the cache folder, which may have other files in it."""

import os
import time

import pytest

from eigentext.corpus import TextCorpus, cached, encode


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_nothing_is_there_yet(folder):
    for kind in ("texts", "data"):
        assert cached.files(kind) == []
        assert cached.clear(kind) == 0
    assert not folder.exists()


def test_a_text_in_use_stays_readable(folder):
    encoded = encode(TextCorpus(["a b c", "a b"]), cache=True)
    again = encode(TextCorpus(["a b c", "a b"]), cache=True)  # mapped from the file
    sizes = [file.stat().st_size for file in cached.files("texts")]
    assert cached.clear("texts") == sum(sizes) > 0
    assert again.tokens.tolist() == encoded.tokens.tolist()
    assert list(folder.iterdir()) == []


def test_what_is_being_written_stays_for_a_day(folder):
    unfinished = folder / ".eigentext-new-x"
    unfinished.mkdir(parents=True)
    (unfinished / "tokens.i32").write_bytes(b"1234")
    assert cached.clear("texts") == 0
    assert unfinished.exists()
    two_days_ago = time.time() - 2 * 86_400
    os.utime(unfinished, (two_days_ago, two_days_ago))
    assert cached.clear("texts") == 4
    assert not unfinished.exists()


def test_links_are_not_followed(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_text("x")
    folder.mkdir()
    (folder / f"{'a' * 40}-v1").symlink_to(other)
    assert cached.clear("texts") == 0
    assert (other / "precious").exists()
