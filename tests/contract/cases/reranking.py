"""Rerankers."""

import eigentext as et
from contract.candidates import TAGGED, TREES_AND_LOGS
from contract.case import Case

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
]


def _of_kind(reranker):
    """Lists that it can rank: of trees or of taggings."""
    if getattr(reranker, "perceptron_", None) is None:
        return TAGGED[:3]
    is_tree = isinstance(reranker.perceptron_.support_[0], (str, et.Tree))
    return TREES_AND_LOGS[:3] if is_tree else [*TAGGED[:2], TAGGED[3]]
