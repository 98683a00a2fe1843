"""`eigentext kneser-ney|bigram next`, `… generate`: the words that a language model expects."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigentext.cli._bundles import JsonFlag
from eigentext.cli._console import print_json, print_plain, print_warning
from eigentext.cli.sequences._shared import load_language_model, reading_of

if TYPE_CHECKING:
    from eigentext.cli.sequences._shared import LanguageModel

ModelArgument = Annotated[Path, typer.Argument(help="A language model, written by `fit`.")]
WordsArgument = Annotated[
    list[str] | None, typer.Argument(help="The words so far; none: the start of a text.")
]


def next_words(
    model: ModelArgument,
    words: WordsArgument = None,
    topn: Annotated[
        int, typer.Option("-n", "--topn", "--top", min=1, help="How many to print.")
    ] = 10,
    json: JsonFlag = False,
) -> None:
    """Print the most probable next words, with their probabilities.

    The words are the beginning of a text. Among the answers may be the rare word, which stands for
    all rare words, and the end of the text.
    """
    loaded = load_language_model(model)
    prefix, unknown = _prefix(model, loaded, words or [])
    found = loaded.top_next(prefix, topn)
    if json:
        print_json({"prefix": prefix, "unknown": unknown, "next": found})
        return
    _warn(unknown)
    for word, probability in found:
        print_plain(f"  {probability:8.6f}  {word}")


def generate(
    model: ModelArgument,
    words: WordsArgument = None,
    n: Annotated[
        int, typer.Option("-n", "--length", min=0, help="The largest number of words.")
    ] = 20,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="The random seed. The same seed: the same text.")
    ] = 0,
    json: JsonFlag = False,
) -> None:
    """Print a text that is drawn from the model, with the words so far as its beginning."""
    loaded = load_language_model(model)
    prefix, unknown = _prefix(model, loaded, words or [])
    drawn = loaded.generate(n, context=prefix, random_state=seed)
    if json:
        print_json({"prefix": prefix, "unknown": unknown, "words": drawn, "seed": seed})
        return
    _warn(unknown)
    print_plain(" ".join(map(str, (*prefix, *drawn))))


def _prefix(path: Path, model: "LanguageModel", words: list[str]) -> tuple[list[str], list[str]]:
    """Return the words as the model reads text, and those that it does not know."""
    from eigentext import TextCorpus

    reading = {**reading_of(path, model), "unit": "line"}
    (prefix,) = list(TextCorpus([" ".join(words)], kind="texts", **reading)) or [[]]
    return prefix, [word for word in prefix if word not in model.vocabulary_]


def _warn(unknown: list[str]) -> None:
    if unknown:
        print_warning(f"the model has not learned these words: {', '.join(unknown)}")
