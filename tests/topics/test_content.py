"""Keys of documents: they depend on content alone, and draws by them are uniform."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import kstest

from eigentext.topics.content import (
    by_key,
    column_keys,
    document_keys,
    mixed,
    uniforms,
    word_keys,
)

MASK = (1 << 64) - 1


def plain_mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


@pytest.fixture
def counts():
    return sp.csr_array(np.random.default_rng(0).poisson(0.7, (60, 9)))


def test_the_finalizer():
    values = np.array([0, 1, 2, 1 << 63, MASK], np.uint64)
    assert mixed(values).tolist() == [plain_mixed(int(value)) for value in values]


def test_words_have_keys_by_name():
    words = ["ham", "eggs", "", "\udce4", "ἀρχή"]
    keys = word_keys(words)
    assert keys.dtype == np.uint64
    assert len(set(keys.tolist())) == 5
    assert np.array_equal(word_keys(words[::-1]), keys[::-1])
    assert np.array_equal(column_keys(3), word_keys(["0", "1", "2"]))
    assert len(word_keys([])) == 0


def test_keys_of_documents_depend_on_content_alone(counts):
    words, rng = column_keys(9), np.random.default_rng(1)
    keys = document_keys(counts, words)
    rows, columns = rng.permutation(60), rng.permutation(9)
    dense = counts.toarray()
    distinct = np.unique(dense, axis=0, return_index=True)[1]
    moved = document_keys(sp.csr_array(dense[rows][:, columns]), words[columns])
    assert sorted(moved.tolist()) == sorted(keys.tolist())
    found = dict(zip(rows.tolist(), moved.tolist()))
    assert [found[row] for row in distinct.tolist()] == keys[distinct].tolist()
    wider = sp.csr_array(np.hstack([dense, np.zeros((60, 4), int)]))
    assert np.array_equal(document_keys(wider, column_keys(13)), keys)
    assert np.array_equal(document_keys(counts.astype(np.float64), words), keys)
    assert np.array_equal(document_keys(counts[:20], words), keys[:20])


def test_all_documents_have_keys_of_their_own():
    copies = sp.csr_array([[1, 2, 0], [2, 1, 0], [1, 2, 0], [0, 0, 0], [0, 0, 0], [1, 2, 0]])
    keys = document_keys(copies, column_keys(3))
    assert len(set(keys.tolist())) == 6
    assert keys[0] == document_keys(copies[:1], column_keys(3))[0]
    assert len(document_keys(copies[:0], column_keys(3))) == 0


def test_numbers_by_keys_are_uniform_and_independent():
    keys = column_keys(20_000)
    first, second = uniforms(keys, 0), uniforms(keys, 1)
    for found in (first, second, uniforms(np.arange(20_000, dtype=np.uint64), 7)):
        assert kstest(found, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(first, second)[0, 1]) < 5 / np.sqrt(20_000)
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 5 / np.sqrt(20_000)
    assert np.array_equal(uniforms(keys[::-1], 0), first[::-1])


def test_entries_by_key(counts):
    words = column_keys(9)
    found = by_key(counts, words)
    assert np.array_equal(found.toarray(), counts.toarray())
    for start, stop in zip(found.indptr, found.indptr[1:]):
        assert (np.diff(words[found.indices[start:stop]].astype(float)) > 0).all()
