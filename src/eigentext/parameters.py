"""Parameters as data: one table says what an estimator accepts.

Each room of estimators has a module ``parameters`` with one :class:`Table` per estimator. The table
gives the default of every parameter, the values that it may have, and the other parameters that it
depends on. ``fit`` checks values against the table. The command line makes its options and help
from it. Loading checks files with it. Tests derive values from it that must be refused.

This module imports almost nothing, so that ``eigentext --help`` is quick.
"""

import inspect
import math
import secrets
import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import wraps
from numbers import Integral, Real
from typing import Any, TypeVar

from eigentext.errors import ParameterError

_Method = TypeVar("_Method", bound=Callable[..., Any])
_LONGEST = 80  # characters of a value that a message shows
REQUIRED = inspect.Parameter.empty  # stands for "no default"


class UnusedParameterWarning(UserWarning):
    """A parameter was set that has no effect together with the others."""


@dataclass(frozen=True)
class Parameter:
    """The values that one parameter accepts. All kinds of parameters derive from it.

    Parameters
    ----------
    default
        The default. A default of None allows None. REQUIRED means that there is no default.
    none : bool
        Whether None is allowed although it is not the default.
    help : str
        A sentence for the help of the command line.
    flags : str
        The names of its option, separated by blanks: "--states -m". The default is the name of the
        parameter. "" means that the command line has no such option.
    only : dict
        Other parameters by name, with the values that they must have for this one to matter.
    shown : str
        How the help shows the default, if None stands for something.
    """

    default: Any
    none: bool = field(default=False, kw_only=True)
    help: str = field(default="", kw_only=True)
    flags: str | None = field(default=None, kw_only=True)
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict, kw_only=True)
    shown: str | None = field(default=None, kw_only=True)

    @property
    def wording(self) -> str:
        """What the value must be, for example "a whole number, 1 or more"."""
        raise NotImplementedError

    def allows(self, value: Any) -> bool:
        """Whether a value other than None is allowed."""
        raise NotImplementedError

    def take(self, value: Any) -> Any:
        """An allowed value as a built-in type, and as a copy that the caller cannot change."""
        return value

    def refused(self) -> list[Any]:
        """Values that must be refused, for tests."""
        return [value for value in _STRANGE if not self.accepts(value)]

    def another(self) -> Any:
        """An allowed value other than the default, for tests; None if there is no simple one."""
        return None

    def accepts(self, value: Any) -> bool:
        """Whether a value may be given."""
        if value is None:
            return self.takes_none
        return value is not REQUIRED and self.allows(value)

    @property
    def takes_none(self) -> bool:
        """Whether None may be given."""
        return self.none or self.default is None


_STRANGE = (
    *(None, True, -1, 0, 2.5, -0.5, 1e9, math.nan, math.inf, -math.inf),
    *("", "nonsense", b"x", (), [None], {}, {1: 2}, object(), complex(1, 1)),
)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy. True is not a number."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a real number of Python or NumPy. True is not a number."""
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True)
class Count(Parameter):
    """A whole number. True is not a number."""

    least: int = field(default=1, kw_only=True)
    most: int | None = field(default=None, kw_only=True)

    @property
    def wording(self) -> str:
        if self.most is None:
            return f"a whole number, {self.least} or more"
        return f"a whole number from {self.least} to {self.most}"

    def allows(self, value: Any) -> bool:
        most = math.inf if self.most is None else self.most
        return is_whole(value) and self.least <= value <= most

    def take(self, value: Any) -> int:
        return int(value)

    def another(self) -> int:
        return next(n for n in (self.least, self.least + 1) if n != self.default)


