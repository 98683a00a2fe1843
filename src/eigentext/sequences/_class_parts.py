"""The parts of a class bigram: p(c2 | c1), p(w | c), its hidden Markov model, and its findings."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.symbols import is_stream, special_names
from eigentext.estimators import Finding, learned_with
from eigentext.evaluate.classes import mutual_information
from eigentext.matrices.runs import CSR
from eigentext.moments import NgramMoments
from eigentext.sequences._language_model import rare_word_findings
from eigentext.sequences._trie import Tables, Trie
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.kneser_ney import KneserNey
from eigentext.sequences.learning.classes import FIXED, class_pairs

_LITTLE = 0.5  # clusters that have fewer of the tokens deserve a warning


def transitions_of(moments: NgramMoments, C: CSR, labels: np.ndarray, smooth: bool) -> KneserNey:
    """Return the bigram model of classes.

    Parameters
    ----------
    moments, C
        The counts of words, and of pairs of words.
    labels
        The class of each symbol. The rare word and the edge have the last two.
    smooth
        Whether to smooth. The moments of a distribution are exact and never smoothed.
    """
    n = int(labels[-1]) + 1
    counts = np.zeros(n, moments.unigrams.dtype)
    np.add.at(counts, labels, moments.unigrams)
    N = class_pairs(C, labels, n)
    names = _class_names(moments.vocabulary, n - FIXED)
    is_count = np.issubdtype(N.dtype, np.integer) and np.issubdtype(counts.dtype, np.integer)
    model = learned_with(KneserNey, {"order": 2})
    if smooth and is_count:
        vocabulary = Vocabulary(names, counts[:-FIXED])
        options, sources = moments.options, moments.sources
        return model._learn(NgramMoments(vocabulary, counts, [N], False, options, sources))
    model._tables = _unsmoothed(N, counts, is_stream(moments.options))
    model.vocabulary_ = Vocabulary(names, np.zeros(len(names), np.int64))
    model.provenance_ = {"n_tokens": 0, "options": moments.options, "sources": moments.sources}
    model.diagnostics_ = {"n_words": len(names), "ngrams": [n, N.nnz], "total": 1.0}
    return model


def _class_names(vocabulary: Vocabulary, n: int) -> list[str]:
    """Names such as CLASS-007, as SRILM gives them. No word has the same name."""
    width = len(str(n - 1))
    return special_names(vocabulary, *(f"CLASS-{k:0{width}d}" for k in range(n)))


def _unsmoothed(N: CSR, counts: np.ndarray, stream: bool) -> Tables:
    """Relative frequencies. A class that nothing follows has those of single classes."""
    N, events = N.astype(np.float64), counts.astype(np.float64)
    if stream:
        events[-1] = 0
    rows = np.asarray(N.sum(axis=1))
    trie = Trie.of(len(counts), [N])
    p = N.data / np.repeat(rows, np.diff(N.indptr))
    return Tables(trie, np.concatenate([events / events.sum(), p]), (rows == 0).astype(np.float64))


def emissions(classes: np.ndarray, counts: np.ndarray, K: int) -> np.ndarray:
    """Return p(w | C(w)), the shares of words in the tokens of their class.

    If a class has words without tokens, a discount of half of its least count is taken from the
    words with tokens and divided evenly among all words of the class.
    """
    counts = counts.astype(np.float64)
    total, size = np.bincount(classes, counts, K), np.bincount(classes, minlength=K)
    seen = np.bincount(classes, counts > 0, K)
    least = np.full(K, np.inf)
    np.minimum.at(least, classes, np.where(counts > 0, counts, np.inf))
    discount = np.where((seen > 0) & (seen < size), np.where(np.isfinite(least), least, 0) / 2, 0)
    smooth = np.where(counts > 0, counts - discount[classes], 0)
    smooth += (discount * seen / size)[classes]
    total = total[classes]
    return np.where(total > 0, smooth / np.where(total > 0, total, 1), 1 / size[classes])


def information(C: CSR, labels: np.ndarray) -> float:
    """Return the mutual information of adjacent classes, without the edges of units."""
    pairs = C.tocoo()
    first, second = pairs.coords
    inside = (first != len(labels) - 1) & (second != len(labels) - 1)
    return mutual_information(labels[first[inside]], labels[second[inside]], pairs.data[inside])


def hmm_parameters(
    transitions: KneserNey, classes: np.ndarray, emission: np.ndarray, stream: bool
) -> tuple[HMMParameters, np.ndarray]:
    """Return the parameters of the hidden Markov model with a state for each class.

    Also return the numbers of its symbols: the words, the rare word unless it is impossible, and
    the end of a unit unless the text is a stream.
    """
    tables, K, n = transitions._tables, len(transitions.vocabulary_), len(classes)
    T = np.array([tables.distribution([c]) for c in range(K + FIXED)])
    initial = tables.distribution([]) if stream else T[-1]
    extra = np.flatnonzero(np.append(T, initial[None], axis=0)[:, K:].any(axis=0))
    states, symbols = np.append(np.arange(K), extra + K), np.append(np.arange(n), extra + n)
    O = np.zeros((K + FIXED, n + FIXED))  # noqa: E741 - the letter of the papers
    O[classes, np.arange(n)] = emission
    O[[K, K + 1], [n, n + 1]] = 1
    O = O[np.ix_(states, symbols)]  # noqa: E741
    return HMMParameters(initial[states], T[np.ix_(states, states)], O.T), symbols


def findings_of(found: dict[str, Any], provenance: dict[str, Any]) -> Iterator[Finding]:
    """Say what the diagnostics mean."""
    if "average_mutual_information" not in found:
        yield Finding("note", "The model was read from files of classes, which have no counts.")
        return
    yield Finding(
        "note",
        f"The average mutual information of {found['n_classes']:,} classes is "
        f"{found['average_mutual_information']:.4f} nats.",
    )
    if found.get("covered", 1.0) < _LITTLE:
        yield Finding(
            "warning",
            f"The given clusters have only {found['covered']:.0%} of the tokens. All other words "
            "share one class.",
            "Give clusters of this text, or let exchange=True (--exchange) place the words.",
        )
    if found.get("empty_classes"):
        yield Finding(
            "note",
            f"{found['empty_classes']:,} of the given clusters have no word of the text. They are "
            "left out.",
        )
    if not found.get("converged", True):
        yield Finding(
            "note",
            f"The classes still improved in the last of {found['n_iter']} sweeps.",
            "Raise n_iter (--iterations) for a little more.",
        )
    yield from rare_word_findings(found, provenance)
