r"""Global linear models, learned by the perceptron (seed 001).

Three parts: GEN(x), the candidates for an input; :math:`\Phi`, the representation of a candidate;
and weights W. The model chooses

.. math:: F(x) = \arg\max_{y \in GEN(x)} \Phi(x, y) \cdot W,

and learns W from zero: for t = 1 … T, i = 1 … n, with :math:`z = F(x_i)`, if z is not the right
:math:`y_i`, then :math:`W \leftarrow W + \Phi(x_i, y_i) - \Phi(x_i, z)`.

If a unit vector U separates the examples with margin delta, :math:`U \cdot \Phi(x_i, y_i) - U \cdot
\Phi(x_i, z) \ge \delta` for all wrong z, and :math:`\|\Phi(x_i, y_i) - \Phi(x_i, z)\| \le R`, then
there are at most :math:`R^2 / \delta^2` mistakes, in however many passes and in whatever order.

The mean of W over all steps (Collins 2002) is kept without adding W up at each: an update made at
step s, counted from 0, is in all but s of the c steps so far, so the mean is :math:`W - \frac1c
\sum_s s\, (\Phi(y) - \Phi(z))`.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, check_is_fitted
from eigentext.kernels.candidates import structure_of
from eigentext.kernels.features import Features
from eigentext.storage import Saved

_MISSING = (
    "leave the example out, or take the closest candidate for it: Reranker(closest=True) does, "
    "and eigentext.kernels.measures.closest finds it"
)


class Bound(NamedTuple):
    """What the mistake bound says of a run: `n_mistakes` is at most `limit`, (R / delta)^2.

    `delta` is the margin of W / ||W|| as it was in the end. The best vector's is no smaller, so its
    limit is no larger.
    """

    n_mistakes: int
    R: float
    delta: float

    @property
    def limit(self) -> float:
        """R^2 / delta^2; infinite where some wrong candidate scores as much as the right one."""
        return (self.R / self.delta) ** 2 if self.delta > 0 else np.inf


class Perceptron(Saved, Estimator):
    r"""Learns to choose among candidates, from features; see the module.

    Of equal scores the first wins, in learning as in use. A candidate with the features of the
    right one is right too. Learning ends after a pass without mistakes. All of this holds of the
    dual form too (:class:`~eigentext.KernelPerceptron`), which makes the same mistakes in the same
    order under ``LinearKernel(phi)`` (as far as sums of the features are exact, as of integers).

    Parameters
    ----------
    phi : callable, optional
        From a candidate to its features: a dictionary {name: value}, a pair of arrays (places,
        values) or a vector. By default candidates are features themselves. With `gen` it is called
        as ``phi(x, candidate)``.
    gen : callable, optional
        From an input to its candidates. Then inputs are given in place of lists of candidates, and
        the right structures in place of indices.
    n_epochs : int
        The most passes T over the examples.
    average : bool
        Whether to predict with the mean of W over all steps, or with the last. One fit gives both:
        this may be changed afterwards.

    Attributes
    ----------
    weights_ : array, shape (n_features,)
        The last W.
    averaged_ : array, shape (n_features,)
        The mean of W over all steps (a step is one example of one pass).
    columns_ : dict
        The position of each feature in these, by name (of vectors and pairs, by place), numbered as
        first seen.
    mistakes_ : list of (epoch, example, predicted)
        In order, from 0.
    n_mistakes_ : list of int
        In each pass.
    separable_ : bool
        Whether the last pass had no mistakes.
    diagnostics_ : dict
        Sizes and mistakes, R and, where W separates the examples, delta and R^2 / delta^2.

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
    _lost: tuple[str, ...] = ()  # callables that a file could not hold

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

    def fit(self, candidates: Iterable[Any], gold: Iterable[Any]) -> Self:
        """Learn from lists of candidates and the right one of each: its index, or itself.

        With `gen`, from inputs and the right structure for each. A right one given itself is found
        by its features.
        """
        self._lost = ()
        examples = self._examples(candidates, gold)
        if (examples.gold < 0).any():
            raise ParameterError(
                f"the right structure of example {int(np.argmin(examples.gold))} is not among its "
                f"candidates; {_MISSING}"
            )
        self._run(examples)
        self._diagnose(examples)
        return self

    def bound(self) -> Bound | None:
        """The quantities of the mistake bound; None unless W separates the examples."""
        check_is_fitted(self)
        return self._bound

    # Using.

    def predict(self, candidates: Iterable[Any]) -> Any:
        """The index of the best candidate in each list; with `gen`, the best candidate itself."""
        examples = self._examples(candidates)
        best = self._best(examples)
        if self.gen is None:
            return best
        return [one[k] for one, k in zip(examples.structures, best)]

    def scores(self, candidates: Iterable[Any]) -> list[np.ndarray]:
        """Phi · W of each candidate, an array for each list."""
        return self._scores(self._examples(candidates))

    def score(self, candidates: Iterable[Any], gold: Iterable[Any]) -> float:
        """The share of lists whose right candidate is chosen; where it is missing, none is."""
        examples = self._examples(candidates, gold)
        chosen = examples.borders[:-1] + self._best(examples)
        identity = examples.features.identity
        right = (examples.gold >= 0) & (identity[chosen] == identity[examples.gold])
        return float(right.mean())

    def top_features(self, n: int = 10) -> list[tuple[Any, float]]:
        """The `n` features of the largest weights, of either sign."""
        check_is_fitted(self)
        W, names = self._W, list(self.columns_)
        return [(names[j], float(W[j])) for j in np.argsort(-np.abs(W), kind="stable")[:n]]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the mistakes made in each pass, with matplotlib; returns the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        return plots.curves({"mistakes": self.n_mistakes_}, xlabel="pass", ax=ax)

    # Private steps.

    @property
    def _W(self) -> np.ndarray:  # noqa: N802 - as in the paper
        return self.averaged_ if self.average else self.weights_

    def _scores(self, examples: "_Examples") -> list[np.ndarray]:
        check_is_fitted(self)
        known = Features(np.empty((0, 0)), self.columns_, self._kind)
        values = examples.features.within(known).matrix @ self._W
        return np.split(values, examples.borders[1:-1])

    def _best(self, examples: "_Examples") -> np.ndarray:
        return np.array([scores.argmax() for scores in self._scores(examples)], np.int64)

    def _run(self, examples: "_Examples") -> None:
        from eigentext.kernels._perceptron_kernels import perceptron_epoch

        features, n = examples.features, len(examples.gold)
        X, identity = features.matrix, features.identity
        W, S = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        wrong, predicted = np.empty(n, np.int64), np.empty(n, np.int64)
        self.mistakes_, self.n_mistakes_ = [], []
        with engine.phase("perceptron", self.n_epochs, "epochs") as advance:
            for epoch in range(self.n_epochs):
                count = perceptron_epoch(
                    X.indptr, X.indices, X.data, examples.borders, examples.gold, identity,
                    W, S, epoch * n, wrong, predicted,
                )  # fmt: skip
                i = wrong[:count]
                places = predicted[:count] - examples.borders[i]
                self.mistakes_ += zip([epoch] * count, i.tolist(), places.tolist())
                self.n_mistakes_.append(count)
                advance(1)
                if count == 0:
                    break
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

    def _examples(self, candidates: Iterable[Any], gold: Iterable[Any] | None = None):
        """What was given, as features; the right ones as rows of these, -1 if there is none."""
        self._check_parameters()
        inputs = list(candidates)
        if not inputs:
            raise ParameterError("no examples; give at least one list of candidates")
        lists = inputs if self.gen is None else [self.gen(x) for x in inputs]
        structures = [_structures(i, one) for i, one in enumerate(lists)]
        borders = np.append(0, np.cumsum([len(one) for one in structures]))
        gold = None if gold is None else list(gold)
        if gold is not None and len(gold) != len(structures):
            raise ParameterError(
                f"{len(structures)} lists of candidates but {len(gold)} right ones; give as many"
            )
        by_index = self.gen is None and all(map(_is_index, gold or ()))
        right = [] if gold is None or by_index else [[structure_of(y)] for y in gold]

        def name(row: int) -> str:
            if row >= borders[-1]:
                return f"the right structure of example {row - borders[-1]}"
            i = int(np.searchsorted(borders, row, side="right")) - 1
            return f"candidate {row - borders[i]} of example {i}"

        rows = chain.from_iterable(map(self._phi, chain(inputs, inputs), structures + right))
        features = Features.of(rows, name)
        if gold is None:
            places = np.zeros(0, np.int64)
        elif by_index:
            places = _rows_of_indices(gold, borders)
        else:
            places = _rows_of_equals(features.identity, borders)
        return _Examples(structures, features[: borders[-1]], borders, places)

    def _phi(self, x: Any, structures: list[Any]) -> Iterable[Any]:
        if self.phi is None:
            return structures
        if self.gen is None:
            return map(self.phi, structures)
        return (self.phi(x, y) for y in structures)

    def _check_parameters(self) -> None:
        n_epochs = self.n_epochs
        if isinstance(n_epochs, bool) or not (
            isinstance(n_epochs, (int, np.integer)) and n_epochs >= 1
        ):
            raise ParameterError(f"n_epochs must be 1 or more, not {n_epochs!r}")
        for name in ("phi", "gen"):
            value = getattr(self, name)
            if value is None and name in self._lost:
                raise ParameterError(
                    f"this perceptron was learned with a function {name}, which no file can hold; "
                    f"give it again: model.set_params({name}=...)"
                )
            if value is not None and not callable(value):
                raise ParameterError(f"{name} must be a function, not {value!r:.60}")

    # Storage.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "weights": self.weights_,
            "averaged": self.averaged_,
            "mistakes": np.array(self.mistakes_, np.int64).reshape(-1, 3),
            "names": [_to_json(name) for name in self.columns_],
        }
        lost = [name for name in ("phi", "gen") if getattr(self, name) or name in self._lost]
        about = {
            "parameters": {"n_epochs": self.n_epochs, "average": self.average},
            "lost": lost,
            "kind": self._kind,
            "n_mistakes": self.n_mistakes_,
            "separable": self.separable_,
            "bound": self._bound,
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _from_saved(cls, arrays, about):
        self = cls(**about["parameters"])
        self._lost, self._kind = tuple(about["lost"]), about["kind"]
        names = [_from_json(json.loads(name)) for name in arrays["names"]]
        self.columns_ = {name: column for column, name in enumerate(names)}
        self.weights_, self.averaged_ = arrays["weights"], arrays["averaged"]
        if not self.weights_.shape == self.averaged_.shape == (len(self.columns_),):
            raise ValueError("names and weights differ in number")
        self.mistakes_ = [tuple(mistake) for mistake in arrays["mistakes"].tolist()]
        self.n_mistakes_, self.separable_ = about["n_mistakes"], about["separable"]
        self._bound = Bound(*about["bound"]) if about["bound"] else None
        self.diagnostics_ = about["diagnostics"]
        return self


class _Examples(NamedTuple):
    structures: list[list[Any]]
    features: Features
    borders: np.ndarray  # candidates of example i are rows borders[i] to borders[i + 1]
    gold: np.ndarray


def _structures(i: int, candidates: Any) -> list[Any]:
    if isinstance(candidates, (str, Mapping, Real)) or not isinstance(candidates, Iterable):
        raise ParameterError(f"example {i} is {candidates!r:.60}; give a list of its candidates")
    structures = [structure_of(one) for one in candidates]
    if not structures:
        raise ParameterError(f"example {i} has no candidates; leave it out")
    return structures


def _is_index(gold: Any) -> bool:
    return isinstance(gold, (int, np.integer)) and not isinstance(gold, bool)


def _rows_of_indices(gold: list[Any], borders: np.ndarray) -> np.ndarray:
    places, sizes = np.array(gold, np.int64), np.diff(borders)
    wrong = (places < 0) | (places >= sizes)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise ParameterError(
            f"the right one of example {i} is said to be candidate {places[i]}, but there are "
            f"{sizes[i]}, numbered from 0; where it is missing, {_MISSING}"
        )
    return borders[:-1] + places


def _rows_of_equals(identity: np.ndarray, borders: np.ndarray) -> np.ndarray:
    """The first candidate of each list that equals the right one; those are the last rows."""
    places = np.full(len(borders) - 1, -1)
    for i, y in enumerate(identity[borders[-1] :]):
        same = np.flatnonzero(identity[borders[i] : borders[i + 1]] == y)
        if len(same):
            places[i] = borders[i] + same[0]
    return places


def _to_json(name: Any) -> str:
    try:
        text = json.dumps(name.item() if isinstance(name, np.generic) else name)
        if _from_json(json.loads(text)) == name:
            return text
    except TypeError:
        pass
    raise ParameterError(
        f"the feature {name!r:.60} cannot be saved; name features by strings, numbers or tuples "
        "of them"
    )


def _from_json(name: Any) -> Any:
    """JSON has lists for tuples; a name is never a list, which could not be looked up."""
    return tuple(map(_from_json, name)) if isinstance(name, list) else name
