"""Learns from the counts of tokens how they were split: which signs and clitics stand alone."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from eigentext.corpus.policy import (
    ACRONYM,
    CLITICS,
    ENDS,
    JOINED,
    MOST_SIGNS,
    MOST_TOKENS,
    STARTS,
    WEB,
    TokenPolicy,
    is_sign,
    is_signs,
)

_SUFFIX = re.compile(r"(?:['’][^\W\d_]{1,3}|n['’]t)")
_PREFIX = re.compile(r"[^\W\d_]{1,7}['’]")
_INNER = '-–—/,;:()[]"“”«»!?…'  # signs that may separate the parts of a word
_INNER_DIGITS = "-–—/"
_FEW = 3  # tokens that are enough to believe in a rule
_CLEARLY = 4  # times as often
_LETTERS = 200  # tokens without a capital that show that all letters are small


def learned(counts: Mapping[str, int]) -> dict[str, Any]:
    """The fields of a :class:`TokenPolicy`, from the number of times that each token occurs."""
    seen = _Seen(counts)
    suffixes, prefixes = seen.clitics()
    clitics = {*suffixes, *prefixes}
    starts, ends = seen.around(clitics)
    inner, digits = seen.inner()
    if "-" not in inner:
        ends = ends.replace("-", "")  # "pre- and postwar"
    fields: dict[str, Any] = {
        "starts": starts,
        "ends": ends,
        "inner": inner,
        "digits": digits,
        "suffixes": suffixes,
        "prefixes": prefixes,
        "joined": seen.joined(suffixes),
        "signs": tuple(sorted(seen.alone, key=lambda s: (-seen.alone[s], s)))[:MOST_SIGNS],
        "acronyms": any(ACRONYM.fullmatch(token) for token in seen.words),
        "escaped": any("\\/" in token for token in seen.words),
        "lowercase": seen.is_lowercase(),
    }
    if not starts and not ends:
        return fields
    rules = TokenPolicy(**fields)
    order = sorted(seen.words, key=lambda token: (-seen.words[token], token))
    whole = [token for token in order if len(token.split()) > 1 or len(rules.pieces(token)) > 1]
    whole = whole[:MOST_TOKENS]
    loose = [token for token in whole if token[-1] in ends and seen.is_loose(token)]
    return fields | {"whole": tuple(whole), "loose": tuple(loose)}


class _Seen:
    """The tokens of the training data: words, and signs that stand alone."""

    def __init__(self, counts: Mapping[str, int]):
        self.words: Counter[str] = Counter()
        self.alone: Counter[str] = Counter()
        for token, n in counts.items():
            if token:
                (self.alone if is_signs(token) else self.words)[token] += int(n)

    def clitics(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Clitics that are tokens far more often than they are attached, in lower case."""
        alone: Counter[str] = Counter()
        for token, n in self.words.items():
            if _SUFFIX.fullmatch(token.lower()) or _PREFIX.fullmatch(token.lower()):
                alone[token.lower()] += n
        attached: Counter[str] = Counter()
        for token, n in self.words.items():
            small = token.lower()
            if small in alone or not ("'" in small or "’" in small):
                continue
            for clitic in alone:
                if small.endswith(clitic) or small.startswith(clitic):
                    attached[clitic] += n

        def is_split(clitic: str) -> bool:
            enough = 1 if clitic.replace("’", "'") in CLITICS else _FEW
            return alone[clitic] >= enough and alone[clitic] > _CLEARLY * attached[clitic]

        kept = sorted(filter(is_split, alone))
        return (
            tuple(one for one in kept if _SUFFIX.fullmatch(one)),
            tuple(one for one in kept if not _SUFFIX.fullmatch(one)),
        )

    def is_loose(self, token: str) -> bool:
        """Whether a token with a sign at its end is rather two: "Madrid,", and "No." at an end."""
        alone = self.words[token[:-1]]
        return alone > 0 and (token[-1] == "." or alone >= self.words[token])

    def joined(self, suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """English words that are split if "n't" is: "can not", "gon na"."""
        if not {"n't", "n’t"} & set(suffixes):
            return ()
        return tuple(
            word
            for word, at in JOINED.items()
            if not self.words[word] and self.words[word[:at]] and self.words[word[at:]]
        )

    def around(self, clitics: set[str]) -> tuple[str, str]:
        """The signs that are split off before words, and those that are split off after them."""
        alone = Counter({sign: n for sign, n in self.alone.items() if len(sign) == 1})
        before: Counter[str] = Counter()
        after: Counter[str] = Counter()
        for token, n in self.words.items():
            if token.lower() not in clitics and not WEB.fullmatch(token):
                before[token[0]] += n
                after[token[-1]] += n
        in_all = sum(before[c] for c in STARTS) + sum(after[c] for c in ENDS)
        # Signs that the data does not have are split off too, if others are, or if it has none.
        is_usual = _CLEARLY * sum(alone[c] for c in {*STARTS, *ENDS}) >= in_all

        def split(usual: str, attached: Counter[str]) -> str:
            def is_split(sign: str) -> bool:
                if sign in usual:  # some tokens are abbreviations
                    return _CLEARLY * alone[sign] > attached[sign] or (
                        is_usual and not attached[sign]
                    )
                return alone[sign] >= _FEW and alone[sign] > attached[sign]

            return "".join(sorted(filter(is_split, {*usual, *alone})))

        return split(STARTS, before), split(ENDS, after)

    def inner(self) -> tuple[str, str]:
        """The signs that are split off between letters, and between digits."""
        letters: Counter[str] = Counter()
        digits: Counter[str] = Counter()
        for token, n in self.words.items():
            if WEB.fullmatch(token):
                continue
            for before, sign, after in zip(token, token[1:], token[2:]):
                if is_sign(sign) and not is_sign(before) and not is_sign(after):
                    (digits if before.isdigit() and after.isdigit() else letters)[sign] += n

        def split(signs: str, attached: Counter[str]) -> str:
            return "".join(
                sign
                for sign in signs
                if self.alone[sign] >= _FEW and self.alone[sign] > _CLEARLY * attached[sign]
            )

        between = split(_INNER, letters)
        return between, split("".join(set(_INNER_DIGITS) & set(between)), digits)

    def is_lowercase(self) -> bool:
        n_letters = 0
        for token, n in self.words.items():
            if token != token.lower():
                return False
            if any(map(str.isalpha, token)):
                n_letters += n
        return n_letters >= _LETTERS
