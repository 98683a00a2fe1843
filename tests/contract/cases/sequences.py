"""Models of sequences."""

import numpy as np
import pandas as pd

import eigentext as et
from contract.case import Case

LINES = [line.split() for line in ("the cat sat", "a dog ran", "the dog sat", "a cat ran")] * 8
OTHER = [line.split() for line in ("one fox saw two birds", "two foxes ran", "one bird sat")] * 9

FORMS = {
    "arrays": lambda lines: [np.array(line) for line in lines],
    "series": lambda lines: pd.Series(lines),
    "tuples": lambda lines: [tuple(line) for line in lines],
}

CASES = [
    Case(
        "KneserNey",
        make=lambda: et.KneserNey(2),
        data=lambda: (LINES,),
        other=lambda: (OTHER,),
        bad=lambda: ([],),
        forms=FORMS,
        grid={"order": [1, 2]},
        asks={
            "log_probabilities": lambda model: model.log_probabilities([["the", "dog"], ["x"]]),
            "distribution": lambda model: model.distribution("the"),
            "perplexity": lambda model: model.perplexity(LINES[:3]),
        },
    ),
]
