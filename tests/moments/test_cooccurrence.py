"""Co-occurrence counts: against a slow twin, and the laws of their addition."""

import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import lcm

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import eigentext as et
from eigentext import CooccurrenceMoments, TextCorpus, Vocabulary, engine
from eigentext.corpus import encode
from eigentext.errors import CorpusError, ModelFileError, MomentsError, ParameterError
from eigentext.matrices.lazy import waiting
from eigentext.moments.cooccurrence import pair_weights
from eigentext.moments.packing import pack
from eigentext.storage import read_saved, write_saved

LINES = st.lists(st.text("abcde ", min_size=1, max_size=12), min_size=1, max_size=8)
SETTINGS = st.fixed_dictionaries(
    {
        "window": st.integers(1, 4),
        "context": st.sampled_from(["bag", "list"]),
        "weighting": st.sampled_from(["flat", "distance"]),
    }
)


def moments(lines, **settings):
    return CooccurrenceMoments.from_corpus(TextCorpus(lines, kind="texts"), **settings)


def spaced(lines):
    """Every letter a word; always at least two tokens."""
    return [" ".join(line.replace(" ", "")) for line in lines] + ["a b"]


def counts_by_hand(lines, vocabulary, *, window, context, weighting):
    """#(w, c) from its definition, as a dictionary; the context is (place, word) for "list"."""
    unit = lcm(*range(1, window + 1)) if weighting == "distance" else 1
    known = set(vocabulary)
    counts = Counter()
    for line in lines:
        tokens = [t if t in known else None for t in line.split()]
        for i, w in enumerate(tokens):
            for j, c in enumerate(tokens):
                if i != j and abs(i - j) <= window:
                    weight = unit // abs(i - j) if weighting == "distance" else 1
                    counts[w, (j - i, c) if context == "list" else c] += weight
    return counts


def counts_of(m):
    """#(w, c) as counted, in the same form."""
    names = [*m.vocabulary.words, *([] if m.whole else [None])]
    if m.context == "list":
        places = [*range(-m.window, 0), *range(1, m.window + 1)]
        columns = [(place, name) for place in places for name in names]
    else:
        columns = names
    entries = sp.coo_array(m.counts())
    return Counter(
        {(names[r], columns[c]): int(v) for r, c, v in zip(*entries.coords, entries.data)}
    )


def test_bigram_table_of_seed_000():
    m = moments(["I ate ham", "You ate cheese", "You ate"], window=1)
    table = ["ate", "cheese", "ham", "I", "You"]
    ids = m.vocabulary.ids_of(table)
    expected = np.zeros((5, 5), int)
    expected[0, [1, 2]] = 1  # ate cheese, ate ham
    expected[3, 0] = 1  # I ate
    expected[4, 0] = 2  # You ate
    assert (m.forward.toarray()[np.ix_(ids, ids)] == expected).all()


@given(LINES, SETTINGS, st.integers(1, 3))
def test_counts_equal_their_definition(lines, settings, min_count):
    lines = spaced(lines)
    m = moments([*lines, "a b"] * 3, **settings, min_count=min_count)
    assert counts_of(m) == counts_by_hand([*lines, "a b"] * 3, m.vocabulary, **settings)


@given(LINES, LINES, SETTINGS)
def test_moments_add_up(a, b, settings):
    a, b = spaced(a), spaced(b)
    both = moments(a, **settings) + moments(b, **settings)
    assert both == moments(a + b, **settings)
    assert both == moments(b, **settings) + moments(a, **settings)


@given(LINES, LINES)
def test_cut_moments_of_one_vocabulary_add_up(a, b):
    a, b = spaced(a), spaced(b)
    words = ["b", "a", "d"]
    whole = moments(a + b).restrict(words)
    parts = moments(a).restrict(words) + moments(b).restrict(words)
    assert parts.restrict(words) == whole.restrict(words)


def test_a_given_vocabulary_is_fixed_even_if_it_holds_all_words():
    fixed = moments(["a b"]).restrict(["a", "b"])
    assert not fixed.whole
    both = fixed + moments(["a b c"])
    assert sorted(both.vocabulary) == ["a", "b"]
    assert both.rare_count == 1
    assert moments(["a b"]).restrict(min_count=1).whole


