"""The loops that find words by their bytes, compared with a dictionary."""

import numpy as np

from eigentext.corpus import _word_loops as loops

WORDS = ["", "a", "b", "ab", "ba", "é", "日本", "a" * 40]


def packed(words):
    encoded = [word.encode() for word in words]
    offsets = np.cumsum([0, *map(len, encoded)])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets.astype(np.int64)


def test_hashes_are_those_of_fowler_noll_and_vo():
    text = np.frombuffer(b"xa\xc3", np.uint8)
    for begin, end in ((0, 0), (0, 3), (1, 3)):
        h = 2166136261
        for byte in text[begin:end].tolist():
            h = ((h ^ byte) * 16777619) % 2**32
        h ^= h >> 15
        assert int(loops.hash_bytes(text, begin, end)) == h * 2135587861 % 2**32


def test_words_are_found_and_others_are_not():
    utf8, offsets = packed(WORDS)
    slots, bits = np.zeros(16, np.uint32), 4
    probes = loops.index_words(utf8, offsets, slots, bits)
    assert sorted((slots[slots > 0] & 15) - 1) == list(range(len(WORDS)))
    asked = [*WORDS[1:], "c", "abc", "", "é", "é"[:0] + "e"]
    found = np.full(len(asked), 99, np.int32)
    text = np.frombuffer("\0".join(asked).encode(), np.uint8)
    assert loops.find_words(text, 0, utf8, offsets, slots, bits, probes, -7, found) == len(asked)
    assert found.tolist() == [WORDS.index(w) if w in WORDS else -7 for w in asked]
    # More words than places, and one word with zeros in it.
    few = np.full(2, 99, np.int32)
    assert loops.find_words(text, 0, utf8, offsets, slots, bits, probes, -7, few) == len(asked)
    assert few.tolist() == found[:2].tolist()
    assert loops.find_words(text, -1, utf8, offsets, slots, bits, probes, -7, few) == 1
    assert few[0] == -7


def test_wrong_offsets_and_slots_are_never_followed():
    rng = np.random.default_rng(0)
    utf8, offsets = packed(WORDS)
    slots = np.zeros(16, np.uint32)
    probes = loops.index_words(utf8, offsets, slots, 4)
    text, found = np.frombuffer(b"ab\0c\0ba", np.uint8), np.zeros(3, np.int32)
    for _ in range(50):
        wrong = rng.integers(-(2**62), 2**62, len(offsets))
        full = rng.integers(0, 2**32, 16).astype(np.uint32)
        for some, others in ((wrong, slots), (offsets, full), (wrong, full)):
            assert loops.find_words(text, 0, utf8, some, others, 4, probes, -1, found) == 3
            assert ((found >= -1) & (found < len(WORDS))).all()
