"""What the commands on taggers share: models, and sentences in columns."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from eigentext.cli._files import load_kind
from eigentext.cli._lines import raw_lines
from eigentext.cli._text import no_words
from eigentext.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    from eigentext import Tagger

ModelArgument = Annotated[Path, typer.Argument(help="A model written by `tagger fit`.")]
TaggedArgument = Annotated[
    list[str],
    typer.Argument(
        help="Tagged sentences: one token on each line, with its columns and its label, and a "
        "blank line after each sentence; files or globs (plain, .gz, .bz2, .xz, .zst); - is "
        "standard input."
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="The columns of the files, as in word,pos,_,label; _ is ignored.",
        show_default="those of the model",
    ),
]
IGNORED = "_"  # the name of a column that is not used
_GUESSES = {2: ["word", "label"], 3: ["word", "pos", "label"]}
_KEPT_LINES = 1 << 16  # most lines occur several times: each is parsed once
_PLACE = re.compile(r"sentence (\d+), token (\d+): (.*)", re.DOTALL)


class Sentence(NamedTuple):
    """A sentence, its place, and the line that ended it. Without tokens, it is that line alone."""

    file: str
    line: int  # of its first token
    tokens: list[tuple[str, ...]]
    border: str | None  # None at the end of the last file
    separator: str = " "  # between columns


class Layout:
    """The columns of files, and which of them are used."""

    def __init__(self, names: Sequence[str], wanted: Sequence[int], remedy: str = ""):
        self.names, self._wanted = list(names), list(wanted)
        self.kept = [self.names[i] for i in wanted]
        self._remedy = remedy  # for lines with more or fewer columns
        self._parse = lru_cache(_KEPT_LINES)(self._parsed)

    def token(self, line: bytes, file: str, number: int) -> tuple[str, ...]:
        """Return the used columns of a line; none if the line is between sentences."""
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
    """Return the names in an option, as in word,pos,_,label."""
    names = [name.strip() for name in text.split(",")]
    kept = [name for name in names if name != IGNORED]
    if not all(names) or not kept or len(set(kept)) < len(kept):
        raise ParameterError(
            f"--columns {text}: give each column a different name, as in word,pos,label, or _ to "
            "ignore it"
        )
    return names


def training_layout(columns: str | None, path: Path) -> Layout:
    """Return the columns that the option names; by default, guess from the file's first token."""
    names = _guessed(path) if columns is None else named_columns(columns)
    wanted = [i for i, name in enumerate(names) if name != IGNORED]
    if len(wanted) < 2 or names[wanted[0]] != "word":
        raise ParameterError(
            f"--columns {columns}: the first column must be called word, and the label must come "
            "last, as in word,pos,label"
        )
    return Layout(names, wanted, "correct it, or name the columns with --columns")


def known_layout(
    tagger: "Tagger", columns: str | None, *, labelled: bool, with_label: bool = False
) -> Layout:
    """Return where the columns that a tagger uses are in files, and the label if it is wanted.

    If the option does not name the columns, the files have the tagger's columns, and then a label
    if they are `labelled`.
    """
    known = tagger.columns_
    remedy = f"the model uses {', '.join(known)}: correct it, or name the columns with --columns"
    if columns is None:
        if not labelled:
            remedy += ", or give --labelled if the last column is a label"
        names = [*known, "label"] if labelled else known
        return Layout(names, range(len(names) if with_label else len(known)), remedy)
    names = named_columns(columns)
    wanted = [names.index(name) for name in known if name in names]
    labels = [i for i, name in enumerate(names) if name not in (*known, IGNORED)]
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
            f"{shown} has {n_columns} columns; name them with --columns, the label last, "
            "as in word,pos,_,label, where _ is ignored"
        )
    raise no_words([str(path)], "sentences")


# Sentences.


def read_tagged(paths: Iterable[Path], layout: Layout) -> list[Sentence]:
    """Return the sentences of files of tagged sentences, with the label as the last column."""
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
                raise no_words([str(path)], "sentences")
    return found


def read_sentences(paths: Sequence[Path | None], layout: Layout) -> Iterator[Sentence]:
    """Yield sentences, and the lines between them; an error names its place."""
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
    """Name the file and the line in errors that name a sentence and a token."""
    try:
        yield
    except CorpusError as error:
        found = _PLACE.fullmatch(str(error))
        if not found:
            raise
        sentence = sentences[int(found[1]) - 1]
        line = sentence.line + int(found[2]) - 1
        raise CorpusError(f"{sentence.file}, line {line}: {found[3]}") from error


# Models.


def load_tagger(path: Path) -> "Tagger":
    """Load a tagger."""
    from eigentext import Tagger

    return load_kind(path, Tagger, "a tagger that `tagger fit` wrote")
