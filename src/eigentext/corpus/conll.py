"""Sentences in columns, as the CoNLL tasks have them: a token a line, a blank line between."""

import sys
from collections.abc import Iterable
from typing import Any


def parse_conll(text: str, n_columns: int) -> list[list[tuple[Any, ...]]]:
    r"""Sentences as lists of tuples, one for each line, with so many columns.

    Raises
    ------
    ValueError
        Where a line has more columns or fewer; the message names it.

    Examples
    --------
    >>> parse_conll("Dogs NNS\nbark VBP\n\nYes UH\n", 2)
    [[('Dogs', 'NNS'), ('bark', 'VBP')], [('Yes', 'UH')]]
    """
    tokens: dict[str, tuple[str, ...]] = {}  # most lines occur again: each tuple is kept once
    sentences: list[list[tuple[Any, ...]]] = [[]]
    for number, line in enumerate(text.split("\n"), start=1):
        if line not in tokens:
            tokens[line] = tuple(map(sys.intern, line.split()))
        token = tokens[line]
        if len(token) == n_columns:
            sentences[-1].append(token)
        elif token:
            raise ValueError(f"line {number}: {line!r} has {len(token)} columns, not {n_columns}")
        elif sentences[-1]:
            sentences.append([])
    return sentences if sentences[-1] else sentences[:-1]


def factored(sentences: Iterable[Iterable[tuple[str, str, str]]]) -> list[list[tuple[str, str]]]:
    """(word, part of speech, label) as ("word|part", label): tokens that carry their tags.

    Examples
    --------
    >>> factored([[("Dogs", "NNS", "B-NP"), ("bark", "VBP", "B-VP")]])
    [[('Dogs|NNS', 'B-NP'), ('bark|VBP', 'B-VP')]]
    """
    return [[(f"{word}|{pos}", label) for word, pos, label in one] for one in sentences]
