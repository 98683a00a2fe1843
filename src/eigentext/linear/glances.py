"""What a notebook shows of perceptrons."""

from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance


def perceptron(model: Any) -> Glance:
    """Sizes, and the mistakes of each pass."""
    return Glance(
        "a perceptron that ranks candidates",
        facts=_sizes(model, "n_features", "features"),
        picture=_mistakes(model),
        calls=_CALLS,
    )


def kernel_perceptron(model: Any) -> Glance:
    """The same, with its kernel."""
    return Glance(
        "a perceptron that compares candidates by a kernel",
        facts=[*_sizes(model, "n_support", "support candidates"), ("kernel", model.kernel_)],
        picture=_mistakes(model),
        calls=_CALLS,
    )


_CALLS = (
    ("model.predict(lists)", "the best candidate of each list"),
    ("model.scores(lists)", "the scores of all candidates"),
    ("model.save('my-perceptron')", "a file; et.load reads it"),
)
GLANCES = {"Perceptron": perceptron, "KernelPerceptron": kernel_perceptron}


def _sizes(model: Any, key: str, name: str) -> list[tuple[str, Any]]:
    found = model.diagnostics_
    return [
        ("examples", found["n_examples"]),
        ("candidates", found["n_candidates"]),
        (name, found[key]),
        ("passes", found["n_epochs"]),
        ("separable", "yes" if found["separable"] else "no"),
    ]


def _mistakes(model: Any) -> str:
    return notebook.curve([float(n) for n in model.n_mistakes_], title="mistakes in each pass")
