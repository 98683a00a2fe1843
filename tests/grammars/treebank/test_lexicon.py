"""Words: classes by hand, the terminals of EM, and a q that sums to one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.treebank.lexicon import Lexicon, word_class

SENTENCES = [
    "The dog walks .",
    "The old dog barks",
    "Barking dogs bite",
    "The dog saw 3 old dogs .",
    "Dogs sing",
]


def lexicon(sentences=SENTENCES, rare=1):
    tokens = [word for sentence in sentences for word in sentence.split()]
    is_first = [i == 0 for sentence in sentences for i, _ in enumerate(sentence.split())]
    return Lexicon(tokens, np.array(is_first), rare), tokens, np.array(is_first)


def seen(found, tokens, n_states, seed=0):
    """Posteriors for `learn`: each token in one state or in two, drawn by its word."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 3, len(tokens))
    states = [rng.permutation(n_states)[:n] for n in sizes]
    posteriors = [rng.dirichlet(np.ones(n)) for n in sizes]
    return np.concatenate(posteriors), np.concatenate(states), sizes


# classes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "first", "expected"),
    [
        ("Walking", False, "C+ing"),
        ("Walking", True, "F+ing"),
        ("walked", False, "+ed"),
        ("WALKING", False, "A+ing"),
        ("WALKING", True, "A+ing"),
        ("iPhones", False, "m+s"),
        ("A", False, "C"),  # one letter is no acronym
        ("I", True, "F"),
        ("U.S.", False, "A."),
        ("1987", False, "0"),
        ("1,234.5", False, "0."),
        ("mid-1980s", False, "#-+s"),
        ("20-year-old", False, "#-"),
        ("'80s", False, "#+s"),
        ("state-of-the-art", False, "-"),
        ("--", False, "-"),
        ("...", False, "."),
        ("%", False, ""),
        ("ing", False, ""),  # an ending alone is no ending
        ("king", False, ""),
        ("sing", False, ""),
        ("bring", False, "+ing"),
        ("boss", False, ""),  # neither ss, us nor is
        ("bus", False, ""),
        ("basis", False, ""),
        ("cats", False, "+s"),
        ("happiness", False, "+ness"),
        ("quickly", False, "+ly"),
        ("stupidity", False, "+ity"),
        ("biggest", False, "+est"),
        ("été", False, ""),
        ("Éclair", False, "C"),
        ("犬", False, ""),
        ("", False, ""),
    ],
)
def test_classes_by_hand(word, first, expected):
    assert word_class(word, first) == expected


@given(st.text(max_size=12), st.booleans())
def test_every_word_has_a_class_and_a_class_has_a_number(word, first):
    """The class itself, or a plainer one. The empty class always exists."""
    name = word_class(word, first)
    assert set(name.partition("+")[0]) <= set("#0AFCm-.")
    found, *_ = lexicon()
    number = found.class_number(name)
    assert name.startswith(found.classes[number]) or found.classes[number] == ""


def test_a_class_without_rare_words_is_a_plainer_one():
    found, *_ = lexicon(["a-b 12 Xyz", "a-b 12 12"])
    assert found.classes == ["", "C"]
    assert found.classes[found.class_number("C+ing")] == "C"
    assert found.classes[found.class_number("C-.+s")] == "C"
    assert found.classes[found.class_number("#-+ing")] == ""
    found, *_ = lexicon(["a-b"])
    assert found.classes == ["", "-"]
    assert found.classes[found.class_number("-.+s")] == "-"


# what is counted ----------------------------------------------------------------------------------


def test_words_and_terminals():
    found, tokens, is_first = lexicon(rare=1)
    counts = Counter(tokens)
    assert found.words == sorted(counts, key=lambda w: (-counts[w], w))
    assert found.counts.tolist() == [counts[w] for w in found.words]
    rare = {w for w in counts if counts[w] == 1}
    classes = {word_class(w, f) for w, f in zip(tokens, is_first) if w in rare}
    assert found.classes == sorted(classes | {""})
    for word, first, terminal in zip(tokens, is_first, found.terminals()):
        if word in rare:
            assert found.classes[terminal - len(found.words)] == word_class(word, first)
        else:
            assert found.words[terminal] == word


def test_a_word_is_in_the_class_of_most_of_its_tokens():
    found, *_ = lexicon(["Bill saw Bill", "Bill saw Bill", "a Bill", "Rover"], rare=9)
    assert found.classes[found.class_of[found.numbers["Bill"]]] == "C"
    found, *_ = lexicon(["Bill ran", "Bill ran", "a Bill"], rare=9)
    assert found.classes[found.class_of[found.numbers["Bill"]]] == "F"
    found, *_ = lexicon(["Bill saw Bill"], rare=9)  # as many: the first of the alphabet
    assert found.classes[found.class_of[found.numbers["Bill"]]] == "C"


