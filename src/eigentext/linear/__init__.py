"""Global linear models: the perceptron in its primal and in its dual form."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.linear.dual import KernelPerceptron
    from eigentext.linear.perceptron import Perceptron

__all__ = ["KernelPerceptron", "Perceptron"]

__getattr__ = lazily(
    __name__,
    {
        "KernelPerceptron": "dual",
        "Perceptron": "perceptron",
    },
)
