r"""Two views of everything and labels of a few: CCA on all pairs, a linear model on the labelled.

Seed 000, "Semi-supervised Learning using CCA": x are the words of a title and z those of the
abstract, or a word and its context. CCA needs pairs (x, z) only, and gives

    x_ = A^T (x - E[x]),   z_ = B^T (z - E[z]),   E[x_ z_^T] = diag(lambda_1 >= … >= lambda_m).

If x and z are independent given a hidden state of k values, whose means in either view are linearly
independent ("Guarantees for CCA"; Foster, Johnson, Kakade and Zhang 2009), C_XZ has rank k - 1, and
for m = k - 1 the best linear prediction of the state, and so of whatever depends on it alone, from
x_ equals that from x. PCA promises no such thing: it keeps the directions of large variance, and
the state may live in those of small.

If either view alone suffices for prediction, nearly, the best linear predictor puts little weight
on coordinates that the other view cannot see (Kakade and Foster 2007): that of j is penalised by

    (1 - lambda_j) / lambda_j,

which here is an ordinary penalty after coordinate j is multiplied by sqrt(lambda_j / (1 -
lambda_j)). Coordinates too many then cost little, since what is noise correlates little.
"""

import warnings
from typing import Any, ClassVar, Self, cast

import numpy as np
from scipy.sparse import issparse, vstack
from scipy.special import expit, softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import check_table, learned_with, learning
from eigentext.factor import CCA
from eigentext.parameters import Number, Settings, Table
from eigentext.storage import Saved
from eigentext.storage.facts import facts
from eigentext.storage.schema import Array, Schema, Strings, damage
from eigentext.tagging import parameters

__all__ = ["TwoViewClassifier", "TwoViewRegressor"]

_CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64}
_VIEWS = {"both": ("first", "second"), "first": ("first",), "second": ("second",)}
_NO_CORRELATION = 1e-8
_LARGEST = 0.99  # of the correlations that shrink: no coordinate is multiplied by more than 10
_LARGEST_SAVED = 1e60  # of numbers in a file: products of three stay finite
_ITERATIONS = 1000  # of logistic regression; some dozens are usual


class _TwoView(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Saved, BaseEstimator):
    """The projection that both estimators learn; they add the linear model."""

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

    def transform(self, X) -> np.ndarray:
        """The coordinates of the views used, those of the first view before the second's."""
        check_is_fitted(self)
        return self._projection(X)

    def _fit_projection(self, X, unlabelled) -> np.ndarray:
        """Learn from all rows, and return the projection of the labelled ones."""
        n, d = X.shape
        n_first = self._checked_n_first(d)
        rows = _with_unlabelled(X, unlabelled)
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

    def _fit_cca(self, first, second) -> CCA:
        m, r = self.n_components, float(self.regularization)
        s, t = _unit(first, "first"), _unit(second, "second")
        first, second = first * s, second * t
        try:
            cca = CCA(m, regularization=r, random_state=self.random_state).fit(first, second)
        except ParameterError:
            cca = CCA(1, regularization=r).fit(first, second)  # all but the rank is wrong here too
            rank = min(cca.diagnostics_[view]["rank"] for view in "xy")
            cca = CCA(rank, regularization=r, random_state=self.random_state).fit(first, second)
        supported = max(int(np.sum(cca.correlations_ > _NO_CORRELATION)), 1)
        if supported < m:
            warnings.warn(
                f"n_components={m}, but {first.shape[0]} pairs support {supported}, and no more "
                "are kept: further directions do not correlate; lower n_components or give more "
                "unlabelled pairs",
                stacklevel=4,
            )
            _cut(cca, supported)
        # Back from unit variance: cca_ takes views as they come.
        cca.x_weights_, cca.x_mean_ = cca.x_weights_ * s, cca.x_mean_ / s
        cca.y_weights_, cca.y_mean_ = cca.y_weights_ * t, cca.y_mean_ / t
        return cca

    def _projection(self, X) -> np.ndarray:
        cca = self.cca_
        sides = {
            "first": (slice(None, self.n_first_), cca.x_mean_, cca.x_weights_),
            "second": (slice(self.n_first_, None), cca.y_mean_, cca.y_weights_),
        }
        if len(self.views_) == 1:
            _, mean, weights = sides[self.views_[0]]
            alone = check_array(X, **_CHECKS)
            if alone.shape[1] == len(mean):
                return _project(alone, mean, weights) * self.scale_
        rows: Any = validate_data(self, X, reset=False, **_CHECKS)
        used = (sides[view] for view in self.views_)
        return np.hstack([_project(rows[:, columns], *to) * self.scale_ for columns, *to in used])

    def _scores(self, X) -> np.ndarray:
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
        """Raise unless the linear model, as it was loaded, fits the coordinates."""
        for name, part in (("coef", self.coef_), ("intercept", self.intercept_)):
            if part.dtype != np.float64 or not (np.abs(part) <= _LARGEST_SAVED).all():
                raise damage(name, "has numbers that are not finite, or far too large")
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
                f"n_first={self.n_first!r}, but X has {d} columns: give the number of those of the "
                f"first view, from 1 to {d - 1}"
            )
        return int(self.n_first)


