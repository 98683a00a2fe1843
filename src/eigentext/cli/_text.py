"""Plain text: how a command reads it, and how it fits a model to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eigentext.cli._bundles import (
    ColumnOption,
    CountsFlag,
    EncodingOption,
    ErrorsOption,
    FilesArgument,
    FitOptions,
    IdOption,
    LowercaseFlag,
    SkipBadFlag,
    StorageOptions,
    TokenizerOption,
    UnitOption,
)
from eigentext.cli._fitting import Fitting, fitting
from eigentext.cli._options import Bundle
from eigentext.errors import CorpusError, EigentextError, ParameterError

if TYPE_CHECKING:
    from eigentext import (
        HMM,
        BigramModel,
        ClassBigram,
        Eigentokens,
        Eigenwords,
        KneserNey,
        Phrases,
        TextCorpus,
        WeightedAutomaton,
    )

    TextModel = (
        Eigenwords
        | Eigentokens
        | Phrases
        | KneserNey
        | BigramModel
        | ClassBigram
        | HMM
        | WeightedAutomaton
    )


@dataclass(kw_only=True)
class SourceOptions(Bundle):
    """How the bytes of files become texts: their encoding, or the column of a table."""

    errors: ErrorsOption = "strict"
    encoding: EncodingOption = "utf-8"
    skip_bad: SkipBadFlag = False
    column: ColumnOption = None
    id: IdOption = None

    def source(self) -> dict[str, Any]:
        """Return the arguments of TextCorpus."""
        if self.skip_bad and self.errors == "replace":
            raise ParameterError("--skip-bad and --errors replace exclude each other; choose one")
        errors = "skip" if self.skip_bad else self.errors
        names = ("encoding", "column", "id")
        return {"errors": errors, **{name: getattr(self, name) for name in names}}


@dataclass(kw_only=True)
class ReadingOptions(SourceOptions):
    """Text files, and how they are read; each line is one text."""

    files: FilesArgument
    tokenizer: TokenizerOption = "whitespace"
    lowercase: LowercaseFlag = False

    def corpus(self, paths: Sequence[Path]) -> "TextCorpus":
        """Return the text in these files, read as the options say."""
        from eigentext import TextCorpus

        return TextCorpus(paths, **self.reading())

    def reading(self) -> dict[str, Any]:
        """Return the arguments of TextCorpus."""
        return {"tokenizer": self.tokenizer, "lowercase": self.lowercase, **self.source()}


@dataclass(kw_only=True)
class TextOptions(StorageOptions, ReadingOptions):
    """The same, for a model that counts words, or takes their counts."""

    counts: CountsFlag = False


@dataclass(kw_only=True)
class TextUnitOptions(TextOptions):
    """The same, with a choice of what one text is."""

    unit: UnitOption = "line"

    def reading(self) -> dict[str, Any]:
        """Return the arguments of TextCorpus."""
        return {**super().reading(), "unit": self.unit}


def fit_text(
    model: "TextModel",
    text: TextOptions,
    output: Path,
    run: FitOptions,
    saving: Mapping[str, Any] | None = None,
    **others: list[str],
) -> Fitting:
    """Fit a model to text files and save it; `saving` are further arguments of its `save`.

    `others` are further files, each list read in the same way. The model's `fit` gets them by
    their names, as corpora, or None for an empty list.
    """
    with fitting(output, run, text.files, *others.values()) as fit:
        rest = [text.corpus(paths) if paths else None for paths in fit.paths[1:]]
        corpus = None if text.counts else text.corpus(fit.paths[0])
        for one in (corpus, *rest):
            fit.check_not_read(one.files if one is not None else ())
        if corpus is None:
            fit.check_not_read(fit.paths[0])
            _fit_counts(model, text, fit.paths[0], **dict(zip(others, rest)))
        else:
            model.fit(corpus, **dict(zip(others, rest)), **text.arguments())
        fit.save(model, **(saving or {}))
    return fit


def _fit_counts(
    model: "TextModel", text: TextOptions, paths: Sequence[Path], **others: Any
) -> None:
    """Fit a model to counts of n-grams."""
    from eigentext import NgramMoments

    if text.column is not None:
        raise ParameterError("--counts reads no tables; leave --column out")
    moments = NgramMoments.from_counts(
        paths,
        lowercase=text.lowercase,
        encoding=text.encoding,
        errors="skip" if text.skip_bad else "raise",
    )
    model.fit_moments(moments, **others)


def reading_of(
    path: Path, model: Any, remedy: str, *, tokenizer: str = "none", lowercase: bool = False
) -> dict[str, Any]:
    """Return how the text was read that a model was learned from: the arguments of TextCorpus.

    The tokenizer and the case are those of a model that does not say. If the command line does not
    have the tokenizer, the error names the `remedy`.
    """
    from eigentext.corpus.tokenizers import NAMED

    reading = {"tokenizer": tokenizer, "lowercase": lowercase, "unit": "line"}
    learned = model.provenance_["options"]
    reading |= {name: learned[name] for name in reading if name in learned}
    if reading["tokenizer"] == "none":  # lists of words in Python are words between blanks here
        reading["tokenizer"] = "whitespace"
    if reading["tokenizer"] not in NAMED:
        raise EigentextError(
            f"{path} was learned with the tokenizer {reading['tokenizer']!r}, which the command "
            f"line does not have; {remedy}"
        )
    return reading


def utf8_or(encoding: str, path: Path) -> str:
    """Return the encoding of a further file, such as a list of words: UTF-8 if it is, or else this.

    The encoding is that of the files that the command learns from.
    """
    from eigentext.corpus.encodings import UTF8, checked_encoding, not_utf8
    from eigentext.corpus.readers import expand_paths, read_whole

    if checked_encoding(encoding) == UTF8:
        return UTF8
    return encoding if not_utf8(read_whole(expand_paths([path])[0])) else UTF8


def no_words(files: Sequence[str], what: str = "words") -> CorpusError:
    """Return the error for files in which there is nothing to work on."""
    return CorpusError(f"{', '.join(files)}: contains no {what}; is the file empty?")
