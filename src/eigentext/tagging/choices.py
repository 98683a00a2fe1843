"""What a tagger chooses from its parameters and the sentences: columns, scheme, templates."""

import re
import warnings
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal

from eigentext.corpus import schemes
from eigentext.errors import ParameterError
from eigentext.tagging.attributes import check_attribute
from eigentext.tagging.templates import SOURCES, TEMPLATES, VECTORS, parse_templates

Scheme = Literal["auto", "bio", "bilou"] | None
ARGUMENTS = {
    "vector": "vectors",
    "token": "eigentokens",
    "state": "states",
    "node": "parser",
    "cluster": "clusters",
}  # the names of sources in templates, and the parameters of a tagger for them
_COLUMNS = {1: ("word",), 2: ("word", "pos")}
_LONE = {"bilou": "U", "iobes": "S"}  # the letter of a chunk of one token
_CLUSTER = re.compile(r"cluster([1-9]\d*)?")
_BROKEN = 0.1  # the share of sentences that may break the scheme "iobes"
_SPARSE = 0.6  # names leave a larger share of the tokens outside of chunks, phrases do not
_FEW = 0.5  # a source that knows a smaller share of the tokens is of another language, perhaps


def choose_columns(given: Sequence[str] | None, n_columns: int) -> tuple[str, ...]:
    """Return the names of the parts of a token before its tag."""
    if given is None:
        if n_columns not in _COLUMNS:
            raise ParameterError(
                f"tokens have {n_columns} parts before the tag; name them with columns=[…], "
                "the word first"
            )
        return _COLUMNS[n_columns]
    columns = (given,) if isinstance(given, str) else tuple(given)
    if len(columns) != n_columns or len(set(columns)) < n_columns:
        raise ParameterError(
            f"columns {', '.join(map(repr, columns))} for tokens with {n_columns} parts before "
            "the tag; give each part a different name"
        )
    return columns


def choose_scheme(given: Scheme, tags: list[list[str]]) -> tuple[str | None, bool]:
    """Return the scheme of valid taggings, and whether BIO tags are learned as BILOU."""
    distinct = set(chain.from_iterable(tags))
    scheme: Any = schemes.scheme_of(distinct) if given == "auto" else given
    if given == "auto" and scheme == "iobes":
        n_broken = sum(schemes.find_misfit(one, scheme) is not None for one in tags)
        return (None if n_broken > _BROKEN * len(tags) else scheme), False
    return scheme, scheme == "bilou" and not {tag[0] for tag in distinct} & set("LU")


def repair_tags(tags: list[list[str]], scheme: str | None) -> tuple[list[list[str]], int]:
    """Return the tags as the scheme writes them, and how many of them had to be changed.

    A warning counts them. Raise CorpusError if a tag does not belong to the scheme.
    """
    if scheme is None:
        return tags, 0
    found = schemes.repaired(tags, scheme)
    if found.n_tags:
        n, name = f"{found.n_tags:,} tag{'s'[: found.n_tags > 1]}", scheme.upper()
        sentence, token = found.first
        warnings.warn(
            f"read {n} of the scheme IOB1 as BIO: the tagger gives tags of BIO"
            if found.is_iob1
            else f"read {n} that broke the scheme {name} by the rules of conlleval, so that every "
            f"chunk has a beginning; the first is in sentence {sentence:,}, token {token:,}",
            stacklevel=6,  # the line that calls `fit`, which has two decorators
        )
    return found.tags, found.n_tags


def lone_tags(tags: Sequence[str], scheme: str | None) -> set[str]:
    """Return the tags U-X or S-X that a sentence of one token needs to have a valid tagging.

    Examples
    --------
    >>> lone_tags(["B-X", "L-X"], "bilou"), lone_tags(["O", "B-X", "L-X"], "bilou")
    ({'U-X'}, set())
    """
    distinct, lone = set(tags), _LONE.get(scheme or "")
    if lone is None or any(tag[0] in (schemes.OUTSIDE, lone) for tag in distinct):
        return set()
    return {f"{lone}-{tag[2:]}" for tag in distinct}


def choose_templates(
    given: str | Sequence[str],
    columns: Sequence[str],
    tags: Sequence[str],
    sources: list[str],
    outside: float = 0.0,
) -> list[str]:
    """Return the templates that were asked for, and those of the sources that were given.

    `outside` is the share of the training tokens that are outside of all chunks.
    """
    if isinstance(given, str):
        name = _task(columns, tags, outside) if given == "auto" else given
        if name not in TEMPLATES:
            known = ", ".join(map(repr, TEMPLATES))
            raise ParameterError(f"features must be 'auto', {known} or a list, not {given!r}")
        templates = [one for one in TEMPLATES[name] if "pos[" not in one or "pos" in columns]
    else:
        if not isinstance(given, Iterable):
            parse_templates(given)  # raises an error that says what to give
        templates = list(given)
    names = {part.name for template in parse_templates(templates) for part in template}
    for name in names:
        if name in VECTORS or _CLUSTER.fullmatch(name):
            if _source(name) not in sources:
                argument = ARGUMENTS[_source(name)]
                raise ParameterError(f"a template looks at {name!r}; give {argument}=… too")
        else:
            check_attribute(name, tuple(columns))
    for source in sources:
        if source not in map(_source, names):
            templates += SOURCES[source]
    return templates


def check_coverage(shares: dict[str, float]) -> None:
    """Raise ParameterError if a source knows no training token, and warn if it knows few."""
    for name, share in shares.items():
        if share == 0:
            raise ParameterError(
                f"no word of the training sentences is among those of {ARGUMENTS[name]}, which "
                "have another vocabulary; learn them from text of the same language, split into "
                "words in the same way"
            )
        if share < _FEW:
            warnings.warn(
                f"only {share:.0%} of the training tokens are among the words of "
                f"{ARGUMENTS[name]}; learn these from text of the same language, split into words "
                "in the same way",
                stacklevel=5,  # the line that calls `fit`, which has two decorators
            )


def _task(columns: Sequence[str], tags: Sequence[str], outside: float) -> str:
    if not schemes.is_chunk_tags(tags):
        return "pos"
    return "chunk" if "pos" in columns and outside <= _SPARSE else "ner"


def _source(name: str) -> str:
    """Return the source that a name in a template belongs to. cluster6 belongs to cluster."""
    return name.rstrip("0123456789")
