"""What a notebook shows of grammars."""

from typing import Any

from eigentext import notebook
from eigentext.notebook import Glance

_LABELS = 12


def pcfg(model: Any) -> Glance:
    """Sizes of the treebank and of the grammar."""
    return Glance("a parser that counts rules", facts=_sizes(model), calls=_CALLS)


def latent_pcfg(model: Any) -> Glance:
    """The same, with the states of labels and the curve of learning."""
    used, found = model.parameters_, model.diagnostics_
    states: dict[str, int] = {}
    for symbol, n in zip(model.symbols_, model.n_states_):
        states.setdefault(str(symbol), int(n))
    most = sorted(states.items(), key=lambda one: -one[1])[:_LABELS]
    told = notebook.words(f"{label}: {n}" for label, n in most)
    told += " …" if len(states) > _LABELS else ""
    facts = [*_sizes(model), ("states of all labels", found["n_states"]), ("method", used.method)]
    if used.n_grammars > 1:
        facts.append(("grammars that vote", used.n_grammars))
    return Glance(
        "a parser whose labels have hidden states",
        facts=facts,
        picture=_picture(found.get("history", [])),
        parts=[notebook.pairs([("states of each label", told)])],
        calls=[*_CALLS[:-2], ("model.plot()", "a figure"), *_CALLS[-2:]],
    )


_CALLS = (
    ("model.parse('the cat saw a dog')", "the tree of a sentence, drawn"),
    ("model.k_best(tokens, 5)", "the best trees"),
    ("et.evaluate.brackets(gold, model.parse_many(sentences))", "scores by EVALB's rules"),
    ("model.explore()", "the explorer, in this cell or in a browser"),
    ("model.save('my-grammar')", "a file; et.load reads it"),
)
GLANCES = {"PCFG": pcfg, "LatentPCFG": latent_pcfg}


def _sizes(model: Any) -> list[tuple[str, Any]]:
    read, found = model.provenance_, model.diagnostics_
    return [
        ("trees", read["n_trees"]),
        ("tokens", read["n_tokens"]),
        ("words", read["n_words"]),
        ("labels, binarized", found["n_labels"]),
        ("rules", found["n_rules"]),
        ("parameters", found["n_parameters"]),
    ]


def _picture(history: list[dict[str, Any]]) -> str:
    """The curve of EM of the first grammar, if it has one."""
    first = history[0] if history else {}
    steps = [*first.get("em", ()), *first.get("smoothed", ())]
    return notebook.curve([float(value) for value in steps], title="log-likelihood")
