r"""Feature templates say what a tagger looks at.

A template is a string. ``word[-1]`` is the word before the token. Parts joined by ``|`` make one
feature together, as in ``word[-1]|pos[0]``. ``pos[-2..2]`` means five templates, one for each
position. The names in templates are

- the columns of the data: ``word``, and others such as ``pos`` or the column of a gazetteer;
- attributes of a word (see :mod:`~eigentext.tagging.attributes`): ``lower``, ``shape``,
  ``short_shape``, ``case``, ``digits``, ``prefix3``, ``suffix2``, …;
- what was learned without labels: ``cluster`` and ``cluster6`` (a bit string, or its first six
  bits) and the vectors ``vector``, ``token``, ``state`` and ``node``. A vector cannot be joined
  with other parts.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from eigentext.errors import ParameterError

VECTORS = ("vector", "token", "state", "node")  # names of dense vectors; all others are symbols
_PART = re.compile(r"([A-Za-z_][A-Za-z_0-9-]*)\[([+-]?\d+)(?:\.\.([+-]?\d+))?\]")
_FARTHEST = 100


class TemplatePart(NamedTuple):
    """An attribute of the token that is `offset` positions to the right."""

    name: str
    offset: int


Template = tuple[TemplatePart, ...]

# Usual templates. Chunks: the windows and n-grams that the CoNLL-2000 systems share. Names: Ratinov
# and Roth (2009), "Design challenges and misconceptions in named entity recognition", without
# gazetteers. Parts of speech: Ratnaparkhi (1996), "A maximum entropy model for part-of-speech
# tagging".
TEMPLATES: dict[str, tuple[str, ...]] = {
    "chunk": (
        "word[-2..2]",
        "word[-1]|word[0]",
        "word[0]|word[1]",
        "pos[-2..2]",
        "pos[-2]|pos[-1]",
        "pos[-1]|pos[0]",
        "pos[0]|pos[1]",
        "pos[1]|pos[2]",
        "pos[-2]|pos[-1]|pos[0]",
        "pos[-1]|pos[0]|pos[1]",
        "pos[0]|pos[1]|pos[2]",
        "word[0]|pos[0]",
        "word[0]|pos[1]",
        "word[-1]|pos[0]",
        "suffix3[0]",
        "short_shape[0]",
    ),
    "ner": (
        "word[0]",
        "lower[-2..2]",
        "lower[-1]|lower[0]",
        "lower[0]|lower[1]",
        "shape[-1..1]",
        "short_shape[-2..2]",
        "short_shape[-1]|short_shape[0]",
        "short_shape[0]|short_shape[1]",
        "short_shape[-1]|short_shape[0]|short_shape[1]",
        "digits[0]",
        "prefix1[0]",
        "prefix2[0]",
        "prefix3[0]",
        "prefix4[0]",
        "suffix1[0]",
        "suffix2[0]",
        "suffix3[0]",
        "suffix4[0]",
        "pos[-2..2]",
        "pos[-1]|pos[0]",
        "pos[0]|pos[1]",
    ),
    "pos": (
        "word[0]",
        "lower[-2..2]",
        "lower[-1]|lower[0]",
        "lower[0]|lower[1]",
        "shape[0]",
        "short_shape[-1..1]",
        "prefix1[0]",
        "prefix2[0]",
        "prefix3[0]",
        "prefix4[0]",
        "suffix1[0]",
        "suffix2[0]",
        "suffix3[0]",
        "suffix4[0]",
        "suffix3[-1]",
        "suffix3[1]",
    ),
}
# Templates that are added for each source, if no given template uses the source.
SOURCES: dict[str, tuple[str, ...]] = {
    "cluster": (
        "cluster[-2..2]",
        "cluster[-1]|cluster[0]",
        "cluster[0]|cluster[1]",
        *(f"cluster{bits}[-1..1]" for bits in (4, 6, 10)),
    ),
    "vector": ("vector[-1..1]",),
    "token": ("token[0]",),
    "state": ("state[0]",),
    "node": ("node[-1..1]",),
}


def parse_templates(templates: Iterable[str]) -> list[Template]:
    """Return templates as tuples of parts, without ranges and without repetitions.

    Examples
    --------
    >>> [written(one) for one in parse_templates(["word[0..1]", "word[-1]|pos[0]"])]
    ['word[0]', 'word[1]', 'word[-1]|pos[0]']
    >>> parse_templates(["pos[-1]"])
    [(TemplatePart(name='pos', offset=-1),)]
    """
    if isinstance(templates, str) or not isinstance(templates, Iterable):
        raise ParameterError(
            f"features must be one of {', '.join(map(repr, TEMPLATES))} or a list of templates "
            f"such as 'word[-1]|word[0]', not {templates!r}"
        )
    found: dict[Template, None] = {}
    for text in templates:
        found |= dict.fromkeys(_parse(text))
    if not found:
        raise ParameterError("no feature templates; give some, such as 'word[0]'")
    return list(found)


def is_of(template: Template, names: Sequence[str]) -> bool:
    """Whether the names of all parts are among these names."""
    return all(part.name in names for part in template)


def written(template: Template) -> str:
    """Return the template as a string."""
    return "|".join(f"{name}[{offset}]" for name, offset in template)


def _parse(text: str) -> list[Template]:
    wrong = f"{text!r} is not a feature template; write one as in 'word[-1]', 'pos[-2..2]' or"
    wrong += " 'word[-1]|word[0]'"
    if not isinstance(text, str):
        raise ParameterError(wrong)
    matches = [_PART.fullmatch(part.strip()) for part in text.split("|")]
    if not all(matches):
        raise ParameterError(wrong)
    parts = [match.groups() for match in matches if match]
    offsets = [int(number) for _, *ends in parts for number in ends if number]
    if max(map(abs, offsets)) > _FARTHEST:
        raise ParameterError(f"{text!r} looks more than {_FARTHEST} tokens away; look nearer")
    name, first, last = parts[0]
    if len(parts) == 1 and last is not None:
        if int(first) > int(last):
            raise ParameterError(f"{text!r}: the range is empty; put the smaller offset first")
        return [(TemplatePart(name, offset),) for offset in range(int(first), int(last) + 1)]
    if any(last is not None for *_, last in parts):
        raise ParameterError(
            f"{text!r}: a range cannot be joined with other parts; write each template"
        )
    template = tuple(TemplatePart(name, int(offset)) for name, offset, _ in parts)
    if len(template) > 1 and any(part.name in VECTORS for part in template):
        raise ParameterError(
            f"{text!r}: a vector cannot be joined with other parts; use clusters for that"
        )
    return [template]
