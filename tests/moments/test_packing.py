"""Packed counts: a round trip for any matrix, a slow twin, and a ValueError for anything else."""

from collections import Counter
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import engine
from eigentext.errors import ModelFileError
from eigentext.matrices.runs import csr
from eigentext.moments import _packing_loops, packing
from eigentext.moments.packing import _checksum, check_packed, pack, unpack
from eigentext.storage import read_saved, write_saved

COUNTS = st.one_of(st.integers(1, 3), st.integers(1, 400), st.integers(1, 2**62))


@st.composite
def matrices(draw):
    """CSR matrices, many of their rows empty, with columns up to the last that can be."""
    n_columns = draw(st.sampled_from([1, 3, 200, 2**31 - 1]))
    columns = st.integers(0, n_columns - 1)
    rows = draw(st.lists(st.dictionaries(columns, COUNTS, max_size=6), max_size=8))
    return matrix(rows, n_columns)


def matrix(rows, n_columns):
    """A CSR matrix of dictionaries from columns to counts."""
    indptr = np.cumsum([0, *map(len, rows)])
    entries = list(chain.from_iterable(sorted(row.items()) for row in rows))
    indices, data = (np.array([entry[side] for entry in entries], np.int64) for side in (0, 1))
    return csr(data, indices.astype(np.int32), indptr, (len(rows), n_columns))


def random_matrix(seed=0, shape=(300, 200)):
    rng = np.random.default_rng(seed)
    dense = rng.zipf(1.5, shape).clip(max=2**40) * (rng.random(shape) < 0.1)
    F = sp.csr_array(dense)
    return csr(F.data, F.indices, F.indptr, shape)


def assert_same(found, F):
    assert found.shape == F.shape
    for part in ("indptr", "indices", "data"):
        mine, theirs = getattr(found, part), getattr(F, part)
        assert mine.dtype == theirs.dtype
        assert np.array_equal(mine, theirs)


def leb128(number):
    digits = [number & 127]
    while number := number >> 7:
        digits.append(number & 127)
    return bytes([*(digit | 128 for digit in digits[:-1]), digits[-1]])


def bytes_by_hand(F):
    """What a block of all rows of F holds, from its definition."""
    rows = [
        list(zip(F.indices[a:b].tolist(), F.data[a:b].tolist()))
        for a, b in zip(F.indptr[:-1], F.indptr[1:])
    ]
    times = Counter(count for row in rows for _, count in row)
    distinct = sorted(times, key=lambda count: (-times[count], count))
    numbers = [*map(len, rows), len(distinct), *distinct]
    for row in rows:
        columns = [-1, *(column for column, _ in row)]
        numbers += [b - a - 1 for a, b in pairwise(columns)]
    numbers += [distinct.index(count) for row in rows for _, count in row]
    return b"".join(map(leb128, numbers))


def block_of(raw, n_rows, n_entries, *, claimed=None):
    """A block with any content, under a right checksum: what a hostile file would hold."""
    part = pa.Codec("zstd", 1).compress(bytes(raw), asbytes=True)
    sizes = [n_rows, n_entries, len(raw) if claimed is None else claimed, len(part)]
    table = np.array([[*sizes, _checksum(sizes, part)]], np.int64)
    return np.frombuffer(part, np.uint8), table


# Round trips.


@given(matrices())
def test_what_is_packed_is_unpacked(F):
    assert_same(unpack(*pack(F), F.shape), F)


@given(matrices())
def test_bytes_are_those_of_the_definition(F):
    if F.shape[0]:
        packed, blocks = pack(F)
        ((n_rows, n_entries, n_raw, n_packed, _),) = blocks.tolist()
        assert (n_rows, n_entries, n_packed) == (F.shape[0], F.nnz, len(packed))
        raw = pa.Codec("zstd").decompress(packed.tobytes(), n_raw, asbytes=True)
        assert raw == bytes_by_hand(F)


def test_known_bytes():
    F = matrix([{1: 300, 2: 7, 9: 7}, {}, {200: 7}], 201)
    lengths, distinct = [3, 0, 1], [2, 7, 300 & 127 | 128, 300 >> 7]
    gaps, codes = [1, 0, 6, 200 & 127 | 128, 200 >> 7], [1, 0, 0, 0]
    assert bytes_by_hand(F) == bytes([*lengths, *distinct, *gaps, *codes])


def test_many_blocks_give_the_same_bytes_on_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(packing, "_BLOCK_ENTRIES", 100)
    F = random_matrix()
    answers = set()
    for threads in (1, 2, 8):
        with engine.use(engine.ThreadEngine(threads)):
            packed, blocks = pack(F)
            assert_same(unpack(packed, blocks, F.shape), F)
        answers.add((packed.tobytes(), blocks.tobytes()))
    assert len(answers) == 1
    assert len(blocks) > 20


