"""The parameters of kernels."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from eigentext.parameters import REQUIRED, Choice, Count, Flag, Given, Number, Table

MATCHES = ("exact", "capitalization", "factor")
DECAY = Number(1.0, above=0, most=1)


def _is_kernel(value: object) -> bool:
    return hasattr(value, "gram") and hasattr(value, "encode") and not isinstance(value, type)


def a_kernel(default: Any, **options: Any) -> Given:
    """Describe a parameter that is a kernel."""
    # A deep copy: a kernel may contain kernels, and a user may change their parameters later.
    what = "a kernel, as TreeKernel(decay=0.4)"
    return Given(default, what=what, test=_is_kernel, keep=deepcopy, **options)


def a_function(what: str) -> Given:
    """Describe a parameter that is a function."""
    return Given(None, what=f"a function {what}", test=callable, keep=lambda function: function)


def _is_match(value: object) -> bool:
    return isinstance(value, Mapping) or callable(value) or Choice("", of=MATCHES).allows(value)


TreeKernel = Table("TreeKernel", decay=DECAY)

SequenceKernel = Table(
    "SequenceKernel",
    decay=DECAY,
    match=Given(
        "exact",
        what="'exact', 'capitalization', 'factor', a mapping of words to classes, or a function "
        "of a word",
        test=_is_match,
    ),
    joint=Flag(False),
)

LinearKernel = Table("LinearKernel", phi=a_function("from a structure to its features"))

PolynomialKernel = Table("PolynomialKernel", degree=Count(2), phi=LinearKernel["phi"])

SumKernel = Table("SumKernel", first=a_kernel(REQUIRED), second=a_kernel(REQUIRED))
ProductKernel = Table("ProductKernel", first=a_kernel(REQUIRED), second=a_kernel(REQUIRED))
ScaledKernel = Table("ScaledKernel", kernel=a_kernel(REQUIRED), scale=Number(REQUIRED, above=0))
NormalizedKernel = Table("NormalizedKernel", kernel=a_kernel(REQUIRED))
BaselineKernel = Table("BaselineKernel", kernel=a_kernel(REQUIRED), beta=Number(REQUIRED, least=0))
