"""The parameters of global linear models."""

from eigentext.kernels.parameters import a_function, a_kernel
from eigentext.parameters import REQUIRED, Choice, Count, Flag, Number, Table

AVERAGES = ("mean", "vote")

Perceptron = Table(
    "Perceptron",
    phi=a_function("from a candidate to its features"),
    gen=a_function("from an input to its candidates"),
    n_epochs=Count(10),
    average=Flag(True),
)

KernelPerceptron = Table(
    "KernelPerceptron",
    kernel=a_kernel(REQUIRED),
    n_epochs=Count(10),
    average=Choice("mean", of=AVERAGES, none=True),
    baseline=Number(None, least=0),
)
