"""The columns of files with one token per line: told by name, or found in the first lines.

============= ===================================================================================
format        columns, and those that are read if nothing else is told (the label is the last one)
============= ===================================================================================
two columns   word, label
three columns word, pos, label: CoNLL-2000 and CoNLL-2002
CoNLL-2003    word, pos, chunk, ner, or word, lemma, pos, chunk, ner: read as word, pos, ner
CoNLL-U       id, word, lemma, upos, xpos, feats, head, deprel, deps, misc: read as word, upos.
              CoNLL-X has the same places. ``# global.columns`` names others (CoNLL-U Plus)
CoNLL-2009    id, word, lemma, plemma, pos, ppos, …, and further ones: read as word, pos
============= ===================================================================================

Columns with nothing but ``_`` are left out, and so is a first column that counts the tokens. Files
that count their tokens may have comments (``# …``), ranges (``1-2``) and empty nodes (``1.1``),
which are no tokens.
"""

import json
import re
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from eigentext.corpus import schemes
from eigentext.corpus.encodings import guess_encoding, not_utf8
from eigentext.errors import CorpusError, ParameterError

DOCUMENT = b"-DOCSTART-"
EMPTY = "_"
HEAD_LINES = 1000  # how many lines to look at
_HEAD_BYTES = 1 << 20
_CONLL_U = ("id", "word", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_CONLL_2009 = (
    *("id", "word", "lemma", "plemma", "pos", "ppos", "feat", "pfeat", "head", "phead"),
    *("deprel", "pdeprel", "fillpred", "pred"),
)
_CONLL_2003 = {
    4: ("word", "pos", "chunk", "ner"),
    5: ("word", "lemma", "pos", "chunk", "ner"),
}
_OTHER_NAMES = {"form": "word", "pos": "upos"}  # of columns, if the file has no such column
_ID = re.compile(rb"(\d+)(?:[-.]\d+)?")
_NO_TOKEN = re.compile(rb"\d+[-.]\d")  # the id of a range or of an empty node
_NAMES = b"# global.columns ="
_MANY = 0.9  # the share of lines that must look alike
_LEAST = 10  # tokens that must be counted, before the first column is taken for their number
_SHOWN = 5  # values of a column in an error
_MAGIC = {
    b"PK\x03\x04": "a ZIP archive: unpack it first",
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"\x1f\x8b": "a gzip file: let its name end in .gz",
    b"BZh": "a bzip2 file: let its name end in .bz2",
    b"\xfd7zXZ": "an xz file: let its name end in .xz",
    b"\x28\xb5\x2f\xfd": "a Zstandard file: let its name end in .zst",
    b"%PDF": "a PDF file",
}
_XML = re.compile(r"<(\?xml|!DOCTYPE|!--|/?[A-Za-z][\w.:-]*(\s[^<>]*)?/?>)")
_PRETERMINAL = re.compile(r"\([^\s()]+ [^\s()]+\s*\)")


@dataclass(frozen=True)
class Columns:
    """The columns of a file, and which of them make a token.

    Parameters
    ----------
    names
        The names of all columns, from left to right. None is a column without a name.
    chosen
        The places of the columns that make a token, the word first and the label last.
    kind
        The name of the format, "" for none.
    counted
        Whether the first column counts the tokens. Then there may be comments, ranges and empty
        nodes, and columns that are not chosen may be empty.
    grows
        Whether lines may have further columns.
    remedy
        What to do about lines with another number of columns. None advises to name the columns.
    """

    names: tuple[str | None, ...]
    chosen: tuple[int, ...]
    kind: str = ""
    counted: bool = False
    grows: bool = False
    remedy: str | None = ""

    @property
    def kept(self) -> list[str]:
        """The names of the columns that make a token."""
        return [self.names[i] or "" for i in self.chosen]

    def note(self, file: str) -> str:
        """What was found and how to say otherwise; "" if there is nothing to tell."""
        if not self.kind:
            return ""
        names = [name or EMPTY for name in self.names]
        return (
            f"{file}: {self.kind}, with the columns {', '.join(names)}; read as "
            f"{', '.join(self.kept)}. Name others with columns=[…] (--columns)"
        )

    def with_chosen(self, names: Sequence[str], remedy: str | None = "") -> "Columns | None":
        """The same file with other columns as tokens, chosen by name. None if it lacks one.

        The chosen columns get these names; "form" becomes "word".
        """
        places = [self._place(name) for name in names]
        chosen = tuple(place for place in places if place is not None)
        if len(chosen) < len(places):
            return None
        renamed = dict(zip(chosen, ["word" if name == "form" else name for name in names]))
        all_names = tuple(renamed.get(i, name) for i, name in enumerate(self.names))
        return replace(self, names=all_names, chosen=chosen, remedy=remedy)

    def _place(self, name: str) -> int | None:
        known = name if name in self.names else _OTHER_NAMES.get(name)
        return self.names.index(known) if known in self.names else None


class Head:
    """The first lines of a file, and what they look like.

    Parameters
    ----------
    data : bytes
        Complete lines.
    file : str
        The name of the file, for errors.
    """

    def __init__(self, data: bytes, file: str):
        self.file = file
        lines = data[:_HEAD_BYTES].split(b"\n", HEAD_LINES)
        if len(lines) > HEAD_LINES or len(data) > _HEAD_BYTES:
            lines.pop()
        self._lines = lines
        rows = [(number, _parts(line)) for number, line in enumerate(lines, start=1)]
        self.counted = _is_counted([row for _, row in rows if not row[:1] or row[0][:1] != b"#"])
        self._rows = [(number, row) for number, row in rows if row and self._is_token(row)]
        sizes = Counter(len(row) for _, row in self._rows)
        first = len(self._rows[0][1]) if self._rows else 0
        is_usual = 2 * sizes[first] >= sizes.total() + (first == 1)
        self.n_columns = first if is_usual else max(sizes, key=lambda n: (sizes[n], n))
        self._share = sizes[self.n_columns] / (sizes.total() or 1)

    def check_text(self) -> None:
        """Raise CorpusError if the file is packed, or text in an encoding of several bytes."""
        data = b"\n".join(self._lines)
        for magic, what in _MAGIC.items():
            if data.startswith(magic):
                raise CorpusError(f"{self.file}: looks like {what}")
        if guess_encoding(data).startswith(("utf-16", "utf-32")):
            bad = not_utf8(data)
            raise CorpusError(f"{self.file}, line 1: {bad[1] if bad else 'not UTF-8'}")

    def found(self, *, labelled: bool = True) -> Columns:
        """The columns, by the look of the lines.

        Raises
        ------
        CorpusError
            If there may be several answers, or if it is a file of another kind.
        """
        self.check_text()
        if not self._rows:  # the reader will say so
            return Columns(("word", "pos", "label"), (0, 1, 2), remedy=None)
        self.check_format()
        columns = self._known() or self._guessed()
        if labelled and columns.kind:
            self.check_not_empty(columns, columns.chosen[-1])
        return columns

    def named(self) -> Columns | None:
        """The columns, if the format gives them names. None if it does not, or is not clear."""
        if not self._rows:
            return None
        try:
            found = self._known() or self._guessed()
        except CorpusError:
            return None
        return found if found.kind else None

    def told(self, names: Sequence[str | None], remedy: str | None) -> Columns:
        """The columns with the given names, from left to right; None is left out.

        If the format gives its columns names, a few of them may be named, in any order.
        """
        n = len(names)
        positional = Columns(
            tuple(names),
            tuple(i for i, name in enumerate(names) if name is not None),
            counted=self.counted,
            remedy=remedy,
        )
        self.check_text()
        if not self._rows or n == self.n_columns:
            return positional
        self.check_format()
        known = self._known()
        if known is None:
            return positional
        chosen = known.with_chosen([name or "" for name in names], remedy)
        if chosen is None and known.counted:
            raise ParameterError(
                f"{self.file}: {known.kind} has the columns {', '.join(filter(None, known.names))};"
                f" name some of them, or all {len(known.names)} from left to right"
            )
        return chosen or positional

    def check_format(self) -> None:
        """Raise CorpusError if the lines look like another kind of file."""
        if what := self._other_format():
            raise self._error(f"looks like {what}, not like one token on each line, in columns")

    def _other_format(self) -> str:
        lines = [line.decode(errors="replace").strip() for line in self._lines[:HEAD_LINES]]
        some = list(islice(filter(None, lines), 20))
        if not some:  # control characters
            return ""
        if self.n_columns == 2 and all(row[0][:1] == b"#" for _, row in self._rows):
            return "comments"
        if _is_json(some):
            return "JSON"
        if _XML.match(some[0]) and self._share < _MANY:
            return "XML"
        if some[0].startswith("(") and any(map(_PRETERMINAL.search, some)):
            return "trees in brackets"
        if self.n_columns == 1 and any(sign in some[0] for sign in ",;|"):
            return "a table with commas (CSV)"
        if self._share < 0.5 and len(some) > 3:
            words = [part for _, row in self._rows[:100] for part in row]
            tagged = sum(b"/" in word[1:-1] for word in words) > _MANY * len(words)
            return "sentences of word/TAG" if tagged else "plain text"
        return ""

    def _known(self) -> Columns | None:
        """The columns of a format that has names for them."""
        n = self.n_columns
        if self.counted:
            for line in self._lines[:HEAD_LINES]:
                if line.startswith(_NAMES):
                    names = line.removeprefix(_NAMES).decode(errors="replace").lower().split()
                    return self._conll_u("CoNLL-U Plus", names)
            if n == len(_CONLL_U):
                return self._conll_u("CoNLL-U", _CONLL_U)
            if n >= len(_CONLL_2009):
                return Columns(_CONLL_2009, (1, 4), "CoNLL-2009", counted=True, grows=True)
        elif n in _CONLL_2003 and all(self._is_chunks(i) for i in (n - 2, n - 1)):
            return Columns(_CONLL_2003[n], (0, n - 3, n - 1), "CoNLL-2003")
        return None

    def _conll_u(self, kind: str, names: Sequence[str]) -> Columns | None:
        names = ["word" if name == "form" else name for name in names]
        if "word" not in names or len(names) != self.n_columns:
            return None
        labels = [name for name in ("upos", "xpos") if name in names]
        full = [name for name in labels if not self._is_empty(names.index(name))]
        label = names.index((*full, *labels, names[-1])[0])
        return Columns(tuple(names), (names.index("word"), label), kind, counted=True)

    def _guessed(self) -> Columns:
        """The columns of other files, without those that say nothing."""
        n = self.n_columns
        used = list(range(n))
        if self.counted:
            used.remove(0)
        if n > 3:
            used = [i for i in used if not self._is_empty(i)]
        if len(used) not in (2, 3):
            raise self._ambiguous()
        names: list[str | None] = [None] * n
        for i, name in zip(used, ("word", "pos", "label") if len(used) == 3 else ("word", "label")):
            names[i] = name
        kind = "" if len(used) == n else f"{n} columns"
        return Columns(tuple(names), tuple(used), kind, self.counted, remedy=None)

    def _ambiguous(self) -> CorpusError:
        n = self.n_columns
        if n == 1:
            return self._error(
                "has no label; give a word and its label on each line, or read words alone with "
                "columns=['word'] (--columns word)"
            )
        example = ["word", "pos", *[None] * (n - 3), "label"]
        option = ",".join(name or EMPTY for name in example)
        looks = "; ".join(f"{i + 1}. {self._values(i)}" for i in range(n))
        return self._error(
            f"has {n} columns ({looks}); name them, the word first and the label last, for example "
            f"columns={example} (--columns {option})"
        )

    def _error(self, reason: str) -> CorpusError:
        """The error for the first token, unless the file is not text at all."""
        number, row = self._rows[0]
        if bad := not_utf8(b"\n".join(self._lines[number - 1 :])):
            number += b"\n".join(self._lines[number - 1 :])[: bad[0]].count(b"\n")
            return CorpusError(f"{self.file}, line {number}: {bad[1]}")
        return CorpusError(f"{self.file}, line {number}: {_shown(row)!r} {reason}")

    def share(self, place: int, names: Container[str]) -> float:
        """The share of lines in which a column has one of these values."""
        values = self._column(place)
        return sum(value in names for value in values) / (len(values) or 1)

    def check_not_empty(self, columns: Columns, place: int) -> None:
        """Raise CorpusError if a column that should have labels has nothing but ``_``."""
        if self._is_empty(place):
            raise CorpusError(
                f"{self.file}: the column {columns.names[place]} has no values ({EMPTY}); name "
                f"another label among {', '.join(filter(None, columns.names))}, for example "
                "columns=['word', 'xpos'] (--columns word,xpos)"
            )

    def _is_token(self, row: list[bytes]) -> bool:
        return not (self.counted and (row[0][:1] == b"#" or _NO_TOKEN.match(row[0])))

    def _column(self, i: int) -> list[str]:
        rows = (row for _, row in self._rows if len(row) > i)
        return [row[i].decode(errors="replace") for row in rows]

    def _values(self, i: int) -> str:
        values = list(dict.fromkeys(self._column(i)))
        return ", ".join(values[:_SHOWN])[:40] + (", …" if len(values) > _SHOWN else "")

    def _is_empty(self, i: int) -> bool:
        return set(self._column(i)) <= {EMPTY}

    def _is_chunks(self, i: int) -> bool:
        """Whether most values are tags of chunks, and not all of them are O."""
        values = self._column(i)
        n_chunks = sum(schemes.is_chunk_tags([value]) for value in values)
        return n_chunks >= _MANY * len(values)


def _parts(line: bytes) -> list[bytes]:
    """The columns of a line; none between sentences."""
    text = line.strip()
    parts = [part.strip() for part in text.split(b"\t")] if b"\t" in text else text.split()
    return [] if parts[:1] == [DOCUMENT] else parts


def _shown(row: list[bytes]) -> str:
    return b" ".join(row).decode(errors="replace")[:80]


def _is_counted(rows: list[list[bytes]]) -> bool:
    """Whether the first columns count the tokens of each sentence: 1, 2, … An empty row ends one.

    Ten columns or more are enough in a short file, as no other format has so many.
    """
    tokens = [row for row in rows if row]
    ids = [_ID.fullmatch(row[0]) for row in tokens]
    if not tokens or sum(map(bool, ids)) < _MANY * len(ids):
        return False
    starts = [b for a, b in pairwise([[], *rows]) if b and not a]
    if sum(row[0][:1] in b"01" for row in starts) < _MANY * len(starts):
        return False
    wide = sum(len(row) >= len(_CONLL_U) for row in tokens) >= _MANY * len(tokens)
    if wide:
        return True
    steps = [(_number(a), _number(b)) for a, b in pairwise(rows) if a and b]
    return len(starts) > 1 and len(tokens) >= _LEAST and all(0 <= b - a <= 1 for a, b in steps)


def _number(row: list[bytes]) -> int:
    found = _ID.fullmatch(row[0])
    return int(found[1][:9]) if found else -9


def _is_json(lines: list[str]) -> bool:
    first = lines[0]
    if first in ("{", "[") and len(lines) > 1:
        return lines[1][0] in '"{['
    if first[0] not in "{[":
        return False
    try:
        return isinstance(json.loads(first), (dict, list))
    except (ValueError, RecursionError):
        return False
