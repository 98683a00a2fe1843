"""`eigentext hmm tag|evaluate`: tags without labels, by the states of a hidden Markov model."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import (
    EncodingOption,
    FilesArgument,
    RunOptions,
    SkipBadFlag,
    StreamOption,
)
from eigentext.cli._console import print_json, print_plain
from eigentext.cli._files import check_not_read, inputs, load_kind
from eigentext.cli._options import with_options
from eigentext.cli._tables import write_text
from eigentext.cli._text import SourceOptions, no_words
from eigentext.cli._work import work
from eigentext.cli.sequences._shared import reading_of
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from eigentext import HMM

_BATCH = 1000  # sentences that are tagged together
ModelArgument = Annotated[
    Path, typer.Argument(help="A model written by `hmm fit --method anchor`, em or spectral+em.")
]
TaggedArgument = Annotated[
    list[str],
    typer.Argument(
        help="Tagged sentences: one token on each line, the word first and the tag last, and a "
        "blank line after each sentence; files or globs (plain, .gz, .bz2, .xz, .zst); - is "
        "standard input."
    ),
]


@with_options()
def tag(
    model: ModelArgument,
    files: FilesArgument,
    run: RunOptions,
    source: SourceOptions,
    output: StreamOption = Path("-"),
) -> None:
    """Tag text: a token and its tag on each line, with a tab between; an empty line after each.

    A line of the text is a sentence. A tag is the name of the most probable state: its first anchor
    if the model was learned with --method anchor, and the number of the state otherwise. With
    --json, each sentence is a JSON object on a line of its own.
    """
    from eigentext import TextCorpus

    check_not_read(output, [model])
    hmm = _load(model)
    reading = {**reading_of(model, hmm), "unit": "line"}
    with inputs(files) as (paths,), work(run, bars=False):
        corpus = TextCorpus(paths, **source.source(), **reading)
        check_not_read(output, corpus.files)
        if next(iter(corpus), None) is None:
            raise no_words(files)
        write_text(_lines(hmm, iter(corpus), run.json), output)


@with_options()
def evaluate(
    model: ModelArgument,
    files: TaggedArgument,
    run: RunOptions,
    encoding: EncodingOption = "utf-8",
    skip_bad: SkipBadFlag = False,
) -> None:
    """Tag the words of tagged sentences, and compare the states with the right tags, in percent.

    The table has the right tag that each state has most often. The last line has many-to-one
    accuracy, one-to-one accuracy and the V-measure.
    """
    from eigentext import read_conll
    from eigentext.corpus.readers import expand_paths
    from eigentext.evaluate import induced_tags

    with inputs(files) as (paths,), work(run, bars=False):
        hmm = _load(model)
        errors = "skip" if skip_bad else "raise"
        given: list[Any] = [
            sentence
            for path in expand_paths(paths)
            for sentence in read_conll(path, encoding=encoding, errors=errors)
        ]
        if not any(given):
            raise no_words(files)
        words = [[token[0] for token in sentence] for sentence in given]
        if hmm.provenance_["options"].get("lowercase"):
            words = [[word.lower() for word in sentence] for sentence in words]
        result = induced_tags([list(sentence) for sentence in given], hmm.tag(words))
    if run.json:
        print_json({"model": str(model), "n_sentences": len(given), **result.to_dict()})
        return
    print_plain(str(result))


def _lines(hmm: "HMM", sentences: Iterator[list[str]], json: bool) -> Iterator[str]:
    batch: list[list[str]] = []
    for sentence in sentences:
        batch.append(sentence)
        if len(batch) == _BATCH:
            yield from _tagged(hmm, batch, json)
            batch = []
    yield from _tagged(hmm, batch, json)


def _tagged(hmm: "HMM", batch: list[list[str]], json: bool) -> Iterator[str]:
    for tokens, tags in zip(batch, hmm.tag(batch)):
        if json:
            yield json_text({"tokens": tokens, "tags": tags}, ascii_only=False) + "\n"
        else:
            yield "".join(f"{word}\t{name}\n" for word, name in zip(tokens, tags)) + "\n"


def _load(path: Path) -> "HMM":
    from eigentext import HMM

    return load_kind(path, HMM, "a hidden Markov model")