@given(LINES, SETTINGS, st.integers(1, 4), st.integers(1, 5))
def test_cutting_later_equals_cutting_at_once(lines, settings, min_count, max_size):
    lines = [*spaced(lines), "a a a b"]
    cut = {"min_count": min_count, "max_size": max_size}
    assert moments(lines, **settings).restrict(**cut) == moments(lines, **settings, **cut)


@pytest.mark.parametrize("settings", [{}, {"context": "list"}, {"weighting": "distance"}])
@pytest.mark.parametrize("unit", ["line", "stream"])
def test_same_bits_for_any_shards_threads_and_memory(zipf_lines, settings, unit):
    corpus = encode(TextCorpus(zipf_lines(300), kind="texts", unit=unit))
    reference = CooccurrenceMoments.from_corpus(corpus, n_shards=1, **settings)
    for n_shards in (2, 3, 8, 200):
        for threads in (1, 2, 8):
            with engine.use(engine.ThreadEngine(threads)):
                found = CooccurrenceMoments.from_corpus(corpus, n_shards=n_shards, **settings)
            assert found == reference
    # Hardly any memory: many shards, all of them waiting on disk.
    assert CooccurrenceMoments.from_corpus(corpus, memory=20_000, **settings) == reference


def test_one_long_line_loses_and_doubles_no_pair():
    line = ["a b c d e f g h " * 500]
    flat = {"window": 3, "weighting": "flat"}
    whole = moments(line, **flat, n_shards=1)
    assert moments(line, **flat, n_shards=37) == whole
    assert whole.forward.sum() == 3 * 4000 - 6  # three pairs from each token but the last ones


def test_windows_stop_at_the_end_of_a_unit():
    inside = moments(["a b", "c d"], window=3, weighting="flat")
    assert inside.forward.sum() == 2
    stream = CooccurrenceMoments.from_corpus(
        TextCorpus(["a b", "c d"], kind="texts", unit="stream"), window=3, weighting="flat"
    )
    assert stream.forward.sum() == 6


def test_rare_words_keep_their_place():
    m = moments(["a x b", "a y b", "a b"], window=1, min_count=2)
    a, b = m.vocabulary["a"], m.vocabulary["b"]
    assert m.forward.toarray()[a, b] == 1  # x and y still stand between a and b
    assert m.rare_count == 2
    assert not m.whole


def test_distance_weights_are_exact_thirds():
    m = moments(["a b c d"], window=3, weighting="distance")
    assert m.unit == 6
    a = m.vocabulary["a"]
    assert [m.forward[a, m.vocabulary[w]] for w in "bcd"] == [6, 3, 2]
    assert pair_weights(2, "distance").tolist() == [0, 2, 1]


def test_saved_moments_are_the_same_moments(tmp_path, zipf_lines):
    for m in (moments(zipf_lines(50)), moments(zipf_lines(50), min_count=3, context="list")):
        m.save(tmp_path / "moments")
        loaded = et.load(tmp_path / "moments")
        assert loaded == m
        assert loaded.sources == m.sources
        assert loaded + m == m + m


def test_cut_moments_say_what_they_cannot_do(zipf_lines):
    cut = moments(zipf_lines(50), min_count=5)
    assert "no word can join" in cut.limits
    assert moments(zipf_lines(50)).limits is None
    with pytest.raises(MomentsError, match="cut to"):
        cut.restrict(["never-seen"])
    with pytest.raises(MomentsError, match="different vocabularies"):
        cut + moments(zipf_lines(50), min_count=8)


def test_whole_moments_join_cut_ones_on_their_words(zipf_lines):
    a, b = zipf_lines(50, seed=1), zipf_lines(50, seed=2)
    cut = moments(a, min_count=5)
    words = cut.vocabulary.words
    assert (cut + moments(b)).restrict(words) == moments(a + b).restrict(words)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"window": 2}, "window"),
        ({"context": "list"}, "context"),
        ({"weighting": "flat"}, "weight"),
    ],
)
def test_different_settings_do_not_add_up(settings, named):
    with pytest.raises(MomentsError, match=named):
        moments(["a b"]) + moments(["a b"], **settings)


