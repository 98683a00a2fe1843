r"""The projection of two views by CCA, which both two-view estimators share.

CCA of pairs (x, z) gives

    x_ = A^T (x - E[x]),   z_ = B^T (z - E[z]),   E[x_ z_^T] = diag(lambda_1 >= … >= lambda_m).
"""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import Finding, Findings, learned_with
from eigentext.factor import CCA
from eigentext.factor.arguments import check_scale
from eigentext.parameters import Number, Settings, Table
from eigentext.storage import Saved
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, Schema, Strings, damage
from eigentext.tagging._findings import two_view_findings

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_VIEWS = {"both": ("first", "second"), "first": ("first",), "second": ("second",)}
_NO_CORRELATION = 1e-8
_LARGEST = 0.99  # of the correlations that shrink, so that no factor is larger than 10
_LARGEST_SAVED = 1e60  # of the numbers in a file, so that products of three stay finite


class TwoViewProjection(  # pyright: ignore[reportIncompatibleVariableOverride]
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saved, Findings, BaseEstimator
):
    """The part of both estimators that needs no labels. They add a linear model."""

    _table: ClassVar[Table]
    _learned: ClassVar[tuple[str, ...]] = ("coef_", "intercept_")
    parameters_: Settings
    n_components: int
    n_first: int | None
    regularization: float
    use: str
    shrink: bool
    random_state: Any
    coef_: np.ndarray
    intercept_: Any

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of the used views, those of the first view before the second."""
        check_is_fitted(self)
        return self._projection(X)

    def _fit_projection(self, X: Any, unlabeled: Any) -> np.ndarray:
        """Learn from all rows, and return the projection of the labeled rows."""
        n, d = X.shape
        n_first = self._checked_n_first(d)
        rows = _with_unlabeled(X, unlabeled)
        with engine.one_blas_thread():
            cca = self._fit_cca(rows[:, :n_first], rows[:, n_first:])
        self.cca_, self.n_first_, self.views_ = cca, n_first, _VIEWS[self.use]
        self.scale_ = _shrinking(cca.correlations_, self.shrink)
        about = cca.diagnostics_
        self.diagnostics_ = {
            "n_labelled": n,
            "n_unlabelled": int(rows.shape[0]) - n,
            "n_components": len(cca.correlations_),
            **{key: about[key] for key in ("correlations", "next_correlations", "residual")},
            "regularization": about["regularization"],
            "first": about["x"],
            "second": about["y"],
        }
        return self._projection(X)

    def _fit_cca(self, first: Any, second: Any) -> CCA:
        m, r = self.n_components, float(self.regularization)
        s, t = _unit(first, "first"), _unit(second, "second")
        first, second = first * s, second * t
        try:
            cca = CCA(m, regularization=r, random_state=self.random_state).fit(first, second)
        except ParameterError:
            # The rank of a view is less than m. Any other error is raised here again.
            cca = CCA(1, regularization=r).fit(first, second)
            rank = min(cca.diagnostics_[view]["rank"] for view in "xy")
            cca = CCA(rank, regularization=r, random_state=self.random_state).fit(first, second)
        supported = max(int(np.sum(cca.correlations_ > _NO_CORRELATION)), 1)
        if supported < m:
            warnings.warn(
                f"n_components={m}, but {first.shape[0]} pairs support only {supported}, which are "
                "kept: further directions do not correlate; lower n_components or give more "
                "unlabeled pairs",
                stacklevel=6,  # the line that calls `fit`, which has two decorators
            )
            _cut(cca, supported)
        # Undo the scaling to unit variance: cca_ takes the views as they are given.
        cca.x_weights_, cca.x_mean_ = cca.x_weights_ * s, cca.x_mean_ / s
        cca.y_weights_, cca.y_mean_ = cca.y_weights_ * t, cca.y_mean_ / t
        return cca

    def _projection(self, X: Any) -> np.ndarray:
        cca = self.cca_
        sides = {
            "first": (slice(None, self.n_first_), cca.x_mean_, cca.x_weights_),
            "second": (slice(self.n_first_, None), cca.y_mean_, cca.y_weights_),
        }
        if len(self.views_) == 1:
            _, mean, weights = sides[self.views_[0]]
            alone = check_array(X, **CHECKS)
            if alone.shape[1] == len(mean):
                return _project(alone, mean, weights) * self.scale_
        rows: Any = validate_data(self, X, reset=False, **CHECKS)
        used = (sides[view] for view in self.views_)
        return np.hstack([_project(rows[:, columns], *to) * self.scale_ for columns, *to in used])

    def _scores(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._projection(X) @ self.coef_.T + self.intercept_

    @property
    def _n_features_out(self) -> int:
        return len(self.views_) * len(self.scale_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _findings(self) -> Iterator[Finding]:
        asked = self.parameters_.n_components
        return two_view_findings(self.diagnostics_, n_components=asked)

    # Saving.

    def _to_saved(self):
        check_is_fitted(self)
        arrays = {
            "x_weights": self.cca_.x_weights_,
            "y_weights": self.cca_.y_weights_,
            "x_mean": self.cca_.x_mean_,
            "y_mean": self.cca_.y_mean_,
            "correlations": self.cca_.correlations_,
            "scale": self.scale_,
            **{name.rstrip("_"): _plain(getattr(self, name)) for name in self._learned},
        }
        if hasattr(self, "feature_names_in_"):
            arrays["feature_names"] = self.feature_names_in_.tolist()
        about = {
            "parameters": dict(self.parameters_),
            "use": "both" if len(self.views_) == 2 else self.views_[0],
            "cca": self.cca_.diagnostics_,
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _schema(cls, about) -> Schema:
        needs = ("correlations", "next_correlations", "regularization")
        views = facts("facts of a CCA", needs=needs, regularization=Number(0.0, least=0))
        known = {
            "parameters": facts("parameters"),
            "use": cls._table["use"],
            "cca": views,
            "diagnostics": facts("diagnostics", needs=("n_labelled", "n_unlabelled")),
        }
        shapes = {"x_weights": ("x", "m"), "y_weights": ("y", "m"), "x_mean": ("x",)}
        shapes |= {"y_mean": ("y",), "correlations": ("m",), "scale": ("m",)}
        arrays: dict[str, Any] = {
            name: Array("float64", shape, largest=_LARGEST_SAVED) for name, shape in shapes.items()
        }
        arrays["feature_names"] = Strings("x+y", optional=True)
        return Schema(arrays, about=known)

    @classmethod
    def _from_saved(cls, arrays, about) -> Self:
        self = learned_with(cls, about["parameters"])
        A, B = arrays["x_weights"], arrays["y_weights"]
        m, r = A.shape[1], about["cca"]["regularization"]
        used = {"n_components": m, "regularization": r, "random_state": self.random_state}
        self.cca_ = cca = learned_with(CCA, used)
        cca.x_weights_, cca.y_weights_ = A, B
        cca.x_mean_, cca.y_mean_ = arrays["x_mean"], arrays["y_mean"]
        cca.correlations_, cca.diagnostics_ = arrays["correlations"], about["cca"]
        cca.n_features_in_ = self.n_first_ = len(A)
        self.n_features_in_ = len(A) + len(B)
        self.views_, self.scale_ = _VIEWS[about["use"]], arrays["scale"]
        for name in self._learned:
            setattr(self, name, np.asarray(arrays[name.rstrip("_")]))
        if "feature_names" in arrays:
            self.feature_names_in_ = np.array(arrays["feature_names"], object)
        self.diagnostics_ = about["diagnostics"]
        self._check_linear()
        return self

    def _check_linear(self) -> None:
        """Raise an error if a loaded linear model does not fit the coordinates."""
        for name, part in (("coef", self.coef_), ("intercept", self.intercept_)):
            if part.dtype != np.float64 or not (np.abs(part) <= _LARGEST_SAVED).all():
                raise damage(name, "has numbers that are not finite, or that are far too large")
        if self.coef_.ndim not in (1, 2) or self.coef_.shape[-1] != self._n_features_out:
            raise damage("coef", f"has shape {self.coef_.shape} for {self._n_features_out} columns")
        if self.intercept_.shape not in ((), self.coef_.shape[:-1]):
            raise damage("intercept", f"has shape {self.intercept_.shape}")

    # Small steps.

    def _checked_n_first(self, d: int) -> int:
        if self.n_first is None:
            return d // 2
        if self.n_first >= d:
            raise ParameterError(
                f"n_first={self.n_first!r}, but X has {d} columns; give the number of columns of "
                f"the first view, from 1 to {d - 1}"
            )
        return int(self.n_first)


def _with_unlabeled(X: Any, unlabeled: Any) -> Any:
    """Return all rows, the labeled ones first."""
    if unlabeled is None:
        return X
    U = check_array(unlabeled, input_name="unlabeled", ensure_min_samples=0, **CHECKS)
    if U.shape[1] != X.shape[1]:
        raise ParameterError(
            f"unlabeled has {U.shape[1]} columns, but X has {X.shape[1]}; give the columns of "
            "both views in both, in the same order"
        )
    if issparse(X) or issparse(U):
        return vstack([X, U], format="csr")
    return np.vstack([X, U])


def _unit(view: Any, name: str) -> float:
    """Return the factor that makes 1 the mean variance of the columns that vary."""
    check_scale(view.data if issparse(view) else view, f"the {name} view")
    if issparse(view):
        low, high = cast(Any, min_max_axis(view, 0))
        variance = cast(Any, mean_variance_axis(view, 0))[1]
    else:
        low, high, variance = view.min(axis=0), view.max(axis=0), view.var(axis=0)
    if not np.any(low < high):
        raise ParameterError(f"no column of the {name} view varies; give at least one that does")
    return float(1 / np.sqrt(variance[low < high].mean()))


def _cut(cca: CCA, m: int) -> None:
    """Keep only the first m pairs of directions."""
    sigma = cca.diagnostics_["correlations"] + cca.diagnostics_["next_correlations"]
    cca.n_components, cca.correlations_ = m, cca.correlations_[:m]
    cca.x_weights_, cca.y_weights_ = cca.x_weights_[:, :m], cca.y_weights_[:, :m]
    cca.diagnostics_ |= {"correlations": sigma[:m], "next_correlations": sigma[m:]}


def _shrinking(correlations: np.ndarray, shrink: bool) -> np.ndarray:
    largest = np.minimum(correlations, _LARGEST)
    return np.sqrt(largest / (1 - largest)) if shrink else np.ones_like(largest)


def _project(X: Any, mean: np.ndarray, weights: np.ndarray) -> np.ndarray:
    # A sparse X stays sparse. A dense X is centered first, which gives smaller rounding errors.
    return X @ weights - mean @ weights if issparse(X) else (X - mean) @ weights


def _plain(learned: Any) -> Any:
    """Return an array, or a list of strings, as files keep classes."""
    learned = np.asarray(learned)
    return learned.tolist() if learned.dtype.kind in "UO" else learned
