"""Taggers: the tags of a sentence, and how sure they are."""

from collections.abc import Iterator
from typing import Any

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Told
from eigentext.explorer.tokens import penn_tokens


class ExploredTagger(Explored):
    """A linear model with dense features."""

    kind = "tagger"
    heavy = ("tag",)

    def title(self) -> str:
        """As in "23 tags, from 8,936 sentences"."""
        found = self.found
        return f"{found['n_tags']:,} tags, from {found['n_sentences']:,} sentences"

    def facts(self) -> Iterator[tuple[str, Any]]:
        """Of what was learned from."""
        for name in ("n_sentences", "n_tokens", "n_tags", "n_features", "n_words", "n_states"):
            if name in self.found:
                yield name.removeprefix("n_"), self.found[name]
        if hasattr(self.model, "columns_"):
            yield "columns", ", ".join(self.model.columns_)

    def told(self) -> Iterator[Told]:
        """Of mistakes, and of words without vectors."""
        found = self.found
        if wrong := found.get("wrong_tags"):
            share = wrong[-1] / max(found["n_tokens"], 1)
            yield (
                "good" if share < 0.05 else "note",
                f"In its last pass, {share:.1%} of the tags it learned from were wrong.",
            )
        for source, share in found.get("coverage", {}).items():
            if isinstance(share, float):
                yield (
                    "good" if share > 0.8 else "warning",
                    f"{share:.0%} of the tokens have {source}.",
                )

    def warm(self) -> None:
        """Tag something."""
        width = len(getattr(self.model, "columns_", ["word"]))
        self.tag({"text": "|".join(["a"] * width)})

    def tag(self, arguments: Arguments) -> dict[str, Any]:
        """The best tags of a sentence."""
        words = self._words(arguments)
        columns = self.model.columns_
        tokens: list[Any] = words
        if len(columns) > 1:
            tokens = [tuple(word.split("|")) for word in words]
            if any(len(token) != len(columns) or not all(token) for token in tokens):
                raise RefusedError(
                    400, f"this tagger's tokens are {'|'.join(columns)}; type them so, as in dog|NN"
                )
        (tagged,) = self.model.tag([tokens])
        (sure,) = self.model.confidences([tokens])
        return {
            "tokens": [
                {"word": word, "tag": token[-1], "confidence": min(1.0, max(0.0, p))}
                for word, token, p in zip(words, tagged, sure.tolist())
            ]
        }

    def _words(self, arguments: Arguments) -> list[str]:
        text = asking.text(arguments)
        factored = len(getattr(self.model, "columns_", [""])) > 1
        words = text.split() if factored or self.is_factored else penn_tokens(text)
        return asking.check_length(words, asking.MOST_WORDS, "sentence")

    @property
    def is_factored(self) -> bool:
        """Whether tokens are written with a class behind a bar."""
        return getattr(getattr(self.model, "parameters_", None), "classes", None) == "factor"


class ExploredHMMTagger(ExploredTagger):
    """A second-order hidden Markov model: no confidences."""

    def tag(self, arguments: Arguments) -> dict[str, Any]:
        """The best tags of a sentence."""
        tagged = self.model.tag(self._words(arguments))
        return {"tokens": [{"word": word, "tag": tag, "confidence": None} for word, tag in tagged]}
