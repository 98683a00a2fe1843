"""Topics: sizes, words, typical documents, and what a pasted document is about."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Told, spectrum_told
from eigentext.explorer.tokens import as_learned

_WORDS = 30  # of a topic
_DOCUMENTS = 5
_SNIPPET = 300  # characters


class ExploredTopics(Explored):
    """A topic model."""

    kind = "topics"

    def __init__(self, model: Any, name: str):
        super().__init__(model, name)
        self._typical: list[list[Any]] | None = None

    @property
    def light(self) -> tuple[str, ...]:  # type: ignore[override] - anchors have no spectrum
        """All; the spectrum, where it is known."""
        spectrum = ("spectrum",) if self.found.get("eigenvalues") else ()
        return ("topics", "documents", "proportions", *spectrum)

    def title(self) -> str:
        """As in "20 topics of 11,314 documents"."""
        return f"{self.model.n_topics_} topics of {self.source['n_documents']:,} documents"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of the documents and the method."""
        yield "documents", self.source["n_documents"]
        yield "tokens", self.source["n_tokens"]
        yield "words", len(self.model.vocabulary_)
        yield "method", self.model.parameters_.method
        yield "alpha0", float(self.model.alpha0_)

    def told(self) -> Iterator[Told]:
        """What the topics' own report says, and of the spectrum."""
        from eigentext.topics.report import _told

        warns = ("were asked for", "may do as well", "have no word")
        for line in _told(self.model, None):
            yield "note" if any(sign in line for sign in warns) else "good", line
        kept, dropped = self._spectrum
        if kept:
            yield from (one for one in spectrum_told(kept, dropped, "topics") if one[0] != "note")
        if (self.found.get("moved_most") or 0) > 0.5:
            yield (
                "note",
                "A topic was far from a distribution before EM mended it: its moments are noisy.",
            )

    def add_documents(self, corpus: Any) -> None:
        """Find typical documents in a corpus."""
        from eigentext.topics.report import _typical

        self._typical = _typical(self.model, corpus, _DOCUMENTS, None)

    def ready(self) -> None:
        """Read a document once, for kernels to be compiled."""
        if not self._of_columns:
            self.proportions({"text": self.model.vocabulary_.words[0]})

    # Queries.

    def topics(self, arguments: Arguments) -> dict[str, Any]:
        """Shares and most probable words."""
        return self._topics

    def documents(self, arguments: Arguments) -> dict[str, Any]:
        """Those most typical of a topic."""
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
        """Of the topics in a pasted document."""
        if self._of_columns:
            raise RefusedError(
                400, "this model was learned from a matrix, whose words have no name"
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
        """Eigenvalues of the pairs of words."""
        kept, dropped = self._spectrum
        return {"kept": kept, "dropped": dropped}

    def _shares(self, ids: np.ndarray) -> np.ndarray:
        """What `transform` gives, by the columns of this document alone, not by all of them."""
        from eigentext.factor.mixture import posteriors, proportions

        words, counts = np.unique(ids, return_counts=True)
        phi, d = self.model.components_[:, words], self.model.components_.shape[1]
        phi = (1 - 1e-6) * np.asarray(phi) + 1e-6 / d
        if self.model.alpha0_ == 0:
            return posteriors(counts[None], phi, self.model.weights_)[0][0]
        return proportions(counts[None], phi, self.model.alpha_)[0]

    @property
    def _spectrum(self) -> tuple[list[float], list[float]]:
        return list(self.found.get("eigenvalues", [])), list(self.found.get("dropped", []))

    @property
    def _of_columns(self) -> bool:
        return self.source["options"].get("tokenizer") == "matrix"

    @cached_property
    def _topics(self) -> dict[str, Any]:
        phi, words = np.asarray(self.model.components_), self.model.vocabulary_.words
        top = np.argsort(-phi, axis=1, kind="stable")[:, :_WORDS]
        return {
            "topics": [
                {
                    "id": k,
                    "share": float(share),
                    "words": [{"word": words[w], "probability": float(phi[k, w])} for w in row],
                }
                for k, (share, row) in enumerate(zip(self.model.weights_, top.tolist()))
            ],
            "n_documents": self.source.get("n_documents"),
        }


def _snippet(text: str) -> str:
    text = " ".join(text[: 20 * _SNIPPET].split())
    return text if len(text) <= _SNIPPET else f"{text[:_SNIPPET]}…"
