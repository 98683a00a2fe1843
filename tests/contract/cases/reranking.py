"""Rerankers."""

import eigentext as et
from contract.candidates import TAGGED, TREES_AND_LOGS
from contract.case import Case

_ASKS = {
    "predict": lambda model: model.predict(TREES_AND_LOGS[:3]),
    "best": lambda model: [str(one) for one in model.best(TREES_AND_LOGS[:3])],
    "rerank": lambda model: [one.log_probability for one in model.rerank(TREES_AND_LOGS[:3])[0]],
    "score": lambda model: model.score(TREES_AND_LOGS[:3], [1] * 3),
}

_WORDS = ("dog", "cat", "fern", "barks", "sleeps")
_VECTORS = et.Eigenwords.from_vectors(_WORDS, [[1, 0], [1, 0.1], [0.5, 1], [0, 1], [-1, 1]])
_CLUSTERS = dict(zip(_WORDS, ("00", "00", "01", "10", "11")))

CASES = [
    Case(
        "Reranker",
        make=lambda: et.Reranker(decay=[0.3, 0.5], beta=[0.0, 0.5], average=["mean", "vote"]),
        data=lambda: (TAGGED * 2, [1] * 12),
        other=lambda: (TREES_AND_LOGS * 2, [1] * 12),
        bad=lambda: (TAGGED, [1] * 5),
        grid={"margin": [0.0, 0.4]},
        asks={
            "predict": lambda model: model.predict(_of_kind(model)),
            "best": lambda model: [str(one) for one in model.best(_of_kind(model))],
            "rerank": lambda model: [
                one.log_probability for one in model.rerank(_of_kind(model))[0]
            ],
            "score": lambda model: model.score(_of_kind(model), [1] * 3),
        },
    ),
    Case(
        "TreeReranker",
        make=lambda: et.TreeReranker(penalty=[0.1, 1.0], min_count=1),
        data=lambda: (TREES_AND_LOGS * 2, [1] * 12),
        other=lambda: (TREES_AND_LOGS * 2, [0] * 12),
        bad=lambda: (TREES_AND_LOGS, [1] * 5),
        grid={"min_count": [1, 2]},
        asks=_ASKS,
    ),
    Case(
        "TreeReranker, plain text",
        make=lambda: et.TreeReranker(
            penalty=1.0, min_count=1, clusters=_CLUSTERS, vectors=_VECTORS
        ),
        data=lambda: (TREES_AND_LOGS * 2, [1] * 12),
        other=lambda: (TREES_AND_LOGS * 2, [0] * 12),
        bad=lambda: (TREES_AND_LOGS, [1] * 5),
        grid={"min_count": [1, 2]},
        asks=_ASKS,
    ),
    Case(
        "TreeReranker, perceptron",
        make=lambda: et.TreeReranker("perceptron", min_count=1, n_epochs=2),
        grid={"margin": [0.0, 5.0]},
        data=lambda: (TREES_AND_LOGS * 2, [1] * 12),
        other=lambda: (TREES_AND_LOGS * 2, [0] * 12),
        bad=lambda: (TREES_AND_LOGS, [1] * 5),
        asks=_ASKS,
    ),
]


def _of_kind(reranker):
    """Lists that it can rank: of trees or of taggings."""
    if getattr(reranker, "perceptron_", None) is None:
        return TAGGED[:3]
    is_tree = isinstance(reranker.perceptron_.support_[0], (str, et.Tree))
    return TREES_AND_LOGS[:3] if is_tree else [*TAGGED[:2], TAGGED[3]]
