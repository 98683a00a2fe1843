"""What a fitted perceptron of either form says about itself."""

from collections.abc import Iterator, Sequence

from eigentext.estimators import Finding

_MANY = 0.3  # share of wrong choices in the last pass


def run_findings(
    n_mistakes: Sequence[int], n_examples: int, n_epochs: int, cure: str
) -> Iterator[Finding]:
    """Judge a run by the mistakes of its passes.

    Parameters
    ----------
    n_mistakes
        The number of mistakes in each pass.
    n_examples, n_epochs
        The number of examples, and the largest number of passes.
    cure
        What to change if the model cannot separate the examples.
    """
    last = n_mistakes[-1]
    if not sum(n_mistakes):
        yield Finding(
            "warning",
            "It made no mistakes while it learned. So all weights are zero, and it always chooses "
            "the first candidate.",
            "Do not put the right candidate first in every list, and give lists with several "
            "different candidates.",
        )
    elif last == 0:
        yield Finding(
            "note",
            f"It separates the examples: pass {len(n_mistakes)} over the {n_examples:,} examples "
            "had no mistakes.",
        )
    else:
        share = last / n_examples
        yield Finding(
            "note" if share < _MANY else "warning",
            f"In its last pass it chose a wrong candidate in {share:.0%} of the examples.",
            f"Raise n_epochs (now {n_epochs}), or {cure}.",
        )
