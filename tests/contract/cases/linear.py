"""Perceptrons in both forms."""

from collections import Counter

import eigentext as et
from contract.candidates import PAIRS, TAGGED, TREES, TREES_AND_LOGS
from contract.case import Case


def _phi(sentence):
    words = sentence.split()
    return Counter(zip(["", *words], words))


SENTENCES = [[f"{n} the {v}", f"the {n} {v}", f"{v} the {n}"] for n, v in PAIRS]
OTHERS = [[f"a {n} {v}", f"{n} {v} a"] for n, v in PAIRS]
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
]
