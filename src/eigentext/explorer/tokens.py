"""Splits typed text into tokens, in the same way as the text that a model was learned from."""

import re
from typing import Any

_END = re.compile(r"(.+?)([,;:?!]+|(?<=\w)\.)$")  # punctuation at the end of a word
_START = re.compile(r"([\"“‘(\[{])(.+)$")
_CLOSE = re.compile(r"(.+?)([\"”)\]}])$")
_CLITIC = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))$", re.IGNORECASE)
_ABBREVIATION = re.compile(r"(?:\w\.){2,}$|(?:mr|mrs|ms|dr|st|prof|inc|corp|co|ltd|vs)\.$", re.I)


def as_learned(text: str, options: dict[str, Any]) -> list[str]:
    """Return the tokens of a text, split as the `options` of a fit say, or else at blanks."""
    from eigentext.corpus.tokenizers import NAMED, UNIT_END, lowered, tokenize

    name, lowercase = options.get("tokenizer"), bool(options.get("lowercase"))
    if name in NAMED:
        found = tokenize(text.encode(), name, lowercase=lowercase, lines_are_units=False)
        return [token for token in found.to_pylist() if token != UNIT_END]
    return (lowered(text) if lowercase else text).split()


def penn_tokens(sentence: str) -> list[str]:
    """Return the tokens of a typed sentence, as treebanks have them.

    Punctuation and clitics become separate words. Blanks always separate tokens.

    Examples
    --------
    >>> penn_tokens("She said (Ann doesn't sleep), etc.")
    ['She', 'said', '-LRB-', 'Ann', 'does', "n't", 'sleep', '-RRB-', ',', 'etc', '.']
    >>> penn_tokens("Mr. Smith lives in the U.S.")
    ['Mr.', 'Smith', 'lives', 'in', 'the', 'U.S.']
    """
    found: list[str] = []
    for word in sentence.split():
        before, after = [], []
        while match := _START.match(word):
            before.append(match[1])
            word = match[2]
        while not _ABBREVIATION.search(word):
            match = _END.match(word) or _CLOSE.match(word) or _CLITIC.match(word)
            if not match:
                break
            word = match[1]
            after.append(match[2])
        found += [*before, word, *reversed(after)]
    return [_BRACKETS.get(word, word) for word in found]


_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
