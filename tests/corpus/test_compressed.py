"""Files are compressed as their names say, and the readers read them again."""

from pathlib import Path

import pytest

from eigentext.corpus.compressed import compressed
from eigentext.corpus.readers import open_bytes


@pytest.mark.parametrize("name", ["a", "a.gz", "a.bz2", "a.xz", "a.zst"])
def test_the_reader_reads_what_was_written(tmp_path, name):
    written = []
    for temporary in (tmp_path / "one", tmp_path / "two"):
        with compressed(temporary, Path(name)) as file:
            file.write(b"ham " * 1000)
        written.append(temporary.read_bytes())
    assert written[0] == written[1]  # no time and no name in it
    assert (len(written[0]) < 4000) == (name != "a")
    (tmp_path / "one").rename(tmp_path / name)
    with open_bytes(tmp_path / name) as opened:
        assert opened.read() == b"ham " * 1000
