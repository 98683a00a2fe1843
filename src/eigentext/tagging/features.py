"""From sentences to numbers: symbols, numbered features, and dense vectors.

An attribute is computed once for each distinct token, and a template once for each position.
Vectors are not copied to the positions where templates use them. A token takes four bytes for each
template, and eight bytes for each source of vectors.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.tagging import _feature_loops
from eigentext.tagging.attributes import attribute
from eigentext.tagging.sources import ClusterSource, VectorSource
from eigentext.tagging.templates import VECTORS, Template, is_of, written

_FIRST = 2  # symbols 0 and 1 mean "before the sentence" and "after the sentence"
Sentence = Sequence[tuple[str, ...]]
_LARGEST = 1e9  # of a coordinate, so that sums of products stay finite in single precision


class EncodedSentences(NamedTuple):
    """Sentences in numbers."""

    borders: np.ndarray  # sentence s has the tokens borders[s] to borders[s + 1] - 1
    features: np.ndarray  # int32 (n_tokens, n_templates); -1 for an unknown feature
    values: np.ndarray  # float32, the coordinates of all vectors
    starts: np.ndarray  # int64 (n_tokens, n_sources): where the vector begins in `values`, or -1

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each sentence."""
        return np.diff(self.borders)


class FeatureExtractor:
    """Finds the features of sentences with templates. `learn` numbers them once for all texts.

    Attributes
    ----------
    keys : uint64 array, shape (n_features,)
        The key of each feature.
    parts : int32 array, shape (n_features, 1 + largest number of parts)
        The number of the template of each feature, then its symbols.
    symbols : dict of dicts
        For each attribute, the number of each of its strings.
    """

    def __init__(
        self,
        templates: list[Template],
        columns: tuple[str, ...],
        clusters: ClusterSource | None,
        sources: dict[str, VectorSource],
    ):
        self.columns, self.clusters, self.sources = columns, clusters, sources
        self.sparse = [one for one in templates if not is_of(one, VECTORS)]
        self.dense = [one[0] for one in templates if is_of(one, VECTORS)]
        names = dict.fromkeys(part.name for template in self.sparse for part in template)
        self.symbols: dict[str, dict[str, int]] = {name: {} for name in names}
        number = {name: a for a, name in enumerate(names)}
        self._parts = [
            np.array([(number[name], offset) for name, offset in template], np.int64)
            for template in self.sparse
        ]
        self._attributes = [self._attribute(name) for name in names]

    @property
    def places(self) -> np.ndarray:
        """A row for each dense template: its source, its offset, and the first of its weights."""
        order = list(self.sources)
        widths = [self.sources[name].width for name, _ in self.dense]
        first = np.cumsum([0, *widths])[:-1]
        rows = [(order.index(name), offset, row) for (name, offset), row in zip(self.dense, first)]
        return np.array(rows, np.int64).reshape(-1, 3)

    @property
    def widths(self) -> np.ndarray:
        """The length of the vectors of each source."""
        return np.array([source.width for source in self.sources.values()], np.int64)

    @property
    def n_dense(self) -> int:
        """The number of rows of weights for all dense templates."""
        return sum(self.sources[name].width for name, _ in self.dense)

    def coverage(self, sentences: list[Sentence]) -> dict[str, float]:
        """Return the share of the tokens that each source knows."""
        words = [token[0] for sentence in sentences for token in sentence]
        named = {**self.sources, **({"cluster": self.clusters} if self.clusters else {})}
        return {name: source.coverage(words) for name, source in named.items()}

    def learn(self, sentences: list[Sentence], min_count: int, scale: float) -> EncodedSentences:
        """Number the features that occur at least `min_count` times, and scale the vectors."""
        borders, columns = self._columns(sentences)
        symbols = self._symbols(columns, grow=True)
        features = np.empty((int(borders[-1]), len(self.sparse)), np.int32)
        all_keys, all_parts, n_features = [], [], 0
        most = max(map(len, self._parts), default=0)
        with engine.phase("features", len(self.sparse), "templates") as advance:
            for k, (found, first, inverse) in enumerate(
                engine.current().map(
                    lambda k: self._distinct(symbols, borders, k, min_count),
                    range(len(self.sparse)),
                )
            ):
                features[:, k] = np.where(inverse >= 0, inverse + n_features, -1)
                parts = np.full((len(found), 1 + most), -1, np.int32)
                parts[:, 0] = k
                for p, (a, offset) in enumerate(self._parts[k].tolist()):
                    parts[:, 1 + p] = _shifted(symbols[:, a], borders, offset)[first]
                all_keys.append(found)
                all_parts.append(parts)
                n_features += len(found)
                advance(1)
        keys = np.concatenate(all_keys) if all_keys else np.empty(0, np.uint64)
        self._set(keys, np.concatenate(all_parts) if all_parts else np.empty((0, 1), np.int32))
        for source in self.sources.values():
            source.set_scale(sentences, columns[0], scale)
        return EncodedSentences(borders, features, *self._vectors(sentences, columns[0]))

    def encode(self, sentences: list[Sentence]) -> EncodedSentences:
        """Return the known features of sentences."""
        borders, columns = self._columns(sentences)
        symbols = self._symbols(columns, grow=False)
        features = np.empty((len(self.sparse), int(borders[-1])), np.int32)
        keys = np.empty(int(borders[-1]), np.uint64)
        for k, parts in enumerate(self._parts):
            _feature_loops.template_keys(symbols, borders, parts, k, keys)
            _feature_loops.look_up(keys, self._table, self._values, features[k])
        vectors = self._vectors(sentences, columns[0])
        return EncodedSentences(borders, np.ascontiguousarray(features.T), *vectors)

    def keep(self, kept: np.ndarray) -> None:
        """Keep only the features with these numbers."""
        self._set(self.keys[kept], self.parts[kept])

    def name(self, feature: int) -> str:
        """Return a feature in words, as in ``word[-1]|pos[0]=the|NN``."""
        k, *symbols = self.parts[feature].tolist()
        template = self.sparse[k]
        strings = []
        for part, symbol in zip(template, symbols):
            if symbol < _FIRST:
                strings.append(("<s>", "</s>")[symbol])
            else:
                strings.append(self._strings(part.name)[symbol - _FIRST])
        return f"{written(template)}={'|'.join(strings)}"

    def check_parts(self) -> None:
        """Raise ValueError if a feature has a template or a symbol that does not exist."""
        templates = self.parts[:, 0]
        if len(templates) and not 0 <= templates.min() <= templates.max() < len(self.sparse):
            raise ValueError("features of templates that do not exist")
        for k, template in enumerate(self.sparse):
            symbols = self.parts[templates == k, 1 : 1 + len(template)]
            most = np.array([len(self.symbols[part.name]) + _FIRST for part in template])
            if symbols.shape[1] < len(template) or ((symbols < 0) | (symbols >= most)).any():
                raise ValueError("features of symbols that do not exist")

    # Private steps.

    def _set(self, keys: np.ndarray, parts: np.ndarray) -> None:
        self.keys, self.parts = keys, parts
        size = 1 << max(3, (2 * len(keys)).bit_length())
        self._table, self._values = np.zeros(size, np.uint64), np.zeros(size, np.int32)
        _feature_loops.fill_table(keys, self._table, self._values)

    def _attribute(self, name: str) -> tuple[int, Callable[[str], str | None]]:
        """Return the column of an attribute, and the function from that column to its value."""
        if name in self.columns:
            return self.columns.index(name), str
        if self.clusters is not None and (bits := self.clusters.attribute(name)):
            return 0, bits
        function = attribute(name)
        if function is None:  # the names in a file were not checked before
            raise ParameterError(f"no attribute {name!r:.60}")
        return 0, function

    def _strings(self, name: str) -> list[str]:
        return list(self.symbols[name])

    @staticmethod
    def _columns(sentences: list[Sentence]) -> tuple[np.ndarray, list[tuple[str, ...]]]:
        lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
        borders = np.concatenate([[0], np.cumsum(lengths)])
        return borders, list(zip(*chain.from_iterable(sentences)))

    def _symbols(self, columns: list[tuple[str, ...]], *, grow: bool) -> np.ndarray:
        """Return the symbols of the attributes of each token, and -1 for unknown strings."""
        codes, distinct = zip(*map(numbered, columns[: len(self.columns)]))
        symbols = np.empty((len(codes[0]), len(self._attributes)), np.int32)
        for a, (name, (column, function)) in enumerate(zip(self.symbols, self._attributes)):
            known, strings = self.symbols[name], map(function, distinct[column])
            if grow:
                ids = [
                    -1 if s is None else known.setdefault(s, len(known) + _FIRST) for s in strings
                ]
            else:
                ids = [-1 if s is None else known.get(s, -1) for s in strings]
            symbols[:, a] = np.array(ids, np.int32)[codes[column]]
        return symbols

    def _distinct(
        self, symbols: np.ndarray, borders: np.ndarray, k: int, min_count: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the distinct keys of a template, their first tokens, and the key of each token."""
        keys = np.empty(len(symbols), np.uint64)
        _feature_loops.template_keys(symbols, borders, self._parts[k], k, keys)
        found, first, inverse, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        kept = (counts >= min_count) & (found != 0)
        number = np.where(kept, np.cumsum(kept) - 1, -1)
        return found[kept], first[kept], number[inverse]

    def _vectors(
        self, sentences: list[Sentence], words: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the coordinates of all vectors, and where those of each token begin."""
        values, starts, size = [], np.empty((len(words), len(self.sources)), np.int64), 0
        for s, source in enumerate(self.sources.values()):
            rows, vectors = source.rows(sentences, words)
            if not (np.abs(vectors) <= _LARGEST).all():
                raise ParameterError(
                    "these vectors are far larger than those of fit; use the models of fit"
                )
            starts[:, s] = np.where(rows >= 0, size + rows * source.width, -1)
            values.append(vectors.ravel())
            size += vectors.size
        return np.concatenate(values) if values else np.empty(0, np.float32), starts


def numbered(strings: Iterable[str]) -> tuple[np.ndarray, list[str]]:
    """Return the number of each string, and the distinct strings in order of appearance."""
    distinct: dict[str, int] = {}
    codes = [distinct.setdefault(string, len(distinct)) for string in strings]
    return np.array(codes, np.int32), list(distinct)


def _shifted(column: np.ndarray, borders: np.ndarray, offset: int) -> np.ndarray:
    """Return the symbol at an offset from each token."""
    lengths = np.diff(borders)
    place = np.arange(len(column)) + offset
    first, last = np.repeat(borders[:-1], lengths), np.repeat(borders[1:], lengths)
    shifted = column[np.clip(place, 0, max(len(column) - 1, 0))]
    shifted = np.where(place < first, _feature_loops.BEFORE, shifted)
    return np.where(place >= last, _feature_loops.AFTER, shifted).astype(np.int32)


def saved_features(features: FeatureExtractor) -> dict[str, Any]:
    """Return arrays for a file."""
    found: dict[str, Any] = {"keys": features.keys, "parts": features.parts}
    for name, known in features.symbols.items():
        found[f"symbols.{name}"] = list(known)
    return found


def restore_features(features: FeatureExtractor, arrays: dict[str, Any]) -> None:
    """Restore what :func:`saved_features` returned."""
    for name, known in features.symbols.items():
        strings = arrays[f"symbols.{name}"]
        known |= {string: place + _FIRST for place, string in enumerate(strings)}
    features._set(np.array(arrays["keys"], np.uint64), np.array(arrays["parts"], np.int32))
