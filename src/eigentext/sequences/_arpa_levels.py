"""N-grams in any order become a trie, one order after the other.

A trie needs the beginning of every n-gram. Some files lack beginnings, because somebody pruned the
model. Those that are missing are added, with the probabilities that back-off gives them, so that
nothing changes.
"""

import warnings

import numpy as np

from eigentext.sequences._trie import Tables, Trie, places_type


class Levels:
    """The n-grams that were read so far.

    A level is the n-grams of one order, sorted. The key of an n-gram is ``row * n + symbol``, where
    its beginning is entry `row` of the level before, and n is the number of symbols.

    Parameters
    ----------
    probabilities, backoffs : arrays
        Those of the symbols: words, rare word, edge.
    """

    def __init__(self, probabilities: np.ndarray, backoffs: np.ndarray):
        self._n = len(probabilities)
        self._keys = [np.arange(self._n, dtype=np.int64)]
        self._p, self._b = [probabilities], [backoffs]
        self._parts: list[tuple[np.ndarray, ...]] = []  # of the current level
        self._orphans: dict[int, list[tuple[np.ndarray, ...]]] = {}  # without their beginnings
        self._n_inside = 0
        self.has_ends = False

    def add(self, ids: np.ndarray, p: np.ndarray, b: np.ndarray) -> None:
        """Add n-grams of the current order. The id n - 1 is the start of a unit, n is its end."""
        n = self._n
        starts, ends = ids == n - 1, ids == n
        inside = starts[:, 1:].any(axis=1) | ends[:, :-1].any(axis=1)
        if inside.any():
            self._n_inside += int(inside.sum())
        self.has_ends |= bool(ends[:, -1].any())
        symbols = np.minimum(ids, n - 1)
        rows = self._find(symbols[:, :-1])
        # N-grams that are left out keep their places, so that errors name the right line.
        rows[inside] = -2
        self._parts.append((rows * n + symbols[:, -1], p, b, rows))
        if (lost := np.flatnonzero(rows == -1)).size:
            self._orphans.setdefault(ids.shape[1], []).append((symbols[lost], p[lost], b[lost]))

    def close(self) -> int | None:
        """End the current order. Return the place of an n-gram that was added twice, or None."""
        if not self._parts:
            keys, p, b, rows = np.zeros(0, np.int64), *(np.zeros(0),) * 2, np.zeros(0, np.int64)
        else:
            keys, p, b, rows = (np.concatenate(arrays) for arrays in zip(*self._parts))
        self._parts = []
        places = np.flatnonzero(rows >= 0)
        if len(places) < len(rows):
            keys, p, b = keys[places], p[places], b[places]
        if not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys, kind="stable")
            keys, p, b = keys[order], p[order], b[order]
            if (same := np.flatnonzero(keys[1:] == keys[:-1])).size:
                return int(places[order[same + 1]].min())
        self._keys.append(keys)
        self._p.append(p)
        self._b.append(b)
        return None

    def tables(self) -> Tables:
        """Return the trie with its probabilities and back-off weights."""
        if self._n_inside:
            warnings.warn(
                f"left out {self._n_inside:,} n-grams in which a unit begins after the first or "
                "ends before the last word",
                stacklevel=4,
            )
        if self._orphans:
            self._adopt()
        n = self._n
        borders = np.cumsum([0, *map(len, self._keys)]).tolist()
        first = [
            np.searchsorted(keys, np.arange(len(before), dtype=np.int64) * n) + border
            for before, keys, border in zip(self._keys, self._keys[1:], borders[1:])
        ]
        words = np.concatenate([(keys % n).astype(np.int32) for keys in self._keys])
        places = np.concatenate([*first, borders[-1:]]).astype(places_type(borders[-1]))
        trie = Trie(places, words, borders)
        return Tables(trie, np.concatenate(self._p), np.concatenate([np.zeros(0), *self._b[:-1]]))

    def _find(self, symbols: np.ndarray) -> np.ndarray:
        """The entries of n-grams in their level, or -1."""
        rows = symbols[:, 0].astype(np.int64)
        for column in range(1, symbols.shape[1]):
            keys, wanted = self._keys[column], rows * self._n + symbols[:, column]
            places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            if len(keys) == 0:
                return np.full(len(rows), -1)
            rows = np.where((keys[places] == wanted) & (rows >= 0), places, -1)
        return rows

    def _symbols(self, k: int) -> np.ndarray:
        """The symbols of all n-grams of order k, a row for each."""
        found = np.empty((len(self._keys[k - 1]), k), np.int32)
        rows = np.arange(len(found))
        for column in range(k - 1, -1, -1):
            keys = self._keys[column][rows]
            found[:, column], rows = keys % self._n, keys // self._n
        return found

    def _adopt(self) -> None:
        """Add the n-grams whose beginnings are missing, and these beginnings."""
        order = len(self._keys)
        known = [(self._symbols(k), self._p[k - 1], self._b[k - 1]) for k in range(2, order + 1)]
        whole: list[tuple[np.ndarray, ...]] = []
        longer = np.empty((0, order + 1), np.int32)
        for k in range(order, 1, -1):
            parts = [known[k - 2], *self._orphans.get(k, [])]
            begun = np.unique(longer[:, :-1], axis=0)
            parts.append((begun, np.full(len(begun), np.nan), np.ones(len(begun))))
            symbols, p, b = (np.concatenate(arrays) for arrays in zip(*parts))
            # Of equal n-grams, the first has the given numbers.
            symbols, places = np.unique(symbols, axis=0, return_index=True)
            whole.insert(0, (symbols, p[places], b[places]))
            longer = symbols
        del self._keys[1:], self._p[1:], self._b[1:]
        self._orphans = {}
        for symbols, p, b in whole:
            self._keys.append(self._find(symbols[:, :-1]) * self._n + symbols[:, -1])
            self._p.append(p)
            self._b.append(b)
            missing = np.isnan(p)
            p[missing] = self._backed_off(symbols[missing])

    def _backed_off(self, symbols: np.ndarray) -> np.ndarray:
        """What back-off gives n-grams as if they were not listed. Their beginnings are listed."""
        found, is_open = np.ones(len(symbols)), np.ones(len(symbols), bool)
        for begin in range(symbols.shape[1]):
            rest = symbols[:, begin:]
            k = rest.shape[1]
            if begin:
                places = self._find(rest)
                hit = is_open & (places >= 0)
                found[hit] *= self._p[k - 1][places[hit]]
                is_open &= ~hit
            if k > 1:
                contexts = self._find(rest[:, :-1])
                weighs = is_open & (contexts >= 0)
                found[weighs] *= self._b[k - 2][contexts[weighs]]
        return found
