"""N-best lists for the training data of a base model, by jack-knife.

A base model does better on its own training sentences than on new ones: its lists are better, and
its probabilities are higher. A reranker that learned from these lists would rely on the base model
too much. So the data is cut into folds, and a base model of all other folds makes the lists of each
fold.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from eigentext import engine
from eigentext.corpus.trees import Tree, normalize_tree
from eigentext.errors import CorpusError, ParameterError

Item = TypeVar("Item")
Model = TypeVar("Model")


class BaseModel(Protocol):
    """A model that proposes candidates. It may also have ``k_best_many(sentences, k)``."""

    def fit(self, data: Any, /) -> Any:
        """Learn from trees or tagged sentences, and return the model."""
        ...

    def k_best(self, words: Any, k: int, /) -> Iterable[Any]:
        """Return the k best candidates of a sentence."""
        ...


def jackknife(
    fit: Callable[[list[Item]], Model],
    gen: Callable[[Model, list[Item]], Iterable[list[Any]]],
    data: Iterable[Item],
    n_folds: int = 10,
) -> list[list[Any]]:
    """Return candidates for all data, each from a model that has not seen the item.

    Parameters
    ----------
    fit
        A function from a part of the data to a model.
    gen
        A function of a model and the rest of the data. It returns a list of candidates for each
        item of the rest.
    data
        Trees, tagged sentences, or anything else that `fit` and `gen` take.
    n_folds
        The number of folds. A fold is a run of consecutive items; folds have about equal sizes.

    Examples
    --------
    >>> fit = max
    >>> gen = lambda model, rest: [[model] for _ in rest]
    >>> jackknife(fit, gen, [1, 2, 3, 9], n_folds=2)
    [[9], [9], [2], [2]]
    """
    data = list(data)
    if not isinstance(n_folds, (int, np.integer)) or not 2 <= n_folds <= len(data):
        raise ParameterError(
            f"n_folds must be a whole number from 2 to the number of inputs ({len(data)}), "
            f"not {n_folds!r}"
        )
    found: list[list[Any]] = []
    with engine.phase("jack-knife", n_folds, "folds") as advance:
        for fold in range(n_folds):
            begin, end = (len(data) * k // n_folds for k in (fold, fold + 1))
            lists = list(gen(fit(data[:begin] + data[end:]), data[begin:end]))
            if len(lists) != end - begin:
                raise ParameterError(
                    f"fold {fold} has {end - begin} inputs, but gen returned {len(lists)} lists; "
                    "it must return one for each input, an empty list if there is no candidate"
                )
            found += lists
            advance(1)
    return found


def n_best(model: BaseModel, sentences: Sequence[list[str]], k: int) -> list[list[Any]]:
    """Return the k best candidates of each sentence, from a model with `k_best_many` or `k_best`.

    Several threads call `k_best`. For a model that is not thread-safe, call this function inside
    ``with engine.use(engine.ThreadEngine(1)):``.
    """
    if hasattr(model, "k_best_many"):
        many: Any = model
        return [list(found) for found in many.k_best_many(sentences, k)]
    if not hasattr(model, "k_best"):
        raise ParameterError(
            f"{type(model).__name__} has no method k_best; use a base model that has one, such as "
            "PCFG, LatentPCFG or HMMTagger, or make the lists yourself and call fit"
        )
    with engine.phase("n-best", len(sentences), "sentences") as advance:
        found = []
        for one in engine.current().map(lambda words: list(model.k_best(words, k)), sentences):
            found.append(one)
            advance(1)
    return found


def as_gold(thing: Any) -> Any:
    """Return a normalized tree, or a tagged sentence as a list of pairs."""
    if isinstance(thing, (Tree, str)) or callable(getattr(thing, "label", None)):
        return normalize_tree(thing)
    try:
        return [(word, tag) for word, tag in thing]
    except (TypeError, ValueError) as error:
        raise CorpusError(
            f"{str(thing)[:60]!r} is neither a tree nor a tagged sentence; give Tree, Penn "
            "brackets, or a list of (word, tag)"
        ) from error


def words_of(structure: Any) -> list[str]:
    """Return the words of a tree or of a tagged sentence."""
    if isinstance(structure, Tree):
        return structure.leaves()
    return [word for word, _ in structure]


def proposed(model: Any, sentences: Sequence[list[str]], k: int) -> list[list[Any]]:
    """Return the candidates of a parser, or the k best trees of a model without `candidates`."""
    if hasattr(model, "candidates_many"):
        return list(model.candidates_many(sentences, k))
    return n_best(model, sentences, k)