@pytest.mark.parametrize("rare", [0, 1, 100])
def test_only_rare_words_are_classes(rare):
    found, tokens, _ = lexicon(rare=rare)
    terminals = found.terminals()
    assert (terminals < len(found.words)).sum() == sum(tokens.count(w) > rare for w in tokens)
    if rare == 0:
        assert found.classes == [""]
    if rare == 100:
        assert terminals.min() >= len(found.words)


# q ------------------------------------------------------------------------------------------------


def sums(words):
    """q over all known words and over the classes, for each state."""
    known = words.counts.toarray() + words.beta * words.classes[words.lexicon.class_of]
    classes = words.unseen[:, None] * words.classes
    return (known.sum(axis=0) + classes.sum(axis=0)) / words.totals


@pytest.mark.parametrize(("beta", "gamma"), [(1.0, 3.0), (0.0, 0.0), (0.0, 2.0), (5.0, 0.0)])
@pytest.mark.parametrize("rare", [0, 1, 5])
def test_q_sums_to_one(rare, beta, gamma):
    found, tokens, _ = lexicon(rare=rare)
    tags = np.array([0, 1, 1, 2, 2, 2, 3])
    posteriors, states, sizes = seen(found, tokens, 6)
    words = found.learn(posteriors, states, sizes, tags, beta=beta, gamma=gamma)
    total = sums(words)
    assert np.allclose(total[:6], 1, rtol=1e-12)
    assert total[6] == 0  # a state of no word
    assert np.isfinite(words.totals).all()


def test_q_by_hand():
    """The counts, the term of tags and the term of classes, one by one."""
    found, tokens, _ = lexicon(["the cats nap", "the cats the dogs", "birds nap the"], rare=1)
    # States: 0 and 1 are NN and NP+NN, whose tag is 1; 2 is a determiner, 3 a verb.
    tags = np.array([1, 1, 2, 3])
    state = {"the": 2, "cats": 0, "dogs": 1, "birds": 0, "nap": 3}
    states = np.array([state[w] for w in tokens])
    ones = np.ones(len(tokens), np.int64)
    words = found.learn(ones.astype(float), states, ones, tags, beta=0.5, gamma=3.0)
    # dogs and birds are rare, of class +s: half NN, half NP+NN. No rare word is plain, so the
    # empty class has the statistics of all rare words.
    assert found.classes == ["", "+s"]
    share = np.array([0.5, 0.5, 0, 0])
    assert np.allclose(words.classes, [share, share])
    assert words.unseen.tolist() == [0.5, 2]  # no word of the plain class was seen once
    raw = {
        "the": [0.25, 0.25, 4, 0],  # its tag has no rare words: nothing of gamma
        "cats": [2 + 1.5 + 0.25, 1.5 + 0.25, 0, 0],
        "dogs": [1.5 + 0.25, 1 + 1.5 + 0.25, 0, 0],
        "birds": [1 + 1.5 + 0.25, 1.5 + 0.25, 0, 0],
        "nap": [0.25, 0.25, 0, 2],
    }
    total = np.sum(list(raw.values()), axis=0) + (0.5 + 2) * share
    assert np.allclose(words.totals, total)
    assert np.allclose(words(list(raw)), np.array(list(raw.values())) / total)
    unseen = words(["the", "hens", "Hens", "egg"])[1:]
    assert np.allclose(unseen, np.array([2 * share, 2 * share, 0.5 * share])[[0, 2, 2]] / total)


def test_gamma_moves_nouns_to_joint_labels():
    """A noun never seen as a phrase by itself may be one, as often as rare nouns are."""
    trees = ["(S (NP (DT the) (NN dog)) (VP (VB barks)))"] * 3 + [
        "(S (NP (NN rain)) (VP (VB falls)))",
        "(S (NP (DT the) (NN sun)) (VP (VB shines)))",
        "(S (NP (NN snow)) (VP (VB melts)))",
    ]
    found = {}
    for gamma in (0.0, 3.0):
        learner = CountedTrees(trees, rare=1, beta=0.0, gamma=gamma)
        level = learner.level(learner.pcfg)
        names = [str(symbol) for symbol in learner.treebank.symbols]
        row = dict(zip(names, level.words(["the", "dog"])[1]))
        assert {name for name, q in row.items() if q} == {"NN"} | ({"NP+NN"} if gamma else set())
        assert np.allclose(sums(level.words)[[names.index("NN"), names.index("NP+NN")]], 1)
        found[gamma] = row
    assert found[3.0]["NN"] < found[0.0]["NN"]


