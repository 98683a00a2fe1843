"""The protocol of scikit-learn's estimators, as scikit-learn itself uses it."""

import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from eigentext import Eigentokens, Eigenwords
from eigentext.errors import LittleDataWarning, ParameterError
from eigentext.estimators import Estimator, check_is_fitted


class Scale(Estimator):
    def __init__(self, factor=1.0, *, offset=None):
        self.factor = factor
        self.offset = offset

    def fit(self, X, y=None):
        self.mean_ = sum(X) / len(X)
        return self


class Twin(BaseEstimator):
    def __init__(self, factor=1.0, *, offset=None):
        self.factor = factor
        self.offset = offset


@pytest.mark.parametrize("given", [{}, {"factor": 2}, {"offset": "a"}, {"factor": float("nan")}])
def test_it_answers_as_scikit_learns_base_does(given):
    ours, theirs = Scale(**given), Twin(**given)
    assert ours.get_params() == theirs.get_params()
    assert repr(ours).removeprefix("Scale") == repr(theirs).removeprefix("Twin")


def test_parameters_change_and_unknown_ones_are_refused():
    estimator = Scale()
    assert estimator.set_params(factor=3) is estimator
    assert estimator.factor == 3
    with pytest.raises(ParameterError, match="no parameter 'speed'; it has factor, offset"):
        estimator.set_params(speed=1)


@pytest.mark.parametrize("estimator", [Eigenwords(7, beta=0.125), Eigentokens(7, window=1)])
def test_scikit_learn_clones_tags_and_chains(estimator):
    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    assert get_tags(estimator).input_tags.string
    pipeline = make_pipeline(Eigentokens(7, window=1))
    assert pipeline.set_params(eigentokens__window=3)[0].window == 3


def test_fitted_or_not():
    with pytest.raises(NotFittedError, match="Scale is not fitted"):
        check_is_fitted(Scale())
    check_is_fitted(Scale().fit([1, 2]))


def test_warnings_of_little_data_name_the_line_of_the_user():
    with pytest.warns(LittleDataWarning, match="10 dimensions for 14 words") as caught:
        Eigenwords(10, min_count=1).fit(["a b c d e f g h i j k l m n a b c d"] * 5)
    assert {warning.filename for warning in caught} == {__file__}
