"""`TextCorpus`: text that can be read many times without loading all of it."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus import readers
from eigentext.corpus.buffers import string_array
from eigentext.corpus.encodings import UTF8, checked_encoding, not_utf8
from eigentext.corpus.items import KINDS, Kind, items_of, kind_of, listed
from eigentext.corpus.readers import (
    Block,
    File,
    compression,
    expand_paths,
    line_number,
    read_blocks,
)
from eigentext.corpus.table_files import check_no_tables, format_by_name
from eigentext.corpus.tables import Column, Pass, RowBlock, is_table, is_valid
from eigentext.corpus.tokenizers import (
    REPAIR,
    UNIT_END,
    Tokenizer,
    check_tokenizer,
    checked_tokens,
    tokenize,
    tokenizer_name,
)
from eigentext.errors import CorpusError, ParameterError

Unit = Literal["line", "document", "stream"]
Errors = Literal["strict", "replace", "skip"]
_NEWLINE = b"\n"


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
        generator, an array or the column of a table (of pandas, polars, pyarrow or Hugging Face).
        With `column`: files of tables, or one table in memory.
    tokenizer : "whitespace", "simple", "words" or callable
        See :mod:`eigentext.corpus.tokenizers`.
    lowercase : bool
        Whether to convert text to lower case first. The rule is the same for all tokenizers; see
        :mod:`eigentext.corpus.tokenizers`.
    unit : "line", "document" or "stream"
    errors : "strict", "replace" or "skip"
        What to do with NUL and with bytes that are not of the encoding: raise an error that names
        the file and the line, read U+FFFD instead, or skip the line. "skip" also skips rows of
        tables that cannot be read. A warning counts what was skipped. More than a tenth is an
        error.
    kind : "files", "texts" or "tokens", optional
        What `paths` contains, if the rule above would guess wrong.
    encoding : str
        The encoding of the files: "utf-8", "utf-16", "latin-1", "cp1251", ... A byte order mark is
        skipped.
    column : str, optional
        The column of a table that has the text: of files (CSV, TSV, JSON lines, Parquet, Arrow,
        Feather) or of a table in memory. Files are read in parts. Each row is one unit, and a row
        without text is a unit without tokens; see :mod:`eigentext.corpus.tables`.
    id : str, optional
        The column with the names of the rows, for answers about single documents.

    Examples
    --------
    >>> from eigentext import TextCorpus
    >>> list(TextCorpus(["I ate ham", "You ate cheese"], lowercase=True))
    [['i', 'ate', 'ham'], ['you', 'ate', 'cheese']]
    >>> list(TextCorpus({"text": ["I ate ham", "You ate cheese"]}, column="text"))
    [['I', 'ate', 'ham'], ['You', 'ate', 'cheese']]
    """

    def __init__(
        self,
        paths: str | PathLike[str] | Iterable[Any],
        *,
        tokenizer: Tokenizer = "whitespace",
        lowercase: bool = False,
        unit: Unit = "line",
        errors: Errors = "strict",
        kind: Kind | None = None,
        encoding: str = UTF8,
        column: str | None = None,
        id: str | None = None,
    ):
        check_tokenizer(tokenizer)
        if unit not in ("line", "document", "stream"):
            raise ParameterError(f"unit must be 'line', 'document' or 'stream', not {unit!r}")
        if errors not in ("strict", "replace", "skip"):
            raise ParameterError(f"errors must be 'strict', 'replace' or 'skip', not {errors!r}")
        if kind not in (None, *KINDS):
            raise ParameterError(f"kind must be 'files', 'texts' or 'tokens', not {kind!r}")
        if id is not None and column is None:
            raise ParameterError(
                f"id={id!r} (--id) is a column of a table; also name its column "
                "of text with column= (--column)"
            )
        self.tokenizer = tokenizer
        self.lowercase = lowercase
        self.unit: Unit = unit
        self.errors: Errors = errors
        self.encoding = checked_encoding(encoding)
        self.column = column
        self.id = id
        self.table: Any = None
        self.files: list[File] = []
        self.texts: list[str] = []
        self.token_lists: list[Sequence[str]] = []
        self.ids: list[int | str] = []  # of the texts
        self._has_told = False
        if column is not None and is_table(paths):
            self.table = paths
            return
        kind = "files" if column is not None else kind
        items = items_of(paths, kind)
        kind = kind or ("files" if isinstance(paths, str) else kind_of(items))
        self.files = expand_paths(items) if kind == "files" else []
        self.texts = items if kind == "texts" else []
        if column is None:
            check_no_tables(self.files, self.encoding)
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
            or ("" if self.table is None else "a table")
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
        """The number of bytes to read, or None if it is not known before (packed files, tables)."""
        is_plain = self.encoding == UTF8 and self.column is None
        if not (self.files and is_plain) or any(map(compression, self.files)):
            return None
        return sum(file.stat().st_size for file in self.files)

    def fingerprint(self, digests: Iterator[bytes] | None = None) -> str:
        """SHA-256 of the stored content and the options: equal for equal input.

        `digests` are the digests of the files, if another step has computed them already.
        """
        digest = hashlib.sha256(repr((self.options, self.errors)).encode())
        if self.column is not None or self.encoding != UTF8:
            digest.update(repr((self.column, self.encoding)).encode())
        if self.table is not None:
            digest.update(Column(self.table, str(self.column)).digest())
        for file in self.files:
            digest.update(compression(file).encode())  # equal bytes may be packed differently
            if self.column is not None:
                digest.update(format_by_name(file).encode())
            digest.update(file_digest(file) if digests is None else next(digests))
        for text in self.texts:
            digest.update(b"%d:" % len(text) + text.encode("utf-8", "surrogatepass"))
        for unit in self.token_lists:
            digest.update("".join((*(f"{len(token)}:{token}" for token in unit), ";")).encode())
        return digest.hexdigest()

    # Reading: one thread reads blocks, and any thread splits them into tokens.

    def blocks(self) -> Iterator[Block | list[Sequence[str]]]:
        """The corpus in blocks of a few megabytes, for `tokens_of`."""
        seen = self.new_pass()
        for file in self.files:
            yield from self.blocks_of(file, seen)
        if self.table is not None:
            yield from self.column_of(self.table).blocks(seen)
        self.tell(seen)
        yield from self._text_blocks()
        for start in range(0, len(self.token_lists), 10_000):
            yield list(self.token_lists[start : start + 10_000])

    def blocks_of(
        self,
        file: File,
        seen: Pass,
        *,
        whole_lines: bool = False,
        start: int = 0,
        stop: int | None = None,
    ) -> Iterator[Block]:
        """The blocks of one file, or of a range of its bytes; `seen` counts what it meets."""
        if self.column is not None:
            yield from self.column_of(file).blocks(seen)
            return
        skips = self.errors == "skip"
        for block in read_blocks(
            file,
            whole_lines=whole_lines or skips or callable(self.tokenizer),
            start=start,
            stop=stop,
            encoding=self.encoding,
            errors="surrogateescape" if skips else self.errors,
        ):
            yield self._without_bad_lines(block, seen) if skips else block

    def column_of(self, source: Any) -> Column:
        """The texts of a file or a table in memory, with the columns of this corpus."""
        return Column(source, str(self.column), self.id, encoding=self.encoding)

    def new_pass(self) -> Pass:
        """An object that counts what one pass over the corpus meets, for `tell`."""
        return Pass(self.errors, "lines" if self.column is None else "rows")

    def tell(self, seen: Pass) -> None:
        """Warn about what one pass has met, once for a corpus."""
        if self.files or self.table is not None:
            where = ", ".join(map(str, self.files[:3])) + ", …" * (len(self.files) > 3)
            seen.report(where or "the table", self.column, warn=not self._has_told)
            self._has_told = True

    def tokens_of(self, block: Block | list[Sequence[str]]) -> pa.LargeStringArray:
        """The tokens of a block, with `UNIT_END` at the end of each unit."""
        if isinstance(block, list):
            return self._ready_tokens(block)
        rows_are_units = isinstance(block, RowBlock) or not self.files
        lines_are_units = self.unit == "line" or (self.unit == "document" and rows_are_units)
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
        found = not_utf8(data)
        if found is None:
            return data
        if self.errors == "replace":
            return data.decode(errors="replace").replace("\0", "\ufffd").encode()
        bad, reason = found
        if not block.source:  # Python strings: only NUL and surrogates can be wrong
            reason = "a NUL character; take it out"
            if data[bad]:
                half = ord(data[bad : bad + 3].decode("utf-8", "surrogatepass"))
                reason = f"half a character, U+{half:X} (one of the surrogates); {REPAIR}"
        raise CorpusError(
            f"{self._place(block, bad)}: {reason}, "
            "or read it with errors='replace' (--errors replace)"
        )

    # Private steps.

    def _without_bad_lines(self, block: Block, seen: Pass) -> Block:
        lines = block.data.split(b"\n")
        seen.n_items += len(lines) - (not lines[-1])
        if is_valid(block.data):
            return block
        kept, position = [], 0
        for line in lines:
            if is_valid(line):
                kept.append(line)
            else:
                seen.n_items -= 1
                place = self._place(block, position)
                seen.bad.skip(CorpusError(f"{place}: not UTF-8, or has NUL"))
            position += 1 + len(line)
        return replace(block, data=b"\n".join(kept))

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
        if isinstance(block, RowBlock):
            row = block.numbers[block.data.count(_NEWLINE, 0, position)]
            return f"{block.source or 'the table'}, row {row}"
        if block.source:
            (path,) = expand_paths([block.source])
            number = line_number(path, block.offset + position, self.encoding)
            return f"{path}, line {number}"
        return f"line {block.offset + block.data.count(_NEWLINE, 0, position) + 1} of the texts"


def file_digest(file: File) -> bytes:
    """SHA-256 of a file as stored."""
    with readers.named_errors(file), file.open("rb") as raw:
        return hashlib.file_digest(raw, "sha256").digest()
