"""The compiled loop joins the pairs that a slow scan joins."""

import numpy as np

from eigentext.words._phrase_loops import join_pairs


def joined_slowly(tokens, names):
    found, i = [], 0
    while i < len(tokens):
        pair = tuple(tokens[i : i + 2])
        found.append(names.get(pair, tokens[i]))
        i += 2 if pair in names else 1
    return found


def test_the_loop_joins_as_a_slow_scan():
    rng = np.random.default_rng(0)
    for _ in range(20):
        tokens = rng.integers(-1, 4, size=30).astype(np.int32)
        pairs = sorted({tuple(rng.integers(4, size=2).tolist()) for _ in range(5)})
        names = {pair: 10 + place for place, pair in enumerate(pairs)}
        starts = np.searchsorted([a for a, _ in pairs], np.arange(5))
        out = np.empty(len(tokens), np.int32)
        seconds = np.array([b for _, b in pairs])
        n = join_pairs(tokens, starts, seconds, np.array(list(names.values())), out)
        assert out[:n].tolist() == joined_slowly(tokens.tolist(), names)
