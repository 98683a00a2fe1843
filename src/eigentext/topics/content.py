"""Numbers that stand for the content of documents, so that draws do not depend on their places.

A document's *key* is a hash of its bag: of the names of its words, and of their counts. Whatever is
drawn for a document (the topics of its tokens, whether it is held out) is drawn by its key and the
random seed. So it does not change with the order of documents, nor if other documents come or go.
Equal documents are numbered, so that their draws are independent.
"""

import hashlib
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from eigentext.matrices.runs import CSR

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the step of splitmix64


def word_keys(words: Sequence[str]) -> np.ndarray:
    """Return a number of 64 bits for each word, by its name.

    Examples
    --------
    >>> (word_keys(["ham", "eggs"])[::-1] == word_keys(["eggs", "ham"])).all()
    np.True_
    """
    digests = (
        hashlib.blake2b(word.encode(errors="surrogatepass"), digest_size=8) for word in words
    )
    return np.frombuffer(b"".join(digest.digest() for digest in digests), "<u8").astype(np.uint64)


def column_keys(n: int) -> np.ndarray:
    """Return a number of 64 bits for each of n columns without names."""
    return word_keys(list(map(str, range(n))))


def document_keys(counts: CSR, words: np.ndarray) -> np.ndarray:
    """Return a number of 64 bits for each row of counts, by the keys of `words` and their counts.

    Examples
    --------
    >>> counts = sp.csr_array([[1, 2], [0, 1]])
    >>> keys = document_keys(counts, word_keys(["ham", "eggs"]))
    >>> swapped = document_keys(counts[::-1, ::-1].tocsr(), word_keys(["eggs", "ham"]))
    >>> (keys == swapped[::-1]).all()
    np.True_
    """
    amounts = np.asarray(counts.data, np.float64).view(np.uint64)  # of whole numbers and fractions
    entries = mixed(words[counts.indices] + mixed(amounts) * _GOLDEN)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    keys = mixed(sums[counts.indptr[1:]] - sums[counts.indptr[:-1]])
    order = np.argsort(keys, kind="stable")
    inside = np.arange(len(keys)) - np.searchsorted(keys[order], keys[order])
    if inside.any():  # the second of equal documents is number 1, and so on
        numbers = np.zeros(len(keys), np.uint64)
        numbers[order] = inside
        keys = np.where(numbers > 0, mixed(keys + numbers * _GOLDEN), keys)
    return keys


def uniforms(keys: np.ndarray, *seed: int) -> np.ndarray:
    """Return a number from 0 to 1 for each key, independent for different keys and seeds."""
    lot = np.random.default_rng(seed).integers(1 << 64, dtype=np.uint64)
    return (mixed(mixed(keys + lot) + lot) >> np.uint64(11)) * 2.0**-53


def by_key(counts: CSR, words: np.ndarray) -> CSR:
    """Return the counts with the entries of each row in the order of the keys of their words."""
    order = np.argsort(words, kind="stable")
    rank = np.empty(len(order), counts.indices.dtype)
    rank[order] = np.arange(len(order))
    found = sp.csr_array(
        (counts.data.copy(), rank[counts.indices], counts.indptr), shape=counts.shape
    )
    found.has_sorted_indices = False
    found.sort_indices()
    columns = order[found.indices].astype(counts.indices.dtype)
    return sp.csr_array((found.data, columns, found.indptr), shape=counts.shape)


def mixed(x: np.ndarray) -> np.ndarray:
    """Return the finalizer of splitmix64, which makes neighbors independent."""
    with np.errstate(over="ignore"):
        x = x + _GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))
