"""What makes a class a scikit-learn estimator, without importing scikit-learn.

That import takes longer than many a fit. Estimators of matrices, which scikit-learn's own checks
are run on, derive from its ``BaseEstimator``; those of text derive from this one, which speaks the
same protocol: ``get_params``, ``set_params``, ``clone``, a short ``repr``, tags.
"""

import inspect
from typing import Any, Self

from eigentext.errors import ParameterError

_LONGEST = 200  # characters of a parameter: it may be a matrix


class Estimator:
    """Parameters are those of ``__init__``, kept under their names; what is learned ends in ``_``.

    Examples
    --------
    >>> from eigentext import Eigenwords
    >>> Eigenwords(50, window=2).set_params(beta=0.25)
    Eigenwords(n_components=50, window=2, beta=0.25)
    """

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in parameters}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name (`deep` is there for scikit-learn: nothing is nested here)."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; takes effect at the next fit."""
        known = self._defaults()
        for name, value in parameters.items():
            if name not in known:
                raise ParameterError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(known)}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = {
            name: value
            for name, value in self.get_params().items()
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


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def check_is_fitted(estimator: Estimator) -> None:
    """Raise scikit-learn's NotFittedError unless something has been learned."""
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator)):
        from sklearn.exceptions import NotFittedError

        raise NotFittedError(f"this {type(estimator).__name__} is not fitted yet; call fit first")
