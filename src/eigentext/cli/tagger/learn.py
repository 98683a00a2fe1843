"""`eigentext tagger fit`: from tagged sentences, and what plain text taught, to a tagger."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import EncodingOption, FitOptions, OutputOption, SkipBadFlag
from eigentext.cli._console import finite
from eigentext.cli._fitting import Fitting, fitting, validation_facts
from eigentext.cli._options import Bundle, Parameters, given_on_command_line, with_options
from eigentext.cli._sources import SOURCES, PlainTextOptions, load_sources
from eigentext.cli.tagger._shared import (
    TaggedArgument,
    places_of,
    read_tagged,
    training_columns,
)
from eigentext.errors import EigentextError, ParameterError
from eigentext.tagging import parameters as tables

if TYPE_CHECKING:
    from eigentext import Tagger
    from eigentext.evaluate.chunks import Chunks
    from eigentext.evaluate.tags import Tags

_KEYWORD = re.compile(rf"\b({'|'.join(SOURCES)})=…")
_FOREIGN = re.compile(rf"among (?:those|the words) of ({'|'.join(SOURCES)})\b")


@dataclass(kw_only=True)
class SourceOptions(PlainTextOptions):
    """What was learned from plain text, without labels."""

    eigentokens: Annotated[
        Path | None, typer.Option(metavar="MODEL", help="Eigentokens, of `words tokens`.")
    ] = None
    states: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="States of a hidden Markov model, of `hmm fit`."),
    ] = None
    parser: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", help="States of the nodes of a grammar, of `grammar fit`."),
    ] = None


@dataclass(kw_only=True)
class TaggedOptions(Bundle):
    """What the files hold, and what a tagger looks at in them."""

    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The columns, the label last, as in word,pos,_,label; _ is ignored. In CoNLL-U "
            "some names are enough, as in word,xpos.",
            show_default="found in the first lines",
        ),
    ] = None
    encoding: EncodingOption = "utf-8"
    skip_bad: SkipBadFlag = False
    validation: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="Other tagged sentences: keep the pass that is best on them, and print its score.",
        ),
    ] = None
    template: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TEMPLATE",
            help="Use this template instead of --features, as in 'word[-1]|word[0]', "
            "'pos[-2..2]', 'suffix3[0]'. May be given several times.",
        ),
    ] = None


@with_options(tables.Tagger)
def fit(
    context: typer.Context,
    files: TaggedArgument,
    output: OutputOption,
    tagged: TaggedOptions,
    sources: SourceOptions,
    parameters: Parameters,
    run: FitOptions,
) -> None:
    """Learn a tagger from tagged sentences and write it as one model file.

    Each line has one token: its word, then other columns, if any, such as its part of speech, then
    its label, with blanks or tabs between them. The formats of CoNLL-2000 to
    2003, CoNLL-2009 and CoNLL-U are recognized. What was learned from plain text, without labels,
    helps: word vectors, clusters, eigentokens, the states of an HMM.
    """
    from eigentext import Tagger
    from eigentext.corpus.encodings import checked_encoding
    from eigentext.corpus.readers import expand_paths

    models = sources.given()
    _check(tagged, models, given_on_command_line(context, parameters))
    if tagged.template:
        parameters["features"] = tagged.template
    with fitting(output, run, files, tagged.validation or []) as done:
        paths, held_out = map(expand_paths, done.paths)
        done.check_not_read([*paths, *held_out, *expand_paths(list(models.values()))])
        how: Any = {"encoding": checked_encoding(tagged.encoding), "skip_bad": tagged.skip_bad}
        columns = training_columns(tagged.columns, paths[0], how["encoding"])
        sentences = read_tagged(paths, columns, **how)
        others = [one.tokens for one in read_tagged(held_out, columns, **how)] if held_out else None
        loaded = load_sources(models, how["encoding"])
        tagger = Tagger(**parameters, columns=columns.kept[:-1], **loaded)
        with _named_as_options(models), places_of(sentences):
            tagger.fit([one.tokens for one in sentences], validation=others)
        scores = tagger.evaluate(others) if others else None
        done.save(tagger)
    _report(done, tagger, scores)


def _check(tagged: TaggedOptions, models: dict[str, Path], given: list[str]) -> None:
    """Raise ParameterError if options do not go together."""
    if tagged.template and "features" in given:
        raise ParameterError("--features also names templates; give only one of the two")
    if "scale" in given and not models.keys() - {"clusters"}:
        raise ParameterError(
            "--scale is for --vectors, --eigentokens, --states or --parser; give one"
        )


@contextmanager
def _named_as_options(sources: dict[str, Path]) -> Iterator[None]:
    """Use the names of the options in errors, and name the file that an error is about."""
    try:
        yield
    except EigentextError as error:
        message = _KEYWORD.sub(r"--\1", str(error)).replace("scheme=None", "--scheme none")
        if found := _FOREIGN.search(message):
            message = f"{sources[found[1]]}: {message}"
        raise type(error)(message) from error


def _report(done: Fitting, tagger: "Tagger", scores: "Chunks | Tags | None") -> None:
    """Print what was learned, and what it took."""
    found = dict(tagger.diagnostics_)
    by_pass = [finite(x) for x in found.get("validation", [])]
    details = _details(tagger, by_pass)
    if scores is not None:
        details += str(scores).splitlines()
    done.report(
        {
            "columns": tagger.columns_,
            "templates": tagger.templates_,
            **found,
            **validation_facts(by_pass or None, scores),
        },
        f"{found['n_tags']:,} tags, {found['n_weighted']:,} of {found['n_features']:,} "
        f"features from {found['n_sentences']:,} sentences, {found['n_tokens']:,} tokens",
        details,
        phases=True,
    )


def _details(tagger: "Tagger", by_pass: list[float | None]) -> list[str]:
    """Return the most important diagnostics, a line each; `by_pass` are the validation scores."""
    from eigentext.tagging.choices import ARGUMENTS

    found = tagger.diagnostics_
    lines = [f"columns         {', '.join(tagger.columns_)}"]
    if "wrong_tags" in found:
        mistakes = ", ".join(f"{n:,}" for n in found["wrong_tags"])
        lines.append(f"wrong tags      {mistakes} in the passes")
    if losses := found.get("loss"):
        steps = f"{losses[0]:,.1f} to {losses[-1]:,.1f} in {len(losses)} iterations"
        lines.append(f"loss            {steps}")
    if found["coverage"]:
        shares = [f"{share:.1%} by {ARGUMENTS[name]}" for name, share in found["coverage"].items()]
        lines.append(f"known tokens    {', '.join(shares)}")
    if any(by_pass):
        best = max(range(len(by_pass)), key=lambda i: by_pass[i] or 0)
        lines.append(f"best validation after pass {best + 1} of {len(by_pass)}")
    return lines
