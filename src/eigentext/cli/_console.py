"""What every command prints with: plain lines, JSON, warnings, and the notes of the library."""

import logging
import math
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TextIO

import typer
from rich.console import Console

from eigentext.storage.valid_json import json_text


class Printer(Console):
    """Prints words as they are, even if they look like Rich's markup for emoji."""

    def __init__(self, *, stderr: bool = False):
        super().__init__(stderr=stderr, highlight=False, soft_wrap=True, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        """Exit with status 0: `eigentext ... | head` is not a mistake."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit


printer = Printer()
messages = Printer(stderr=True)


def print_plain(line: str, *, style: str | None = None) -> None:
    """Print a line on standard output, without reading markup in it."""
    printer.print(line, markup=False, style=style)


warned: set[str] = set()  # the warnings that were printed, each as one line


def print_warning(message: str) -> None:
    """Print a warning as one line on standard error."""
    line = " ".join(message.split())
    warned.add(line)
    messages.print(f"eigentext: warning: {line}", markup=False)


def print_json(value: object) -> None:
    """Print one JSON document on standard output."""
    text = json_text(value, ascii_only=False)
    printer.out(text if can_print(text) else json_text(value), highlight=False)


def print_rows(rows: Iterable[Iterable[str]]) -> None:
    """Print lines of values with tabs between them; Rich would turn the tabs into blanks."""
    try:
        sys.stdout.writelines("\t".join(row) + "\n" for row in rows)
        sys.stdout.flush()
    except BrokenPipeError:
        printer.on_broken_pipe()


def can_print(text: str, stream: TextIO | None = None) -> bool:
    """Return whether the stream (by default standard output) can encode all these characters."""
    try:
        text.encode((stream or sys.stdout).encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def finite(value: float | None) -> float | None:
    """Return the value for JSON, which cannot write infinity: None if it is not finite."""
    return value if value is not None and math.isfinite(value) else None


def plural(number: int, noun: str, several: str | None = None) -> str:
    """Return a number with its noun: 1 token, 2,000 tokens, 3 passes."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


class _NotePrinter(logging.Handler):
    """Prints what the library writes to its logger."""

    def emit(self, record: logging.LogRecord) -> None:
        messages.print(record.getMessage(), style="dim", markup=False)


@contextmanager
def notes(*, show: bool = True) -> Iterator[None]:
    """Print the notes that the library logs during the work inside."""
    logger, handler = logging.getLogger("eigentext"), _NotePrinter(logging.INFO)
    before = logger.level
    if show:
        logger.addHandler(handler)
        logger.setLevel(min(logger.getEffectiveLevel(), logging.INFO))
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
