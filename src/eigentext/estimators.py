"""The contract of every estimator: scikit-learn's protocol, and fits that are transactions.

Importing scikit-learn takes longer than many fits. So estimators of text derive from
:class:`Estimator`, which has the same protocol without that import. Estimators of matrices derive
from scikit-learn's ``BaseEstimator`` and pass its checks. Both follow these rules:

* ``__init__`` stores its parameters as they are given. A table (``_table``) says which values are
  allowed (:mod:`eigentext.parameters`).
* Methods that learn have the decorator :func:`learning`. It checks the parameters and runs the
  method on an empty copy. If the method succeeds, the estimator takes over everything that was
  learned in one step. If it fails, the estimator stays as it was.
* A fitted model reads ``parameters_``, the parameters of its last fit, never those of
  ``__init__``. A change by ``set_params`` takes effect at the next fit.
"""

import inspect
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from eigentext import notebook
from eigentext.errors import EigentextError, LittleDataWarning, ParameterError
from eigentext.parameters import Settings, Table, current_names, warn_of_unused

_LONGEST = 200  # characters that repr shows of a parameter, which may be a matrix
# Attributes that scikit-learn's tools set on an estimator and expect to find after a fit.
_OF_SCIKIT_LEARN = ("_sklearn_", "_skl_", "_metadata_request", "_parent_callback")
_Method = TypeVar("_Method", bound=Callable[..., Any])
_Class = TypeVar("_Class")
Severity = Literal["note", "warning", "problem"]
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "problem")  # in rising order


class Finding(NamedTuple):
    """One thing that a fitted model says about itself."""

    severity: Severity
    sentence: str
    remedy: str = ""

    @property
    def line(self) -> str:
        """The sentence and the remedy in one line."""
        return f"{self.sentence} {self.remedy}".strip()


class Findings:
    """Mixin of all estimators: what a model says about itself, and what a notebook shows of it.

    A class writes its findings in ``_findings``. Those of ``_size_findings`` are about too few
    data. They are also warnings of the fit. The module `glances` of its room describes the fitted
    model for notebooks.
    """

    def findings(self) -> list[Finding]:
        """The diagnostics of the fitted model in plain words, the most severe first."""
        check_is_fitted(self)
        found = [*self._findings(), *self._size_findings()]
        return sorted(found, key=lambda one: -SEVERITIES.index(one.severity))

    def _findings(self) -> Iterator[Finding]:
        yield from ()

    def _size_findings(self) -> Iterator[Finding]:
        yield from ()

    def explore(self, *, origin: str | None = None) -> notebook.Page:
        """Open the explorer on this model: in the cell of a notebook, or else in a browser.

        The page is served from this process, to this machine only. It ends with the process, or by
        ``close()`` of what is returned. `origin` is the address of the notebook, as in
        "http://localhost:8888", if it is not found: only its pages may show the explorer inside.
        """
        check_is_fitted(self)
        if not hasattr(self, "save"):
            raise EigentextError(
                f"{type(self).__name__} has no file format, so the explorer cannot show it; "
                "see findings() and plot()"
            )
        return import_module("eigentext.explorer.session").explore(self, origin=origin)

    def _repr_html_(self) -> str:
        """The model at a glance, for notebooks."""
        return _as_html(self)

    def _repr_mimebundle_(self, **settings: Any) -> dict[str, str]:
        # scikit-learn's estimators have their own, which notebooks would prefer.
        return {"text/plain": repr(self), "text/html": self._repr_html_()}