def test_differently_read_text_does_not_add_up():
    lower = CooccurrenceMoments.from_corpus(TextCorpus(["A b"], kind="texts", lowercase=True))
    with pytest.raises(MomentsError, match="text read"):
        moments(["A b"]) + lower


def test_bad_input():
    with pytest.raises(CorpusError, match="one token only"):
        moments(["alone"])
    with pytest.raises(CorpusError, match=r"no two words share a line.*--unit"):
        moments(["one", "word", "a", "line"])
    with pytest.raises(CorpusError, match="no word occurs 9 times"):
        moments(["a b"], min_count=9)
    with pytest.raises(ParameterError, match="window"):
        moments(["a b"], window=0)
    with pytest.raises(ParameterError, match="window"):
        moments(["a b"], window=50, weighting="distance")
    with pytest.raises(ParameterError, match="weighting"):
        moments(["a b"], weighting="linear")
    with pytest.raises(ParameterError, match="context"):
        moments(["a b"], context="tree")
    with pytest.raises(CorpusError, match=f"no word occurs {2**64} times"):
        moments(["a b"], min_count=2**64)
    assert moments(["a b"]).thresholded(2**63 - 1).n_pairs == 0
    for name in ("window", "min_count", "max_size", "memory", "n_shards"):
        for bad in (2.5, True, 0, "2"):
            with pytest.raises(ParameterError, match=rf"^{name} must be a whole number.*, not "):
                moments(["a b"], **{name: bad})
    assert moments(["a b"]).__add__(3) is NotImplemented


# Thresholded moments.


@given(LINES, SETTINGS, st.integers(0, 4), st.booleans())
def test_thresholds_are_on_what_is_counted(lines, settings, min_pairs, cut):
    m = moments([*spaced(lines), "a b"], **settings, min_count=2 if cut else 1)
    kept = m.thresholded(min_pairs)
    least = min_pairs * m.unit
    counted = counts_of(m)
    assert counts_of(kept) == Counter({p: n for p, n in counted.items() if n >= least})
    assert kept.vocabulary == m.vocabulary
    assert kept.rare_count == m.rare_count
    assert kept.thresholded(min_pairs) is kept
    lost = counts_of(kept) != counted
    assert (kept is m) != lost
    assert kept.min_pairs == (min_pairs if lost else 0)


def test_a_pair_counts_in_both_directions_in_a_bag():
    text = ["a b", "b a", "c d", "e e"]
    m = moments(text, weighting="flat").thresholded(2)
    pairs = {(w, c) for w, c in counts_of(m)}
    assert pairs == {("a", "b"), ("b", "a"), ("e", "e")}
    assert m.forward.sum() == 3
    with_places = moments(text, context="list").thresholded(2)  # a b is not b a
    assert with_places.forward.nnz == 0


def test_thresholded_moments_say_so(zipf_lines, tmp_path):
    m = moments(zipf_lines(50))
    kept = m.thresholded(3)
    assert m.limits is None
    assert kept.limits.startswith("thresholded: pairs counted less than 3 times were dropped")
    assert repr(kept).endswith("whole, min_pairs=3)")
    both = moments(zipf_lines(50), min_count=5).thresholded(3).limits
    assert "cut to" in both
    assert "; and thresholded" in both
    for total in (kept + m, m + kept, kept + m.thresholded(2), kept.restrict(["w1", "w2"])):
        assert total.min_pairs == 3
        assert "thresholded" in total.limits
    kept.save(tmp_path / "moments")
    assert et.load(tmp_path / "moments") == kept
    assert et.load(tmp_path / "moments").limits == kept.limits
    assert kept != m
    with pytest.raises(ParameterError, match="min_pairs"):
        m.thresholded(-1)


def test_thresholded_moments_are_smaller(zipf_lines, tmp_path):
    m = moments(zipf_lines(300, n_words=500))
    sizes = []
    for part in (m, m.thresholded(2)):
        part.save(tmp_path / "moments")
        sizes.append(len(read_saved(tmp_path / "moments")[0]["packed"]))
    assert sizes[1] < 0.5 * sizes[0]


