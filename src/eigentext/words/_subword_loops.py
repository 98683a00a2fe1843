"""Character n-grams, hashed."""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def hash_ngrams(utf8, offsets, shortest, longest, n_buckets, buckets, indptr):
    """Equivalent to ``fnv1a(gram) % n_buckets`` for each word's n-grams, by start, then by length.

    Word w is ``utf8[offsets[w]:offsets[w + 1]]``; its buckets are put in ``buckets``, from
    ``indptr[w]`` to ``indptr[w + 1]``. FNV-1a in 32 bits: begin with 2166136261; for every byte,
    exclusive or, then times 16777619. A character is a byte and the bytes 10xxxxxx after it.
    """
    filled = 0
    indptr[0] = 0
    for w in range(len(offsets) - 1):
        for start in range(offsets[w], offsets[w + 1]):
            if utf8[start] & 0xC0 == 0x80:
                continue
            value = np.uint64(2166136261)
            length = 0
            for p in range(start, offsets[w + 1]):
                value = ((value ^ np.uint64(utf8[p])) * np.uint64(16777619)) & np.uint64(0xFFFFFFFF)
                if p + 1 < offsets[w + 1] and utf8[p + 1] & 0xC0 == 0x80:
                    continue
                length += 1
                if length >= shortest:
                    buckets[filled] = value % np.uint64(n_buckets)
                    filled += 1
                if length == longest:
                    break
        indptr[w + 1] = filled
