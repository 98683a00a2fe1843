r"""Global linear models, learned by the perceptron [Collins 2003].

A model has three parts: GEN(x), the candidates for an input; :math:`\Phi`, the representation of a
candidate; and weights W. It chooses

.. math:: F(x) = \arg\max_{y \in GEN(x)} \Phi(x, y) \cdot W.

W begins with zeros. For t = 1 … T, i = 1 … n, let :math:`z = F(x_i)`. If z is not the right
:math:`y_i`, then :math:`W \leftarrow W + \Phi(x_i, y_i) - \Phi(x_i, z)`.

Let a unit vector U separate the examples with margin delta: :math:`U \cdot \Phi(x_i, y_i) - U \cdot
\Phi(x_i, z) \ge \delta` for all wrong z. Let :math:`\|\Phi(x_i, y_i) - \Phi(x_i, z)\| \le R`. Then
the perceptron makes at most :math:`R^2 / \delta^2` mistakes, for any number of passes and any order
of the examples.

The mean of W over all steps [Collins 2002] does not need a sum at each step. An update made at step
s, counted from 0, is missing in s of the c steps so far. So the mean is :math:`W - \frac1c \sum_s
s\, (\Phi(y) - \Phi(z))`.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.kernels.candidate import marked_structure
from eigentext.kernels.features import FeatureMatrix
from eigentext.linear import parameters
from eigentext.linear._findings import run_findings
from eigentext.monitor import Monitor
from eigentext.parameters import Count, Flag, Given, Number, Settings, is_whole
from eigentext.storage import Saved
from eigentext.storage.schema import Array, Schema, Strings, damage
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MISSING = (
    "leave the example out, or use the closest candidate in its place: Reranker(closest=True) does "
    "this, and eigentext.reranking.measures.closest finds the candidate"
)


class Bound(NamedTuple):
    """The mistake bound of a run: `n_mistakes` is at most `limit`, which is (R / delta)^2.

    `delta` is the margin of the last W / ||W||. The best vector has at least this margin, and so at
    most this limit.
    """

    n_mistakes: int
    R: float
    delta: float

    @property
    def limit(self) -> float:
        """R^2 / delta^2, or infinity if some wrong candidate scores as much as the right one."""
        return (self.R / self.delta) ** 2 if self.delta > 0 else np.inf


class Perceptron(Saved, Estimator):
    r"""Learns to choose among candidates from their features. The module explains the algorithm.

    Of equal scores the first wins, in learning and in prediction. A candidate with the features of
    the right one is right too. Learning ends after a pass without mistakes. The dual form
    (:class:`~eigentext.KernelPerceptron`) follows the same rules. With ``LinearKernel(phi)`` it
    makes the same mistakes in the same order, if sums of the features are exact, as with integers.

    Parameters
    ----------
    phi : callable, optional
        A function from a candidate to its features: a dictionary {name: value}, a pair of arrays
        (places, values) or a vector. By default, candidates are features themselves. With `gen` it
        is called as ``phi(x, candidate)``.
    gen : callable, optional
        A function from an input to its candidates. With it, give inputs in place of lists of
        candidates, and the right structures in place of indices.
    n_epochs : int
        The largest number T of passes over the examples.
    average : bool
        Whether to predict with the mean of W over all steps, or with the last W. One fit gives
        both, and `predict` has an argument to select one.

    Attributes
    ----------
    weights_ : array, shape (n_features,)
        The last W.
    averaged_ : array, shape (n_features,)
        The mean of W over all steps. A step is one example of one pass.
    columns_ : dict
        The position of each feature in these arrays, by its name, or by its place if features are
        vectors or pairs. Features are numbered in the order in which they are first seen.
    mistakes_ : list of (epoch, example, predicted)
        All mistakes in order, with numbers from 0.
    n_mistakes_ : list of int
        The number of mistakes in each pass.
    separable_ : bool
        Whether the last pass had no mistakes.
    diagnostics_ : dict
        Sizes, mistakes and R. If W separates the examples, also delta and R^2 / delta^2.

    Examples
    --------
    >>> from eigentext import Perceptron
    >>> candidates = [["the dog barks", "dog the barks"], ["cats a purr", "a cat purrs"]]
    >>> def phi(sentence):
    ...     first, second, _ = sentence.split()
    ...     return {("first", first): 1, ("second", second): 1}
    >>> model = Perceptron(phi).fit(candidates, [0, 1])
    >>> model.mistakes_
    [(0, 1, 0)]
    >>> model.predict([["cats a sleep", "a dog sleeps"]])
    array([1])
    """

    _format = "eigentext.perceptron.v1"
    _table = parameters.Perceptron
    _lost: tuple[str, ...] = ()  # functions that a file cannot contain

    def __init__(
        self,
        phi: Callable[..., Any] | None = None,
        *,
        gen: Callable[[Any], Iterable[Any]] | None = None,
        n_epochs: int = 10,
        average: bool = True,
    ):
        self.phi = phi
        self.gen = gen
        self.n_epochs = n_epochs
        self.average = average

    # Learning.

    @learning
    def fit(self, candidates: Iterable[Any], gold: Iterable[Any]) -> Self:
        """Learn from lists of candidates, and the right one of each: its index or the candidate.

        With `gen`, learn from inputs and the right structure for each. A right structure is found
        among the candidates by its features.
        """
        examples = self._examples((self.phi, self.gen), candidates, gold)
        if (examples.gold < 0).any():
            raise ParameterError(
                f"the right structure of example {int(np.argmin(examples.gold))} is not among its "
                f"candidates; {_MISSING}"
            )
        self._run(examples)
        self._diagnose(examples)
        return self

    def bound(self) -> Bound | None:
        """Return the quantities of the mistake bound; None if W does not separate the examples."""
        check_is_fitted(self)
        return self._bound

    # Using.

    def predict(self, candidates: Iterable[Any], *, average: bool | None = None) -> Any:
        """Return the index of the best candidate in each list; with `gen`, the candidate itself.

        `average` selects the mean or the last weights, in place of the parameter.
        """
        examples = self._examples(self._functions(), candidates)
        best = self._best(examples, average)
        if self.parameters_.gen is None:
            return best
        return [one[k] for one, k in zip(examples.structures, best)]

    def scores(self, candidates: Iterable[Any], *, average: bool | None = None) -> list[np.ndarray]:
        """Return Phi · W of each candidate, an array for each list; `average` as in `predict`."""
        return self._scores(self._examples(self._functions(), candidates), average)

    def score(self, candidates: Iterable[Any], gold: Iterable[Any]) -> float:
        """Return the share of lists where the right candidate is chosen. A missing one is never."""
        examples = self._examples(self._functions(), candidates, gold)
        chosen = examples.borders[:-1] + self._best(examples)
        identity = examples.features.identity
        right = (examples.gold >= 0) & (identity[chosen] == identity[examples.gold])
        return float(right.mean())

    def top_features(self, n: int = 10, *, average: bool | None = None) -> list[tuple[Any, float]]:
        """Return the `n` features with the largest absolute weights; `average` as in `predict`."""
        check_is_fitted(self)
        W, names = self._W(average), list(self.columns_)
        return [(names[j], float(W[j])) for j in np.argsort(-np.abs(W), kind="stable")[:n]]

    def with_functions(self, **functions: Callable[..., Any]) -> Self:
        """Return a copy of a model from a file, with `phi` or `gen`, which no file can contain."""
        check_is_fitted(self)
        if strange := set(functions) - {"phi", "gen"}:
            raise ParameterError(f"give phi or gen, not {', '.join(map(repr, strange))}")
        given = type(self)._table.taken(dict(self.parameters_) | functions)
        twin = copy(self).set_params(**functions)
        twin.parameters_ = Settings(given)
        twin._lost = tuple(name for name in self._lost if name not in functions)
        return twin

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        cure = "give features that tell right and wrong candidates apart"
        n_epochs = self.parameters_.n_epochs
        yield from run_findings(self.n_mistakes_, found["n_examples"], n_epochs, cure)
        if self._bound is not None and self._bound.n_mistakes > 0 and self._bound.delta > 0:
            yield Finding(
                "note",
                "The mistake bound with its last weights allows "
                f"{self._bound.limit:,.0f} mistakes. It made {self._bound.n_mistakes:,}.",
            )

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the number of mistakes in each pass with matplotlib; return the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        return plots.curves({"mistakes": self.n_mistakes_}, xlabel="pass", ax=ax)

    # Private steps.

    def _W(self, average: bool | None = None) -> np.ndarray:  # noqa: N802 - as in the paper
        average = self.parameters_.average if average is None else average
        return self.averaged_ if average else self.weights_

    def _functions(self) -> tuple[Any, Any]:
        """Return phi and gen of a fitted model."""
        check_is_fitted(self)
        if self._lost:
            name = self._lost[0]
            raise ParameterError(
                f"this perceptron was learned with a function {name}, which no file can contain; "
                f"give it again: model = model.with_functions({name}=...)"
            )
        return self.parameters_.phi, self.parameters_.gen

    def _scores(self, examples: "_Examples", average: bool | None = None) -> list[np.ndarray]:
        known = FeatureMatrix(np.empty((0, 0)), self.columns_, self._kind)
        values = examples.features.within(known).matrix @ self._W(average)
        return np.split(values, examples.borders[1:-1])

    def _best(self, examples: "_Examples", average: bool | None = None) -> np.ndarray:
        return np.array([scores.argmax() for scores in self._scores(examples, average)], np.int64)

    def _run(self, examples: "_Examples") -> None:
        from eigentext.linear._perceptron_loops import perceptron_epoch

        features, n = examples.features, len(examples.gold)
        X, identity = features.matrix, features.identity
        W, S = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        wrong, predicted = np.empty(n, np.int64), np.empty(n, np.int64)
        self.mistakes_, self.n_mistakes_ = [], []
        with Monitor("perceptron", self.n_epochs, unit="epochs") as loop:
            while not loop.is_done:
                epoch = len(self.n_mistakes_)
                count = perceptron_epoch(
                    X.indptr, X.indices, X.data, examples.borders, examples.gold, identity,
                    W, S, epoch * n, wrong, predicted,
                )  # fmt: skip
                i = wrong[:count]
                places = predicted[:count] - examples.borders[i]
                self.mistakes_ += zip([epoch] * count, i.tolist(), places.tolist())
                self.n_mistakes_.append(count)
                loop.record(count)
                if count == 0:
                    loop.stop()
        self.weights_, self.averaged_ = W, W - S / (len(self.n_mistakes_) * n)
        self.separable_ = self.n_mistakes_[-1] == 0
        self.columns_, self._kind = features.columns, features.kind

    def _diagnose(self, examples: "_Examples") -> None:
        X, identity = examples.features.matrix, examples.features.identity
        of_gold = np.repeat(examples.gold, np.diff(examples.borders))
        wrong = identity != identity[of_gold]
        D = X[of_gold[wrong]] - X[np.flatnonzero(wrong)]
        R = float(np.sqrt(D.multiply(D).sum(axis=1).max(initial=0.0)))
        norm = float(np.linalg.norm(self.weights_))
        self._bound = None
        if self.separable_:
            delta = float((D @ self.weights_).min(initial=np.inf)) / norm if norm else 0.0
            self._bound = Bound(len(self.mistakes_), R, delta)
        self.diagnostics_ = {
            "n_examples": len(examples.gold),
            "n_candidates": len(of_gold),
            "n_features": X.shape[1],
            "n_epochs": len(self.n_mistakes_),
            "n_mistakes": sum(self.n_mistakes_),
            "separable": self.separable_,
            "R": R,
        }
        if self._bound and self._bound.delta > 0:
            self.diagnostics_ |= {"delta": self._bound.delta, "bound": self._bound.limit}

    def _examples(
        self,
        functions: tuple[Any, Any],
        candidates: Iterable[Any],
        gold: Iterable[Any] | None = None,
    ) -> "_Examples":
        """Return the features of what was given, and the rows of the right candidates, or -1."""
        phi, gen = functions
        if not isinstance(candidates, Iterable):
            raise ParameterError(f"{candidates!r:.60} is not a list of lists of candidates")
        inputs = list(candidates)
        if not inputs:
            raise ParameterError("no examples; give at least one list of candidates")
        lists = inputs if gen is None else [gen(x) for x in inputs]
        structures = [_structures(i, one) for i, one in enumerate(lists)]
        borders = np.append(0, np.cumsum([len(one) for one in structures]))
        gold = None if gold is None else list(gold)
        if gold is not None and len(gold) != len(structures):
            raise ParameterError(
                f"{len(structures)} lists of candidates but {len(gold)} right ones; give one for "
                "each list"
            )
        by_index = gen is None and all(map(is_whole, gold or ()))
        right = [] if gold is None or by_index else [[marked_structure(y)] for y in gold]

        def name(row: int) -> str:
            if row >= borders[-1]:
                return f"the right structure of example {row - borders[-1]}"
            i = int(np.searchsorted(borders, row, side="right")) - 1
            return f"candidate {row - borders[i]} of example {i}"

        def represented(x: Any, structures: list[Any]) -> Iterable[Any]:
            if phi is None:
                return structures
            return map(phi, structures) if gen is None else (phi(x, y) for y in structures)

        rows = chain.from_iterable(map(represented, chain(inputs, inputs), structures + right))
        features = FeatureMatrix.of(rows, name)
        if gold is None:
            places = np.zeros(0, np.int64)
        elif by_index:
            places = _rows_of_indices(gold, borders)
        else:
            places = _rows_of_equals(features.identity, borders)
        return _Examples(structures, features[: borders[-1]], borders, places)

    # Storage.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "weights": self.weights_,
            "averaged": self.averaged_,
            "mistakes": np.array(self.mistakes_, np.int64).reshape(-1, 3),
            "names": [_to_json(name) for name in self.columns_],
        }
        used = self.parameters_
        lost = [name for name in ("phi", "gen") if used[name] or name in self._lost]
        about = {
            "parameters": {"n_epochs": used.n_epochs, "average": used.average},
            "lost": lost,
            "kind": self._kind,
            "n_mistakes": self.n_mistakes_,
            "separable": self.separable_,
            "bound": self._bound,
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _schema(cls, about):
        arrays = {
            "names": Strings("features", unique=True),
            "weights": Array("float64", ("features",)),
            "averaged": Array("float64", ("features",)),
            "mistakes": Array("int64", ("mistakes", 3), least=0),
        }
        kinds = ("names", "places", "vector")
        return Schema(
            arrays,
            about=run_facts()
            | {
                "parameters": FACTS,
                "lost": Given([], what="names of functions", test=lambda x: x in _LOST),
                "kind": Given("", what="a kind of features", test=lambda x: x in kinds),
            },
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        self = learned_with(cls, about["parameters"])
        if about["lost"]:
            self._lost = tuple(about["lost"])
        self._kind = about["kind"]
        names = [_from_json(json.loads(name, parse_constant=_refused)) for name in arrays["names"]]
        self.columns_ = {name: column for column, name in enumerate(names)}
        if len(self.columns_) < len(names):
            raise damage("names", "contains a feature twice")
        if self._kind != "names" and not all(map(is_whole, names)):
            raise damage("names", f"are not places, which features of kind {self._kind!r} have")
        self.weights_, self.averaged_ = (np.array(arrays[n]) for n in ("weights", "averaged"))
        self.mistakes_ = [tuple(mistake) for mistake in arrays["mistakes"].tolist()]
        self.n_mistakes_, self.separable_ = about["n_mistakes"], about["separable"]
        self._bound = Bound(*about["bound"]) if about["bound"] else None
        self.diagnostics_ = about["diagnostics"]
        return self


_LOST = ([], ["phi"], ["gen"], ["phi", "gen"])
FACTS = Given({}, what="a dictionary", test=lambda value: isinstance(value, dict))


def _is_bound(value: object) -> bool:
    return isinstance(value, list) and len(value) == 3 and all(map(Number(0.0).allows, value))


def run_facts() -> dict[str, Any]:
    """Describe what the file of either perceptron says about its run."""

    def are_counts(value: object) -> bool:
        return isinstance(value, list) and bool(value) and all(map(Count(0, least=0).allows, value))

    return {
        "n_mistakes": Given([], what="counts of mistakes", test=are_counts),
        "separable": Flag(False),
        "bound": Given(None, what="three numbers", test=_is_bound),
        "diagnostics": FACTS,
    }


class _Examples(NamedTuple):
    structures: list[list[Any]]
    features: FeatureMatrix
    borders: np.ndarray  # candidates of example i are rows borders[i] to borders[i + 1]
    gold: np.ndarray


def _structures(i: int, candidates: object) -> list[Any]:
    if isinstance(candidates, (str, Mapping, Real)) or not isinstance(candidates, Iterable):
        raise ParameterError(f"example {i} is {candidates!r:.60}; give a list of its candidates")
    structures = [marked_structure(one) for one in candidates]
    if not structures:
        raise ParameterError(f"example {i} has no candidates; leave it out")
    return structures


def _rows_of_indices(gold: list[Any], borders: np.ndarray) -> np.ndarray:
    places, sizes = np.array(gold, np.int64), np.diff(borders)
    wrong = (places < 0) | (places >= sizes)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ParameterError(
            f"the right candidate of example {i} has the index {places[i]}, but there are "
            f"{sizes[i]} candidates, numbered from 0; if it is missing, {_MISSING}"
        )
    return borders[:-1] + places


def _rows_of_equals(identity: np.ndarray, borders: np.ndarray) -> np.ndarray:
    """Return the first row of each list that equals the right structure, or -1.

    The right structures are the last rows of `identity`.
    """
    places = np.full(len(borders) - 1, -1)
    for i, y in enumerate(identity[borders[-1] :]):
        same = np.flatnonzero(identity[borders[i] : borders[i + 1]] == y)
        if len(same):
            places[i] = borders[i] + same[0]
    return places


def _to_json(name: Any) -> str:
    try:
        text = json_text(name.item() if isinstance(name, np.generic) else name)
        if _from_json(json.loads(text)) == name:
            return text
    except TypeError:
        pass
    raise ParameterError(
        f"the feature {name!r:.60} cannot be saved; use strings, numbers, or tuples of these as "
        "names of features"
    )


def _refused(constant: str) -> Any:
    raise damage("names", f"contains {constant}, which is not the name of a feature")


def _from_json(name: Any) -> Any:
    """Return the name of a feature. JSON has lists in place of tuples; a name is never a list."""
    return tuple(map(_from_json, name)) if isinstance(name, list) else name