class TwoViewClassifier(ClassifierMixin, _TwoView):
    r"""Logistic regression on canonical coordinates: few labels, many unlabelled pairs.

    The two views stand side by side in X, dense or sparse: ``scipy.sparse.hstack([titles,
    bodies])``. CCA of all rows, labelled or not, finds A and B, and the features are

    .. math:: \sqrt{\frac{\lambda_j}{1 - \lambda_j}} \, a_j^\top (x - \bar x), \qquad
              \sqrt{\frac{\lambda_j}{1 - \lambda_j}} \, b_j^\top (z - \bar z), \qquad j = 1 … m,

    so that its ordinary penalty is that of Kakade and Foster (2007); see the module. From the
    labelled rows, logistic regression learns the weights of these features.

    Parameters
    ----------
    n_components : int, default=50
        The number m of coordinates of each view. If the pairs have fewer correlations above 0,
        because a view's rank is lower or the pairs are few, only those are kept, with a warning.
    n_first : int, optional
        How many columns belong to the first view; by default half of them.
    regularization : float, default=1.0
        What is added to the diagonal of a view's covariance, in units of the mean variance of its
        columns: a view may be in any unit. The theorems are about 0 and as many pairs as one likes;
        counts of words want more.
    use : "both", "first" or "second", default="both"
        The views to predict from. With one, the other is needed to learn only: rows to predict
        may have all columns, or those of that view alone.
    shrink : bool, default=True
        Whether coordinates are multiplied by :math:`\sqrt{\lambda_j / (1 - \lambda_j)}`, with no
        lambda above 0.99; without, all are penalised alike, and m must be chosen with care.
    C : float, default=1.0
        The inverse of the penalty's weight, as in scikit-learn's ``LogisticRegression``.
    random_state : int, Generator or None, default=0
        For the random start of :func:`eigentext.factor.svd`, used on large views.

    Attributes
    ----------
    cca_ : CCA
        Of views in their own units, with ``x_weights_`` A and ``y_weights_`` B.
    scale_ : ndarray of shape (m,)
        What coordinates are multiplied by.
    coef_, intercept_ : ndarray of shape (n_classes, n_features_out) and (n_classes,)
        Of what :meth:`transform` gives; one row if there are two classes.
    classes_ : ndarray of shape (n_classes,)
    views_ : tuple of "first", "second"
        Those used.
    n_first_, n_features_in_ : int
        The columns of the first view, and of both.
    diagnostics_ : dict
        ``n_labelled`` and ``n_unlabelled`` rows, ``n_components`` kept, ``correlations`` kept and
        the ``next_correlations`` dropped, ``residual``, ``regularization``, and for each view under
        ``first`` and ``second`` what :class:`eigentext.factor.CCA` says: rank, condition, columns
        without variance.

    Examples
    --------
    Two noisy thermometers, each beside a loud dial that means nothing, and six labels:

    >>> import numpy as np
    >>> from eigentext.tagging.two_view import TwoViewClassifier
    >>> rng = np.random.default_rng(0)
    >>> heat, dials = rng.normal(size=(1000, 1)), 9 * rng.normal(size=(1000, 2))
    >>> read = heat + 0.2 * rng.normal(size=(1000, 2))
    >>> X = np.c_[read[:, 0], dials[:, 0], read[:, 1], dials[:, 1]]
    >>> y = np.where(heat[:, 0] > 0, "warm", "cold")
    >>> model = TwoViewClassifier(n_components=1, regularization=0)
    >>> model = model.fit(X[:6], y[:6], unlabelled=X[6:500])
    >>> print(model.cca_.correlations_.round(2), model.predict([[-2, 5, -2, 0]]))
    [0.96] ['cold']
    >>> model.score(X[500:], y[500:]) > 0.9
    True
    """

    _format = "eigentext.two-view-classifier.v1"
    _table = parameters.TwoViewClassifier
    _learned = ("coef_", "intercept_", "classes_")

    def __init__(
        self,
        n_components=50,
        *,
        n_first=None,
        regularization=1.0,
        use="both",
        shrink=True,
        C=1.0,
        random_state=0,
    ):
        self.n_components = n_components
        self.n_first = n_first
        self.regularization = regularization
        self.use = use
        self.shrink = shrink
        self.C = C
        self.random_state = random_state

    @learning
    def fit(self, X, y, *, unlabelled=None) -> Self:
        """Learn from n labelled rows of both views, and unlabelled rows of the same columns."""
        X, y = validate_data(self, X, y, ensure_min_samples=2, ensure_min_features=2, **_CHECKS)
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ParameterError("y has one class only: label rows of at least two classes")
        projected = self._fit_projection(X, unlabelled)
        linear = LogisticRegression(C=self.C, max_iter=_ITERATIONS).fit(projected, y)
        self.coef_, self.intercept_, self.classes_ = (
            linear.coef_,
            linear.intercept_,
            linear.classes_,
        )
        return self

    def _check_linear(self) -> None:
        super()._check_linear()
        classes = self.classes_
        if classes.ndim != 1 or len(np.unique(classes)) < max(len(classes), 2):
            raise damage("classes", "are not two or more different ones")
        n = 1 if len(classes) == 2 else len(classes)
        if self.coef_.shape[:-1] != (n,) or self.intercept_.shape != (n,):
            raise damage("coef", f"has shape {self.coef_.shape} for {len(classes)} classes")

    def decision_function(self, X) -> np.ndarray:
        """Log-odds of the second of two classes, or a score for each class: rows by classes."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X) -> np.ndarray:
        """The probability of each class: rows by classes."""
        scores = self.decision_function(X)
        return np.c_[expit(-scores), expit(scores)] if scores.ndim == 1 else softmax(scores, axis=1)

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]


class TwoViewRegressor(RegressorMixin, _TwoView):
    r"""Ridge regression on canonical coordinates: few known values, many unlabelled pairs.

    All but the last step is as in :class:`TwoViewClassifier`, whose parameters and attributes it
    has. The weights w of coordinates, before these are scaled, minimise

    .. math:: \sum_i (y_i - w \cdot f_i)^2 + \alpha \sum_j \frac{1 - \lambda_j}{\lambda_j} w_j^2;

    Kakade and Foster's (2007) alpha is n, the number of labelled rows, which shrinks by lambda
    however many there are.

    Parameters
    ----------
    n_components, n_first, regularization, use, shrink, random_state
        As of :class:`TwoViewClassifier`.
    alpha : float, default=1.0
        The penalty's weight, as in scikit-learn's ``Ridge``.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_features_out,) and float
        Of what :meth:`transform` gives; a row and a number for each column of a y that has columns.
    cca_, scale_, views_, n_first_, n_features_in_, diagnostics_
        As of :class:`TwoViewClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.tagging.two_view import TwoViewRegressor
    >>> rng = np.random.default_rng(0)
    >>> h = rng.normal(size=(1000, 1))
    >>> X = np.c_[h + rng.normal(size=(1000, 4)) / 2, h + rng.normal(size=(1000, 4)) / 2]
    >>> model = TwoViewRegressor(n_components=1, use="first")
    >>> model = model.fit(X[:10], 3 * h[:10, 0], unlabelled=X[10:500])
    >>> model.score(X[500:, :4], 3 * h[500:, 0]) > 0.9  # the first view is enough
    True
    """

    _format = "eigentext.two-view-regressor.v1"
    _table = parameters.TwoViewRegressor

    def __init__(
        self,
        n_components=50,
        *,
        n_first=None,
        regularization=1.0,
        use="both",
        shrink=True,
        alpha=1.0,
        random_state=0,
    ):
        self.n_components = n_components
        self.n_first = n_first
        self.regularization = regularization
        self.use = use
        self.shrink = shrink
        self.alpha = alpha
        self.random_state = random_state

    @learning
    def fit(self, X, y, *, unlabelled=None) -> Self:
        """Learn from n rows of both views and n values, and unlabelled rows of the same columns."""
        options = {"ensure_min_samples": 2, "ensure_min_features": 2, **_CHECKS}
        X, y = validate_data(self, X, y, y_numeric=True, multi_output=True, **options)
        linear = Ridge(alpha=self.alpha).fit(self._fit_projection(X, unlabelled), y)
        self.coef_, self.intercept_ = linear.coef_, linear.intercept_
        return self

    def predict(self, X) -> np.ndarray:
        """The value expected for each row."""
        return self._scores(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


check_table(TwoViewClassifier)
check_table(TwoViewRegressor)


def _with_unlabelled(X, unlabelled) -> Any:
    """All rows, the labelled before the others."""
    if unlabelled is None:
        return X
    U = check_array(unlabelled, input_name="unlabelled", ensure_min_samples=0, **_CHECKS)
    if U.shape[1] != X.shape[1]:
        raise ParameterError(
            f"unlabelled has {U.shape[1]} columns, but X has {X.shape[1]}: give both the columns "
            "of both views, in the same order"
        )
    if issparse(X) or issparse(U):
        return vstack([X, U], format="csr")
    return np.vstack([X, U])


def _unit(view, name: str) -> float:
    """What makes the mean variance of the columns that vary 1."""
    if issparse(view):
        low, high = cast(Any, min_max_axis(view, 0))
        variance = cast(Any, mean_variance_axis(view, 0))[1]
    else:
        low, high, variance = view.min(axis=0), view.max(axis=0), view.var(axis=0)
    if not np.any(low < high):
        raise ParameterError(f"no column of the {name} view varies: give at least one that does")
    return float(1 / np.sqrt(variance[low < high].mean()))


def _cut(cca: CCA, m: int) -> None:
    """Keep the first m pairs of directions."""
    sigma = cca.diagnostics_["correlations"] + cca.diagnostics_["next_correlations"]
    cca.n_components, cca.correlations_ = m, cca.correlations_[:m]
    cca.x_weights_, cca.y_weights_ = cca.x_weights_[:, :m], cca.y_weights_[:, :m]
    cca.diagnostics_ |= {"correlations": sigma[:m], "next_correlations": sigma[m:]}


def _shrinking(correlations: np.ndarray, shrink: bool) -> np.ndarray:
    largest = np.minimum(correlations, _LARGEST)
    return np.sqrt(largest / (1 - largest)) if shrink else np.ones_like(largest)


def _project(X, mean, weights) -> np.ndarray:
    # A sparse X stays sparse; a dense one is centred first, which rounds less.
    return X @ weights - mean @ weights if issparse(X) else (X - mean) @ weights


def _plain(learned):
    """Classes may be strings, which a file holds as a list."""
    learned = np.asarray(learned)
    return learned.tolist() if learned.dtype.kind in "UO" else learned