def test_files_of_many_blocks_are_read_whatever_size_blocks_have_now(monkeypatch):
    F = random_matrix()
    monkeypatch.setattr(packing, "_BLOCK_ENTRIES", 100)
    packed, blocks = pack(F)
    monkeypatch.undo()
    assert_same(unpack(packed, blocks, F.shape), F)


def test_large_counts_that_are_few_take_little():
    # With weights 1/d in a window of 10, a count of 1 is 2520.
    rng = np.random.default_rng(0)
    F = random_matrix(shape=(200, 2000))
    F.data = rng.integers(1, 9, F.nnz)
    small = len(pack(F)[0])
    F.data = F.data * 2520
    assert len(pack(F)[0]) < 1.01 * small


def test_only_counts_are_packed():
    with pytest.raises(ValueError, match="1 or more"):
        pack(sp.csr_array(np.array([[1, -1]])))


# Damage.


@pytest.fixture
def saved(tmp_path, zipf_lines):
    moments = et.CooccurrenceMoments.from_corpus(zipf_lines(30))
    moments.save(tmp_path / "moments")
    return tmp_path / "moments", moments


def test_a_bit_that_flips_anywhere_is_noticed(saved):
    path, _ = saved
    arrays, about = read_saved(path)
    form = about.pop("format")
    rng = np.random.default_rng(0)
    for name in ("packed", "blocks"):
        content = np.array(arrays[name])
        for place in rng.choice(content.nbytes, 60):
            bad = content.copy()
            bad.view(np.uint8).reshape(-1)[place] ^= 1 << rng.integers(8)
            write_saved(path, form, arrays | {name: bad}, about)
            with pytest.raises(ModelFileError, match="moments: damaged or made by something else"):
                et.load(path)


@pytest.mark.parametrize(
    "change",
    [
        {"packed": lambda packed: packed[:-1]},
        {"packed": lambda packed: packed[:0]},
        {"packed": lambda packed: np.append(packed, np.uint8(0))},
        {"packed": lambda packed: packed.astype(np.int64)},
        {"packed": lambda packed: packed.reshape(1, -1)},
        {"packed": lambda packed: packed.tolist() and ["a string"]},
        {"blocks": lambda blocks: blocks[:0]},
        {"blocks": lambda blocks: blocks[:, :-1]},
        {"blocks": lambda blocks: blocks.reshape(-1)},
        {"blocks": lambda blocks: -blocks},
        {"blocks": lambda blocks: blocks.astype(np.float64)},
        {"blocks": lambda blocks: np.concatenate([blocks, blocks])},
        {"blocks": lambda blocks: np.concatenate([blocks, blocks * 0])},
        {"words": lambda words: words[1:]},
        {"words": lambda words: [*words, "more"], "word_counts": lambda n: np.append(n, 1)},
        {"words": lambda words: words[1:], "word_counts": lambda n: n[1:]},
    ],
)
def test_parts_that_do_not_agree(saved, change):
    path, _ = saved
    arrays, about = read_saved(path)
    changed = {
        name: alter(arrays[name] if name == "words" else np.array(arrays[name]))
        for name, alter in change.items()
    }
    write_saved(path, about.pop("format"), arrays | changed, about)
    with pytest.raises(ModelFileError, match="moments: damaged or made by something else: "):
        et.load(path)


def test_a_file_cut_anywhere(saved):
    path, _ = saved
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(ModelFileError):
            et.load(path)


def test_a_missing_part(saved):
    path, _ = saved
    arrays, about = read_saved(path)
    form = about.pop("format")
    for name in arrays:
        write_saved(path, form, {n: a for n, a in arrays.items() if n != name}, about)
        with pytest.raises(ModelFileError, match=f"{name} is missing"):
            et.load(path)


# Malice: contents that no checksum gives away.

N_COLUMNS = 10
LARGE = leb128(2**63 - 1)


