"""Encodings: files in other encodings are UTF-8 as soon as they are read, and errors offer a guess.

Inside the library text is UTF-8. A reader with ``encoding="cp1252"`` reads a :class:`Recoded`
stream, so that nothing after it knows about encodings. If text is not UTF-8, :func:`not_utf8` says
where, why, and which encoding it looks like.
"""

import codecs
from typing import Any

from eigentext.errors import CorpusError, ParameterError

UTF8 = "utf-8"
_BOMS = {
    codecs.BOM_UTF8: UTF8,
    codecs.BOM_UTF32_LE: "utf-32",  # begins with the mark of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_LOOK = 1 << 16  # bytes from which an encoding is guessed
_MANY = 0.6  # the share of bytes above 127 in text without Latin letters
_NUL = "a NUL byte: a binary file?"


def checked_encoding(name: Any) -> str:
    """The name of the encoding as Python writes it. UTF-8 with and without BOM are the same.

    Examples
    --------
    >>> checked_encoding("UTF8"), checked_encoding("utf-8-sig"), checked_encoding("Latin1")
    ('utf-8', 'utf-8', 'iso8859-1')
    """
    try:
        codec = codecs.lookup(name)
        codec.incrementaldecoder().decode(b"", final=True).encode()  # type: ignore[misc]
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ParameterError(
            f"encoding must be the name of a text encoding, such as 'utf-8', 'utf-16', 'latin-1' "
            f"or 'cp1251', not {name!r}"
        ) from error
    return UTF8 if codec.name in (UTF8, "utf-8-sig") else codec.name


def guess_encoding(data: bytes) -> str:
    """The encoding that the first bytes of a file look like. "" if they do not look like text.

    The guess uses the byte order mark, the places of NUL bytes, and the share and the case of
    letters above 127. It is meant for messages: a person should look at the text.

    Examples
    --------
    >>> [guess_encoding("Ça va déjà?".encode(name)) for name in ("utf-8", "latin-1", "utf-16-le")]
    ['utf-8', 'cp1252', 'utf-16-le']
    >>> [guess_encoding("Как дела сегодня".encode(name)) for name in ("cp1251", "koi8-r")]
    ['cp1251', 'koi8-r']
    """
    is_cut = len(data) > _LOOK  # maybe in the middle of a character
    data = data[:_LOOK]
    for mark, name in _BOMS.items():
        if data.startswith(mark):
            return name
    if b"\0" in data:
        even, odd = data[::2].count(0), data[1::2].count(0)
        if max(even, odd) < 0.3 * len(data) / 2 or min(even, odd) > 0.1 * len(data) / 2:
            return ""
        return "utf-16-be" if even > odd else "utf-16-le"
    try:
        codecs.getincrementaldecoder(UTF8)().decode(data, final=not is_cut)
        return UTF8
    except UnicodeDecodeError:
        pass
    high = [byte for byte in data if byte > 127]
    if len(high) > _MANY * len(data):
        upper_half = sum(byte >= 0xE0 for byte in high)  # small letters in cp1251, capitals in KOI8
        return "cp1251" if upper_half > len(high) / 2 else "koi8-r"
    try:
        data.decode("cp1252")
        return "cp1252"
    except UnicodeDecodeError:
        return "latin-1"


def not_utf8(data: bytes) -> tuple[int, str] | None:
    """The first place that is not text in UTF-8, with the reason and the remedy. None if all is.

    Examples
    --------
    >>> not_utf8("déjà".encode("latin-1"))
    (1, "byte 0xe9 is not UTF-8; it looks like cp1252: read it with encoding='cp1252' (--encoding cp1252)")
    """  # noqa: E501 - one line of output
    at, reason = data.find(b"\0"), _NUL
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if at < 0 or error.start < at:
                at, reason = error.start, f"byte 0x{data[error.start]:02x} is not UTF-8"
    if at < 0:
        return None
    guess = guess_encoding(data if at < _LOOK else data[at & ~1 :])
    if guess in ("", UTF8):
        return at, f"{reason}; convert it to UTF-8 (iconv -t UTF-8) or name its encoding"
    if reason == _NUL:
        reason = "a NUL byte"
    return at, (
        f"{reason}; it looks like {guess}: read it with encoding={guess!r} (--encoding {guess})"
    )


def text_of(line: bytes, place: str) -> str:
    """The text of a line in UTF-8; an error names its place, and offers another encoding."""
    if found := not_utf8(line):
        raise CorpusError(f"{place}: {found[1]}")
    return line.decode()


class Recoded:
    """A stream of bytes in another encoding, read as UTF-8.

    Parameters
    ----------
    raw : binary file
        The file, unpacked, at its start.
    encoding : str
        See :func:`checked_encoding`.
    name : str
        The name of the file in error messages.
    errors : "strict" or "replace"
        What to do with bytes that the encoding does not have.
    """

    def __init__(self, raw: Any, encoding: str, name: str, errors: str = "strict"):
        self._raw = raw
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self._errors = errors
        self._name = name
        self._line = 1

    def read(self, size: int) -> bytes:
        """About the next `size` bytes; nothing at the end of the file."""
        while True:
            piece = self._raw.read(size)
            try:
                text = self._decoder.decode(piece, final=not piece)
                data = text.encode(errors=self._errors)
            except UnicodeError as error:
                raise self._named(error) from error
            self._line += data.count(b"\n")
            if data or not piece:
                return data

    def _named(self, error: UnicodeError) -> CorpusError:
        line, what = self._line, "a character"
        if isinstance(error, UnicodeDecodeError):
            before = error.object[: error.start].decode(self._encoding, "replace")
            line += before.count("\n")
            what = f"byte 0x{error.object[error.start]:02x}"
        return CorpusError(
            f"{self._name}, line {line}: {what} is not {self._encoding}; name another encoding"
        )
