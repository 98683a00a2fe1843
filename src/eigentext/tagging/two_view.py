r"""Two views of all rows and labels of a few: CCA of all pairs, then a linear model of the labels.

In [Cohen et al. 2013], "Semi-supervised Learning using CCA", x are the words of a title and z those
of the abstract, or x is a word and z its context. CCA needs only pairs (x, z), and gives

    x_ = A^T (x - E[x]),   z_ = B^T (z - E[z]),   E[x_ z_^T] = diag(lambda_1 >= … >= lambda_m).

Let x and z be independent given a hidden state with k values, and let the means of the values be
linearly independent in each view ("Guarantees for CCA"; Foster, Johnson, Kakade and Zhang 2009).
Then C_XZ has rank k - 1. For m = k - 1, the best linear prediction from x_ of the state, and of
anything that depends only on the state, equals the best one from x. PCA has no such guarantee: it
keeps the directions of large variance, and the state may be in those of small variance.

Let each view alone be almost enough for prediction. Then the best linear predictor puts little
weight on coordinates that the other view cannot predict (Kakade and Foster 2007). Its penalty for
coordinate j is

    (1 - lambda_j) / lambda_j.

Here this is the usual penalty, after coordinate j is multiplied by sqrt(lambda_j / (1 - lambda_j)).
So superfluous coordinates do little harm, because noise has small correlations.
"""

from typing import Any, Literal, Self

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from eigentext.errors import ParameterError
from eigentext.estimators import check_table, learning
from eigentext.parameters import takes_old_names
from eigentext.storage.schema import damage
from eigentext.tagging import parameters
from eigentext.tagging.projection import CHECKS, TwoViewProjection

__all__ = ["TwoViewClassifier", "TwoViewRegressor"]

Use = Literal["both", "first", "second"]
_ITERATIONS = 1000  # of logistic regression, which usually needs a few dozen


