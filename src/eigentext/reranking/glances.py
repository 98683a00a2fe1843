"""What a notebook shows of a reranker."""

from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance


def reranker(model: Any) -> Glance:
    """Sizes, what was chosen, and the mistakes of each pass."""
    found = model.diagnostics_
    facts = [
        ("lists", found["n_inputs"]),
        ("candidates", found["n_candidates"]),
        ("support structures", found["n_support"]),
        ("decay", found["decay"]),
        ("weight of the log-probability", found["beta"]),
    ]
    if found.get("validation") is not None:
        facts.append((f"{found['measure']}, held out", f"{float(found['validation']):.2%}"))
    return Glance(
        "the best of a base model's candidates",
        facts=[(name, value) for name, value in facts if value is not None],
        picture=notebook.curve([float(n) for n in found["n_mistakes"]], title="mistakes"),
        calls=[
            ("model.predict(lists)", "the best candidate of each list"),
            ("model.evaluate(lists, gold)", "scores, before and after"),
            ("model.explore()", "the explorer, in this cell or in a browser"),
            ("model.save('my-reranker')", "a file; et.load reads it"),
        ],
    )


def tree_reranker(model: Any) -> Glance:
    """Sizes, what was chosen, and the largest weights."""
    found = model.diagnostics_
    facts = [
        ("lists", found["n_inputs"]),
        ("candidates", found["n_candidates"]),
        ("brackets", found["n_brackets"]),
        ("features", found["n_features"]),
        ("penalty", found.get("penalty")),
    ]
    if found.get("validation") is not None:
        facts.append((f"{found['measure']}, held out", f"{float(found['validation']):.2%}"))
    rows = [(name, f"{weight:.3f}") for name, weight in model.top_features(8)]
    return Glance(
        "the best of a parser's candidates, by features of brackets",
        facts=[(name, value) for name, value in facts if value is not None],
        parts=[notebook.table(("feature", "weight"), rows)],
        calls=[
            ("model.apply(parser, sentences)", "the best tree of each sentence"),
            ("model.evaluate(lists, gold)", "scores, before and after"),
            ("model.save('my-reranker')", "a file; et.load reads it"),
        ],
    )


GLANCES = {"Reranker": reranker, "TreeReranker": tree_reranker}
