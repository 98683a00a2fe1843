"""From counts to an automaton: what is held out, the strings of the basis, and the rank."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from eigentext import WeightedAutomaton
from eigentext.corpus import encode_sequences
from eigentext.corpus.encoded import END
from eigentext.errors import CorpusError, ParameterError
from eigentext.matrices import budget
from eigentext.moments import NgramMoments
from eigentext.moments.hankel import Basis, Trie
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.learning import automaton_fit
from eigentext.sequences.learning.automaton_fit import Choice, chosen_by_validation, learned
from eigentext.sequences.learning.rank_choice import Trial

LINES = [["a", "b"], ["a", "b", "a", "c"], ["b", "a"]] * 20


def units(encoded):
    """The sequences of an encoded corpus, as tuples of words."""
    found = [[]]
    for x in encoded.tokens.tolist():
        if x == END:
            found.append([])
        else:
            found[-1].append(encoded.words[x])
    return [tuple(unit) for unit in found if unit]


def counted(settings, lines=LINES, **cut):
    moments = NgramMoments.from_corpus(lines, order=settings._order(), **cut)
    has_rare = bool(moments.unigrams[moments.rare])
    return moments, Symbols(moments.vocabulary, moments.options, has_rare)


@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5])
def test_a_part_is_held_out_and_the_rest_is_kept(fraction):
    lines = [["a", f"w{k}"] for k in range(30)]
    whole = encode_sequences(lines)
    kept, held = automaton_fit._split(whole, fraction, np.random.default_rng(0))
    assert len(units(held)) == max(1, round(30 * fraction))
    assert Counter(units(kept)) + Counter(units(held)) == Counter(map(tuple, lines))
    for part in (kept, held):
        assert set(part.words) == {word for unit in units(part) for word in unit}
        assert dict(zip(part.words, part.counts)) == Counter(w for u in units(part) for w in u)


def test_the_end_of_a_stream_is_held_out():
    stream = np.arange(50) % 7
    kept, held = automaton_fit._split(encode_sequences(stream), 0.2, np.random.default_rng(0))
    assert kept.tokens.tolist() == [*stream[:40].tolist(), END]
    assert held.tokens.tolist() == [*stream[40:].tolist(), END]
    assert kept.words == held.words  # integers keep their numbers


@pytest.mark.parametrize("data", [[["a", "b"]], [0], [[], ["a"]]])
def test_too_little_to_hold_out(data):
    with pytest.raises(CorpusError, match="too little text to hold some out"):
        automaton_fit._split(encode_sequences(data), 0.9, np.random.default_rng(0))


def test_a_number_takes_the_most_frequent_strings():
    settings = WeightedAutomaton(2, basis=5, longest=2)
    moments, symbols = counted(settings)
    basis = automaton_fit._basis(settings, Trie.of(moments), symbols)
    words = symbols.vocabulary.words
    counts = Counter(
        tuple(map(words.index, line[first : first + k]))
        for line in LINES
        for k in (1, 2)
        for first in range(len(line) - k + 1)
    )
    fourth = sorted(counts.values(), reverse=True)[3]
    for strings in basis:
        assert strings[0] == ()
        assert len(strings) == len(set(strings)) == 5
        assert all(counts[string] >= fourth for string in strings[1:])


def test_given_strings_keep_their_order_and_are_taken_once():
    given = ([("b",), (), ("b",), ("never", "a")], [("c",)])
    settings = WeightedAutomaton(2, basis=given)
    moments, symbols = counted(settings)
    a, b, c = map(symbols.vocabulary.words.index, "abc")
    basis = automaton_fit._basis(settings, Trie.of(moments), symbols)
    assert basis == Basis([(b,), (), (-1, a)], [(c,)])
    moments, symbols = counted(settings, min_count=40)  # c is rare, and so is what was never seen
    rare = len(symbols.vocabulary)
    a, b = map(symbols.vocabulary.words.index, "ab")
    assert automaton_fit._ids(given[0], symbols) == [(b,), (), (rare, a)]


def test_sizes_of_the_basis_that_are_tried():
    def strings(n):
        return Basis([(x,) for x in range(n)], [(x,) for x in range(n - 2)])

    number, given = WeightedAutomaton(2, basis=1000), WeightedAutomaton(2, basis=([()], [()]))
    assert automaton_fit._sizes(strings(200), number) == [200, 60, 20]
    assert automaton_fit._sizes(strings(40), number) == [40, 12]
    assert automaton_fit._sizes(strings(9), number) == [9]  # few, but all there are
    assert automaton_fit._sizes(strings(200), given) == [200]


def test_the_choice_decides_on_basis_rank_and_floor():
    settings = WeightedAutomaton(6, basis=12, longest=2)
    moments, symbols = counted(settings)
    best = Trial(-1.0, 7, 2, 0.1)
    model, basis, found = learned(settings, moments, symbols, Choice(best, [best]))
    assert [len(strings) for strings in basis] == [7, 7]
    assert len(model.start) == found["rank"] == 2
    assert found["tried"] == [{"log_probability": -1.0, "basis": 7, "rank": 2, "floor": 0.1}]
    frequencies = np.append([sum(line.count(w) for line in LINES) for w in symbols.names], 60)
    assert np.allclose(model.floors, 0.1 * frequencies / frequencies.sum())


def test_validation_sees_only_what_was_kept(monkeypatch):
    """The counts are those of the kept part, and the scores those of the other."""
    settings = WeightedAutomaton(3, basis=10, longest=1, selection="validation")
    _, symbols = counted(settings)
    encoded = encode_sequences(LINES)
    seen = {}

    def tried(found, ids, size):
        seen[size] = (found.hankel.n_units, ids)
        return [Trial(-1.0, size, 1, 0.01)]

    monkeypatch.setattr(automaton_fit, "tried", tried)
    choice = chosen_by_validation(settings, encoded, symbols, settings._order())
    assert choice.trials == [choice.best]
    [(n_kept, ids)] = seen.values()
    assert n_kept == 54
    _, held = automaton_fit._split(encoded, 0.1, np.random.default_rng(0))
    end = len(symbols.names)
    assert np.sum(ids == end) == np.sum(ids == END) == 6
    expected = [np.append(symbols.ids(list(unit)), [end, END]) for unit in units(held)]
    assert np.array_equal(ids, np.concatenate(expected))


def test_the_plain_algorithm_has_all_directions(random_automaton):
    truth = random_automaton(2, 3)
    settings = WeightedAutomaton(3, basis=30, longest=2, repair="none")
    moments = truth.moments(settings._order())
    symbols = Symbols(moments.vocabulary, moments.options, has_rare=False)
    model, _, found = learned(settings, moments, symbols, None)
    assert found["rank"] == 3
    assert "floor" not in found
    for x, y in product(range(3), repeat=2):
        value = model.end @ model.operator(y) @ model.operator(x) @ model.start
        assert value == pytest.approx(truth.probability([x, y], end=False), abs=1e-10)


def test_operators_that_no_memory_holds(monkeypatch):
    monkeypatch.setattr(budget, "machine_memory", lambda: 1000.0)
    with pytest.raises(ParameterError, match=r"operators of .*ask for fewer states, or raise min"):
        WeightedAutomaton(3, basis=20).fit(LINES)