def test_same_bits_of_thresholded_moments_for_any_threads(zipf_lines):
    m = moments(zipf_lines(300))
    answers = []
    for threads in (1, 4):
        with engine.use(engine.ThreadEngine(threads)):
            answers.append(m.thresholded(2))
    assert answers[0] == answers[1]


# Made by hand, or in a file.


def hand_made(**parts):
    words = Vocabulary(["a", "b", "c"], [3, 2, 1])
    F = sp.csr_array(np.array([[0, 2, 0], [1, 0, 1], [0, 1, 0]]))
    return CooccurrenceMoments(
        **{"vocabulary": words, "rare_count": 0, "forward": F, "window": 1, **parts}
    )


def test_moments_made_by_hand_are_moments():
    found = hand_made()
    assert found.counts().toarray().tolist() == [[0, 3, 0], [3, 0, 2], [0, 2, 0]]
    assert found == hand_made(forward=sp.coo_matrix(found.forward), window=np.int32(1))
    twice = sp.csr_array((np.array([1, 1, 1]), np.array([1, 1, 0]), np.array([0, 2, 3, 3])), (3, 3))
    cut = hand_made(vocabulary=Vocabulary(["a", "b"], [3, 2]), forward=twice, whole=False)
    assert cut.forward.toarray().tolist() == [[0, 2, 0], [1, 0, 0], [0, 0, 0]]
    assert cut.forward.nnz == 2
    assert twice.nnz == 3  # what was given stays as it is


def broken(part, place, value):
    F = hand_made().forward.copy()
    getattr(F, part)[place] = value
    return F


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"vocabulary": ["a", "b", "c"]}, "give a Vocabulary"),
        ({"rare_count": -1}, "rare_count must be a whole number"),
        ({"window": 0}, "window must be a whole number"),
        ({"window": 2.5}, "window must be a whole number"),
        ({"window": 41, "weighting": "distance"}, "exact for windows up to 40"),
        ({"window": 1001, "context": "list"}, "1000 places on each side"),
        ({"rare_count": 2**60}, "rare_count must be a whole number"),
        ({"context": "tree"}, "context must be 'bag', 'list' or 'next'"),
        ({"weighting": "linear"}, "weighting must be 'flat' or 'distance'"),
        ({"whole": 1}, "whole must be True or False"),
        ({"options": []}, "options must be the way text was read"),
        ({"sources": [1]}, "sources must be a list of strings"),
        ({"min_pairs": 0.5}, "min_pairs must be a whole number"),
        ({"forward": np.eye(3, dtype=int)}, "give a sparse matrix"),
        ({"forward": sp.csr_array(np.eye(2, dtype=int))}, r"counts of shape \(2, 2\)"),
        ({"context": "list", "window": 2}, r"shape \(3, 3\), but .* need \(3, 6\)"),
        ({"whole": False}, r"need \(4, 4\)"),
        ({"forward": sp.csr_array(np.eye(3))}, "counts of type float64"),
        ({"forward": broken("data", 0, -5)}, "a count of -5"),
        ({"forward": broken("data", 0, 2**62)}, "does not fit in 64 bits"),
        ({"forward": broken("indices", 0, 2**30)}, "not a valid sparse matrix"),
        ({"forward": broken("indices", 0, -1)}, "not a valid sparse matrix"),
        ({"forward": broken("indptr", 1, 9)}, "not a valid sparse matrix"),
    ],
)
def test_moments_made_by_hand_are_checked(parts, reason):
    with pytest.raises((MomentsError, ParameterError), match=reason):
        hand_made(**parts)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"window": 0}, "window"),
        ({"window": 60, "weighting": "distance"}, "window is 60"),
        ({"window": 10**6, "context": "list"}, "window is 1000000"),
        ({"context": 3}, "context"),
        ({"whole": 0}, "whole"),
        ({"whole": False}, "packed cannot be unpacked"),
        ({"rare_count": None}, "rare_count"),
        ({"min_pairs": "2"}, "min_pairs"),
        ({"options": None}, "options"),
        ({"sources": {}}, "sources"),
        ({"words": ["a"]}, "word_counts has shape"),
        ({"words": ["a", "a", "b"]}, "words has a string twice"),
        ({"word_counts": np.array([3, 2, -1])}, "word_counts"),
        ({"word_counts": np.array([3.0, 2.0, 1.0])}, "word_counts holds float64"),
        ({"packed": np.zeros(3, np.int8)}, "packed holds int8"),
        ({"blocks": np.zeros((1, 4), np.int64)}, "blocks"),
        ({"blocks": np.full((1, 5), 2**40)}, "packed cannot be unpacked"),
    ],
)
def test_a_file_that_is_not_as_declared_names_what_is_wrong(tmp_path, change, named):
    arrays, about = hand_made()._to_saved()
    for name, value in change.items():
        (arrays if name in arrays else about)[name] = value
    write_saved(tmp_path / "moments", CooccurrenceMoments._format, arrays, about)
    with pytest.raises(ModelFileError, match=f"damaged or made by something else: .*{named}"):
        et.load(tmp_path / "moments")