class Estimator(Findings):
    """The base of estimators. Attributes that are learned end in ``_``.

    Examples
    --------
    >>> from eigentext import Eigenwords
    >>> Eigenwords(50, window=2).set_params(beta=0.25)
    Eigenwords(n_components=50, window=2, beta=0.25)
    """

    _table: ClassVar[Table]
    _sklearn_auto_wrap_output_keys: ClassVar = {"transform"}  # the methods that set_output affects
    parameters_: Settings

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "_table" in vars(cls):
            check_table(cls)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name. If `deep`, also nested ones, such as ``kernel__decay``."""
        found = {name: getattr(self, name) for name in self._defaults()}
        if deep:
            for name, value in list(found.items()):
                if hasattr(value, "get_params") and not isinstance(value, type):
                    inner = value.get_params()
                    found |= {f"{name}__{key}": part for key, part in inner.items()}
        return found

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters, nested ones too. The change takes effect at the next fit."""
        if hasattr(type(self), "_table"):
            parameters = current_names(self._table.renamed, parameters)
        known = self._defaults()
        nested: dict[str, dict[str, Any]] = {}
        for given, value in parameters.items():
            name, _, key = given.partition("__")
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {given!r}; it has {', '.join(known)}"
                )
            if key:
                nested.setdefault(name, {})[key] = value
            else:
                setattr(self, name, value)
        for name, inner in nested.items():
            if not hasattr(getattr(self, name), "set_params"):
                raise ParameterError(
                    f"{name}={_short(getattr(self, name))} has no parameters, "
                    f"so {name}__{next(iter(inner))} cannot be set"
                )
            getattr(self, name).set_params(**inner)
        return self

    def __repr__(self) -> str:
        given = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(self._defaults()[name])
        }
        return f"{type(self).__name__}({', '.join(f'{n}={_short(v)}' for n, v in given.items())})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(two_d_array=False, string=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return is_fitted(self)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: "default" (arrays), "pandas" or "polars"."""
        if transform is not None:
            from sklearn.utils._set_output import ADAPTERS_MANAGER

            known = ["default", *ADAPTERS_MANAGER.supported_outputs]
            if transform not in known:
                raise ParameterError(f"transform must be one of {known}, not {transform!r}")
            self._sklearn_output_config = {"transform": transform}
        return self


def check_table(cls: Any) -> None:
    """Raise TypeError unless the table and ``__init__`` have the same names, order, defaults."""
    signature = list(inspect.signature(cls.__init__).parameters.values())[1:]
    defaults = {one.name: one.default for one in signature}
    if list(defaults) != list(cls._table) or any(
        repr(defaults[name]) != repr(kind.default) for name, kind in cls._table.items()
    ):
        raise TypeError(
            f"{cls.__name__}: its table has {cls._table.defaults}, its __init__ {defaults}"
        )


def learning(method: _Method) -> _Method:
    """Make a method a transaction: the estimator takes over all that it learns, or nothing.

    The method runs on a copy that has the same parameters, checked and as built-in types, and
    nothing learned. When it returns, its attributes replace the learned attributes of the estimator
    in one step. When it raises or is interrupted, the estimator stays as it was. ``parameters_``
    keeps the parameters of the fit. A class may define ``_check_together()`` to check parameters
    that depend on each other.
    """
    return _transaction(method, goes_on=False)


def adding(method: _Method) -> _Method:
    """Like :func:`learning`, for methods that continue from the last fit: ``partial_fit``."""
    return _transaction(method, goes_on=True)


def _transaction(method: _Method, *, goes_on: bool) -> _Method:
    @wraps(method)
    def learn(self: Any, *arguments: Any, **settings: Any) -> Any:
        if vars(self).get("_learning"):  # called by another method that learns
            method(self, *arguments, **settings)
            return self
        table = type(self)._table
        given = {name: _lasting(self, name) for name in table}
        twin = object.__new__(type(self))
        vars(twin).update(vars(self) if goes_on else _set_by_users(self))
        vars(twin).update(table.taken(given), _learning=True)
        if hasattr(twin, "_check_together"):
            twin._check_together()
        warn_of_unused(table, given, stacklevel=2)
        method(twin, *arguments, **settings)
        learned = {
            name: value
            for name, value in vars(twin).items()
            if name not in table and name != "_learning"
        }
        used = Settings({name: vars(twin)[name] for name in table})
        if isinstance(twin, Findings):
            vars(twin)["parameters_"] = used
            for finding in twin._size_findings():
                warnings.warn(finding.line, LittleDataWarning, stacklevel=users_level())
        self.__dict__ = {**given, **_set_by_users(self), **learned, "parameters_": used}
        return self

    return learn  # type: ignore[return-value]


