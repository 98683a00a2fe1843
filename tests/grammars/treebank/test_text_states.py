"""States of rare and unseen words by plain text."""

import numpy as np
import pytest

from eigentext.corpus.toy_treebank import sampled_trees
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import em, random_start
from eigentext.grammars.treebank.plain_text import mate_weight
from eigentext.grammars.treebank.text_states import _NU

WORDS = ["the", "river", "xyz", "Cats", "of", "unheard"]
CLUSTERS = {"river": "00", "cat": "00", "unheard": "00", "saw": "01", "found": "01", "dog": "10"}


@pytest.fixture(scope="module")
def counted():
    trees = sampled_trees(80, seed=3)
    with pytest.warns(UserWarning, match="words of clusters"):
        return CountedTrees(trees, rare=5, beta=1.0, gamma=3.0, clusters=CLUSTERS, horizontal=0)


@pytest.fixture(scope="module")
def words(counted):
    start = random_start(counted.trees, counted.pcfg, 3, 1, 0.1, np.random.default_rng(0))
    return counted.level(em(counted.trees, start, 5)[0]).words


def test_rows_are_the_formula(words):
    text, lexicon = words.text, words.lexicon
    dense = words.counts.toarray()
    for word, row in zip(WORDS, text.rows([(word, False) for word in WORDS])):
        mates = [
            x
            for x, other in enumerate(lexicon.words)
            if lexicon.text.group(other) == lexicon.text.group(word) >= 0
        ]
        weights = mate_weight(lexicon.counts[mates])
        states = weights @ dense[mates] if mates else np.zeros(len(text.tags))
        tags = np.bincount(text.tags, states)[text.tags]  # EM: states of a tag add up to it
        p = lexicon.text.tags(word, False)[text.tags]
        expected = p * (states + _NU * text.in_tag) / (tags + _NU)
        np.testing.assert_allclose(row, expected, rtol=1e-10, atol=1e-300)


def test_rows_are_distributions(words):
    # The states of a tag share its probability; inner labels have none.
    for (word, first), row in zip(
        pairs := [(word, first) for word in WORDS for first in (False, True)],
        words.text.rows(pairs),
    ):
        by_tag = np.bincount(words.text.tags, row)
        np.testing.assert_allclose(by_tag[1:], words.lexicon.text.tags(word, first)[1:], rtol=1e-9)


def test_sums_add_up_rows(words):
    rows = words.text.rows([(word, False) for word in WORDS])
    np.testing.assert_allclose(words.text.sums(WORDS), rows.sum(axis=0), rtol=1e-12)


def test_scores_of_chosen_states_are_those_of_all(words):
    rows = words(WORDS)
    position, state = np.nonzero(rows >= 0)
    order = np.argsort(position, kind="stable")
    position, state = position[order], state[order]
    np.testing.assert_allclose(words.at(WORDS, position, state), rows[position, state], rtol=1e-12)


def test_known_words_and_classes_sum_to_one(words):
    lexicon = words.lexicon
    total = sum(words([".", word])[1] for word in lexicon.words)
    total = total + (words.unseen @ words.classes) / words.totals
    used = words.counts.sum(axis=0) > 0
    np.testing.assert_allclose(total[used], 1, rtol=1e-9)


def test_mates_lend_their_states(counted):
    """An unseen word in the cluster of a noun is more of a noun than one without a cluster."""
    words = counted.level(counted.pcfg).words
    symbols = counted.treebank.symbols
    nouns = [s for s, symbol in enumerate(symbols) if symbol.chain[-1] == "NN"]
    with_mates, alone = words([".", "unheard", "unheared"])[1:]
    assert with_mates[nouns].sum() / with_mates.sum() > alone[nouns].sum() / alone.sum()
