"""What the contract needs to know of an estimator: about ten lines for each, in `cases/`."""

import hashlib
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """An estimator with small data, quick to fit.

    Parameters
    ----------
    name : str
        Of the class, and of the variant: "HMM, em".
    make : function
        A new estimator, not fitted.
    data, other : function
        The arguments of `fit`, as a tuple, made anew at each call: two data sets.
    asks : dict
        What a fitted model is asked: names, and functions of the model. All must raise
        NotFittedError before `fit`, and give the same bits whenever the model is the same.
    bad : function
        Arguments that `fit` must refuse, with a good estimator.
    forms : dict
        Other ways to give `data()`'s first argument that must give the same model: names, and
        functions from it. "generator" and "tuple" are added by themselves unless ``listed=False``.
    listed : bool
        Whether the first argument is a list that may also be a tuple or a generator.
    saves : bool
        Whether there is a file format.
    grid : dict
        Parameters for GridSearchCV, where the estimator has `score`.
    fit : str
        The name of the method that learns.
    """

    name: str
    make: Callable[[], Any]
    data: Callable[[], tuple[Any, ...]]
    other: Callable[[], tuple[Any, ...]]
    asks: Mapping[str, Callable[[Any], Any]]
    bad: Callable[[], tuple[Any, ...]] = lambda: (object(),)
    forms: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    listed: bool = True
    saves: bool = True
    grid: Mapping[str, list[Any]] | None = None
    fit: str = "fit"

    def __str__(self) -> str:
        return self.name

    def learn(self, model: Any, arguments: tuple[Any, ...]) -> Any:
        """Fit a model."""
        return getattr(model, self.fit)(*arguments)

    def fitted(self) -> Any:
        """A new model, fitted."""
        return self.learn(self.make(), self.data())

    def answers(self, model: Any) -> dict[str, str]:
        """A fingerprint of what the model answers to each question."""
        return {name: fingerprint(ask(model)) for name, ask in self.asks.items()}


def all_cases() -> list[Case]:
    """Those of every room, by name."""
    modules = sorted(path.stem for path in Path(__file__).with_name("cases").glob("*.py"))
    return [case for name in modules for case in import_module(f"contract.cases.{name}").CASES]


def fingerprint(answer: Any) -> str:
    """The bits of an answer: numbers, strings, arrays, and lists and dictionaries of them."""
    digest = hashlib.sha256()
    _feed(digest, answer)
    return digest.hexdigest()


def _feed(digest: Any, answer: Any) -> None:
    digest.update(type(answer).__name__.encode() if not isinstance(answer, np.generic) else b"np")
    if isinstance(answer, np.ndarray) and answer.dtype != object:
        digest.update(f"{answer.dtype.kind}{answer.dtype.itemsize}{answer.shape}".encode())
        digest.update(np.ascontiguousarray(answer).tobytes())
    elif isinstance(answer, Mapping):
        for name in sorted(answer, key=repr):
            digest.update(repr(name).encode())
            _feed(digest, answer[name])
    elif isinstance(answer, (list, tuple, np.ndarray)):
        digest.update(str(len(answer)).encode())
        for part in answer:
            _feed(digest, part)
    elif answer is None or isinstance(answer, (str, bytes, bool, int, float, np.generic)):
        digest.update(repr(answer.item() if isinstance(answer, np.generic) else answer).encode())
    elif hasattr(answer, "toarray"):
        _feed(digest, answer.toarray())
    else:
        digest.update(pickle.dumps(answer))
