"""What a notebook shows of language models and hidden Markov models."""

from typing import Any

import numpy as np

from eigentext import notebook
from eigentext.notebook import Glance

_STATES, _WORDS, _STRINGS = 10, 8, 12


def hmm(model: Any) -> Glance:
    """Sizes, the spectrum or the curve of EM, and the words of each state."""
    found = getattr(model, "diagnostics_", {})
    rank = int(found.get("rank", 0))
    values = [float(value) for value in found.get("singular_values", ())]
    is_spectral = model.parameters_.method == "spectral"  # it has no emissions
    facts = [
        ("states", model.n_states),
        ("symbols", len(model.symbols_)),
        *_tokens(model),
        ("method", model.parameters_.method),
    ]
    if "anchors" in found:
        facts.append(("tags", ", ".join(model.tags_[:_STATES])))
    if "passes" in found:
        facts.append(("passes of EM", round(found["passes"])))
    history = [float(value) for value in np.ravel(getattr(model, "history_", ()))]
    return Glance(
        "a hidden Markov model of sequences",
        facts=facts,
        picture=notebook.curve(history, title="log-likelihood per token")
        or notebook.spectrum(values[:rank], values[rank : rank + 20]),
        parts=[] if is_spectral else _states_of(model.emission_, model.symbols_),
        calls=[
            ("model.predict_next(['the'])", "the probability of each symbol, next"),
            ("model.log_probability(words)", "how probable a sequence is"),
            ("model.sample(5, 10)", "random sequences"),
            ("model.plot()", "a figure"),
            *_MORE,
        ],
    )


def automaton(model: Any) -> Glance:
    """Sizes, the spectrum, and the most frequent strings of the basis."""
    found = model.diagnostics_
    rank = int(found.get("rank", 0))
    values = [float(value) for value in found.get("singular_values", ())]
    prefixes, suffixes = (
        notebook.words(" ".join(map(str, string)) or "(empty)" for string in strings[:_STRINGS])
        for strings in model.basis_
    )
    return Glance(
        "a weighted automaton of sequences",
        facts=[
            ("states", len(model.start_)),
            ("symbols", len(model.symbols_)),
            *_tokens(model),
            *_known(found, prefixes="prefixes", suffixes="suffixes"),
            ("statistics", model.parameters_.statistics),
        ],
        picture=notebook.spectrum(values[:rank], values[rank : rank + 20]),
        parts=[
            notebook.table(
                ("the basis", "first strings"), [("prefixes", prefixes), ("suffixes", suffixes)]
            )
        ],
        calls=[
            ("model.predict_next(['the'])", "the probability of each symbol and the end, next"),
            ("model.log_probability(words)", "how probable a whole sequence is"),
            ("model.sample(5, 10)", "random sequences"),
            ("model.plot()", "a figure"),
            *_MORE,
        ],
    )


def bigram(model: Any) -> Glance:
    """Sizes, the curve of EM, and the words of each state."""
    found = model.diagnostics_
    facts = [
        ("states", len(model.prior_)),
        ("words", len(model.vocabulary_)),
        *_tokens(model),
        *_known(found, perplexity="perplexity", heldout_perplexity="perplexity, held out"),
    ]
    symbols = model.vocabulary_.words
    return Glance(
        "pairs of words through hidden states",
        facts=facts,
        picture=notebook.curve(
            getattr(model, "history_", {}).get("heldout_perplexity", ()),
            title="perplexity, held out",
        ),
        parts=_states_of(np.asarray(model.s_).T[:, : len(symbols)], symbols),
        calls=[
            ("model.probability('cat', given='the')", "of a word after another"),
            ("model.perplexity(tokens)", "on other text"),
            *_MORE,
        ],
    )


def class_bigram(model: Any) -> Glance:
    """Sizes, the curve of the sweeps, and the words of some classes."""
    found = model.diagnostics_
    n_classes = found["n_classes"]
    rows = [(k, notebook.words(model.words(k, _WORDS))) for k in range(min(n_classes, _STATES))]
    more = n_classes - len(rows)
    last = f"and {more:,} more classes" if more > 0 else ""
    return Glance(
        "pairs of words through their classes",
        facts=[
            ("classes", n_classes),
            ("words", len(model.vocabulary_)),
            *_tokens(model),
            *_known(found, n_iter="sweeps", average_mutual_information="mutual information"),
        ],
        picture=notebook.curve(model.history_, title="log-likelihood per token"),
        parts=[notebook.table(("class", "most probable words"), rows, last=last)],
        calls=[
            ("model.class_of('cat')", "the class of a word"),
            ("model.words(0)", "the words of a class"),
            ("model.perplexity(tokens)", "on other text"),
            ("model.to_hmm()", "the same as a hidden Markov model"),
            *_MORE,
        ],
    )


