r"""A block of bytes becomes the flat array of its tokens, with functions of Arrow.

The end of a unit (a line, a document) is a token too: `UNIT_END`, a NUL, which valid text does not
contain. So one flat split keeps the borders of units, and a block may end at any blank.

``"whitespace"`` splits at Unicode blanks, like ``str.split``. ``"simple"`` also separates words
(letters, digits, underscores, and single apostrophes or hyphens inside) from all other signs:
``\w+(?:['’-]\w+)*|['’-]+|[^\w\s]``. ``"words"`` keeps only words of two or more letters (with
their marks, and single apostrophes inside). It drops digits and signs, which separate words as
blanks do. A callable takes one line and returns its tokens.

All tokenizers convert to lower case by one rule, before they split, and tokens that are given as
lists follow it too: letter by letter, by the simple mapping of Unicode (Arrow's ``utf8_lower``).
Each letter becomes one letter, whatever its neighbors are: "ΣΑΣ" becomes "σασ", "İ" becomes "i" and
"ẞ" becomes "ß". (``str.lower`` would turn the first into "σας" and the second into two characters.)
"""

import re
from collections.abc import Callable, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext.corpus.buffers import string_array
from eigentext.errors import CorpusError, ParameterError

UNIT_END = "\0"
Tokenizer = str | Callable[[str], Iterable[str]]

# Four short passes over punctuation are 8 times as fast as one pattern for words.
_SIMPLE = (
    (r"[^\s\pZ\pL\pM\pN_'’\-\x00]", r" \0 "),  # every sign is a token,
    (r"['’\-]{2,}", r" \0 "),  # and so are repeated dashes and quotes,
    (r"([\s\pZ]|^)(['’\-])([\pL\pM\pN_])", r"\1\2 \3"),  # and an apostrophe or hyphen at the start
    (r"([\pL\pM\pN_])(['’\-])([\s\pZ]|$)", r"\1 \2\3"),  # or the end of a word.
)
# Everything but letters and single apostrophes. Apostrophes at the ends are removed later.
_WORDS = ((r"[^\s\pZ\pL\pM'’\x00]+|['’]{2,}", " "),)
_PASSES = {"simple": _SIMPLE, "words": _WORDS}
# Classes of Unicode take milliseconds to compile for each block, which many small files feel.
_IN_ASCII = ((r"\pL", "A-Za-z"), (r"\pM", ""), (r"\pN", "0-9"), (r"\pZ", ""), ("’", ""))
_SEPARATORS = (b"\x1c", b"\x1d", b"\x1e", b"\x1f")  # blanks in Unicode but not in Arrow
NAMED = ("whitespace", "simple", "words")
_SURROGATE = re.compile("[\ud800-\udfff]")
REPAIR = "repair it by text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"


def check_tokenizer(tokenizer: Tokenizer) -> None:
    """Raise ParameterError unless the tokenizer is a known name or callable."""
    if not callable(tokenizer) and tokenizer not in NAMED:
        raise ParameterError(
            "tokenizer must be 'whitespace', 'simple', 'words' or a function of one line, "
            f"not {tokenizer!r}"
        )


def tokenizer_name(tokenizer: Tokenizer) -> str:
    """The name of the tokenizer that a model saves."""
    if isinstance(tokenizer, str):
        return tokenizer
    module = getattr(tokenizer, "__module__", "")
    return f"{module}.{getattr(tokenizer, '__qualname__', type(tokenizer).__qualname__)}"


