"""What a tagger was learned from: numbers, and a fingerprint of the tagged sentences."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from eigentext.storage.facts import COUNT, TEXTS, facts

TAGGED = facts(
    "what it was learned from: n_sentences, n_tokens and sources",
    needs=("n_sentences", "n_tokens"),
    n_sentences=COUNT,
    n_tokens=COUNT,
    n_words=COUNT,
    sources=TEXTS,
    given=facts("the origin of other models"),
)


def origin_of_tagged(
    sentences: Sequence[Sequence[Any]],
    tags: Sequence[Sequence[str]],
    given: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The numbers and the fingerprint of tagged sentences, and the origin of `given` models.

    Tokens are words, or tuples whose first part is the word.

    Examples
    --------
    >>> found = origin_of_tagged([["a", "dog"]], [["D", "N"]])
    >>> found["n_sentences"], found["n_tokens"], found["n_words"], len(found["sources"])
    (1, 2, 2, 1)
    """
    tokens = [
        [(token, tag) if isinstance(token, str) else (*token, tag) for token, tag in zip(*pair)]
        for pair in zip(sentences, tags)
    ]
    origins = {
        name: origin
        for name, model in (given or {}).items()
        if (origin := getattr(model, "provenance_", None)) is not None
    }
    return {
        "n_sentences": len(tokens),
        "n_tokens": sum(map(len, tokens)),
        "n_words": len({token[0] for sentence in tokens for token in sentence}),
        "sources": [fingerprint_of(tokens)],
    } | ({"given": origins} if origins else {})


def origin_in(about: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance in the document of a file; that of an old file are the numbers it has."""
    if "provenance" in about:
        return about["provenance"]
    known = about["diagnostics"]
    return {name: known.get(name, 0) for name in ("n_sentences", "n_tokens")} | {"sources": []}


def fingerprint_of(sentences: Iterable[Iterable[Sequence[str]]]) -> str:
    """The SHA-256 of sentences of tokens, which are tuples of strings: (word, …, tag).

    It is equal for equal data, whatever file the data came from.
    """
    digest = hashlib.sha256()
    for sentence in sentences:
        text = "".join(
            "".join((*(f"{len(part)}:{part}" for part in token), ",")) for token in sentence
        )
        digest.update(f"{text};".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
