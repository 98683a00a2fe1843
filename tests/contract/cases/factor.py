"""Estimators of matrices."""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from contract.case import Case
from eigentext.factor import CCA

_RNG = np.random.default_rng(0)
H = _RNG.standard_normal((60, 2))
X = H @ _RNG.standard_normal((2, 5)) + 0.5 * _RNG.standard_normal((60, 5))
Y = H @ _RNG.standard_normal((2, 4)) + 0.5 * _RNG.standard_normal((60, 4))
ONE_HOT = np.eye(6)[_RNG.integers(0, 6, 60)]

_ASKS = {
    "transform": lambda model: model.transform(X[:7]),
    "both": lambda model: model.transform(X[:7], Y[:7]),
    "score": lambda model: model.score(X, Y),
    "names": lambda model: model.get_feature_names_out(),
}

CASES = [
    Case(
        "CCA",
        make=lambda: CCA(2),
        data=lambda: (X, Y),
        other=lambda: (X[::-1] ** 2, Y),
        bad=lambda: (X, Y[:-1]),
        listed=False,
        forms={"lists": lambda X: X.tolist(), "frame": lambda X: pd.DataFrame(X).to_numpy()},
        saves=False,
        grid={"regularization": [0.0, 0.1]},
        asks=_ASKS,
    ),
    Case(
        "CCA, one-hot",
        make=lambda: CCA(1, regularization=0.01, center=False),
        data=lambda: (csr_array(ONE_HOT), Y),
        other=lambda: (csr_array(ONE_HOT[::-1]), Y),
        bad=lambda: (csr_array(ONE_HOT), None),
        listed=False,
        saves=False,
        grid={"n_components": [1, 2]},
        asks={
            "transform": lambda model: model.transform(csr_array(ONE_HOT[:5])),
            "score": lambda model: model.score(csr_array(ONE_HOT), Y),
        },
    ),
]
