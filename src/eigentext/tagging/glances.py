"""What a notebook shows of taggers and of estimators with two views."""

from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance

_TAGS, _FEATURES = 8, 4


def tagger(model: Any) -> Glance:
    """Sizes, the curve of learning, and the strongest features of a few tags."""
    found = model.diagnostics_
    names = {
        "n_sentences": "sentences",
        "n_tokens": "tokens",
        "n_tags": "tags",
        "n_weighted": "features with a weight",
    }
    rows = [
        (tag, notebook.words(name for name, _ in model.top_features(tag, _FEATURES)))
        for tag in model.tags_[:_TAGS]
    ]
    more = len(model.tags_) - len(rows)
    return Glance(
        f"a tagger ({model.parameters_.model})",
        facts=[
            *((name, found[key]) for key, name in names.items() if key in found),
            ("columns", ", ".join(model.columns_)),
        ],
        picture=notebook.curve(found.get("wrong_tags", ()), title="wrong tags in each pass")
        or notebook.curve(found.get("loss", ()), title="loss"),
        parts=[
            notebook.table(
                ("tag", "strongest features"),
                rows,
                last=f"and {more} more tags" if more > 0 else "",
            )
        ],
        calls=[
            ("model.tag(['The cat sleeps.'])", "sentences with their tags"),
            ("model.evaluate(tagged)", "scores on other sentences"),
            ("model.confidences(sentences)", "how sure the tags are"),
            ("model.plot()", "a figure"),
            ("model.explore()", "the explorer, in this cell or in a browser"),
            ("model.save('my-tagger')", "a file; et.load reads it"),
        ],
    )


def two_view(model: Any) -> Glance:
    """The correlations of the views."""
    found = model.diagnostics_
    return Glance(
        "a linear model on what two views share",
        facts=[
            ("examples with labels", found["n_labelled"]),
            ("examples without", found["n_unlabelled"]),
            ("components", found["n_components"]),
        ],
        picture=notebook.spectrum(
            found["correlations"],
            found.get("next_correlations", ()),
            title="correlations of the views",
        ),
        calls=[
            ("model.predict(X)", "labels or values"),
            ("model.transform(X)", "the shared components"),
            ("model.save('my-model')", "a file; et.load reads it"),
        ],
    )


GLANCES = {"Tagger": tagger, "TwoViewClassifier": two_view, "TwoViewRegressor": two_view}
