"""What fitted taggers and two-view models say about themselves."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from eigentext.corpus.scarcity import once_findings_of
from eigentext.estimators import Finding
from eigentext.tagging.choices import ARGUMENTS
from eigentext.tagging.features import Sentence

_MANY_WRONG = 0.05  # share of wrong tags in the last pass
_ENOUGH_KNOWN = 0.8  # share of the tokens that a source knows
_WEAK = 0.1  # a first correlation below this is little more than noise
_FEW_LABELED = 10  # labeled rows for each class or coordinate are too few below this number


def tagger_findings(
    found: Mapping[str, Any], *, n_epochs: int, n_iter: int, temperature: float
) -> Iterator[Finding]:
    """Judge a tagger by its diagnostics and its temperature.

    Parameters
    ----------
    found
        The diagnostics.
    n_epochs, n_iter
        The largest numbers of passes of a perceptron, and of iterations of a CRF.
    temperature
        1 if the confidences of a perceptron are not calibrated.
    """
    if wrong := found.get("wrong_tags"):
        share = wrong[-1] / max(found["n_tokens"], 1)
        yield Finding(
            "note",
            f"In its last pass, {share:.1%} of the tags that it learned from were wrong.",
            "" if share < _MANY_WRONG else "Raise n_epochs, or give more features.",
        )
        if temperature == 1.0:
            yield Finding(
                "warning",
                "Its confidences are not calibrated, because there were too few sentences.",
                "Call calibrate with tagged sentences that it has not learned from.",
            )
    if (losses := found.get("loss")) and len(losses) >= n_iter:
        yield Finding(
            "note",
            f"The CRF used all of its {n_iter:,} iterations, so that it may not have converged.",
            "Raise n_iter.",
        )
    if scores := found.get("validation"):
        best = max(range(len(scores)), key=scores.__getitem__)
        yield Finding(
            "note",
            f"It is best on the validation sentences after pass {best + 1} of {len(scores)}: "
            f"{scores[best]:.1%}.",
            "Raise n_epochs: more passes may be better." if best + 1 == n_epochs else "",
        )
    for name, share in found["coverage"].items():
        source = ARGUMENTS.get(name, name)
        yield Finding(
            "note" if share > _ENOUGH_KNOWN else "warning",
            f"{share:.0%} of the training tokens are known to {source}.",
            ""
            if share > _ENOUGH_KNOWN
            else f"Learn {source} from more text of the same language, with the same tokens.",
        )


def word_facts(sentences: Iterable[Sentence]) -> dict[str, int]:
    """Count the different words of sentences, and those that occur once."""
    counts = Counter(token[0] for sentence in sentences for token in sentence)
    return {"n_words": len(counts), "n_once": sum(n == 1 for n in counts.values())}


def tagger_size_findings(found: Mapping[str, Any]) -> Iterator[Finding]:
    """Report on a training set in which most words occur once."""
    if {"n_once", "n_words"} <= found.keys():  # older files have none
        more = "vectors or clusters that were learned from plain text"
        remedy = f"Give more tagged sentences, or {more}."
        yield from once_findings_of(found["n_once"], found["n_words"], found["n_tokens"], remedy)


def two_view_findings(found: Mapping[str, Any], *, n_components: int) -> Iterator[Finding]:
    """Judge a two-view model by its diagnostics. `n_components` is the number asked for."""
    kept, first = found["n_components"], found["correlations"][0]
    yield Finding(
        "note" if first >= _WEAK else "warning",
        f"The two views have correlations from {first:.2f} to {found['correlations'][-1]:.2f}.",
        ""
        if first >= _WEAK
        else "The views share almost nothing. Check that the rows of both views belong together.",
    )
    if kept < n_components:
        yield Finding(
            "warning",
            f"It keeps {kept} of {n_components} coordinates, because the others do not correlate.",
            "Lower n_components, or give more unlabeled rows.",
        )
    if found["n_labelled"] < _FEW_LABELED * kept and not found["n_unlabelled"]:
        yield Finding(
            "note",
            f"It learned {kept} coordinates from {found['n_labelled']:,} labeled rows and no "
            "unlabeled ones.",
            "Give unlabeled rows: they need no answers, and they make the coordinates better.",
        )
    for view in ("first", "second"):
        if constant := found.get(view, {}).get("constant_columns"):
            yield Finding(
                "note",
                f"In the {view} view, {constant:,} columns are constant and have no effect.",
                "Leave them out.",
            )