@pytest.mark.parametrize(
    ("raw", "n_rows", "n_entries", "wrong"),
    [
        ([], 1, 0, "lengths"),
        ([1], 2, 0, "lengths"),
        ([2, 1, 7, 0, 0], 1, 1, "lengths"),  # a row of 2 in 1 entry
        ([0, 1, 7, 0, 0], 1, 1, "lengths"),
        ([11, 1, 7, *[0] * 22], 1, 11, "lengths"),  # more than there are columns
        ([*LARGE, *LARGE, 1, 7, 0, 0, 0, 0], 2, 2, "lengths"),  # their sum overflows
        ([1, 2, 7, 7, 0, 0], 1, 1, "distinct"),  # more distinct counts than entries
        ([1, 1, 0, 0, 0], 1, 1, "distinct"),  # a count of 0
        ([1, 1, *[255] * 20], 1, 1, "distinct"),  # a number without an end
        ([1, 1, *[128] * 9, 1, 0, 0], 1, 1, "distinct"),  # one of 64 bits
        ([1, *LARGE], 1, 1, "distinct"),
        ([1, 1, 7, 10, 0], 1, 1, "columns"),
        ([2, 1, 7, 8, 1, 0, 0], 1, 2, "columns"),
        ([2, 1, 7, 0, *LARGE, 0, 0], 1, 2, "columns"),  # would come round to a small one
        ([1, 1, 7, 0, 1], 1, 1, "counts"),
        ([1, 1, 7, 0, *LARGE], 1, 1, "counts"),
        ([1, 1, 7, 0, 128], 1, 1, "counts"),  # ends in the middle of a number
        ([1, 1, 7, 0], 1, 1, "counts"),
        ([1, 0, 0, 0], 1, 1, "counts"),
        ([1, 1, 7, 0, 0, 0], 1, 1, "left over"),
    ],
)
def test_numbers_out_of_bounds(raw, n_rows, n_entries, wrong):
    with pytest.raises(ValueError, match=wrong):
        unpack(*block_of(raw, n_rows, n_entries), (n_rows, N_COLUMNS))


@given(
    st.lists(st.one_of(st.integers(0, 4), st.integers(0, 255)), max_size=30),
    st.integers(1, 4),
    st.integers(0, 6),
)
def test_any_bytes_are_a_matrix_or_an_error(raw, n_rows, n_entries):
    shape = (n_rows, N_COLUMNS)
    try:
        F = unpack(*block_of(raw, n_rows, n_entries), shape)
    except ValueError:
        return
    F.check_format(full_check=True)
    assert all((np.diff(F.indices[a:b]) > 0).all() for a, b in zip(F.indptr[:-1], F.indptr[1:]))
    assert F.nnz == n_entries
    assert (F.data > 0).all()


def test_claims_are_checked_before_memory_is_taken():
    raw = [1, 1, 7, 0, 0]
    for n_entries, claimed in ((2**40, 5), (2**61, 2**62), (1, 2**40), (1, 0), (1, 1)):
        packed, blocks = block_of(raw, 1, n_entries, claimed=claimed)
        with pytest.raises(ValueError, match="claim"):
            check_packed(packed, blocks, (1, N_COLUMNS))
    for claimed in (4, 6, 100_000):  # a size that could be, but is not
        with pytest.raises(ValueError, match="ZSTD"):
            unpack(*block_of(raw, 1, 1, claimed=claimed), (1, N_COLUMNS))


def test_bytes_that_are_not_compressed():
    sizes = [1, 1, 5, 20]
    table = np.array([[*sizes, _checksum(sizes, b"x" * 20)]], np.int64)
    with pytest.raises(ValueError, match="ZSTD"):
        unpack(np.frombuffer(b"x" * 20, np.uint8), table, (1, N_COLUMNS))


def test_a_hostile_file_is_refused_when_its_counts_are_asked_for(saved):
    path, moments = saved
    arrays, about = read_saved(path)
    n = len(moments.vocabulary)
    packed, blocks = block_of([1, *[0] * (n - 1), 1, 7, n, 0], n, 1)  # one past the last column
    arrays |= {"packed": packed, "blocks": blocks}
    write_saved(path, about.pop("format"), arrays, about)
    loaded = et.load(path)
    for _ in range(2):
        with pytest.raises(ModelFileError, match=r"moments: damaged: .*columns.*copy it again"):
            loaded.counts()


# Kernels without a caller above.


def test_frequent_entries_are_kept():
    rng = np.random.default_rng(1)
    for least in (1, 2, 5, 100):
        A, B = (rng.integers(0, 5, (20, 30)) * (rng.random((20, 30)) < 0.4) for _ in range(2))
        a, b = (sp.csr_array(dense) for dense in (A, B))
        parts = [(m.indptr.astype(np.int64), m.indices, m.data) for m in (a, b)]
        indptr, indices, data = _packing_loops.keep_frequent(*parts[0], *parts[1], least)
        kept = csr(data, indices, indptr, A.shape)
        total = A + B
        twin = np.where(total >= least, A, 0)
        assert np.array_equal(kept.toarray(), twin)
        assert kept.nnz == (twin > 0).sum()
