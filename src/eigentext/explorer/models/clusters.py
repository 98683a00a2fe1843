"""Clusters of words: who is together."""

from collections.abc import Iterator
from typing import Any

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments
from eigentext.explorer.models.base import Explored, Told
from eigentext.explorer.models.words import Lookup


class ExploredClusters(Explored):
    """A binary tree of clusters."""

    kind = "clusters"
    light = ("words", "clusters")

    def __init__(self, model: Any, name: str):
        super().__init__(model, name)
        self.vocabulary = model.vocabulary_
        self.lookup = Lookup(self.vocabulary)

    @property
    def views(self) -> list[str]:
        """All but the list of words, which is there for typing."""
        return ["clusters"]

    def title(self) -> str:
        """As in "34,091 words in 100 clusters"."""
        return f"{len(self.vocabulary):,} words in {self._n_clusters:,} clusters"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Sizes."""
        sizes = self.found["sizes"]
        yield "words", len(self.vocabulary)
        yield "clusters", self._n_clusters
        yield "words in the largest", max(sizes)
        yield "words in the smallest", min(sizes)
        if "explained" in self.found:
            yield "variance explained", f"{self.found['explained']:.1%}"

    def told(self) -> Iterator[Told]:
        """Of the variance explained, and of the gap between merges."""
        found, sizes = self.found, self.found["sizes"]
        if "explained" in found:
            yield (
                "good" if found["explained"] > 0.3 else "note",
                f"Knowing a word's cluster explains {found['explained']:.0%} of what its vector "
                "says; more clusters explain more.",
            )
        if found.get("next_merge") and found.get("largest_merge", 0) < found["next_merge"] / 2:
            yield (
                "good",
                "Merging any two of these clusters would cost much more than any merge in them: "
                f"{self._n_clusters} classes are really there.",
            )
        if max(sizes) > len(self.vocabulary) / 2 and self._n_clusters > 2:
            yield "note", f"One cluster holds {max(sizes) / len(self.vocabulary):.0%} of the words."

    # Queries.

    def words(self, arguments: Arguments) -> dict[str, Any]:
        """The most frequent words that begin with a prefix."""
        prefix = asking.word(arguments, "prefix", empty=True)
        limit = asking.whole(arguments, "limit", 20, most=asking.MOST_FOUND)
        return {"words": [self._named(p) for p in self.lookup.beginning(prefix, limit)]}

    def clusters(self, arguments: Arguments) -> dict[str, Any]:
        """Each cluster, or that of a word, with its size and most frequent words."""
        topn = asking.whole(arguments, "topn", 10, most=asking.MOST_FOUND)
        sizes, paths = self.found["sizes"], self.model._cluster_paths
        shown = range(min(self._n_clusters, asking.MOST_FOUND))
        if "word" in arguments:
            own = int(self.model.labels_[self.lookup.place(asking.word(arguments))])
            shown = [own] if own >= 0 else []
        return {
            "clusters": [
                {
                    "id": k,
                    "bits": paths[k],
                    "size": sizes[k],
                    "words": [
                        {"word": word, "count": count}
                        for word, count in self.model.most_frequent(k, topn)
                    ],
                }
                for k in shown
            ],
            "n_clusters": self._n_clusters,
        }

    @property
    def _n_clusters(self) -> int:
        return len(self.model._cluster_paths)

    def _named(self, place: int) -> dict[str, Any]:
        return {
            "word": self.vocabulary.words[place], "count": int(self.vocabulary.counts[place])
        }  # fmt: skip