def tokenize(
    data: bytes, tokenizer: Tokenizer, *, lowercase: bool, lines_are_units: bool
) -> pa.LargeStringArray:
    r"""All tokens of valid UTF-8 `data`, with `UNIT_END` at each line end if lines are units.

    Equivalent to ``[t for line in text.split("\n") for t in [*line.split(), UNIT_END]][:-1]``.
    """
    if callable(tokenizer):
        text = data.decode()
        return _call(tokenizer, lowered(text) if lowercase else text, lines_are_units)
    # An extra last token, which is dropped below. If a text ends in a blank, Arrow (26.0) reads
    # the byte after it, and if that is a blank too, it does not split off the last token.
    text = _one_string(data + b" \0")
    if lowercase:
        text = pc.utf8_lower(text)
    for sign, parted in _PASSES.get(tokenizer, ()):
        if data.isascii():
            sign = _in_ascii(sign)
        text = pc.replace_substring_regex(text, sign, parted)
    if lines_are_units and b"\n" in data:
        text = pc.replace_substring(text, "\n", f" {UNIT_END} ")
    # Splitting at ASCII blanks takes half the time. Where it would differ, follow str.split.
    only_ascii = data.isascii() and not any(blank in data for blank in _SEPARATORS)
    split = pc.ascii_split_whitespace if only_ascii else pc.utf8_split_whitespace
    tokens = split(text).values
    # Blanks at the start of a text give an empty first token.
    start = int(tokens[0].as_py() == "")
    tokens = tokens.slice(start, len(tokens) - 1 - start)
    return _words_among(tokens) if tokenizer == "words" else tokens


def lowered(text: str) -> str:
    """The text in lower case, by the rule above.

    Examples
    --------
    >>> lowered("ΣΑΣ Straẞe")
    'σασ straße'
    """
    return text.lower() if text.isascii() else pc.utf8_lower(pa.scalar(text)).as_py()


def checked_tokens(tokens: Iterable[str], where: str) -> list[str]:
    """The tokens as a list; raises CorpusError unless they are valid Unicode without NUL.

    `where` begins the message.
    """
    found: list[str] = []
    try:
        found = list(tokens)
        text = "".join(found)
        text.encode()
        if UNIT_END in text:
            raise ValueError("a NUL character")
    except UnicodeEncodeError:
        check_unicode(found, where)
    except (TypeError, ValueError) as error:
        raise CorpusError(
            f"{where}: tokens must be strings of valid Unicode without NUL ({error})"
        ) from error
    return found


def check_unicode(strings: Iterable[str], where: str) -> None:
    """Raise CorpusError for lone surrogates (half characters), which cannot be saved.

    `where` begins the message.
    """
    strings = list(strings)
    try:
        "".join(strings).encode()
    except UnicodeEncodeError:
        for string in strings:
            if found := _SURROGATE.search(string):
                raise CorpusError(
                    f"{where}: {string[:40]!r} is not valid Unicode: it has half a character, "
                    f"U+{ord(found[0]):X} (one of the surrogates), which cannot be saved; {REPAIR}"
                ) from None


def _one_string(data: bytes) -> pa.LargeStringArray:
    offsets = np.array([0, len(data)], np.int64)
    return pa.LargeStringArray.from_buffers(1, pa.py_buffer(offsets), pa.py_buffer(data))


def _in_ascii(pattern: str) -> str:
    for some, those_in_ascii in _IN_ASCII:
        pattern = pattern.replace(some, those_in_ascii)
    return pattern


def _words_among(tokens: pa.LargeStringArray) -> pa.LargeStringArray:
    """Tokens without apostrophes at their ends, if two letters or more are left."""
    tokens = pc.utf8_trim(tokens, "'’")
    long_enough = pc.greater(pc.utf8_length(tokens), 1)
    return tokens.filter(pc.or_(long_enough, pc.equal(tokens, UNIT_END)))


def _call(
    tokenizer: Callable[[str], Iterable[str]], text: str, lines_are_units: bool
) -> pa.LargeStringArray:
    tokens: list[str] = []
    end = [UNIT_END] if lines_are_units else []
    *lines, rest = text.replace("\r\n", "\n").split("\n")
    for line in lines:
        tokens += checked_tokens(tokenizer(line), f"tokenizer, given {line[:40]!r}")
        tokens += end
    if rest:
        tokens += checked_tokens(tokenizer(rest), f"tokenizer, given {rest[:40]!r}")
    return string_array(tokens)