class TwoViewClassifier(ClassifierMixin, TwoViewProjection):
    r"""Logistic regression on canonical coordinates, for few labels and many unlabeled pairs.

    The two views are side by side in X, dense or sparse: ``scipy.sparse.hstack([titles, bodies])``.
    CCA of all rows, labeled or not, finds A and B. The features are

    .. math:: \sqrt{\frac{\lambda_j}{1 - \lambda_j}} \, a_j^\top (x - \bar x), \qquad
              \sqrt{\frac{\lambda_j}{1 - \lambda_j}} \, b_j^\top (z - \bar z), \qquad j = 1 … m.

    With this scaling, the usual penalty is that of Kakade and Foster (2007); the module explains
    why. Logistic regression learns the weights of these features from the labeled rows.

    Parameters
    ----------
    n_components : int, default=50
        The number m of coordinates of each view. If the pairs have fewer correlations above 0,
        because the rank of a view is lower or there are few pairs, only those are kept, with a
        warning.
    n_first : int, optional
        The number of columns of the first view. The default is half of all columns.
    regularization : float, default=1.0
        What is added to the diagonal of the covariance of a view, in units of the mean variance of
        its columns. So the unit of a view does not matter. The theorems are about 0 and an
        unlimited number of pairs. Counts of words need more.
    use : "both", "first" or "second", default="both"
        The views to predict from. With one view, the other is needed only for learning. Rows to
        predict may then have all columns, or only those of the used view.
    shrink : bool, default=True
        Whether coordinates are multiplied by :math:`\sqrt{\lambda_j / (1 - \lambda_j)}`, where a
        lambda above 0.99 counts as 0.99. If False, all coordinates get the same penalty, and m must
        be chosen carefully.
    C : float, default=1.0
        The inverse of the weight of the penalty, as in scikit-learn's ``LogisticRegression``.
    random_state : int, Generator or None, default=0
        For the random start of :func:`eigentext.factor.svd`, which is used for large views.

    Attributes
    ----------
    cca_ : CCA
        The CCA of the views in their own units. Its ``x_weights_`` are A, its ``y_weights_`` are B.
    scale_ : ndarray of shape (m,)
        The factors of the coordinates.
    coef_, intercept_ : ndarray of shape (n_classes, n_features_out) and (n_classes,)
        The linear model of the columns of :meth:`transform`. Two classes need only one row.
    classes_ : ndarray of shape (n_classes,)
    views_ : tuple of "first", "second"
        The views that are used.
    n_first_, n_features_in_ : int
        The number of columns of the first view, and of both views.
    diagnostics_ : dict
        The numbers of rows ``n_labelled`` and ``n_unlabelled``, the number ``n_components`` of kept
        coordinates, the kept ``correlations`` and the dropped ``next_correlations``, ``residual``
        and ``regularization``. For each view, ``first`` and ``second`` have the diagnostics of
        :class:`eigentext.factor.CCA`: rank, condition number, columns without variance.

    Examples
    --------
    Two noisy thermometers, each with a dial that shows large random numbers, and six labels:

    >>> import numpy as np
    >>> from eigentext.tagging.two_view import TwoViewClassifier
    >>> rng = np.random.default_rng(0)
    >>> heat, dials = rng.normal(size=(1000, 1)), 9 * rng.normal(size=(1000, 2))
    >>> read = heat + 0.2 * rng.normal(size=(1000, 2))
    >>> X = np.c_[read[:, 0], dials[:, 0], read[:, 1], dials[:, 1]]
    >>> y = np.where(heat[:, 0] > 0, "warm", "cold")
    >>> model = TwoViewClassifier(n_components=1, regularization=0)
    >>> model = model.fit(X[:6], y[:6], unlabeled=X[6:500])
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
        n_components: int = 50,
        *,
        n_first: int | None = None,
        regularization: float = 1.0,
        use: Use = "both",
        shrink: bool = True,
        C: float = 1.0,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.n_first = n_first
        self.regularization = regularization
        self.use = use
        self.shrink = shrink
        self.C = C
        self.random_state = random_state

    @takes_old_names(unlabelled="unlabeled")
    @learning
    def fit(self, X: Any, y: Any, *, unlabeled: Any = None) -> Self:
        """Learn from labeled rows of both views, and unlabeled rows with the same columns."""
        X, y = validate_data(self, X, y, ensure_min_samples=2, ensure_min_features=2, **CHECKS)
        check_classification_targets(y)
        if len(np.unique(y)) < 2:
            raise ParameterError("y has only one class; label rows of at least two classes")
        projected = self._fit_projection(X, unlabeled)
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
            raise damage("classes", "are not two or more different classes")
        n = 1 if len(classes) == 2 else len(classes)
        if self.coef_.shape[:-1] != (n,) or self.intercept_.shape != (n,):
            raise damage("coef", f"has shape {self.coef_.shape} for {len(classes)} classes")

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the log-odds of the second of two classes, or a score for each class."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class, a column for each class."""
        scores = self.decision_function(X)
        return np.c_[expit(-scores), expit(scores)] if scores.ndim == 1 else softmax(scores, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each row."""
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(1)]


class TwoViewRegressor(RegressorMixin, TwoViewProjection):
    r"""Ridge regression on canonical coordinates, for few known values and many unlabeled pairs.

    Only the last step differs from :class:`TwoViewClassifier`. The weights w of the coordinates,
    before these are scaled, minimize

    .. math:: \sum_i (y_i - w \cdot f_i)^2 + \alpha \sum_j \frac{1 - \lambda_j}{\lambda_j} w_j^2.

    The alpha of Kakade and Foster (2007) is n, the number of labeled rows. With it, weight j
    shrinks by the factor lambda_j for any n.

    Parameters
    ----------
    n_components, n_first, regularization, use, shrink, random_state
        As in :class:`TwoViewClassifier`.
    alpha : float, default=1.0
        The weight of the penalty, as in scikit-learn's ``Ridge``.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_features_out,) and float
        The linear model of the columns of :meth:`transform`. If y has several columns, there is a
        row and a number for each.
    cca_, scale_, views_, n_first_, n_features_in_, diagnostics_
        As in :class:`TwoViewClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigentext.tagging.two_view import TwoViewRegressor
    >>> rng = np.random.default_rng(0)
    >>> h = rng.normal(size=(1000, 1))
    >>> X = np.c_[h + rng.normal(size=(1000, 4)) / 2, h + rng.normal(size=(1000, 4)) / 2]
    >>> model = TwoViewRegressor(n_components=1, use="first")
    >>> model = model.fit(X[:10], 3 * h[:10, 0], unlabeled=X[10:500])
    >>> model.score(X[500:, :4], 3 * h[500:, 0]) > 0.9  # the first view is enough
    True
    """

    _format = "eigentext.two-view-regressor.v1"
    _table = parameters.TwoViewRegressor

    def __init__(
        self,
        n_components: int = 50,
        *,
        n_first: int | None = None,
        regularization: float = 1.0,
        use: Use = "both",
        shrink: bool = True,
        alpha: float = 1.0,
        random_state: Any = 0,
    ):
        self.n_components = n_components
        self.n_first = n_first
        self.regularization = regularization
        self.use = use
        self.shrink = shrink
        self.alpha = alpha
        self.random_state = random_state

    @takes_old_names(unlabelled="unlabeled")
    @learning
    def fit(self, X: Any, y: Any, *, unlabeled: Any = None) -> Self:
        """Learn from rows of both views with values, and unlabeled rows with the same columns."""
        options = {"ensure_min_samples": 2, "ensure_min_features": 2, **CHECKS}
        X, y = validate_data(self, X, y, y_numeric=True, multi_output=True, **options)
        linear = Ridge(alpha=self.alpha).fit(self._fit_projection(X, unlabeled), y)
        self.coef_, self.intercept_ = linear.coef_, linear.intercept_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the expected value of each row."""
        return self._scores(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


check_table(TwoViewClassifier)
check_table(TwoViewRegressor)
