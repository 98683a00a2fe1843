"""Topics: sizes, words, typical documents, and the proportions in a document that is pasted."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.estimators import Finding
from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Fact, findings_of_noise
from eigentext.explorer.tokens import as_learned

if TYPE_CHECKING:
    from eigentext.corpus import TextCorpus
    from eigentext.topics import TopicModel
    from eigentext.topics.typical import TypicalDocument

_WORDS = 30  # the words of a topic that are shown
_DOCUMENTS = 5
_SNIPPET = 300  # characters


class ExploredTopics(Explored):
    """A topic model."""

    kind = "topics"
    model: "TopicModel"

    def __init__(self, model: "TopicModel", name: str):
        super().__init__(model, name)
        self._typical: list[list[TypicalDocument]] | None = None

    @property
    def light(self) -> tuple[str, ...]:  # type: ignore[override] - anchors have no spectrum
        """All queries; "spectrum" only if it is known."""
        spectrum = ("spectrum",) if self.found.get("eigenvalues") else ()
        return ("topics", "documents", "proportions", *spectrum)

    def title(self) -> str:
        """The numbers of topics and documents: "20 topics of 11,314 documents"."""
        return f"{self.model.n_topics_} topics of {self.source['n_documents']:,} documents"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the data, and how the topics were learned."""
        yield "documents", self.source["n_documents"]
        yield "tokens", self.source["n_tokens"]
        yield "words", len(self.model.vocabulary_)
        yield "method", self.model.parameters_.method
        yield "alpha0", float(self.model.alpha0_)
        yield "a document has", "one topic" if self.model.alpha0_ == 0 else "a mixture of topics"
        if steps := self.found.get("perplexities"):
            yield "steps of EM", len(steps)
            yield "perplexity, first and last step", f"{steps[0]:,.0f} and {steps[-1]:,.0f}"

    def more_findings(self) -> Iterator[Finding]:
        """Yield a warning if the smallest eigenvalue may be noise."""
        yield from findings_of_noise(self._spectrum[0], "topics")

    def add_documents(self, corpus: "TextCorpus") -> None:
        """Find the typical documents of each topic in a corpus."""
        from eigentext.topics.typical import typical_documents

        self._typical = typical_documents(self.model, corpus, _DOCUMENTS)

    def ready(self) -> None:
        """Find the proportions of one word, so that loops are compiled."""
        if not self._is_of_matrix:
            self.proportions({"text": self.model.vocabulary_.words[0]})

    # Queries.

    def topics(self, arguments: Arguments) -> dict[str, Any]:
        """Return the shares and the top words of all topics."""
        return self._topics

    def documents(self, arguments: Arguments) -> dict[str, Any]:
        """Return the most typical documents of a topic."""
        most = self.model.n_topics_ - 1
        topic = asking.whole(arguments, "topic", -1, least=0, most=max(most, 0))
        if self._typical is None:
            return {
                "documents": [],
                "why": "a model file holds no documents; start eigentext explore with "
                "--documents FILE to see some",
            }
        found = [
            {"text": _snippet(one.text), "share": one.share, "name": one.name}
            for one in self._typical[topic]
        ]
        return {"documents": found, "why": None if found else "no document has much of this topic"}

    def proportions(self, arguments: Arguments) -> dict[str, Any]:
        """Return the proportions of the topics in a document that is pasted."""
        if self._is_of_matrix:
            raise RefusedError(
                400,
                "this model was learned from a matrix whose columns have no names; learn one from "
                "text to ask about text",
            )
        tokens = as_learned(asking.text(arguments), self.source["options"])
        asking.check_length(tokens, asking.MOST_TOKENS, "text")
        ids = self.model.vocabulary_.ids_of(tokens)
        known = int((ids >= 0).sum())
        shares = self._shares(ids[ids >= 0])
        return {
            "proportions": shares.round(6).tolist(),
            "known_words": known,
            "unknown_words": len(tokens) - known,
        }

    def spectrum(self, arguments: Arguments) -> dict[str, Any]:
        """Return the eigenvalues of the pairs of words."""
        kept, dropped = self._spectrum
        return {"kept": kept, "dropped": dropped}

    # Private steps.

    def _shares(self, ids: np.ndarray) -> np.ndarray:
        """The same as `transform`, but only with the columns of the words in the document."""
        from eigentext.topics.inference import topic_proportions

        words, counts = np.unique(ids, return_counts=True)
        phi = self.model.components_
        return topic_proportions(
            counts[None],
            phi[:, words],
            self.model.weights_,
            self.model.alpha0_,
            n_words=phi.shape[1],
        )[0]

    @property
    def _spectrum(self) -> tuple[list[float], list[float]]:
        return list(self.found.get("eigenvalues", [])), list(self.found.get("dropped", []))

    @property
    def _is_of_matrix(self) -> bool:
        return self.source["options"].get("tokenizer") == "matrix"

    @cached_property
    def _topics(self) -> dict[str, Any]:
        top = self.model.top_words(_WORDS)
        return {
            "topics": [
                {
                    "id": k,
                    "share": float(share),
                    "words": [{"word": word, "probability": p} for word, p in zip(words, chances)],
                }
                for k, (share, words, chances) in enumerate(
                    zip(self.model.weights_, top, top.probabilities)
                )
            ],
            "n_documents": self.source.get("n_documents"),
        }


def _snippet(text: str) -> str:
    text = " ".join(text[: 20 * _SNIPPET].split())
    return text if len(text) <= _SNIPPET else f"{text[:_SNIPPET]}…"
