"""Arrays by their buffers are those that Arrow would make, without pandas."""

import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest

from eigentext.corpus.buffers import integer_array, integers_of, string_array


@pytest.mark.parametrize("strings", [[], ["a"], ["", "ab", "", "c"], ["é", "", "日本", "x", "😀"]])
def test_strings(strings):
    found = string_array(iter(strings))
    found.validate(full=True)
    assert found.equals(pa.array(strings, pa.large_string()))
    assert found.to_pylist() == strings


def test_integers_there_and_back():
    numbers = np.array([3, -1, 2**62])
    array = integer_array(numbers[::-1])
    array.validate(full=True)
    assert array.equals(pa.array(numbers[::-1].copy()))
    assert integers_of(array, np.int64).tolist() == numbers[::-1].tolist()
    assert integers_of(array[1:], np.int64).tolist() == [-1, 3]
    assert integers_of(pa.chunked_array([array, array[:1]]), np.int64).tolist()[-1] == 2**62
    for empty in (pa.chunked_array([], pa.int64()), array[:0], pa.array([], pa.int64())):
        assert integers_of(empty, np.int64).tolist() == []


def test_a_fit_does_not_load_pandas(tmp_path):
    pytest.importorskip("pandas")
    path = tmp_path / "text.txt"
    path.write_text("the cat sat\nthe dog sat\na cat ran\na dog ran é\n" * 5)
    code = (
        "import sys, eigentext as et\n"
        f"et.Eigenwords(2, window=1).fit({str(path)!r})\n"
        "assert 'pandas' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