def kneser_ney(model: Any) -> Glance:
    """The numbers of n-grams and the discounts of each order."""
    found = model.diagnostics_
    rows = [
        (order, n, ", ".join(f"{float(value):.2f}" for value in discounts))
        for order, (n, discounts) in enumerate(zip(found["ngrams"], found["discounts"]), 1)
    ]
    return Glance(
        f"n-grams of up to {model.parameters_.order} words, with Kneser-Ney smoothing",
        facts=[("words", len(model.vocabulary_)), *_tokens(model)],
        parts=[notebook.table(("n", "different n-grams", "discounts"), rows)],
        calls=[
            ("model.perplexity(tokens)", "on other text"),
            ("model.distribution(['the'])", "the probability of each word, next"),
            *_MORE,
        ],
    )


def interpolation(model: Any) -> Glance:
    """The weights of the models."""
    found = model.diagnostics_
    weights = np.atleast_2d(model.weights_).mean(axis=0)  # a row for each group of counts
    rows = [
        (number, notebook.share(float(weight)), float(perplexity))
        for number, (weight, perplexity) in enumerate(zip(weights, found["model_perplexities"]), 1)
    ]
    return Glance(
        "a mixture of language models",
        facts=[("perplexity, held out", float(found["perplexity"]))],
        parts=[notebook.table(("model", "weight", "perplexity alone"), rows)],
        calls=[("model.perplexity(tokens)", "on other text")],
    )


def hmm_tagger(model: Any) -> Glance:
    """Sizes, and the tags."""
    found = model.diagnostics_
    names = {
        "n_sentences": "sentences",
        "n_tokens": "tokens",
        "n_words": "words",
        "n_states": "states",
    }
    return Glance(
        "a tagger that is a hidden Markov model",
        facts=[*_known(found, **names), ("tags", ", ".join(map(str, model.tags_)))],
        calls=[
            ("model.tag('the cat sleeps')", "a sentence with its tags"),
            ("model.k_best(sentence, 5)", "the best taggings of a sentence"),
            *_MORE,
        ],
    )


def refinement_hmm(model: Any) -> Glance:
    """Sizes, the curve of EM, and the words of the states of the tag with most states."""
    found = model.diagnostics_
    names = {
        "n_sentences": "sentences",
        "n_tokens": "tokens",
        "n_words": "words",
        "n_tags": "tags",
        "n_states": "states of all tags",
    }
    parts = []
    if model.parameters_.method != "spectral":  # which has no emissions
        tag = max(model.tags_, key=lambda one: (model.states_[one], one))
        rows = [
            (f"{tag}, state {state}", notebook.words(word for word, _ in words))
            for state, words in enumerate(model.refinements(tag, _WORDS)[:_STATES])
        ]
        parts = [notebook.table(("state", "most probable words"), rows)]
    return Glance(
        "a tagger whose tags have hidden states",
        facts=[*_known(found, **names), ("method", model.parameters_.method)],
        picture=notebook.curve(model.history_, title="log-likelihood per token"),
        parts=parts,
        calls=[
            ("model.tag('the cat sleeps')", "a sentence with its tags"),
            ("model.marginals(sentence)", "the probability of each tag of each token"),
            ("model.refinements('NN')", "the words of the states of a tag"),
            *_MORE,
        ],
    )


_MORE = (
    ("model.explore()", "the explorer, in this cell or in a browser"),
    ("model.save('my-model')", "a file; et.load reads it"),
)
GLANCES = {
    "HMM": hmm,
    "WeightedAutomaton": automaton,
    "BigramModel": bigram,
    "ClassBigram": class_bigram,
    "KneserNey": kneser_ney,
    "Interpolation": interpolation,
    "HMMTagger": hmm_tagger,
    "RefinementHMM": refinement_hmm,
}


def _tokens(model: Any) -> list[tuple[str, Any]]:
    read = getattr(model, "provenance_", {})
    return [("tokens read", read["n_tokens"])] if "n_tokens" in read else []


def _known(found: dict[str, Any], **names: str) -> list[tuple[str, Any]]:
    return [(name, found[key]) for key, name in names.items() if key in found]


def _states_of(emission: Any, symbols: list[str]) -> list[str]:
    """A table with the most probable symbols of each state."""
    rows = []
    for state, chances in enumerate(np.asarray(emission)[:_STATES]):
        best = np.argsort(-chances, kind="stable")[:_WORDS]
        some = (symbols[place] for place in best if chances[place] > 0)
        rows.append((state, notebook.words(some)))
    more = len(emission) - len(rows)
    last = f"and {more} more states" if more > 0 else ""
    return [notebook.table(("state", "most probable words"), rows, last=last)]