def test_counts_beyond_64_bits_are_found_when_they_are_unpacked(tmp_path):
    arrays, about = hand_made()._to_saved()
    F = hand_made().forward
    F.data[:] = 2**61
    arrays["packed"], arrays["blocks"] = pack(F)
    write_saved(tmp_path / "moments", CooccurrenceMoments._format, arrays, about)
    with pytest.raises(ModelFileError, match="packed has counts whose sum does not fit in 64 bits"):
        et.load(tmp_path / "moments").totals()


def test_eight_threads_may_unpack_at_once(zipf_lines, tmp_path):
    moments(zipf_lines(50)).save(tmp_path / "moments")
    for _ in range(20):
        loaded = et.load(tmp_path / "moments")
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: loaded.forward.nnz, range(8)))  # noqa: B023
        assert set(found) == {moments(zipf_lines(50)).n_pairs}


# What is refused says why; what is loaded is light.


@pytest.mark.parametrize(
    ("reading", "named"),
    [
        ({"lowercase": True}, "text read with lowercase False and True"),
        ({"tokenizer": "simple"}, "text read with tokenizer 'whitespace' and 'simple'"),
        ({"unit": "stream"}, "text read with unit 'line' and 'stream'"),
    ],
)
def test_the_difference_in_reading_is_named(reading, named):
    other = CooccurrenceMoments.from_corpus(TextCorpus(["a b"], kind="texts", **reading))
    with pytest.raises(MomentsError, match=named):
        moments(["a b"]).check_adds_up(other)
    with pytest.raises(MomentsError, match="window 10 and 2"):
        moments(["a b"]).check_adds_up(moments(["a b"], window=2))
    assert moments(["a b"]).check_adds_up(moments(["c d"])) is None


def test_counts_are_unpacked_when_asked_for(zipf_lines, tmp_path):
    m = moments(zipf_lines(50))
    m.save(tmp_path / "moments")
    loaded = et.load(tmp_path / "moments")
    assert waiting(loaded, "forward")
    assert loaded.n_tokens == m.n_tokens
    assert loaded.forward is loaded.forward
    assert loaded == m
    with pytest.raises(AttributeError, match="no attribute 'backward'"):
        loaded.backward  # noqa: B018
    again = pickle.loads(pickle.dumps(et.load(tmp_path / "moments")))
    assert again == m


@pytest.mark.parametrize("context", ["bag", "list"])
def test_totals_are_the_sums_of_counts(zipf_lines, context):
    m = moments(zipf_lines(60), window=3, context=context)
    words, contexts = m.totals()
    assert np.array_equal(words, m.counts().sum(axis=1))
    assert np.array_equal(contexts, m.counts().sum(axis=0))
    roots = m.counts(lambda x: np.sqrt(x / m.unit), np.float32)
    assert roots.dtype == np.float32
    assert np.allclose(roots.toarray() ** 2 * m.unit, m.counts().toarray(), rtol=1e-5)
