"""A candidate is a structure with the log-probability that a base model gave it."""

from numbers import Real
from typing import Any, NamedTuple

from eigentext.corpus.trees import Tree


class Candidate(NamedTuple):
    """A structure, and its log-probability under the model that proposed it."""

    structure: Any
    log_probability: float


class WeighedCandidate(NamedTuple):
    """A tree with what a parser expects of it: see ``parser.candidates``.

    Attributes
    ----------
    structure, log_probability
        As in :class:`Candidate`.
    expected
        The score by which the parser chooses its parse.
    marginals
        The probability of each bracket, parents first, from left to right.
    """

    structure: Any
    log_probability: float
    expected: float
    marginals: tuple[float, ...]


def as_candidate(thing: object) -> Candidate | None:
    """Return a pair of a structure and a number, in either order, as a candidate; else None.

    A longer tuple is a candidate if it has a `log_probability`, as the trees of
    ``parser.candidates`` do.
    """
    if isinstance(thing, tuple) and len(thing) == 2:
        first, second = (isinstance(part, Real) for part in thing)
        if first != second:
            return Candidate(*(thing if second else thing[::-1]))
    elif isinstance(thing, tuple) and hasattr(thing, "log_probability"):
        marked: Any = thing
        return Candidate(marked[0], marked.log_probability)
    return None


def structure_of(thing: Any) -> Any:
    """Return the structure of a candidate. Anything else is a structure itself."""
    candidate = as_candidate(thing)
    return thing if candidate is None else candidate.structure


def marked_structure(thing: Any) -> Any:
    """Return the structure of a Candidate, a ScoredTree or another tuple with `log_probability`.

    Other things are returned as they are. Use this where structures may be features: a plain pair
    that contains a number may then be features, too.
    """
    return thing[0] if isinstance(thing, tuple) and hasattr(thing, "log_probability") else thing


def is_tree(structure: object) -> bool:
    """Whether this is a tree (a Tree, a string of brackets or an nltk.Tree), not a sequence."""
    return isinstance(structure, (Tree, str)) or callable(getattr(structure, "label", None))
