"""Taggers: the tags of a sentence, and their confidences."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eigentext.explorer import asking
from eigentext.explorer.asking import Arguments, RefusedError
from eigentext.explorer.models.base import Explored, Fact

if TYPE_CHECKING:
    from eigentext.sequences import HMMTagger, RefinementHMM
    from eigentext.tagging import Tagger


class ExploredTagger(Explored):
    """A linear model with dense features."""

    kind = "tagger"
    heavy = ("tag",)
    model: "Tagger"

    def title(self) -> str:
        """The numbers of tags and sentences: "23 tags, from 8,936 sentences"."""
        found = self.found
        return f"{found['n_tags']:,} tags, from {found['n_sentences']:,} sentences"

    def facts(self) -> Iterator[Fact]:
        """Yield the sizes of the training data and of the model."""
        for name in ("n_sentences", "n_tokens", "n_tags", "n_features", "n_words", "n_states"):
            if name in self.found:
                yield name.removeprefix("n_"), self.found[name]
        if hasattr(self.model, "columns_"):
            yield "columns", ", ".join(self.columns)

    @property
    def columns(self) -> list[str]:
        """The names of the parts of a token."""
        return list(self.model.columns_)

    @property
    def has_classes(self) -> bool:
        """Whether a bar separates a word from its class: ``dog|NN``."""
        return False

    def warm(self) -> None:
        """Tag a token."""
        self.tag({"text": "|".join("a" for _ in self.columns)})

    def tag(self, arguments: Arguments) -> dict[str, Any]:
        """Return the best tags of a sentence, with their confidences."""
        words = self._words(arguments)
        tokens: list[Any] = words
        if len(self.columns) > 1:
            tokens = [tuple(word.split("|")) for word in words]
            if any(len(token) != len(self.columns) or not all(token) for token in tokens):
                raise RefusedError(
                    400,
                    f"the tokens of this tagger are {'|'.join(self.columns)}; type each token "
                    "with all of its parts, as in dog|NN",
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
        has_parts = len(self.columns) > 1 or self.has_classes
        words = text.split() if has_parts else self.model.policy_.split(text)
        return asking.check_length(words, asking.MOST_WORDS, "sentence")


class ExploredHMMTagger(ExploredTagger):
    """A second-order hidden Markov model, which has no confidences."""

    model: "HMMTagger"  # type: ignore[assignment]

    @property
    def columns(self) -> list[str]:
        """The words alone."""
        return ["word"]

    @property
    def has_classes(self) -> bool:
        """Whether a bar separates a word from its class: ``dog|NN``."""
        return self.model.parameters_.classes == "factor"

    def tag(self, arguments: Arguments) -> dict[str, Any]:
        """Return the best tags of a sentence."""
        tagged = self.model.tag(self._words(arguments))
        return {"tokens": [{"word": word, "tag": tag, "confidence": None} for word, tag in tagged]}


class ExploredRefinementHMM(ExploredHMMTagger):
    """A hidden Markov model whose tags have hidden states; marginals are its confidences."""

    model: "RefinementHMM"  # type: ignore[assignment]

    def tag(self, arguments: Arguments) -> dict[str, Any]:
        """Return the best tags of a sentence, with their confidences."""
        words = self._words(arguments)
        place = {tag: t for t, tag in enumerate(self.model.tags_)}
        sure = self.model.marginals(words)
        return {
            "tokens": [
                {"word": word, "tag": tag, "confidence": min(1.0, float(row[place[tag]]))}
                for (word, tag), row in zip(self.model.tag(words), sure)
            ]
        }
