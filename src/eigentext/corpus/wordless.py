"""The error about a text without words: what was in it, and why it was dropped."""

from copy import copy
from itertools import islice

from eigentext.corpus.text import TextCorpus
from eigentext.errors import CorpusError

_LOOKED_AT, _SHOWN = 1000, 5  # tokens


def wordless(corpus: TextCorpus) -> CorpusError:
    """Return the error about a corpus in which the tokenizer finds no token.

    Examples
    --------
    >>> str(wordless(TextCorpus(["a 1"], tokenizer="words", kind="texts")))
    ... # doctest: +NORMALIZE_WHITESPACE
    "the corpus: contains no words of two letters or more; single letters, digits and signs (a, 1)
    are dropped by the tokenizer 'words'; choose another (--tokenizer simple, or TextCorpus(...,
    tokenizer='simple')), or give other text"
    """
    where = ", ".join(map(str, corpus.files)) or "the corpus"
    plain = copy(corpus)
    plain.tokenizer = "whitespace"
    seen = dict.fromkeys(islice((token for unit in plain for token in unit), _LOOKED_AT))
    if not seen:
        return CorpusError(f"{where}: contains no words; is the file empty?")
    shown = ", ".join(list(seen)[:_SHOWN]) + ", …" * (len(seen) > _SHOWN)
    if corpus.tokenizer == "words":
        return CorpusError(
            f"{where}: contains no words of two letters or more; single letters, digits and signs "
            f"({shown}) are dropped by the tokenizer 'words'; choose another (--tokenizer simple, "
            "or TextCorpus(..., tokenizer='simple')), or give other text"
        )
    return CorpusError(
        f"{where}: contains no words; the tokenizer gives no tokens for {shown}; choose another "
        "(tokenizer, --tokenizer), or give other text"
    )
