"""Sentences in, a line each, and lines out: as they come, in order, none lost."""

import bz2
import gzip
import lzma
import re
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

from eigentext.cli._console import print_warning, printer
from eigentext.errors import CorpusError

_WORD = re.compile(r"\S+", re.ASCII)  # other blanks belong to words, as in trees
_TREE = re.compile(r"\s*\([^\s()]*(?:\s*\([^\s()]*)+\s+[^\s()]+\)", re.ASCII)
_REMEDY = ", or read it with --errors replace"
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """The words of a line, and its number, after the name of its file if there are others."""

    place: str
    words: list[str]


def input_paths(files: list[str]) -> list[Path | None]:
    """The files to read, None for standard input; all are checked before any work begins."""
    from eigentext.corpus.readers import expand_paths

    paths: list[Path | None] = []
    for name in files:
        paths += [None] if name == "-" else expand_paths([name])
    if paths.count(None) > 1:
        raise CorpusError("standard input (-) can be read but once; name it once")
    return paths


def read_lines(paths: list[Path | None], errors: str) -> Iterator[Line]:
    """Lines as they come, the empty ones too; round brackets as trees have them: -LRB-, -RRB-."""
    from eigentext.corpus.trees import without_brackets

    looks_like_trees = False
    for path in paths:
        name = "standard input" if path is None else str(path)
        for number, line in enumerate(raw_lines(path), 1):
            text = decoded(line, f"{name}, line {number}", errors, _REMEDY)
            if not looks_like_trees and _TREE.match(text):
                looks_like_trees = True
                print_warning(
                    f"{name}, line {number}: looks like a tree, but its brackets are read as "
                    "words; `grammar evaluate` and `grammar score` read trees"
                )
            place = str(number) if len(paths) == 1 else f"{path or '-'}:{number}"
            yield Line(place, [without_brackets(word) for word in _WORD.findall(text)])


def raw_lines(path: Path | None) -> Iterator[bytes]:
    """The lines of a file, or (None) of standard input, that one as they come."""
    from eigentext.corpus.readers import read_blocks

    if path is None:
        for number, line in enumerate(sys.stdin.buffer):
            yield line if number else line.removeprefix(_BOM)
        return
    for block in read_blocks(path, whole_lines=True):
        lines = block.data.split(b"\n")
        yield from lines if lines[-1] else lines[:-1]


def decoded(line: bytes, place: str, errors: str, remedy: str = "") -> str:
    """The text of a line; an error names its place."""
    reason = "a NUL byte: a binary or UTF-16 file?" if b"\0" in line else ""
    try:
        text = line.decode(errors=errors)
    except UnicodeDecodeError as error:
        text, reason = "", f"byte 0x{line[error.start]:02x} is not UTF-8"
    if reason and errors == "strict":
        raise CorpusError(f"{place}: {reason}; convert it to UTF-8 (iconv -t UTF-8){remedy}")
    return text.replace("\0", "\ufffd")


def in_step(
    parse: Callable[[Iterator[list[str]]], Iterable[Any]], lines: Iterator[Line], names: list[str]
) -> Iterator[tuple[str, Any]]:
    """The place of each line and what `parse` makes of it, in order; None of an empty one.

    `parse` takes the sentences as an iterator, and may read ahead.
    """
    waiting: deque[Line] = deque()  # what was read, and has no answer yet

    def sentences() -> Iterator[list[str]]:
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
        raise CorpusError(f"{', '.join(names)}: no words in it; is the file empty?")
    for line in waiting:
        yield line.place, None


@contextmanager
def line_writer(output: Path) -> Iterator[Callable[[str], None]]:
    """Writes lines: to standard output ("-") each at once, to a file all or none.

    The ending of the file's name (.gz, .bz2, .xz, .zst) says how to pack them.
    """
    from eigentext.storage.files import replacing

    if str(output) == "-":
        stream = sys.stdout  # bars, while they are shown, put something else in its place

        def write(line: str) -> None:
            try:
                stream.write(f"{line}\n")
                stream.flush()
            except BrokenPipeError:
                printer.on_broken_pipe()

        yield write
        return
    with replacing(output) as temporary, _packing(temporary, output) as file:
        yield lambda line: file.write(f"{line}\n".encode())


@contextmanager
def _packing(path: Path, name: Path) -> Iterator[Any]:
    from eigentext.corpus.readers import compression

    with path.open("wb") as file:
        match compression(name):
            case "gz":  # no name and no time of writing in it: the same lines are the same bytes
                packed: Any = gzip.GzipFile("", "wb", fileobj=file, mtime=0)
            case "bz2":
                packed = bz2.BZ2File(file, "wb")
            case "xz":
                packed = lzma.LZMAFile(file, "wb")  # noqa: SIM115 - entered below
            case "zst":
                import pyarrow as pa

                packed = pa.CompressedOutputStream(file, "zstd")
            case _:
                packed = nullcontext(file)
        with packed as opened:
            yield opened
