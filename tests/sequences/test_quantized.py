"""Numbers in few bits: codes, and what they cost in perplexity."""

import os

import numpy as np
import pytest

import eigentext as et
from eigentext import KneserNey
from eigentext.sequences._quantized import encoded, quantized

from .test_smoothing import drawn

pytestmark = pytest.mark.filterwarnings("ignore:.*Too little text")


def test_few_values_are_exact():
    values = np.array([0.0, 1.0, 0.25, 0.5, 0.25, 1e-9])
    book, codes = encoded(values, 3)
    assert np.allclose(book[codes], values, rtol=1e-6, atol=0)
    assert (book[codes][:2] == values[:2]).all()
    assert codes.dtype == np.uint8
    assert encoded(values, 9)[1].dtype == np.uint16
    assert encoded(np.zeros(0), 4)[0].shape == (16,)
    assert (encoded(np.ones(5), 2)[0][encoded(np.ones(5), 2)[1]] == 1).all()


@pytest.mark.parametrize("bits", [2, 4, 8, 12])
def test_errors_fall_with_bits_and_bins_are_nearest(bits):
    values = np.random.default_rng(0).beta(0.3, 3, 20_000)
    book, codes = encoded(values, bits)
    assert len(book) == 1 << bits
    logs, found = np.log(values), np.log(book[codes])
    used = np.log(book[1:-1][book[1:-1] > 0])
    nearest = np.abs(logs[:500, None] - used).min(axis=1)
    assert np.allclose(np.abs(logs - found)[:500], nearest, atol=1e-5)
    even = np.array_split(np.sort(logs), (1 << bits) - 2)
    bound = sum(((part - part.mean()) ** 2).sum() for part in even)
    assert ((logs - found) ** 2).sum() <= bound  # not worse than bins of equal numbers


def test_the_few_large_values_are_not_lumped_together():
    """Few n-grams are frequent, and most tokens are theirs."""
    rng = np.random.default_rng(0)
    large = np.geomspace(0.02, 0.95, 60)
    values = np.append(np.exp(rng.normal(-8, 0.5, 20_000)), large)
    book, codes = encoded(values, 8)
    assert np.abs(np.log(book[codes][-60:] / large)).max() < 0.1


@pytest.mark.parametrize("bits", [3, 8, 16])
def test_files_keep_the_codes(tmp_path, bits):
    model = KneserNey(3).fit(drawn(300))
    text = drawn(40, seed=1)
    model.save(tmp_path / "model", quantize=bits)
    loaded = et.load(tmp_path / "model")
    tables = quantized(model._tables, bits)
    direct = model.__copy__()
    direct._tables = tables
    assert np.array_equal(loaded.log_probabilities(text), direct.log_probabilities(text))
    assert np.array_equal(loaded.distribution(["a"]), direct.distribution(["a"]))
    assert np.array_equal(loaded.distribution(), model.distribution())  # single words are exact
    error = abs(np.log(loaded.perplexity(text) / model.perplexity(text)))
    assert error < {3: 0.2, 8: 3e-3, 16: 1e-4}[bits]
    assert loaded._tables.probabilities.dtype == (np.uint8 if bits <= 8 else np.uint16)
    loaded.to_arpa(tmp_path / "model.arpa")
    again = KneserNey.from_arpa(tmp_path / "model.arpa")
    assert np.allclose(again.log_probabilities(text), loaded.log_probabilities(text), atol=1e-6)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_quantized_file_is_smaller(tmp_path):
    model = KneserNey(3).fit(drawn(2000, words="abcdefghijklmnopqrstuvwxyz"))
    sizes = []
    for bits in (None, 8):
        model.save(tmp_path / "model", mapped=True, quantize=bits)
        sizes.append(os.path.getsize(tmp_path / "model"))  # noqa: PTH202
    assert sizes[0] > sizes[1] + 6 * model._tables.trie.borders[-2]
