"""N-gram counts of others give the moments, and the models, that their text gives."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext import (
    HMM,
    BigramModel,
    CooccurrenceMoments,
    Eigenwords,
    KneserNey,
    NgramMoments,
    TextCorpus,
)
from eigentext.corpus.ngram_counts import read_ngram_counts
from eigentext.errors import BadItemsWarning, CorpusError, MomentsError, ParameterError

HAM = ["I ate ham", "You ate cheese", "You ate"]
TEXTS = st.lists(
    st.lists(st.sampled_from("abcde"), min_size=1, max_size=7).map(" ".join), min_size=1, max_size=6
)

NGRAMS = st.lists(st.sampled_from(["a", "b", "<s>", "</s>", "<unk>"]), min_size=1, max_size=4).map(
    tuple
)


def windows(text, order, shortest=1):
    """All windows of up to `order` symbols as others count them: with <s> and </s>."""
    counts = Counter()
    for line in text:
        symbols = ["<s>", *line.split(), "</s>"]
        for k in range(shortest, order + 1):
            for i in range(len(symbols) - k + 1):
                counts[tuple(symbols[i : i + k])] += 1
    return counts


def long_text(n=400):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(n):
        state, words = 0, []
        for _ in range(rng.integers(3, 9)):
            words.append(f"{'xyz'[state]}{rng.integers(4)}")
            state = (state + rng.integers(1, 3)) % 3
        lines.append(" ".join(words))
    return lines


def corpus(text):
    return TextCorpus(text, kind="texts")


@settings(max_examples=60, deadline=None)
@given(TEXTS, st.integers(1, 4))
def test_counts_of_a_text_are_its_moments(text, order):
    counts = windows(text, order)
    order = max(map(len, counts))  # the text may have no windows of that length
    assert NgramMoments.from_counts(counts) == NgramMoments.from_corpus(corpus(text), order=order)


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_the_longest_windows_give_the_shorter_ones(text):
    # A unit of one word is a window of three, so windows of two and three symbols are enough.
    assert NgramMoments.from_counts(windows(text, 3, shortest=3)) == NgramMoments.from_corpus(
        corpus(text), order=3
    )


@settings(max_examples=40, deadline=None)
@given(TEXTS, st.sampled_from(["bag", "list", "next"]), st.sampled_from(["flat", "distance"]))
@pytest.mark.parametrize("min_count", [1, 2])
def test_pairs_of_ngrams_are_the_pairs_of_their_text(min_count, text, context, weighting):
    text = [*text, "a b", "a b"]
    how = {"context": context, "weighting": weighting}
    ngrams = NgramMoments.from_corpus(corpus(text), order=4, min_count=min_count)
    pairs = CooccurrenceMoments.from_corpus(corpus(text), window=3, min_count=min_count, **how)
    assert CooccurrenceMoments.from_ngrams(ngrams, **how) == pairs


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(NGRAMS, st.integers(1, 9), min_size=1))
@pytest.mark.filterwarnings("ignore:left out")
def test_any_counts_give_a_consistent_trie(counts):
    try:
        moments = NgramMoments.from_counts(counts)  # checks every level
    except CorpusError as error:
        assert "no words" in str(error)
        return
    numbers = {"<s>": moments.edge, "</s>": moments.edge, "<unk>": moments.rare}
    for ngram, count in counts.items():
        if "<s>" in ngram[1:] or "</s>" in ngram[:-1] or ngram[0] in ("<s>", "</s>"):
            continue
        ids = [numbers.get(word, 0) or moments.vocabulary[word] for word in ngram]
        assert moments.count(ids) >= count


@pytest.fixture
def count_file(tmp_path):
    path = tmp_path / "counts.tsv"
    lines = [f"{' '.join(ngram)}\t{count}\n" for ngram, count in windows(long_text(), 3).items()]
    path.write_text("".join(lines))
    return path


def test_models_learn_the_same_from_counts(count_file):
    text = corpus(long_text())
    moments = NgramMoments.from_counts(count_file)
    assert moments == NgramMoments.from_corpus(text, order=3)
    held_out = corpus(long_text()[:20])
    for model in (KneserNey(3), BigramModel(3, method="em"), HMM(3)):
        by_counts, by_text = model.fit_moments(moments), type(model)(**model.get_params()).fit(text)
        assert by_counts.perplexity(held_out) == by_text.perplexity(held_out)
    words = Eigenwords(3, window=2, min_count=1)
    assert np.array_equal(
        words.fit_moments(moments).vectors_,
        Eigenwords(3, window=2, min_count=1).fit(text).vectors_,
    )


def test_the_matrix_of_bigrams():
    moments = CooccurrenceMoments.from_corpus(corpus(HAM), window=1, context="next")
    words = ["ate", "cheese", "ham", "I", "You"]
    places = moments.vocabulary.ids_of(words)
    table = moments.counts().toarray()[np.ix_(places, places)]
    expected = [[0, 1, 1, 0, 0], [0] * 5, [0] * 5, [1, 0, 0, 0, 0], [2, 0, 0, 0, 0]]
    assert table.tolist() == expected
    assert [total.tolist() for total in moments.totals()] == [
        moments.counts().sum(axis=1).tolist(),
        moments.counts().sum(axis=0).tolist(),
    ]
    how = {"window": 1, "context": "next", "min_count": 1, "count_transform": "none"}
    words = Eigenwords(2, scaling="none", beta=1, **how).fit(corpus(HAM))
    assert np.allclose(words.singular_values_, np.linalg.svd(expected)[1][:2])
    assert words.similarity("I", "You") == pytest.approx(1)


@pytest.mark.parametrize(
    "lines, count",
    [
        ("a b\t3\na b\t4\n", 7),
        ("a b\t1999\t3\t1\na b\t2000\t4\t2\n", 7),  # Google Books: year, matches, volumes
        ("a b\t1999,3,1\t2000,4,2\n", 7),  # its third version
        ("a b\t7\r\n\n", 7),
        ("A b\t3\na B\t4\n", 7),
    ],
)
def test_formats(tmp_path, lines, count):
    path = tmp_path / "counts"
    path.write_bytes(lines.encode("utf-16"))
    found = read_ngram_counts(path, lowercase=True, encoding="utf-16")
    assert (found.words, found.tables[2][1].tolist()) == (["a", "b"], [count])


@pytest.mark.parametrize(
    "content, reason",
    [
        (b"a b 3\n", "counts.tsv, line 1: 'a b 3' is no n-gram with its count; write n-gram TAB"),
        (b"a b\t3\na\t-1\n", "line 2"),
        (b"a b\t3\n\t5\n", "line 2"),
        (b"a b\t3.5\n", "line 1"),
        (b"a b\t99999999999999999999\n", "line 1"),
        (b"\\data\\\nngram 1=5\n", "ARPA"),
        (b"caf\xe9\t3\n", "line 1: byte 0xe9 is not UTF-8; it looks like cp1252"),
        (b"a b\t999999999999999999\n" * 20, "the counts of 2-grams add up to more than 9e+15"),
        (b"", "no counts"),
        (b"<s>\t3\n", "no words"),
    ],
)
def test_other_files_are_refused(tmp_path, content, reason):
    path = tmp_path / "counts.tsv"
    path.write_bytes(content)
    with pytest.raises(CorpusError) as caught:
        NgramMoments.from_counts(path)
    assert reason in str(caught.value)


def test_bad_lines_can_be_skipped(tmp_path):
    path = tmp_path / "counts.tsv"
    path.write_text("".join(f"w{i}\t{i}\n" for i in range(1, 30)) + "nonsense\n")
    with pytest.warns(BadItemsWarning, match="skipped 1 of 30 lines of counts: .*line 30"):
        assert len(NgramMoments.from_counts(path, errors="skip").vocabulary) == 29


@pytest.mark.parametrize("counts", [{}, [], 5, None, [("a b",)], {("a", "b c"): 1}, {"a": -1}])
def test_other_objects_are_refused(counts):
    with pytest.raises(CorpusError):
        NgramMoments.from_counts(counts)


def test_counts_that_are_too_short_are_refused():
    moments = NgramMoments.from_counts({"a b": 2})
    with pytest.raises(MomentsError, match="use a smaller window"):
        Eigenwords(1, window=2, min_count=1).fit_moments(moments)
    with pytest.raises(ParameterError):
        NgramMoments.from_counts({"a b": 2}, order=0)


def test_padding_is_told():
    with pytest.warns(UserWarning, match="left out 1 n-grams with <s> after their first"):
        NgramMoments.from_counts({("<s>", "<s>", "a"): 1, ("a", "b"): 2})
