"""Global linear models: the perceptron in its primal and in its dual form."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigentext.linear.dual import KernelPerceptron
    from eigentext.linear.perceptron import Perceptron

__all__ = ["KernelPerceptron", "Perceptron"]

_HOMES = {
    "KernelPerceptron": "dual",
    "Perceptron": "perceptron",
}


def __getattr__(name: str):
    if name in _HOMES:
        return getattr(import_module(f"eigentext.linear.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'eigentext.linear' has no attribute {name!r}")
