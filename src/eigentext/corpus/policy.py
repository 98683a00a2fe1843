r"""How raw text becomes the tokens that a parser or tagger knows.

A model learns from tokens that somebody split by some rule: "do n't" or "don't", "París ." or
"París.", `` or ". A :class:`TokenPolicy` is that rule. It is learned from how often each token
occurs (:meth:`TokenPolicy.of`), saved with the model, and applied to every string that the model is
given. Lists of tokens are not touched.

Words between blanks are split in these steps. Signs that are tokens of their own in the training
data are split off before and after a word, then clitics ("n't", "l'"), then signs inside, such as
hyphens. A token that these steps would split although the training data has it as one ("Mr.",
"3.5%") is an exception: the policy lists the most frequent of them. At last, signs that the model
has never seen become those that it has: ``(`` becomes ``-LRB-``, or the other way round.

A line may be split already. So tokens between blanks should stay as they are, as nearly as
possible. If a line has signs and clitics that stand alone, and at least as many as are attached to
words, then only the last word is split.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property, lru_cache
from typing import Any, Self
from unicodedata import category

from eigentext.corpus.vocabulary import as_asked
from eigentext.parameters import Given
from eigentext.storage.schema import Schema

MOST_TOKENS = 10_000  # the largest number of exceptions
MOST_SIGNS = 500
STARTS = "([{\"“‘„«‚‹`'¿¡"  # signs before a word, if the training data does not say otherwise
ENDS = ".,;:?!…)]}\"”’»›'。，、؟؛"
BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
ACRONYM = re.compile(r"(?:[^\W\d_]\.)+")  # "J.", "U.S."
WEB = re.compile(r"(?:https?|ftp)://\S+|www\.\S+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|&#?\w+;", re.I)
CLITICS = frozenset(("n't", "'s", "'re", "'ve", "'ll", "'d", "'m"))
JOINED = {"cannot": 3, "gonna": 3, "gotta": 3, "wanna": 3, "gimme": 3, "lemme": 3}
_OPENING, _CLOSING = ("``", "“", "«", "„"), ("''", "”", "»")
# Signs that mean the same. If a model does not know one of them, it may know another.
_SAME = (("…", "..."), ("—", "--", "–", "-"), ("–", "--", "—", "-"), ("--", "—", "–", "-"),
         ("‘", "`", "'"), ("’", "'"), ("`", "‘", "'"), ("...", "…"))  # fmt: skip
_PAIRS = (("``", "''"), ('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("„", "”"), ("'", "'"))
_APOSTROPHES = str.maketrans("’", "'")
_TELLING = frozenset((",", ".", "``", "''", "(", ")", *BRACKETS.values()))
_SLASH = re.compile(r"(?<!\\)[/*]")
_SPLIT, _RAW, _LAST = range(3)  # where a word is: in a line of tokens, in raw text, at its end
_KEPT_WORDS = 1 << 16
_LONGEST_WORD = 300  # characters; anything longer is no word, and stays as it is


@lru_cache(1 << 14)
def is_sign(character: str) -> bool:
    """Whether a character is punctuation or a symbol, not a part of a word or number."""
    return category(character)[0] in "PS" and character != "_"


def is_signs(token: str) -> bool:
    """Whether a token has no letters and digits; -LRB- is a sign too."""
    return token in _NAMES or all(map(is_sign, token))


_NAMES = frozenset(BRACKETS.values())
_NAMED = re.compile(r"-[LR][RSC]B-")


@dataclass(frozen=True)
class TokenPolicy:
    """The rule by which the training tokens of a model were split, as far as they show it.

    Parameters
    ----------
    starts, ends : str
        The signs that are split off before and after a word.
    inner : str
        The signs that are split off between two letters. Between digits they are not.
    digits : str
        The signs that are split off between two digits.
    suffixes, prefixes : tuple of str
        Clitics that are split off, in lower case: "n't", "'s"; "l'", "dell'".
    joined : tuple of str
        Words that are two tokens: "cannot", "gonna".
    signs : tuple of str
        The tokens without letters and digits, and names of brackets, the most frequent first.
    whole : tuple of str
        Tokens that stay one token though the rules would split them, the most frequent first.
    loose : tuple of str
        Those of `whole` that are rather two tokens in raw text: "Madrid,", and those with a full
        stop at the end of a line: "No."
    acronyms : bool
        Whether single letters with full stops are one token: "J.", "U.N."
    escaped : bool
        Whether slashes are written with a backslash, as in the Penn treebank.
    lowercase : bool
        Whether all letters are small.

    Examples
    --------
    >>> policy = TokenPolicy.of({"She": 1, "does": 2, "n't": 2, "Mr.": 1, ",": 9, ".": 9})
    >>> policy.split("She doesn't know (Mr. Li), does she?")
    ['She', 'does', "n't", 'know', '(', 'Mr.', 'Li', ')', ',', 'does', 'she', '?']
    >>> policy.split("She does n't know Mr. Li .")
    ['She', 'does', "n't", 'know', 'Mr.', 'Li', '.']
    """

    starts: str = STARTS
    ends: str = ENDS
    inner: str = ""
    digits: str = ""
    suffixes: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    signs: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    acronyms: bool = True
    escaped: bool = False
    lowercase: bool = False

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Self:
        """Learn a policy from the number of times that each token occurs."""
        from eigentext.corpus._policy_learning import learned

        return cls(**learned(counts))

    @classmethod
    def of_words(cls, words: Iterable[str]) -> Self:
        """Guess a policy from words without counts: signs and English clitics among them."""
        known = list(words)
        counts = {word: len(known) if is_signs(word) or word in CLITICS else 1 for word in known}
        return replace(cls.of(counts), lowercase=False)

    @classmethod
    def blanks(cls) -> Self:
        """The policy that splits at blanks and does nothing else."""
        return cls(starts="", ends="")

    # -- raw text -> tokens ------------------------------------------------------------------------

    def split(self, text: str) -> list[str]:
        """Return the tokens of a sentence of raw text. Tokens between blanks stay if they can."""
        return self._split(self._as_learned(text))[0]

    def places(self, text: str) -> list[tuple[str, int, int]]:
        """Return the tokens of a sentence of raw text, each made of ``text[start:end]``.

        Examples
        --------
        >>> TokenPolicy.of({"-LRB-": 9, "-RRB-": 9, "dogs": 1}).places("(dogs)")
        [('-LRB-', 0, 1), ('dogs', 1, 5), ('-RRB-', 5, 6)]
        """
        text, found, end = self._as_learned(text), [], 0  # in lower case it is as long as before
        for token, piece in zip(*self._split(text)):
            start = text.index(piece, end)
            end = start + len(piece)
            found.append((token, start, end))
        return found

    def _as_learned(self, text: str) -> str:
        return as_asked([text], {"lowercase": self.lowercase})[0]

    def _split(self, text: str) -> tuple[list[str], list[str]]:
        """The tokens of a sentence, and the same as the text has them."""
        words = self._between_blanks(text)
        if not (self.starts or self.ends):
            return words, words
        is_split = self._looks_split(words)
        found: list[str] = []
        parts: list[str] = []
        is_open = False  # whether a quotation has begun
        for n, word in enumerate(words, 1):
            is_last = n == len(words)
            if is_split and not is_last:
                pieces: Sequence[str] = (word,)
            else:
                pieces = self._pieces(word, _SPLIT if is_split else _LAST if is_last else _RAW)
            parts += pieces
            for k, piece in enumerate(pieces):
                if piece.isalnum() or piece in self._known_signs:
                    found.append(piece)
                    is_open ^= piece == '"'
                    continue
                if not is_signs(piece):
                    found.append(self._written(piece))
                    continue
                opens = piece in _OPENING or (
                    piece == '"' and (not is_open if len(pieces) == 1 else k + 1 < len(pieces))
                )
                if piece == '"' or piece in _OPENING or piece in _CLOSING:
                    is_open = opens
                found.append(self._spelled(piece, opens))
        return found, parts

    def pieces(self, word: str) -> tuple[str, ...]:
        """Return the parts of a word that the policy splits it into. Their sum is the word."""
        return self._pieces(word, _SPLIT)

    def _between_blanks(self, text: str) -> list[str]:
        words = text.split()
        if text.isascii() or not self._with_blanks:
            return words
        # Some tokens contain blanks of other kinds, as in French numbers.
        return [
            part
            for word in re.findall(r"\S+", text, re.ASCII)
            for part in ([word] if self._is_one(word) else word.split())
        ]

    def _is_one(self, word: str) -> bool:
        return word in self._with_blanks or "".join(word.split()).isdigit()

    def _looks_split(self, words: list[str]) -> bool:
        """Whether at least as many signs and clitics stand alone as are attached to words."""
        alone = sum(word in _TELLING or word.lower() in self._clitics for word in words)
        if not alone:
            return False
        attached = sum(
            word[-1] in ",.;:?!" and word[0].isalpha() and len(self.pieces(word)) > 1
            for word in words[:-1]
        )
        return alone >= attached

    def _pieces(self, word: str, where: int) -> tuple[str, ...]:
        if (word.isalnum() and word.lower() not in self.joined) or len(word) > _LONGEST_WORD:
            return (word,)
        known = self._cache.get((word, where))
        if known is None:
            if len(self._cache) >= _KEPT_WORDS:
                self._cache.clear()
            known = self._cache[word, where] = tuple(self._parted(word, where))
        return known

    def _parted(self, word: str, where: int) -> list[str]:
        if self._is_whole(word, where) or _NAMED.search(word):
            return [word]
        if is_signs(word):
            return self._runs(word)
        before, word = self._without_starts(word)
        after: list[str] = []
        while not self._is_whole(word, min(where, _RAW) if after else where):
            size = self._size_of_end(word)
            if not size:
                return [*before, *self._core(word), *reversed(after)]
            after.append(word[-size:])
            word = word[:-size]
        return [*before, word, *reversed(after)]

    def _is_whole(self, word: str, where: int, *, exactly: bool = False) -> bool:
        if self.acronyms and ACRONYM.fullmatch(word):
            return not (where == _LAST and len(word) == 2)
        plain = word if exactly else word.translate(_APOSTROPHES)
        is_exception = any(
            one in self._exceptions for one in (word, plain, plain[:1].lower() + plain[1:])
        )
        if is_exception:
            return word not in self._loose or where < (_LAST if word[-1] == "." else _RAW)
        return word.lower() in self._clitics or plain.lower() in self._clitics

    def _without_starts(self, word: str) -> tuple[list[str], str]:
        """Split off the signs before a word."""
        before: list[str] = []
        while word[0] in self.starts and not self._is_whole(word, _SPLIT):
            size = self._size_of_run(word)
            rest = word[size:]
            if is_signs(rest) or word[:size] == ".":
                break  # ".net"
            if rest[0].isdigit() and word[size - 1] in "-–+'’,:":
                break
            before.append(word[:size])
            word = rest
        return before, word

    def _size_of_end(self, word: str) -> int:
        """The length of the sign at the end of a word that is split off; 0 for none."""
        if word[-1] not in self.ends:
            return 0
        if word[-1] not in ENDS and WEB.fullmatch(word):
            return 0
        size = self._size_of_run(word[::-1], backwards=True)
        rest = word[:-size]
        if not rest or is_signs(rest):
            return 0
        opening = {")": "(", "]": "[", "}": "{"}.get(word[-1])
        if opening and rest.count(opening) > rest.count(word[-1]):
            return 0  # "word(s)"
        return size

    def _size_of_run(self, word: str, *, backwards: bool = False) -> int:
        """How many signs at the start of a word are one token: "...", "''", "!!", "("."""
        most = next((i for i, c in enumerate(word) if not is_sign(c)), len(word))
        for size in range(min(most, self._longest), 1, -1):
            run = word[:size][::-1] if backwards else word[:size]
            if run in self._known_signs:
                return size
        same = next((i for i, c in enumerate(word) if c != word[0]), len(word))
        return same if word[0] in ".!?-*=~" else 1

    def _runs(self, word: str) -> list[str]:
        """The tokens of a word of signs."""
        if word in self._known_signs or not set(word) & {*self.starts, *self.ends}:
            return [word]
        found = []
        while word:
            size = self._size_of_run(word)
            found.append(word[:size])
            word = word[size:]
        return found

    def _core(self, word: str) -> list[str]:
        """The tokens of a word without signs around it: clitics, and what signs separate."""
        if WEB.fullmatch(word):
            return [word]
        plain = word.translate(_APOSTROPHES).lower()
        if plain in self.joined:
            return [word[: JOINED[plain]], word[JOINED[plain] :]]
        for clitic in self._prefixes:
            rest = word[len(clitic) :]
            if plain.startswith(clitic) and rest[:1].isalnum():
                return [word[: len(clitic)], *self._parted(rest, _RAW)]
        for clitic in self._suffixes:
            stem = word[: -len(clitic)]
            if (
                plain.endswith(clitic)
                and stem
                and (stem[-1].isalnum() or self._is_whole(stem, _SPLIT))
            ):
                return [*self._core(stem), word[-len(clitic) :]]
        if self._inside is None:
            return [word]
        return [part for part in self._inside.split(word) if part]

    def _written(self, piece: str) -> str:
        """A piece with the apostrophes and slashes of the training data."""
        if "’" in piece and not self._is_whole(piece, _SPLIT, exactly=True):
            plain = piece.translate(_APOSTROPHES)
            piece = plain if self._is_whole(plain, _SPLIT) else piece
        if self.escaped and not WEB.fullmatch(piece):
            piece = _SLASH.sub(r"\\\g<0>", piece)
        return piece

    def _spelled(self, piece: str, opens: bool) -> str:
        """A sign that the model has never seen, as one that it has."""
        if piece in self._brackets:
            return self._brackets[piece]
        if self._quotes and (piece == '"' or piece in _OPENING or piece in _CLOSING):
            return self._quotes[not opens]
        for first, *others in _SAME:
            if piece == first:
                return next((one for one in others if one in self._known_signs), piece)
        return piece

    # -- do tokens look like raw text? -------------------------------------------------------------

    def ends_raw(self, tokens: Sequence[str]) -> bool:
        """Whether a list of tokens ends in a word with a sign that the policy would split off.

        Examples
        --------
        >>> policy = TokenPolicy.of({"Hoy": 1, "vendrá": 1, ".": 9})
        >>> policy.ends_raw(["Hoy", "vendrá."]), policy.ends_raw(["Hoy", "vendrá", "."])
        (True, False)
        """
        last = tokens[-1] if tokens else ""
        return (
            len(last) > 1
            and last[-1] in self.ends
            and last[-1] in ENDS
            and any(map(str.isalpha, last))
            and not self._is_whole(last, _SPLIT)
            and self._size_of_end(last) > 0
        )

    def __getstate__(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in fields(self)}  # without the tables

    # -- tables ------------------------------------------------------------------------------------

    @cached_property
    def _cache(self) -> dict[tuple[str, int], tuple[str, ...]]:
        return {}

    @cached_property
    def _exceptions(self) -> frozenset[str]:
        return frozenset(self.whole)

    @cached_property
    def _loose(self) -> frozenset[str]:
        return frozenset(self.loose)

    @cached_property
    def _with_blanks(self) -> frozenset[str]:
        return frozenset(token for token in self.whole if len(token.split()) > 1)

    @cached_property
    def _known_signs(self) -> frozenset[str]:
        return frozenset(self.signs)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self.signs), default=1)

    @cached_property
    def _clitics(self) -> frozenset[str]:
        return frozenset((*self.suffixes, *self.prefixes))

    @cached_property
    def _suffixes(self) -> list[str]:
        return sorted({one.translate(_APOSTROPHES) for one in self.suffixes}, key=_longest_first)

    @cached_property
    def _prefixes(self) -> list[str]:
        return sorted({one.translate(_APOSTROPHES) for one in self.prefixes}, key=_longest_first)

    @cached_property
    def _inside(self) -> re.Pattern[str] | None:
        parts = []
        runs = [s for s in self.signs if len(s) > 1 and s not in _NAMES and set(s) <= set("-—–.…")]
        if runs:  # "word--word", "word...word"
            runs.sort(key=_longest_first)
            parts.append(rf"(?<=\w)(?:{'|'.join(map(re.escape, runs))})(?=\w)")
        if self.inner:
            parts.append(rf"(?<=\w)[{re.escape(self.inner)}](?=[^\W\d])")
            parts.append(rf"(?<=[^\W\d])[{re.escape(self.inner)}](?=\w)")
        if self.digits:
            parts.append(rf"(?<=\d)[{re.escape(self.digits)}](?=\d)")
        return re.compile(f"({'|'.join(parts)})") if parts else None

    @cached_property
    def _brackets(self) -> dict[str, str]:
        found = {}
        for sign, name in BRACKETS.items():
            if name in self._known_signs and sign not in self._known_signs:
                found[sign] = name
            elif sign in self._known_signs and name not in self._known_signs:
                found[name] = sign
        return found

    @cached_property
    def _quotes(self) -> tuple[str, str] | None:
        known = [pair for pair in _PAIRS if set(pair) <= self._known_signs]
        return min(
            known, key=lambda pair: (pair[0] == "'", self.signs.index(pair[0])), default=None
        )

    # -- files -------------------------------------------------------------------------------------

    def to_saved(self) -> dict[str, Any]:
        """Return the policy as plain data for the document of a file."""
        return {name: list(x) if isinstance(x, tuple) else x for name, x in asdict(self).items()}

    @classmethod
    def from_saved(cls, about: Mapping[str, Any]) -> Self:
        """Return the policy of :meth:`to_saved`, which a schema has checked (:data:`POLICY`)."""
        given: dict[str, Any] = {
            name: tuple(x) if isinstance(x, list) else x for name, x in about.items()
        }
        return cls(**given)

    @classmethod
    def of_file(cls, about: Mapping[str, Any], otherwise: Callable[[], Self]) -> Self:
        """Return the policy of the document of a file. Old files have none."""
        return cls.from_saved(about[KEY]) if KEY in about else otherwise()


def _longest_first(text: str) -> tuple[int, str]:
    return -len(text), text


def _is_policy(value: Any) -> bool:
    known = {one.name: type(one.default) for one in fields(TokenPolicy)}
    if not isinstance(value, dict) or not value.keys() <= known.keys():
        return False

    def fits(name: str, one: Any) -> bool:
        if known[name] is not tuple:
            return isinstance(one, known[name])
        most = MOST_TOKENS if name in ("whole", "loose") else MOST_SIGNS
        return (
            isinstance(one, (list, tuple))
            and len(one) <= most
            and all(isinstance(token, str) and token for token in one)
        )

    return (
        all(fits(name, one) for name, one in value.items())
        and set(value.get("joined", ())) <= JOINED.keys()
    )


KEY = "tokens"  # the name of the policy in the document of a file
POLICY = Given({}, what="a rule for splitting text into tokens", test=_is_policy)


def check_policy(about: Mapping[str, Any]) -> None:
    """Raise a ModelFileError if the document of a file has a policy that is none."""
    if KEY in about:
        Schema(about={KEY: POLICY}).check({}, about)
