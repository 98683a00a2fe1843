"""The parameters of estimators of matrices."""

from eigentext.parameters import Count, Flag, Number, Seed, Table

CCA = Table(
    "CCA",
    n_components=Count(2),
    regularization=Number(0.0, least=0),
    center=Flag(True),
    random_state=Seed(0),
)
