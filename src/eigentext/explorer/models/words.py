"""Word vectors: neighbours, analogies, a map, the spectrum."""

from bisect import bisect_left
from collections.abc import Iterator
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any

import numpy as np

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Told, spectrum_told

_COMPARED = 10_000  # frequent words whose spelling is compared with an unknown one's
_RARE = 0.1  # of the tokens


class Lookup:
    """Words of a vocabulary by their beginnings, and near spellings."""

    def __init__(self, vocabulary: Any):
        self.vocabulary = vocabulary
        self.near = lru_cache(maxsize=1024)(self._near)

    def beginning(self, prefix: str, limit: int) -> list[int]:
        """The places of the most frequent words that begin so."""
        words, places = self._sorted
        # No word of the prefix's is behind it and the largest character.
        first, last = bisect_left(words, prefix), bisect_left(words, prefix + chr(0x10FFFF))
        found = places[first:last]
        if len(found) > limit:
            found = np.partition(found, limit - 1)[:limit]
        return np.sort(found).tolist()

    def place(self, word: str) -> int:
        """Of a word; unknown ones are refused, with near spellings."""
        if word in self.vocabulary:
            return self.vocabulary[word]
        near = self.near(word)
        hint = f"did you mean {', '.join(near)}?" if near else "try a more frequent word"
        raise RefusedError(404, f"{word!r} is not in the vocabulary; {hint}", suggestions=near)

    @cached_property
    def _sorted(self) -> tuple[list[str], np.ndarray]:
        words = self.vocabulary.words
        order = sorted(range(len(words)), key=words.__getitem__)
        return [words[place] for place in order], np.array(order)

    def _near(self, word: str) -> list[str]:
        others = [form for form in (word.lower(), word.capitalize()) if form in self.vocabulary]
        alike = (w for w in self.vocabulary.words if abs(len(w) - len(word)) <= 2)
        close = get_close_matches(word, islice(alike, _COMPARED), n=5, cutoff=0.6)
        return list(dict.fromkeys([*others, *close]))[:5]


class ExploredVectors(Explored):
    """Vectors of words."""

    kind = "eigentokens"
    light = ("words", "neighbors", "spectrum")
    heavy = ("map",)

    def __init__(self, model: Any, name: str):
        super().__init__(model, name)
        self.vocabulary = model.vocabulary_
        self.lookup = Lookup(self.vocabulary)

    @property
    def views(self) -> list[str]:
        """All but the list of words, which is there for typing."""
        return [view for view in (*self.light, *self.heavy) if view != "words"]

    def title(self) -> str:
        """As in "34,091 words in 50 dimensions"."""
        n_words, dim = self.model.vectors_.shape
        return f"{n_words:,} words in {dim} dimensions"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the text and the counts."""
        n_words, dim = self.model.vectors_.shape
        yield "words", n_words
        yield "dimensions", dim
        yield "tokens", self.source.get("n_tokens", 0)
        yield "pairs counted", self.found.get("pairs", 0)
        yield "window", f"{self.model.parameters_.window} on each side"

    def told(self) -> Iterator[Told]:
        """Of the spectrum, rare words and words without vectors."""
        found, n_tokens = self.found, self.source.get("n_tokens", 0)
        yield from spectrum_told(*self._spectrum(), "dimensions")
        rare = found.get("rare_tokens", 0) / max(n_tokens, 1)
        if rare:
            yield (
                "good" if rare < _RARE else "note",
                f"{rare:.1%} of the text are words seen fewer than "
                f"{self.model.parameters_.min_count} times, which have no vectors of their own.",
            )
        per_word = n_tokens / max(len(self.vocabulary), 1)
        if n_tokens and per_word < 30:
            yield (
                "warning",
                f"There are only {per_word:.0f} tokens for each word: neighbours of rarer words "
                "are mostly chance. Give more text, or raise min_count.",
            )
        if alone := found.get("words_without_context", 0):
            yield "note", f"{alone:,} words were always alone, and have no vector."

    def ready(self) -> None:
        """Make the index, and the list of words."""
        self._index.search(self.model.vectors_[:1], 1)
        self.lookup.beginning("", 1)

    # Queries.

    def words(self, arguments: Arguments) -> dict[str, Any]:
        """The most frequent words that begin with a prefix."""
        prefix = asking.word(arguments, "prefix", empty=True)
        limit = asking.whole(arguments, "limit", 20, most=asking.MOST_FOUND)
        places = self.lookup.beginning(prefix, limit)
        if not places and prefix.lower() != prefix:
            places = self.lookup.beginning(prefix.lower(), limit)
        return {"words": [self._named(place) for place in places]}

    def neighbors(self, arguments: Arguments) -> dict[str, Any]:
        """The words nearest to one."""
        place = self.lookup.place(asking.word(arguments))
        topn = asking.whole(arguments, "topn", 20, most=asking.MOST_FOUND)
        rows, cosines = self._index.search(
            self.model.vectors_[place][None], topn, leave_out=[[place]]
        )
        return {
            **self._named(place),
            "neighbors": [
                {**self._named(row), "cosine": cosine}
                for row, cosine in zip(rows[0].tolist(), cosines[0].tolist())
                if row >= 0
            ],
        }

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Singular values kept, and the next."""
        kept, dropped = self._spectrum()
        return {"kept": kept, "dropped": dropped}

    def map(self, arguments: Arguments) -> dict[str, Any]:
        """The most frequent words in two dimensions."""
        from eigentext.explorer.maps import word_map

        n = asking.whole(arguments, "n", 2000, least=2, most=asking.MOST_POINTS)
        vectors = np.asarray(self.model.vectors_)
        frequent = np.argsort(-self.vocabulary.counts, kind="stable")
        frequent = frequent[np.any(vectors[frequent], axis=1)][:n]
        if len(frequent) < 2:
            raise RefusedError(404, "fewer than two words have vectors; there is nothing to map")
        at, cluster = word_map(vectors[frequent])
        return {
            "points": [
                {**self._named(place), "x": x, "y": y, "cluster": k}
                for place, (x, y), k in zip(
                    frequent.tolist(), at.round(4).tolist(), cluster.tolist()
                )
            ],
            "n_clusters": int(cluster.max()) + 1,
        }

    def _named(self, place: int) -> dict[str, Any]:
        return {
            "word": self.vocabulary.words[place], "count": int(self.vocabulary.counts[place])
        }  # fmt: skip

    def _spectrum(self) -> tuple[list[float], list[float]]:
        kept = np.asarray(self.model.singular_values_).tolist()
        return kept, list(self.found.get("dropped_singular_values", []))

    @cached_property
    def _index(self) -> Any:
        from eigentext.words.neighbors import Neighbors

        return Neighbors(self.model.vectors_)


class ExploredWords(ExploredVectors):
    """Eigenwords: analogies, too."""

    kind = "words"
    light = ("words", "neighbors", "analogy", "spectrum")

    @property
    def views(self) -> list[str]:
        """In the order of the page."""
        return ["neighbors", "analogy", "map", "spectrum"]

    def analogy(self, arguments: Arguments) -> dict[str, Any]:
        """What is to c as b is to a."""
        a, b, c = (asking.word(arguments, name) for name in "abc")
        topn = asking.whole(arguments, "topn", 5, most=asking.MOST_FOUND)
        for one in (a, b, c):
            self.lookup.place(one)
        found = self.model.analogy(a, b, c, topn)
        return {"answers": [{"word": word, "score": score} for word, score in found]}
