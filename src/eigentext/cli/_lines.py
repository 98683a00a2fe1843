"""Read sentences line by line, and write an answer to each, in order."""

import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple

import typer

from eigentext.cli._bundles import (
    EncodingOption,
    ErrorsOption,
    RunOptions,
    StreamOption,
    WorkerOptions,
)
from eigentext.cli._console import messages, print_warning, printer
from eigentext.cli._files import check_not_read
from eigentext.cli._options import Bundle
from eigentext.cli._progress import PhaseBars
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.errors import CorpusError

_WORD = re.compile(r"\S+", re.ASCII)  # as in trees, only ASCII blanks separate words
_TREE = re.compile(r"\s*\([^\s()]*(?:\s*\([^\s()]*)+\s+[^\s()]+\)", re.ASCII)
_REMEDY = "; or read it with --errors replace"
_BOM = b"\xef\xbb\xbf"


Write = Callable[[str], None]
TokenizedFlag = Annotated[
    bool,
    typer.Option(
        "--tokenized",
        help="Blanks separate all tokens already. Without it, lines are raw text, and are split "
        "like the training data of the model.",
    ),
]


@dataclass(kw_only=True)
class LineOptions(RunOptions):
    """How a command runs that writes an answer to each of its inputs."""

    output: StreamOption = Path("-")
    json: Annotated[
        bool, typer.Option("--json", help="Write each answer as one JSON object on a line.")
    ] = False


@dataclass(kw_only=True)
class AnswerOptions(LineOptions, WorkerOptions):
    """The same, for a command that can run on Dask workers."""


@dataclass(kw_only=True)
class ReadingOptions(Bundle):
    """How sentences are read, one on each line."""

    tokenized: TokenizedFlag = False
    encoding: EncodingOption = "utf-8"
    errors: ErrorsOption = "strict"


class Line(NamedTuple):
    """A line and its place: its number, with its file if there are several.

    Its words are tokens, or a string of raw text. They are empty for an empty line.
    """

    place: str
    words: list[str] | str


def input_paths(files: list[str]) -> list[Path | None]:
    """Return the files to read, None for standard input; check them before any work begins."""
    from eigentext.corpus.readers import expand_paths

    paths: list[Path | None] = []
    for name in files:
        paths += [None] if name == "-" else expand_paths([name])
    if paths.count(None) > 1:
        raise CorpusError("standard input (-) can be read only once; name it once")
    return paths


def read_lines(paths: list[Path | None], reading: ReadingOptions) -> Iterator[Line]:
    """Yield all lines, also empty ones.

    Round brackets among tokens are written -LRB- and -RRB-, as in trees.
    """
    from eigentext.corpus.trees import without_brackets

    looks_like_trees = False
    for path in paths:
        name = "standard input" if path is None else str(path)
        for number, line in enumerate(raw_lines(path, reading.encoding), 1):
            text = decoded(line, f"{name}, line {number}", reading.errors, _REMEDY)
            if not looks_like_trees and _TREE.match(text):
                looks_like_trees = True
                print_warning(
                    f"{name}, line {number}: looks like a tree, but its brackets are read as "
                    "words; `grammar evaluate` and `grammar score` read trees"
                )
            place = str(number) if len(paths) == 1 else f"{path or '-'}:{number}"
            if reading.tokenized:
                yield Line(place, [without_brackets(word) for word in _WORD.findall(text)])
            else:
                yield Line(place, text.strip())


def raw_lines(path: Path | None, encoding: str = "utf-8") -> Iterator[bytes]:
    """Yield the lines of a file, or of standard input (None) as soon as they arrive, in UTF-8."""
    from eigentext.corpus.encodings import UTF8, checked_encoding
    from eigentext.corpus.readers import read_blocks

    encoding = checked_encoding(encoding)
    if path is None:
        lines = sys.stdin.buffer if encoding == UTF8 else _recoded_input(encoding)
        for number, line in enumerate(lines):
            yield line if number else line.removeprefix(_BOM)
        return
    for block in read_blocks(path, whole_lines=True, encoding=encoding):
        lines = block.data.split(b"\n")
        yield from lines if lines[-1] else lines[:-1]


def _recoded_input(encoding: str) -> Iterator[bytes]:
    """Yield the lines of standard input in another encoding, as soon as they arrive."""
    from eigentext.corpus.encodings import Recoded

    arriving = SimpleNamespace(read=sys.stdin.buffer.read1)
    stream, waiting = Recoded(arriving, encoding, "standard input"), b""
    while data := stream.read(1 << 16):
        *lines, waiting = (waiting + data).split(b"\n")
        yield from lines
    if waiting:
        yield waiting


def decoded(line: bytes, place: str, errors: str, remedy: str = "") -> str:
    """Return the text of a line; an error names its place, and offers an encoding."""
    from eigentext.corpus.encodings import not_utf8

    if errors == "strict" and (found := not_utf8(line)):
        raise CorpusError(f"{place}: {found[1]}{remedy}")
    return line.decode(errors=errors).replace("\0", "\ufffd")


def in_step(
    parse: Callable[[Iterator[list[str] | str]], Iterable[Any]],
    lines: Iterator[Line],
    names: list[str],
) -> Iterator[tuple[str, Any]]:
    """Yield the place of each line and the answer of `parse`, in order; None for an empty line.

    `parse` takes the sentences as an iterator, and may read ahead.
    """
    waiting: deque[Line] = deque()  # lines without an answer so far

    def sentences() -> Iterator[list[str] | str]:
        for line in lines:
            waiting.append(line)
            if line.words:
                yield line.words

    n_sentences = 0
    for result in parse(sentences()):
        n_sentences += 1
        while not waiting[0].words:
            yield waiting.popleft().place, None
        yield waiting.popleft().place, result
    if n_sentences == 0:
        raise no_words(names)
    for line in waiting:
        yield line.place, None


def are_typed(paths: Sequence[Path | None]) -> bool:
    """Return whether a person types the input, and waits for each answer."""
    return None in paths and sys.stdin.isatty()


@contextmanager
def answering(run: LineOptions, inputs: Iterable[object]) -> Iterator[tuple[Write, PhaseBars]]:
    """Open the output and run the work inside; yield a function that writes a line, and the bars.

    Bars are shown only where they do not mix with the answers on the screen.
    """
    check_not_read(run.output, inputs)
    is_shown = str(run.output) == "-" and sys.stdout.isatty()
    bars = messages.is_terminal and not is_shown and not run.quiet
    with (
        line_writer(run.output) as write,
        work(run, bars=bars, show_notes=not run.quiet) as phases,
    ):
        yield write, phases


@contextmanager
def line_writer(output: Path) -> Iterator[Write]:
    """Yield a function that writes a line.

    Standard output ("-") gets each line immediately. A file gets all lines or none, compressed as
    the ending of its name says (.gz, .bz2, .xz, .zst).
    """
    from eigentext.corpus.compressed import compressed
    from eigentext.storage.files import replacing

    if str(output) == "-":
        stream = sys.stdout  # while bars are shown, Rich replaces sys.stdout

        def write_to_stream(line: str) -> None:
            try:
                stream.write(f"{line}\n")
                stream.flush()
            except BrokenPipeError:
                printer.on_broken_pipe()

        yield write_to_stream
        return
    with replacing(output) as temporary, compressed(temporary, output) as file:

        def write_to_file(line: str) -> None:
            file.write(f"{line}\n".encode())

        yield write_to_file