def users_level() -> int:
    """The `stacklevel` of the code that called this library, for a warning of the caller."""
    frame = inspect.currentframe()
    level, frame = 0, frame and frame.f_back
    while frame and frame.f_globals.get("__name__", "").startswith("eigentext."):
        level, frame = level + 1, frame.f_back
    return level + 1


def _lasting(estimator: Any, name: str) -> Any:
    """The value of a parameter. A list replaces an iterator, which can be read only once."""
    if isinstance(vars(estimator)[name], Iterator):
        setattr(estimator, name, list(vars(estimator)[name]))
    return vars(estimator)[name]


def _set_by_users(estimator: Any) -> dict[str, Any]:
    return {n: v for n, v in vars(estimator).items() if n.startswith(_OF_SCIKIT_LEARN)}


def learned_with(cls: type[_Class], values: Mapping[str, Any]) -> _Class:
    """A new estimator with the parameters of a fit that a file describes; nothing learned yet.

    Parameters that the file lacks get their defaults.
    """
    table: Table = cls._table  # type: ignore[attr-defined]
    values = {table.renamed.get(name, name): value for name, value in values.items()}
    if strange := [name for name in values if name not in table]:
        raise ParameterError(f"{cls.__name__} has no parameter {strange[0]!r:.80}")
    taken = table.taken(table.defaults | values)
    self = cls(**taken)
    self.parameters_ = Settings(taken)  # type: ignore[attr-defined]
    return self


def is_fitted(estimator: Any) -> bool:
    """Whether something has been learned."""
    return any(name.endswith("_") and not name.startswith("_") for name in vars(estimator))


def check_is_fitted(estimator: Any) -> None:
    """Raise scikit-learn's NotFittedError unless something has been learned."""
    if not is_fitted(estimator):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet; call fit first")


def _as_html(model: Any) -> str:
    """A fitted model at a glance, or the parameters of one that is not fitted."""
    name, table = type(model).__name__, type(model)._table
    what = _first_line(type(model))
    if is_fitted(model):
        used = dict(getattr(model, "parameters_", None) or model.get_params(deep=False))
        glance = _glance(model) or notebook.Glance(what)
        findings = model.findings()
    else:
        used, findings = model.get_params(deep=False), []
        calls = [("model.fit(…)", _first_line(model.fit))] if hasattr(model, "fit") else []
        calls = calls or [("kernel(a, b)", "one value"), ("kernel.gram(A)", "the matrix of all")]
        glance = notebook.Glance(what, calls=calls)
    changed = [n for n, value in used.items() if repr(value) != repr(table.defaults.get(n))]
    is_open = not is_fitted(model) and hasattr(model, "fit")
    return notebook.page(
        name,
        glance,
        findings=findings,
        parameters=used,
        changed=changed,
        state="not fitted" if is_open else "",
    )


def _glance(model: Any) -> notebook.Glance | None:
    """What the module `glances` of a model's room says of it, or of the class it derives from."""
    for cls in type(model).__mro__:
        package = ".".join(cls.__module__.split(".")[:2])
        if package.startswith("eigentext.") and "." in cls.__module__.removeprefix("eigentext."):
            found = find_spec(f"{package}.glances") and import_module(f"{package}.glances").GLANCES
            if found and cls.__name__ in found:
                return found[cls.__name__](model)
    return None


def _first_line(documented: Any) -> str:
    """The first line of a docstring, without markup: TextCorpus, not :class:`TextCorpus`."""
    line = (inspect.getdoc(documented) or "").partition("\n")[0]
    return re.sub(r"(?::\w+:)?`+(?:~[\w.]*\.)?([^`]*)`+", r"\1", line)


def framed(method: _Method) -> _Method:
    """Make ``transform`` return data frames if ``set_output`` asked for them.

    The class needs ``get_feature_names_out``. Rows get the index of the data frame that was given.
    """

    @wraps(method)
    def transform(self: Any, X: Any, *arguments: Any, **settings: Any) -> Any:
        found = method(self, X, *arguments, **settings)
        if not hasattr(self, "_sklearn_output_config") and "sklearn" not in sys.modules:
            return found  # set_output was not used, here or globally
        from sklearn.utils._set_output import _wrap_data_with_container

        return _wrap_data_with_container("transform", found, X, self)

    return transform  # type: ignore[return-value]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
