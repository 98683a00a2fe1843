"""The cases of the contract for topics."""

import numpy as np
import pandas as pd
import scipy.sparse as sp

import eigentext as et
from contract.case import Case

MEALS = ["ham eggs ham cheese", "eggs cheese ham eggs", "the cheese and ham bread eggs"]
GAMES = ["goal team goal match", "team match win goal", "a goal in the match of the team"]
TEXTS = (MEALS + GAMES) * 6
OTHER = [
    "court judge trial jury match",
    "judge jury court appeal",
    "ham salt pepper onion salt",
] * 9
NEW = ["ham and a match", "n/a", "*", "some/file", ""]

COUNTS = sp.csr_array(np.random.default_rng(0).poisson([[3, 2, 1, 0.1], [0.1, 1, 2, 3]] * 12))
OTHER_COUNTS = sp.csr_array(np.random.default_rng(1).poisson(2.0, (30, 4)))

FORMS = {
    "array": lambda texts: np.array(texts),
    "series": lambda texts: pd.Series(texts),
    "strings": lambda texts: np.array(texts, object),
}
MATRICES = {
    "dense": lambda X: X.toarray(),
    "floats": lambda X: X.astype(np.float32),
    "columns": lambda X: X.tocsc(),
    "rows": lambda X: X.toarray().tolist(),
    "frame": lambda X: pd.DataFrame(X.toarray()),
    "matrix": lambda X: sp.csr_matrix(X),
}


def _asks(new):
    return {
        "transform": lambda model: model.transform(new),
        "perplexity": lambda model: model.perplexity(new),
        "score": lambda model: model.score(new),
        "top_words": lambda model: model.top_words(3),
        "names": lambda model: list(model.get_feature_names_out()),
        "report": lambda model: model.report(new, n_words=3),
    }


def _case(name, **settings):
    return Case(
        f"TopicModel, {name}",
        make=lambda: et.TopicModel(2, **settings),
        data=lambda: (TEXTS,),
        other=lambda: (OTHER,),
        bad=lambda: (["ham", "eggs"],),
        forms=FORMS,
        grid={"n_topics": [1, 2]},
        asks=_asks(NEW),
    )


CASES = [
    _case("tensor", refine=3),
    _case("one topic each", alpha0=0, refine=3),
    _case("gradient", method="gradient", refine=2, stop_words=["the", "a"]),
    _case("anchors", method="anchors", refine=2, alpha0=[0.3, 1.0]),
    _case("moments alone", refine=0, solver="diagonal", robust=0, min_df=2, max_df=0.9),
    _case("kept moments", keep_moments="whole", refine=3),
    Case(
        "TopicModel, matrix",
        make=lambda: et.TopicModel(2, refine=3),
        data=lambda: (COUNTS,),
        other=lambda: (OTHER_COUNTS,),
        bad=lambda: (-COUNTS,),
        forms=MATRICES,
        listed=False,
        grid={"n_topics": [1, 2]},
        asks=_asks(COUNTS[:5]),
    ),
]
