"""`TextCorpus`: text that can be read many times without loading all of it."""

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from os import PathLike
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus import readers
from eigentext.corpus.readers import (
    Block,
    File,
    compression,
    expand_paths,
    line_number,
    read_blocks,
)
from eigentext.corpus.tokenizers import (
    REPAIR,
    UNIT_END,
    Tokenizer,
    check_tokenizer,
    checked_tokens,
    string_array,
    tokenize,
    tokenizer_name,
)
from eigentext.errors import CorpusError, ParameterError

Unit = Literal["line", "document", "stream"]
Kind = Literal["files", "texts", "tokens"]
_NEWLINE = b"\n"
_KINDS = ("files", "texts", "tokens")
_LOOKS_LIKE_PATH = re.compile(r"\S*(/\S*|\.[A-Za-z0-9]{1,5})")


class TextCorpus:
    r"""Text in files or in memory, as units of tokens.

    A context window never crosses the border of a unit. A unit is a line, a document (one file, or
    one string of a list), or the whole text (``"stream"``: line ends count as blanks, and files
    follow one another). Lines end at ``\n``. Units without tokens are skipped.

    Parameters
    ----------
    paths : path, glob, list of them, list of strings, or list of lists of tokens
        Files may be plain or end in .gz, .bz2, .xz or .zst. A list of strings means files if all
        strings name existing files or look like file names (no blank, and a slash or an ending).
        Otherwise the strings are text. `kind` decides without guessing. (This guess is made only
        here: for an estimator a list of strings is always text.) A list may also be a tuple, a
        generator, an array or the column of a table.
    tokenizer : "whitespace", "simple", "words" or callable
        See :mod:`eigentext.corpus.tokenizers`.
    lowercase : bool
        Whether to convert text to lower case first. The rule is the same for all tokenizers; see
        :mod:`eigentext.corpus.tokenizers`.
    unit : "line", "document" or "stream"
    errors : "strict" or "replace"
        What to do with NUL and with bytes that are not UTF-8: raise an error that names the file
        and the line, or read U+FFFD instead.
    kind : "files", "texts" or "tokens", optional
        What `paths` contains, if the rule above would guess wrong.

    Examples
    --------
    >>> from eigentext import TextCorpus
    >>> list(TextCorpus(["I ate ham", "You ate cheese"], lowercase=True))
    [['i', 'ate', 'ham'], ['you', 'ate', 'cheese']]
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Iterable[Any],
        *,
        tokenizer: Tokenizer = "whitespace",
        lowercase: bool = False,
        unit: Unit = "line",
        errors: Literal["strict", "replace"] = "strict",
        kind: Kind | None = None,
    ):
        check_tokenizer(tokenizer)
        if unit not in ("line", "document", "stream"):
            raise ParameterError(f"unit must be 'line', 'document' or 'stream', not {unit!r}")
        if errors not in ("strict", "replace"):
            raise ParameterError(f"errors must be 'strict' or 'replace', not {errors!r}")
        if kind not in (None, *_KINDS):
            raise ParameterError(f"kind must be 'files', 'texts' or 'tokens', not {kind!r}")
        items = _items_of(paths, kind)
        kind = kind or ("files" if isinstance(paths, str) else _kind_of(items))
        self.tokenizer = tokenizer
        self.lowercase = lowercase
        self.unit: Unit = unit
        self.errors = errors
        self.files: list[File] = expand_paths(items) if kind == "files" else []
        self.texts: list[str] = items if kind == "texts" else []
        self.token_lists: list[Sequence[str]] = []
        for number, tokens in enumerate(items if kind == "tokens" else [], start=1):
            tokens = tokens if isinstance(tokens, (list, tuple)) else listed(tokens)
            checked_tokens(tokens, f"token list {number}")
            self.token_lists.append(tokens)

    def __iter__(self) -> Iterator[list[str]]:
        unit: list[str] = []
        for block in self.blocks():
            for token in self.tokens_of(block).to_pylist():
                if token != UNIT_END:
                    unit.append(token)
                elif unit:
                    yield unit
                    unit = []
        if unit:
            yield unit

    def __repr__(self) -> str:
        source = (
            ", ".join(map(str, self.files))
            or (self.texts and f"{len(self.texts)} texts")
            or f"{len(self.token_lists)} token lists"
        )
        return f"TextCorpus({source}; {self.options})"

    @property
    def options(self) -> dict[str, Any]:
        """How text becomes tokens. Statistics of two corpora add up only if these are equal."""
        split = "none" if self.token_lists else tokenizer_name(self.tokenizer)
        return {"tokenizer": split, "lowercase": self.lowercase, "unit": self.unit}

    @property
    def size(self) -> int | None:
        """The number of bytes to read, or None if it is not known before (packed files)."""
        if not self.files or any(map(compression, self.files)):
            return None
        return sum(file.stat().st_size for file in self.files)

    def fingerprint(self, digests: Iterator[bytes] | None = None) -> str:
        """SHA-256 of the stored content and the options: equal for equal input.

        `digests` are the digests of the files, if another step has computed them already.
        """
        digest = hashlib.sha256(repr((self.options, self.errors)).encode())
        for file in self.files:
            digest.update(compression(file).encode())  # equal bytes may be packed differently
            digest.update(file_digest(file) if digests is None else next(digests))
        for text in self.texts:
            digest.update(b"%d:" % len(text) + text.encode("utf-8", "surrogatepass"))
        for unit in self.token_lists:
            digest.update("".join((*(f"{len(token)}:{token}" for token in unit), ";")).encode())
        return digest.hexdigest()

    # Reading: one thread reads blocks, and any thread splits them into tokens.

    def blocks(self) -> Iterator[Block | list[Sequence[str]]]:
        """The corpus in blocks of a few megabytes, for `tokens_of`."""
        for file in self.files:
            yield from read_blocks(file, whole_lines=callable(self.tokenizer))
        yield from self._text_blocks()
        for start in range(0, len(self.token_lists), 10_000):
            yield list(self.token_lists[start : start + 10_000])

    def tokens_of(self, block: Block | list[Sequence[str]]) -> pa.LargeStringArray:
        """The tokens of a block, with `UNIT_END` at the end of each unit."""
        if isinstance(block, list):
            return self._ready_tokens(block)
        lines_are_units = self.unit == "line" or (self.unit == "document" and not self.files)
        tokens = tokenize(
            self.checked(block),
            self.tokenizer,
            lowercase=self.lowercase,
            lines_are_units=lines_are_units,
        )
        if block.ends_source and self.unit != "stream":
            tokens = pa.concat_arrays([tokens, string_array([UNIT_END])])
        return tokens

    def checked(self, block: Block) -> bytes:
        """The bytes of the block; raises CorpusError, with the line, if they are not text."""
        data = block.data
        bad, reason = data.find(b"\0"), "a NUL byte: a binary or UTF-16 file?"
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError as error:
                if bad < 0 or error.start < bad:
                    bad, reason = error.start, f"byte 0x{data[error.start]:02x} is not UTF-8"
        if bad < 0:
            return data
        if self.errors == "replace":
            return data.decode(errors="replace").replace("\0", "\ufffd").encode()
        remedy = "convert it to UTF-8 (iconv -t UTF-8)"
        if not block.source:  # Python strings: only NUL and surrogates can be wrong
            reason = "a NUL character"
            if data[bad]:
                half = ord(data[bad : bad + 3].decode("utf-8", "surrogatepass"))
                reason = f"half a character, U+{half:X} (one of the surrogates)"
            remedy = REPAIR if data[bad] else "take it out"
        raise CorpusError(
            f"{self._place(block, bad)}: {reason}; {remedy} "
            "or read it with errors='replace' (--errors replace)"
        )

    # Private steps.

    def _text_blocks(self) -> Iterator[Block]:
        # In a document line ends become blanks, so that one string is one line.
        pieces: list[str] = []
        size = lines = 0
        for number, text in enumerate(self.texts, start=1):
            pieces.append(text.replace("\n", " ") if self.unit == "document" else text)
            size += len(text)
            if size >= readers.BLOCK_BYTES or number == len(self.texts):
                data = "\n".join((*pieces, "")).encode("utf-8", "surrogatepass")
                yield Block(data, "", lines, ends_source=False)
                lines += data.count(b"\n")
                pieces, size = [], 0

    def _ready_tokens(self, units: list[Sequence[str]]) -> pa.LargeStringArray:
        end = [] if self.unit == "stream" else [UNIT_END]
        tokens = string_array(token for unit in units for token in (*unit, *end))
        return pc.utf8_lower(tokens) if self.lowercase else tokens

    def _place(self, block: Block, position: int) -> str:
        if block.source:
            (path,) = expand_paths([block.source])
            return f"{path}, line {line_number(path, block.offset + position)}"
        return f"line {block.offset + block.data.count(_NEWLINE, 0, position) + 1} of the texts"


def file_digest(file: File) -> bytes:
    """SHA-256 of a file as stored."""
    with readers.named_errors(file), file.open("rb") as raw:
        return hashlib.file_digest(raw, "sha256").digest()


def listed(given: Any) -> list[Any]:
    """The items of a list, tuple, generator, array or column of a table. Reads them once."""
    if hasattr(given, "tolist"):  # arrays and columns of tables become built-in types
        given = given.tolist()
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        return list(given)
    return [given]


def kind_of_item(kind: type) -> Kind | Literal[""]:
    """What items of a type are: "texts", "files", "tokens", or "" for none of them.

    The argument is a type, because a million items have only a few types.
    """
    if issubclass(kind, str):
        return "texts"
    if hasattr(kind, "__fspath__"):
        return "files"
    ordered = issubclass(kind, Iterable) and not issubclass(kind, (bytes, bytearray, Mapping, Set))
    return "tokens" if ordered else ""


def _items_of(paths: Any, kind: Kind | None) -> list[Any]:
    """The given items as a list of one kind (of any kind, if `kind` is None)."""
    if isinstance(paths, str) and kind is None and not _may_name_file(paths):
        raise CorpusError(f"{paths[:40]!r}… is not a file name; give text as a list of strings")
    items = listed(paths)
    if not items:
        raise CorpusError("the list is empty; give at least one file, string or list of tokens")
    right = {"files": ("files", "texts"), None: ("files", "texts", "tokens")}.get(kind, (kind,))
    wrong = tuple(each for each in set(map(type, items)) if kind_of_item(each) not in right)
    if wrong:
        number, item = next((n, i) for n, i in enumerate(items, start=1) if type(i) in wrong)
        raise CorpusError(
            f"item {number} is {item!r:.60}; give {kind or 'files, texts or token lists'}"
        )
    return items


def _kind_of(items: list[Any]) -> Kind:
    kinds = {kind_of_item(each) for each in set(map(type, items))}
    if kinds == {"tokens"}:
        return "tokens"
    if "tokens" in kinds:
        raise CorpusError("give files, strings or lists of tokens, not a mixture of them")
    if "files" in kinds:
        return "files"
    text = next((item for item in items if not _names_file(item)), None)
    if text is None:
        try:
            expand_paths(items)
        except CorpusError as error:
            raise CorpusError(f"{error}, or use kind='texts' if it is text") from error
        return "files"
    if any(map(_is_file, items)):
        raise CorpusError(
            f"{text[:60]!r} is not the name of a file, but other items are; "
            "use kind='files' or kind='texts' to say which is meant"
        )
    return "texts"


def _names_file(text: str) -> bool:
    if not _may_name_file(text):
        return False
    if _LOOKS_LIKE_PATH.fullmatch(text) or _is_file(text):
        return True
    try:
        return bool(expand_paths([text]))
    except CorpusError:
        return False


def _is_file(text: str) -> bool:
    # Called for each of a million texts: os.path is ten times as fast as pathlib and never raises.
    return _may_name_file(text) and os.path.isfile(text)  # noqa: PTH113


def _may_name_file(text: str) -> bool:
    return len(text) <= 4096 and "\n" not in text and "\0" not in text
