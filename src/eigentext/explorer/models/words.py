"""Word vectors: neighbors, analogies, a map, the spectrum."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.corpus.vocabulary import as_asked
from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Fact

if TYPE_CHECKING:
    from eigentext.corpus import Vocabulary
    from eigentext.words import Eigentokens, Eigenwords
    from eigentext.words.neighbors import Neighbors

_COMPARED = 10_000  # the frequent words whose spelling is compared with an unknown word


class Lookup:
    """Finds words of a vocabulary by their beginnings, or by a similar spelling.

    `options` say how the text of the fit was read: a model of lower case is asked in lower case.
    """

    def __init__(self, vocabulary: "Vocabulary", options: Mapping[str, Any]):
        self.vocabulary = vocabulary
        self.options = options
        self.near = lru_cache(maxsize=1024)(self._near)

    def beginning(self, prefix: str, limit: int) -> list[int]:
        """Return the places of the most frequent words that begin with a prefix."""
        words, places = self._sorted
        (prefix,) = as_asked([prefix], self.options)
        # The prefix with the largest character comes after all words that begin with the prefix.
        first, last = bisect_left(words, prefix), bisect_left(words, prefix + chr(0x10FFFF))
        found = places[first:last]
        if len(found) > limit:
            found = np.partition(found, limit - 1)[:limit]
        return np.sort(found).tolist()

    def place(self, word: str) -> int:
        """Return the place of a word. An unknown word is refused, with similar spellings."""
        (word,) = as_asked([word], self.options)
        if word in self.vocabulary:
            return self.vocabulary[word]
        near = self.near(word)
        hint = f"did you mean {', '.join(near)}?" if near else "try a more frequent word"
        raise RefusedError(404, f"{word!r} is not in the vocabulary; {hint}", suggestions=near)

    def named(self, place: int) -> dict[str, Any]:
        """Return the word at a place, with its count."""
        return {
            "word": self.vocabulary.words[place],
            "count": int(self.vocabulary.counts[place]),
        }

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
    model: "Eigentokens | Eigenwords"

    def __init__(self, model: "Eigentokens | Eigenwords", name: str):
        super().__init__(model, name)
        self.vocabulary = model.vocabulary_
        self.lookup = Lookup(self.vocabulary, self.source.get("options", {}))

    @property
    def views(self) -> list[str]:
        """All queries except the list of words, which only helps with typing."""
        return [view for view in (*self.light, *self.heavy) if view != "words"]

    def title(self) -> str:
        """The numbers of words and dimensions: "34,091 words in 50 dimensions"."""
        n_words, dim = self.model.vectors_.shape
        return f"{n_words:,} words in {dim} dimensions"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the text and of the counts."""
        n_words, dim = self.model.vectors_.shape
        yield "words", n_words
        yield "dimensions", dim
        if (origin := self.source.get("imported")) is not None:
            yield "from", origin
            return
        yield "tokens", self.source.get("n_tokens", 0)
        yield "pairs counted", self.found.get("pairs", 0)
        yield "window", f"{self.model.parameters_.window} on each side"

    def ready(self) -> None:
        """Build the index of neighbors and the list of words."""
        self._index.search(self.model.vectors_[:1], 1)
        self.lookup.beginning("", 1)

    # Queries.

    def words(self, arguments: Arguments) -> dict[str, Any]:
        """Return the most frequent words that begin with a prefix."""
        prefix = asking.word(arguments, "prefix", empty=True)
        limit = asking.whole(arguments, "limit", 20, most=asking.MOST_FOUND)
        places = self.lookup.beginning(prefix, limit)
        if not places and prefix.lower() != prefix:
            places = self.lookup.beginning(prefix.lower(), limit)
        return {"words": [self.lookup.named(place) for place in places]}

    def neighbors(self, arguments: Arguments) -> dict[str, Any]:
        """Return the nearest neighbors of a word."""
        place = self.lookup.place(asking.word(arguments))
        topn = asking.whole(arguments, "topn", 20, most=asking.MOST_FOUND)
        rows, cosines = self._index.search(
            self.model.vectors_[place][None], topn, leave_out=[[place]]
        )
        return {
            **self.lookup.named(place),
            "neighbors": [
                {**self.lookup.named(row), "cosine": cosine}
                for row, cosine in zip(rows[0].tolist(), cosines[0].tolist())
                if row >= 0
            ],
        }

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Return the singular values that were kept, and the next ones."""
        kept, dropped = self._spectrum()
        return {"kept": kept, "dropped": dropped}

    def map(self, arguments: Arguments) -> dict[str, Any]:
        """Return the most frequent words in two dimensions."""
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
                {**self.lookup.named(place), "x": x, "y": y, "cluster": k}
                for place, (x, y), k in zip(
                    frequent.tolist(), at.round(4).tolist(), cluster.tolist()
                )
            ],
            "n_clusters": int(cluster.max()) + 1,
        }

    def _spectrum(self) -> tuple[list[float], list[float]]:
        kept = np.asarray(self.model.singular_values_).tolist()
        return kept, list(self.found.get("dropped_singular_values", []))

    @cached_property
    def _index(self) -> "Neighbors":
        from eigentext.words.neighbors import Neighbors

        return Neighbors(self.model.vectors_)


class ExploredWords(ExploredVectors):
    """Eigenwords, which also answer analogies."""

    kind = "words"
    light = ("words", "neighbors", "analogy", "spectrum")
    model: "Eigenwords"  # type: ignore[assignment]

    @property
    def views(self) -> list[str]:
        """The views in the order of the page."""
        has_spectrum = len(self.model.singular_values_) > 0  # vectors of other tools have none
        return ["neighbors", "analogy", "map", *(["spectrum"] if has_spectrum else [])]

    def analogy(self, arguments: Arguments) -> dict[str, Any]:
        """Return the words that are to c as b is to a."""
        a, b, c = (asking.word(arguments, name) for name in "abc")
        topn = asking.whole(arguments, "topn", 5, most=asking.MOST_FOUND)
        for one in (a, b, c):
            self.lookup.place(one)
        found = self.model.analogy(a, b, c, topn)
        return {"answers": [{"word": word, "score": score} for word, score in found]}
