"""Word clusters: all of them, or the cluster of one word."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments
from eigentext.explorer.models.base import Explored, Fact
from eigentext.explorer.models.words import Lookup

if TYPE_CHECKING:
    from eigentext.words import WordClusters


class ExploredClusters(Explored):
    """Clusters of words, the leaves of a binary tree."""

    kind = "clusters"
    light = ("words", "clusters")
    model: "WordClusters"

    def __init__(self, model: "WordClusters", name: str):
        super().__init__(model, name)
        self.vocabulary = model.vocabulary_
        self.lookup = Lookup(self.vocabulary, self.found)

    @property
    def views(self) -> list[str]:
        """The clusters. The list of words only helps with typing."""
        return ["clusters"]

    def title(self) -> str:
        """The numbers of words and clusters: "34,091 words in 100 clusters"."""
        return f"{len(self.vocabulary):,} words in {len(self._bits):,} clusters"

    def facts(self) -> Iterator[Fact]:
        """Yield the numbers of words and clusters, and the variance explained."""
        sizes = self.found["sizes"]
        yield "words", len(self.vocabulary)
        yield "clusters", len(self._bits)
        yield "words in the largest", max(sizes)
        yield "words in the smallest", min(sizes)
        if "explained" in self.found:
            yield "variance explained", f"{self.found['explained']:.1%}"

    # Queries.

    def words(self, arguments: Arguments) -> dict[str, Any]:
        """Return the most frequent words that begin with a prefix."""
        prefix = asking.word(arguments, "prefix", empty=True)
        limit = asking.whole(arguments, "limit", 20, most=asking.MOST_FOUND)
        return {"words": [self.lookup.named(p) for p in self.lookup.beginning(prefix, limit)]}

    def clusters(self, arguments: Arguments) -> dict[str, Any]:
        """Return each cluster, or that of a word, with its size and most frequent words."""
        topn = asking.whole(arguments, "topn", 10, most=asking.MOST_FOUND)
        sizes, shown = self.found["sizes"], list(self._bits)[: asking.MOST_FOUND]
        if "word" in arguments:
            own = int(self.model.labels_[self.lookup.place(asking.word(arguments))])
            shown = [own] if own >= 0 else []
        return {
            "clusters": [
                {
                    "id": k,
                    "bits": self._bits[k],
                    "size": sizes[k],
                    "words": [
                        {"word": word, "count": count}
                        for word, count in self.model.most_frequent(k, topn)
                    ],
                }
                for k in shown
            ],
            "n_clusters": len(self._bits),
        }

    @cached_property
    def _bits(self) -> dict[int, str]:
        """The bit string of each cluster, in the order of their numbers."""
        bits = dict(zip(self.model.labels_.tolist(), self.model.bit_strings_))
        return {k: bits[k] for k in sorted(bits) if k >= 0}