@dataclass(frozen=True)
class Number(Parameter):
    """A number. It must be finite unless `infinite` is True."""

    least: float | None = field(default=None, kw_only=True)
    above: float | None = field(default=None, kw_only=True)
    most: float | None = field(default=None, kw_only=True)
    below: float | None = field(default=None, kw_only=True)
    infinite: bool = field(default=False, kw_only=True)

    @property
    def wording(self) -> str:
        low = f"above {self.above:g}" if self.above is not None else None
        if self.least is not None:
            low = f"{self.least:g} or more"
        high = f"less than {self.below:g}" if self.below is not None else None
        if self.most is not None:
            high = f"{self.most:g} at most"
        limits = " and ".join(limit for limit in (low, high) if limit)
        return f"a number, {limits}" if limits else "a number"

    def allows(self, value: Any) -> bool:
        try:
            if not is_number(value) or math.isnan(value):
                return False
        except OverflowError:  # a whole number that is larger than any floating-point number
            return False
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
            and (self.below is None or value < self.below)
            and (self.infinite or not math.isinf(value))
        )

    def take(self, value: Any) -> float:
        return int(value) if isinstance(value, Integral) else float(value)

    def another(self) -> float | None:
        some = (0.5, 0.25, 2.0, -1.0)
        return next((x for x in some if x != self.default and self.allows(x)), None)


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few names or numbers."""

    of: tuple[Any, ...] = field(kw_only=True)

    @property
    def wording(self) -> str:
        *first, last = map(repr, (*self.of, None) if self.takes_none else self.of)
        return f"{', '.join(first)} or {last}" if first else last

    def allows(self, value: Any) -> bool:
        # 1 does not match True or 1.0, but it matches the 1 of NumPy.
        return isinstance(value, (str, Integral)) and any(
            value == one and isinstance(value, bool) == isinstance(one, bool) for one in self.of
        )

    def take(self, value: Any) -> Any:
        return next(one for one in self.of if value == one)

    def another(self) -> Any:
        return next((one for one in self.of if one != self.default), None)


@dataclass(frozen=True)
class Flag(Parameter):
    """True or False, of Python or NumPy."""

    @property
    def wording(self) -> str:
        return "True or False"

    def allows(self, value: Any) -> bool:
        return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")

    def take(self, value: Any) -> bool:
        return bool(value)

    def another(self) -> bool:
        return not self.default


@dataclass(frozen=True)
class Seed(Parameter):
    """A random seed: a number, None for a new random one, or a NumPy generator that draws one.

    A model keeps the number that was used, so that every fit can be repeated.
    """

    @property
    def wording(self) -> str:
        return "a whole number, 0 or more, or None for a new random seed"

    def accepts(self, value: Any) -> bool:
        return value is None or self.allows(value)

    def allows(self, value: Any) -> bool:
        if hasattr(value, "bit_generator") or hasattr(value, "random_sample"):
            return True
        return is_whole(value) and 0 <= value < 2**63

    def take(self, value: Any) -> int:
        if value is None:
            return secrets.randbits(31)
        if hasattr(value, "bit_generator"):
            return int(value.integers(2**31))
        return int(value.randint(2**31 - 1) if hasattr(value, "random_sample") else value)


@dataclass(frozen=True)
class Given(Parameter):
    """A value of any other sort: a function, a list, another model.

    Parameters
    ----------
    what : str
        The wording.
    test : function
        Returns whether a value is allowed.
    keep : function
        Returns what is kept of an allowed value. The default is a shallow copy, so that a list
        that changes later, or a model that is fitted again, changes nothing here.
    parse : function
        Returns the value for a text of the command line.
    metavar : str
        The placeholder of the value in the help of the command line.
    many : bool
        Whether the option may be given several times, for a list of values.
    """

    what: str = field(kw_only=True)
    test: Callable[[Any], bool] = field(kw_only=True)
    keep: Callable[[Any], Any] = field(default=copy, kw_only=True)
    parse: Callable[[str], Any] | None = field(default=None, kw_only=True)
    metavar: str | None = field(default=None, kw_only=True)
    many: bool = field(default=False, kw_only=True)

    @property
    def wording(self) -> str:
        return self.what

    def allows(self, value: Any) -> bool:
        return bool(self.test(value))

    def take(self, value: Any) -> Any:
        return self.keep(value)


class Settings:
    """The parameters that a model was fitted with, as attributes. They never change.

    Examples
    --------
    >>> used = Settings({"order": 3})
    >>> used.order, dict(used)
    (3, {'order': 3})
    """

    def __init__(self, values: Mapping[str, Any]):
        object.__setattr__(self, "_values", dict(values))

    def __getattr__(self, name: str) -> Any:
        try:
            return object.__getattribute__(self, "_values")[name]
        except KeyError:
            raise AttributeError(f"no parameter {name!r}") from None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            "the settings of a fitted model do not change; use set_params and fit again"
        )

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def keys(self) -> Any:
        """The names."""
        return self._values.keys()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Settings({self._values!r})"

    def __reduce__(self) -> Any:
        return Settings, (self._values,)


def _are_vectors(value: object) -> bool:
    is_pair = isinstance(value, (tuple, list)) and len(value) == 2
    return is_pair or hasattr(value, "key_to_index") or hasattr(value, "fit") or _has_words(value)


def _are_clusters(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(isinstance(x, str) for pair in value.items() for x in pair)
    return hasattr(value, "bit_strings_") or hasattr(value, "fit") or _has_words(value)


def _has_words(value: object) -> bool:
    return hasattr(value, "words") and not isinstance(value, type)


# What plain text taught, for models that learn from other data.
VECTORS = Given(
    None,
    what="fitted Eigenwords, gensim's KeyedVectors, or a pair of words and a matrix",
    test=_are_vectors,
    flags="",
)
CLUSTERS = Given(
    None,
    what="fitted WordClusters, or a dictionary of words and bit strings",
    test=_are_clusters,
    flags="",
)


class Table(Mapping[str, Parameter]):
    """All parameters of an estimator, by name, in the order of its ``__init__``.

    Parameters
    ----------
    owner : str
        The name of the estimator.
    renamed : dict
        Old names of parameters, with their new names.

    Examples
    --------
    >>> table = Table("Model", states=Count(10), method=Choice("em", of=("em", "pivot")))
    >>> table.taken({"states": 0, "method": "em"})
    Traceback (most recent call last):
    eigentext.errors.ParameterError: states must be a whole number, 1 or more, not 0
    """

    def __init__(self, owner: str, *, renamed: Mapping[str, str] | None = None, **kinds: Parameter):
        self.owner = owner
        self.renamed = dict(renamed or {})
        self._kinds = kinds

    def __getitem__(self, name: str) -> Parameter:
        return self._kinds[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    @property
    def defaults(self) -> dict[str, Any]:
        """Every parameter's default."""
        return {name: kind.default for name, kind in self.items()}

    def taken(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values as built-in types; raises ParameterError if one is not allowed."""
        return {
            name: self[name].take(value)
            if value is not None or isinstance(self[name], Seed)
            else None
            for name, value in self.checked(values).items()
        }

    def checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values in the order of the table; raises ParameterError if one is not allowed."""
        for name, kind in self.items():
            if not kind.accepts(values[name]):
                raise ParameterError(self._objection(name, values[name]))
        return {name: values[name] for name in self}

    def unused(self, values: Mapping[str, Any]) -> list[str]:
        """A message for each parameter that was changed but has no effect with the others."""
        found = []
        for name, kind in self.items():
            for other, uses in kind.only.items():
                if values[other] not in uses and not _same(values[name], kind.default):
                    found.append(
                        f"{self.owner} with {other}={values[other]!r} does not use "
                        f"{self.label(name)}: {values[name]!r:.{_LONGEST}} has no effect; "
                        f"it is for {other} {Choice('', of=uses).wording}"
                    )
                    break
        return found

    def label(self, name: str) -> str:
        """The name of a parameter, with its option if that differs: "n_states (--states)"."""
        option = next((flag for flag in self.flags(name) if flag.startswith("--")), None)
        return name if option in (None, _flag(name)) else f"{name} ({option})"

    def flags(self, name: str) -> list[str]:
        """The names of the option of a parameter."""
        flags = self[name].flags
        return [_flag(name)] if flags is None else flags.split()

    def _objection(self, name: str, value: Any) -> str:
        kind = self[name]
        none = ", or None" if kind.takes_none and "None" not in kind.wording else ""
        return f"{self.label(name)} must be {kind.wording}{none}, not {value!r:.{_LONGEST}}"


def warn_of_unused(table: Table, values: Mapping[str, Any], stacklevel: int = 1) -> None:
    """Warn of each parameter that has no effect."""
    for message in table.unused(values):
        warnings.warn(message, UnusedParameterWarning, stacklevel=stacklevel + 1)


def argument(name: str, kind: Parameter, value: Any) -> Any:
    """Return the argument of a method as a built-in type; raise ParameterError if it is wrong.

    Examples
    --------
    >>> argument("topn", Count(10, least=0), -1)
    Traceback (most recent call last):
    eigentext.errors.ParameterError: topn must be a whole number, 0 or more, not -1
    """
    return Table("", renamed={}, **{name: kind}).taken({name: value})[name]


def takes_old_names(**new_names: str) -> Callable[[_Method], _Method]:
    """Let a method take old names of its arguments too: ``takes_old_names(old="new")``."""

    def decorate(method: _Method) -> _Method:
        @wraps(method)
        def renaming(self: Any, *arguments: Any, **given: Any) -> Any:
            return method(self, *arguments, **current_names(new_names, given))

        return renaming  # type: ignore[return-value]

    return decorate


def current_names(new_names: Mapping[str, str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given arguments by their present names, and warn of each old name."""
    current: dict[str, Any] = {}
    for name, value in given.items():
        new = new_names.get(name, name)
        if new != name:
            message = f"the argument {name!r} is called {new!r} now; give {new}={value!r:.40}"
            warnings.warn(message, DeprecationWarning, stacklevel=3)
        if new in current:
            raise ParameterError(f"{new} is given twice, once as {name!r}; give it once")
        current[new] = value
    return current


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _same(value: Any, default: Any) -> bool:
    try:
        return value is default or bool(value == default)
    except (TypeError, ValueError):  # an array
        return False