def test_posteriors_may_be_any_vectors_when_totals_are_given():
    """Z(o) are not probabilities: c~ is linear in them, for any signs and sums."""
    found, tokens, _ = lexicon(rare=1)
    rng = np.random.default_rng(0)
    tags = np.array([0, 0, 0, 1, 1, 2])
    blocks = [(0, 1, 2), (3, 4), (5,)]  # a label's states, each of one tag
    chosen = [blocks[found.numbers[w] % 3] for w in tokens]
    sizes, states = np.array([len(b) for b in chosen]), np.concatenate(chosen)
    totals = rng.gamma(5.0, size=6)
    one, two = rng.normal(size=(2, len(states)))
    sentence = ["The", "walks", "Zoe", "barking", *found.words]
    answers = [
        found.learn(z, states, sizes, tags, beta=0.7, gamma=2.0, totals=totals)
        for z in (one, two, 3 * one - two)
    ]
    rows = [words(sentence) for words in answers]
    assert rows[0].min() < 0
    np.testing.assert_allclose(rows[2], 3 * rows[0] - rows[1], atol=1e-12)
    assert answers[0].totals is totals
    # Without smoothing, a word has the states of its tokens.
    words = found.learn(one, states, sizes, tags, beta=0.0, gamma=0.0, totals=totals)
    raw = np.zeros((len(found.words), 6))
    np.add.at(raw, (np.repeat([found.numbers[w] for w in tokens], sizes), states), one)
    np.testing.assert_allclose(words(["x", *found.words])[1:], raw / totals)


def test_unseen_words_and_the_first():
    found, tokens, _ = lexicon(rare=1)
    n = len(set(tokens))
    numbers = np.array([found.numbers[w] for w in tokens])  # every word a state of its own
    ones = np.ones(len(tokens), np.int64)
    words = found.learn(ones.astype(float), numbers, ones, np.zeros(n, int), beta=0.0, gamma=0.0)
    rows = words(["Walks", "Walks", "the", "The"])
    assert np.array_equal(np.flatnonzero(rows[0]), [found.numbers["walks"]])
    assert np.array_equal(np.flatnonzero(rows[3]), [found.numbers["The"]])
    for i, (word, first) in enumerate([("Walks", False), ("the", False)], 1):
        k = found.class_number(word_class(word, first))
        assert np.allclose(rows[i], words.unseen[k] * words.classes[k] / words.totals)
    # A capital at the beginning of a sentence says little. Known words are looked up as they are.
    assert np.array_equal(words(["Barking"])[0], words(["x", "Barking"])[1])
    assert np.array_equal(words(["Zoe"])[0], words(["x", "zoe"])[1])
    assert words([]).shape == (0, n)


def test_brackets_go_by_their_names_in_treebanks():
    learner = CountedTrees(["(S (-LRB- -LRB-) (NN x) (-RRB- -RRB-))"], rare=0, beta=0.0, gamma=0.0)
    words = learner.level(learner.pcfg).words
    assert np.array_equal(words(["(", "x", ")"]), words(["-LRB-", "x", "-RRB-"]))


def test_a_treebank_without_rare_words():
    """Then every class has the statistics of all words."""
    found, tokens, _ = lexicon(["a b a", "b a b"], rare=1)
    states = np.array([found.numbers[w] for w in tokens])
    ones = np.ones(6, np.int64)
    words = found.learn(ones.astype(float), states, ones, np.array([0, 1]), beta=1.0, gamma=3.0)
    assert found.classes == [""]
    assert np.allclose(words.classes, [[0.5, 0.5]])
    assert np.allclose(sums(words), 1)
    assert (words(["never", "Seen-1"]) > 0).all()


def test_from_saved_is_the_same(hand_trees):
    learner = CountedTrees(hand_trees, rare=1, beta=1.0, gamma=3.0)
    words = learner.level(learner.pcfg).words
    before = learner.lexicon
    after = Lexicon.from_saved(
        before.words, before.counts, before.class_of, before.classes, before.rare
    )
    sentence = ["Gardener", "the", "fern", "fishing", "Zurich", "3.5", "birds"]
    again = type(words)(after, words.counts, words.classes, words.unseen, words.beta, words.totals)
    assert np.array_equal(words(sentence), again(sentence))
    assert after.numbers == before.numbers
    assert after.class_number("C+ing") == before.class_number("C+ing")


def test_penn(penn):
    """A tenth of new words are unseen; all have a q, and it sums to one."""
    learner = CountedTrees(penn("dev"), rare=5, beta=1.0, gamma=3.0)
    words = learner.level(learner.pcfg).words
    assert np.allclose(sums(words)[learner.treebank.n_inner :], 1, rtol=1e-9)
    assert not sums(words)[: learner.treebank.n_inner].any()
    for tree in penn("test")[:50]:
        rows = words(tree.leaves())
        assert (rows.max(axis=1) > 0).all()
        assert (rows <= 1).all()
