"""What the commands on taggers share: models, sentences in columns, and how fast it went."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from eigentext.cli._console import Watch
from eigentext.cli._lines import raw_lines
from eigentext.errors import CorpusError, EigentextError, ParameterError

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `tagger fit`.")]
TaggedArgument = Annotated[
    list[str],
    typer.Argument(
        help="Tagged sentences: a token a line, its columns and its label, a blank line between; "
        "files or globs (plain, .gz, .bz2, .xz, .zst); - is stdin."
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="What the columns of the files are, as in word,pos,_,label; _ is left aside.",
        show_default="those of the model",
    ),
]
LEFT_ASIDE = "_"  # among the names of columns
_GUESSES = {2: ["word", "label"], 3: ["word", "pos", "label"]}
_KEPT_LINES = 1 << 16  # most lines occur again: each is parsed once
_PLACE = re.compile(r"sentence (\d+), token (\d+): (.*)", re.DOTALL)


class Sentence(NamedTuple):
    """A sentence, where it was found, and the line that ended it; no tokens: that line alone."""

    file: str
    line: int  # of its first token
    tokens: list[tuple[str, ...]]
    border: str | None  # None: the end of all
    separator: str = " "  # of columns


class Layout:
    """What the columns of files are, and which of them are wanted."""

    def __init__(self, names: Sequence[str], wanted: Sequence[int], remedy: str = ""):
        self.names, self._wanted = list(names), list(wanted)
        self.kept = [self.names[i] for i in wanted]
        self._remedy = remedy  # where there are more columns, or fewer
        self._parse = lru_cache(_KEPT_LINES)(self._parsed)

    def token(self, line: bytes, file: str, number: int) -> tuple[str, ...]:
        """The wanted columns of a line; none if it is between sentences."""
        try:
            return self._parse(line)
        except CorpusError as error:
            reason = str(error).removeprefix("line 1: ")
            is_ragged = reason.endswith(f"columns, not {len(self.names)}")
            remedy = f"; {self._remedy}" if is_ragged else ""
            raise CorpusError(f"{file}, line {number}: {reason}{remedy}") from error

    def _parsed(self, line: bytes) -> tuple[str, ...]:
        from eigentext.corpus.conll import parse_conll

        found = parse_conll(line, len(self.names))
        return tuple(found[0][0][i] for i in self._wanted) if found else ()


# Columns.


def named_columns(text: str) -> list[str]:
    """The names in an option, as in word,pos,_,label."""
    names = [name.strip() for name in text.split(",")]
    kept = [name for name in names if name != LEFT_ASIDE]
    if not all(names) or not kept or len(set(kept)) < len(kept):
        raise ParameterError(
            f"--columns {text}: give each column a name of its own, as in word,pos,label, or _ if "
            "it is to be left aside"
        )
    return names


def training_layout(columns: str | None, path: Path) -> Layout:
    """The columns as they are named, else as the first token of the file has them."""
    names = _guessed(path) if columns is None else named_columns(columns)
    wanted = [i for i, name in enumerate(names) if name != LEFT_ASIDE]
    if len(wanted) < 2 or names[wanted[0]] != "word":
        raise ParameterError(
            f"--columns {columns}: name the word first, as word, and the label last, as in "
            "word,pos,label"
        )
    return Layout(names, wanted, "mend it, or name the columns with --columns")


def known_layout(
    tagger: Any, columns: str | None, *, labelled: bool, with_label: bool = False
) -> Layout:
    """The columns that a tagger knows among those of files, and the label if it is wanted.

    Unless they are named, the files have just these, and then a label if they are `labelled`.
    """
    known = tagger.columns_
    remedy = f"the model looks at {', '.join(known)}: mend it, or name the columns with --columns"
    if columns is None:
        if not labelled:
            remedy += ", or, if the last is a label, give --labelled"
        names = [*known, "label"] if labelled else known
        return Layout(names, range(len(names) if with_label else len(known)), remedy)
    names = named_columns(columns)
    wanted = [names.index(name) for name in known if name in names]
    labels = [i for i, name in enumerate(names) if name not in (*known, LEFT_ASIDE)]
    if len(wanted) < len(known) or (with_label and not labels):
        also = " and a label, named last" if with_label else ""
        raise ParameterError(
            f"--columns {columns}: the model needs {', '.join(known)}{also}; name them all"
        )
    return Layout(names, [*wanted, *labels[-1:]] if with_label else wanted, remedy)


def _guessed(path: Path) -> list[str]:
    for number, line in enumerate(raw_lines(path), 1):
        text = line.strip()
        n_columns = len(text.split(b"\t") if b"\t" in text else text.split())
        token = Layout([""] * n_columns, range(n_columns)).token(line, str(path), number)
        if not token:
            continue
        if n_columns in _GUESSES:
            return _GUESSES[n_columns]
        shown = f"{path}, line {number}: {text.decode()[:80]!r}"
        if n_columns == 1:
            raise CorpusError(f"{shown} has no label; give a word and its label on each line")
        raise CorpusError(
            f"{shown} has {n_columns} columns; say with --columns what they are, the label last, "
            "as in word,pos,_,label, where _ is left aside"
        )
    raise _empty(str(path))


# Sentences.


def read_tagged(paths: Iterable[Path], layout: Layout) -> list[Sentence]:
    """The sentences of files that hold nothing but such, the label the last of their columns."""
    from eigentext import engine

    found: list[Sentence] = []
    with engine.phase("read sentences", None, "tokens") as advance:
        for path in paths:
            n = len(found)
            for sentence in read_sentences([path], layout):
                if sentence.tokens:
                    found.append(sentence)
                    advance(len(sentence.tokens))
            if len(found) == n:
                raise _empty(str(path))
    return found


def read_sentences(paths: Sequence[Path | None], layout: Layout) -> Iterator[Sentence]:
    """Sentences as they come, and the lines between; an error names its place."""
    for n_files, path in enumerate(paths, 1):
        file = "standard input" if path is None else str(path)
        tokens: list[tuple[str, ...]] = []
        number, separator = 0, " "
        for number, line in enumerate(raw_lines(path), 1):
            token = layout.token(line, file, number)
            if token:
                tokens.append(token)
                if b"\t" in line.strip():
                    separator = "\t"
                continue
            border = line.decode(errors="replace").strip()
            yield Sentence(file, number - len(tokens), tokens, border, separator)
            tokens, separator = [], " "
        if tokens:
            border = "" if n_files < len(paths) else None
            yield Sentence(file, number + 1 - len(tokens), tokens, border, separator)


@contextmanager
def places_of(sentences: Sequence[Sentence]) -> Iterator[None]:
    """Name the file and the line where an error names a sentence and a token."""
    try:
        yield
    except CorpusError as error:
        found = _PLACE.fullmatch(str(error))
        if not found:
            raise
        sentence = sentences[int(found[1]) - 1]
        line = sentence.line + int(found[2]) - 1
        raise CorpusError(f"{sentence.file}, line {line}: {found[3]}") from error


def _empty(file: str) -> CorpusError:
    return CorpusError(f"{file}: no sentences in it; is the file empty?")


# Models, and what it took.


def load_tagger(path: Path) -> Any:
    """The tagger in a file."""
    from eigentext import Tagger
    from eigentext.storage import load

    model = load(path)
    if not isinstance(model, Tagger):
        raise EigentextError(f"{path}: holds {model!r}, not a tagger that `tagger fit` wrote")
    return model


def speed(watch: Watch) -> dict[str, Any]:
    """How many tokens the last phase was through with, in how many seconds."""
    phase = watch.phases[-1]
    rate = phase.done / phase.seconds if phase.seconds else None
    return {
        "n_tokens": phase.done,
        "seconds": round(phase.seconds, 3),
        "tokens_per_second": rate,
    }


def told_speed(watch: Watch) -> str:
    """The same for people."""
    figures = speed(watch)
    n, rate = figures["n_tokens"], figures["tokens_per_second"]
    told = f"{n:,} token{'s' if n > 1 else ''} in {figures['seconds']:.1f} s"
    return f"{told} ({rate:,.0f}/s)" if rate else told
