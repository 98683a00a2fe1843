"""Readers that cannot be hurt: mutations of good files are read, or refused by name.

``benchmarks/fuzz_readers.py`` is the same with a fuzzer that looks at coverage, for minutes.
"""

import importlib.util
import random
from pathlib import Path

import pytest

_spec = importlib.util.spec_from_file_location("_readers", Path(__file__).with_name("_readers.py"))
table = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(table)

N_INPUTS = 300


def mutated(data, rng, tokens):
    """The input after one to four changes."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        start = rng.randrange(len(changed) + 1)
        stop = min(len(changed), start + rng.choice((1, 1, 2, 8, 64)))
        kind = rng.randrange(7)
        if kind == 0:
            changed[start:stop] = b""
        elif kind == 1:
            changed[start:start] = rng.choice(tokens)
        elif kind == 2:
            changed[start:stop] = rng.randbytes(stop - start)
        elif kind == 3:
            changed[start:start] = changed[start:stop] * rng.choice((1, 2, 100))
        elif kind == 4:
            del changed[start:]
        elif kind == 5 and changed:
            changed[start % len(changed)] ^= 1 << rng.randrange(8)
        else:
            changed[start:stop] = rng.choice(tokens) * rng.choice((1, 3, 1000))
    return bytes(changed)


@pytest.mark.parametrize("name", table.READERS)
def test_good_files_are_read(tmp_path, name):
    taken = [table.attempt(name, seed, tmp_path) for seed in table.seeds(name)]
    assert sum(taken) > len(taken) / 2


@pytest.mark.parametrize("name", table.READERS)
def test_mutated_files_are_read_or_refused(tmp_path, name):
    rng = random.Random(name)
    tokens = [*table.READERS[name].tokens, *table.COMMON]
    seeds = table.seeds(name)
    n_taken = 0
    for _ in range(N_INPUTS):
        data = mutated(rng.choice(seeds), rng, tokens)
        try:
            n_taken += table.attempt(name, data, tmp_path)
        except Exception as error:
            error.add_note(f"the input is {data!r}")
            raise
    assert 0 < n_taken < N_INPUTS


@pytest.mark.parametrize("name", table.READERS)
@pytest.mark.parametrize("ending", table.PACK)
def test_cut_packed_files_are_refused(tmp_path, name, ending):
    whole = table.PACK[ending](table.READERS[name].good[0])
    form = 8 + list(table.PACK).index(ending)
    assert table.attempt(name, bytes([form, 0]) + whole, tmp_path)
    for size in range(0, len(whole), max(1, len(whole) // 20)):
        assert not table.attempt(name, bytes([form, 0]) + whole[:size], tmp_path)
