"""Perceptrons and rerankers."""

from collections import Counter
from itertools import product

import eigentext as et
from contract.case import Case
from eigentext.kernels import Candidate


def _phi(sentence):
    words = sentence.split()
    return Counter(zip(["", *words], words))


def _tree(noun, verb, *, flat=False):
    if flat:
        return f"(S (DT the) (NN {noun}) (VBZ {verb}))"
    return f"(S (NP (DT the) (NN {noun})) (VP (VBZ {verb})))"


PAIRS = list(product(("dog", "cat", "fern"), ("barks", "sleeps")))
SENTENCES = [[f"{n} the {v}", f"the {n} {v}", f"{v} the {n}"] for n, v in PAIRS]
OTHERS = [[f"a {n} {v}", f"{n} {v} a"] for n, v in PAIRS]
TREES = [[_tree(n, v, flat=True), _tree(n, v)] for n, v in PAIRS]
TREES_AND_LOGS = [[Candidate(t, -1.0 - k / 8) for k, t in enumerate(two)] for two in TREES]
TAGGED = [
    [([("the", "D"), (n, "V"), (v, "N")], -1.0), ([("the", "D"), (n, "N"), (v, "V")], -1.5)]
    for n, v in PAIRS
]
VECTORS = [[(0.0, 1.0), (k / 2, 0.5)] for k in range(6)]

ASKED = {
    "predict": lambda model: model.predict(SENTENCES[:3]),
    "scores": lambda model: model.scores(SENTENCES[:3]),
    "score": lambda model: model.score(SENTENCES, [1] * 6),
}


def _dual(name, kernel, lists, **given):
    return Case(
        f"KernelPerceptron, {name}",
        make=lambda: et.KernelPerceptron(kernel, n_epochs=3, **given),
        data=lambda: (lists, [1] * 6),
        other=lambda: (lists[:4], [1, 0, 1, 1]),
        bad=lambda: (lists, [9] * 6),
        grid={"n_epochs": [1, 2]},
        asks={
            "predict": lambda model: model.predict(lists[:3]),
            "scores": lambda model: model.scores(lists[:3]),
            "votes": lambda model: model.scores(lists[:3], average="vote"),
            "score": lambda model: model.score(lists, [1] * 6),
            "bound": lambda model: list(model.bound() or ()),
            "alpha": lambda model: (model.predict(lists[:1]), model.alpha_, model.mistakes_),
        },
    )


CASES = [
    Case(
        "Perceptron",
        make=lambda: et.Perceptron(_phi, n_epochs=3),
        data=lambda: (SENTENCES, [1] * 6),
        other=lambda: (OTHERS, [0] * 6),
        bad=lambda: (SENTENCES, [9] * 6),
        grid={"n_epochs": [1, 2]},
        saves=False,  # no file holds a function
        asks={**ASKED, "top": lambda model: model.top_features(3)},
    ),
    Case(
        "Perceptron, of features",
        make=lambda: et.Perceptron(n_epochs=3, average=False),
        data=lambda: ([list(map(_phi, one)) for one in SENTENCES], [1] * 6),
        other=lambda: ([list(map(_phi, one)) for one in OTHERS], [0] * 6),
        bad=lambda: (SENTENCES, [1] * 6),
        grid={"average": [True, False]},
        asks={
            "scores": lambda model: model.scores([list(map(_phi, one)) for one in SENTENCES]),
            "bound": lambda model: list(model.bound() or ()),
        },
    ),
    _dual("trees", et.TreeKernel(0.4), TREES),
    _dual("baseline", et.TreeKernel(0.4), TREES_AND_LOGS, baseline=0.5, average="vote"),
    _dual("sequences", et.SequenceKernel(0.5, match="capitalization"), TAGGED, average=None),
    _dual("sums", et.PolynomialKernel(2) + 0.5 * et.PolynomialKernel(3).normalized(), VECTORS),
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
