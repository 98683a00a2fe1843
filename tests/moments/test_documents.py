"""Counts of documents: known answers, the laws of their addition and cutting, and bad input."""

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

import eigentext as et
from eigentext import DocumentMoments, TextCorpus, engine
from eigentext.corpus import encode, readers
from eigentext.errors import CorpusError, ModelFileError, MomentsError, ParameterError
from eigentext.matrices import runs
from eigentext.matrices.lazy import waiting
from eigentext.moments import document_counts
from eigentext.storage import read_saved, write_saved

DOCUMENTS = st.lists(st.text("abcde", max_size=5).map(list), min_size=1, max_size=8)
LIMITS = st.fixed_dictionaries(
    {
        "min_df": st.sampled_from([0.0, 1, 2, 3, 0.2, 0.5]),
        "max_df": st.sampled_from([3, 4, 0.6, 0.9, 1.0]),
        "min_count": st.integers(1, 3),
        "max_size": st.sampled_from([None, 1, 2, 4]),
        "stop_words": st.sampled_from([None, ["a"], ["b", "never"]]),
    }
)
SHAPES = st.tuples(st.integers(1, 8), st.just(3))
MATRICES = arrays(np.float64, SHAPES, elements=st.sampled_from([0, 0, 1, 2, 0.1, 0.7]))


@pytest.fixture
def zipf_lines(zipf_lines):
    """Words of letters alone (wa, wb, …): text that comes as strings keeps no others."""
    letters = str.maketrans("0123456789", "abcdefghij")
    return lambda n_lines: [line.translate(letters) for line in zipf_lines(n_lines)]


def moments(documents, **limits):
    return DocumentMoments.from_corpus([*documents, ["a", "b"]], **limits)


def bags_of(m):
    """The multiset, as a Counter of bags with their words."""
    bags = Counter({(): m.n_empty} if m.n_empty else {})
    for row, times in zip(m.counts.toarray().tolist(), m.times.tolist()):
        bag = tuple(sorted((w, x) for w, x in zip(m.vocabulary, row) if x))
        assert bag
        assert bag not in bags
        bags[bag] += times
    return bags


def by_hand(documents, known=None):
    """The same, from the definition."""
    kept = ([w for w in words if known is None or w in known] for words in documents)
    return Counter(tuple(sorted(Counter(words).items())) for words in kept)


def test_ham_and_eggs():
    texts = ["Ham, ham and eggs", "", "ham", "Ham", "and ham", "Eggs and their ham, ham", "I"]
    m = DocumentMoments.from_corpus(texts, stop_words=["their"])
    assert m.vocabulary.words == ["ham", "and", "eggs"]
    assert m.vocabulary.counts.tolist() == [7, 3, 2]
    assert m.counts.toarray().tolist() == [[1, 0, 0], [1, 1, 0], [2, 1, 1]]
    assert m.counts.dtype == np.int32
    assert m.times.tolist() == [2, 1, 2]
    assert (m.n_documents, m.n_empty, m.n_short, m.n_tokens) == (7, 2, 3, 13)
    assert (m.rare_count, m.whole) == (1, False)
    assert m.lengths.tolist() == [1, 2, 4]
    assert m.document_frequencies.tolist() == [5, 3, 2]
    assert m.options == {"tokenizer": "words", "lowercase": True, "unit": "document"}
    assert repr(m) == "DocumentMoments(7 documents, 3 words, 12 tokens, cut)"


@given(DOCUMENTS)
def test_bags_equal_their_definition(documents):
    documents = [*documents, ["a", "b"]]
    m = DocumentMoments.from_corpus(documents)
    assert bags_of(m) == by_hand(documents)
    assert m.n_documents == len(documents)
    assert m.n_empty == documents.count([])
    assert m.n_short == sum(len(words) in (1, 2) for words in documents)
    assert m.n_tokens == sum(map(len, documents))
    assert m.counts.has_canonical_format
    assert dict(zip(m.vocabulary, m.document_frequencies.tolist())) == Counter(
        word for words in documents for word in set(words)
    )
    assert m.vocabulary == et.Vocabulary.from_corpus(documents)


@given(DOCUMENTS, st.data())
def test_any_sharding_gives_the_same_bits(documents, data):
    whole = moments(documents)
    shuffled = data.draw(st.permutations([*documents, ["a", "b"]]))
    cuts = data.draw(st.sets(st.integers(1, len(shuffled))))
    bounds = [0, *sorted(cuts - {len(shuffled)}), len(shuffled)]
    shards = [shuffled[a:b] for a, b in pairwise(bounds)]
    # A shard without any word is refused as a corpus: it goes with another.
    empty = [words for shard in shards if not any(shard) for words in shard]
    first, *others = (shard for shard in shards if any(shard))
    total = DocumentMoments.from_corpus([*first, *empty])
    for shard in others:
        total = DocumentMoments.from_corpus(shard) + total
    assert total == whole
    assert total.counts.dtype == np.int32
    assert len(total.sources) == 1 + len(others)


@given(DOCUMENTS, DOCUMENTS)
def test_addition_commutes(a, b):
    assert moments(a) + moments(b) == moments(b) + moments(a) == moments([*a, ["a", "b"], *b])


@given(DOCUMENTS, LIMITS)
def test_cutting_later_equals_cutting_at_once(documents, limits):
    documents = [*documents, ["a"] * 3, ["c", "d"], ["c"]]
    whole = moments(documents)
    try:
        cut = moments(documents, **limits)
    except (CorpusError, ParameterError) as error:
        with pytest.raises(type(error)):
            whole.restrict(**limits)
        return
    assert whole.restrict(**limits) == cut
    assert bags_of(cut) == by_hand([*documents, ["a", "b"]], set(cut.vocabulary))
    assert cut.n_documents == whole.n_documents
    assert cut.n_tokens == whole.n_tokens
    assert cut.whole == (len(cut.vocabulary) == len(whole.vocabulary))


@given(DOCUMENTS, LIMITS)
def test_limits_are_those_of_scikit_learn(documents, limits):
    documents = [*documents, ["a"] * 3, ["c", "d"], ["c"]]
    stop, max_size = limits["stop_words"] or [], limits["max_size"]
    settings = {name: limits[name] for name in ("min_df", "max_df")}
    reader = CountVectorizer(analyzer=lambda d: [w for w in d if w not in stop], **settings)
    limits = {**limits, "min_count": 1, "max_size": None}
    try:
        X = reader.fit_transform(documents)
    except ValueError:
        with pytest.raises((CorpusError, ParameterError)):
            DocumentMoments.from_corpus(documents, **limits)
        return
    m = DocumentMoments.from_corpus(documents, **limits)
    names = reader.get_feature_names_out().tolist()
    assert sorted(m.vocabulary) == names
    assert bags_of(m) == bags_of(DocumentMoments.from_matrix(X, names))
    if max_size:  # the most frequent of them; of equal ones, those first in the alphabet
        totals = dict(zip(names, X.sum(axis=0).tolist()[0]))
        best = sorted(names, key=lambda word: (-totals[word], word))[:max_size]
        assert m.restrict(max_size=max_size).vocabulary.words == best


@given(DOCUMENTS, DOCUMENTS)
def test_cut_moments_of_one_vocabulary_add_up(a, b):
    words = ["b", "e", "a", "z"]
    both = moments([*a, ["a", "b"], *b]).restrict(words)
    assert both.vocabulary.words == words
    parts = moments(a).restrict(words) + moments(b).restrict(words)
    assert parts.restrict(words) == both
    assert moments(a).restrict(words) + moments(b) == parts
    assert moments(b) + moments(a).restrict(words) == parts
    assert bags_of(parts) == by_hand([*a, ["a", "b"], *b, ["a", "b"]], words)


def test_a_shard_with_none_of_the_words_adds_its_empty_documents():
    cut = DocumentMoments.from_corpus([["a", "b"]]).restrict(["a"])
    total = cut + DocumentMoments.from_corpus([["c"], ["d", "d"]])
    assert (total.n_documents, total.n_empty, total.rare_count) == (3, 2, 4)
    assert total.counts.toarray().tolist() == [[1]]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_and_blocks_change_nothing(threads, monkeypatch, zipf_lines):
    texts = zipf_lines(400)
    expected = DocumentMoments.from_corpus(texts, min_df=2)
    monkeypatch.setattr(readers, "BLOCK_BYTES", 500)
    monkeypatch.setattr(runs, "_BLOCK_WORK", 100)
    with engine.use(engine.ThreadEngine(threads)):
        assert DocumentMoments.from_corpus(texts, min_df=2) == expected
        assert DocumentMoments.from_corpus(texts).restrict(min_df=2) == expected


def test_every_form_of_corpus(tmp_path):
    tokens = [["ham", "and", "ham"], [], ["eggs"], ["ham", "and", "ham"]]
    texts = [" ".join(words) for words in tokens]
    expected = by_hand(tokens)
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.txt").write_text(text.upper())
    lines = TextCorpus(texts, kind="texts")
    for corpus in (
        texts,
        tuple(texts),
        iter(texts),
        np.array(texts),
        tokens,
        f"{tmp_path}/*.txt",
        sorted(tmp_path.iterdir()),
        TextCorpus(texts, kind="texts", unit="document"),
        encode(TextCorpus(tokens, kind="tokens")),
    ):
        assert bags_of(DocumentMoments.from_corpus(corpus)) == expected
    assert bags_of(DocumentMoments.from_corpus(lines)) == expected - Counter([()])


def test_a_cache_changes_nothing(tmp_path):
    texts = ["ham eggs", "", "eggs"]
    m = DocumentMoments.from_corpus(texts, cache=tmp_path)
    assert list(tmp_path.iterdir())
    assert DocumentMoments.from_corpus(texts, cache=tmp_path) == m
    assert m == DocumentMoments.from_corpus(texts)


def test_english_stop_words():
    m = DocumentMoments.from_corpus(["The ham and the eggs"], stop_words="english")
    assert m.vocabulary.words == ["eggs", "ham"]
    assert len(ENGLISH_STOP_WORDS) == 318  # as documented


# Matrices.


def test_columns_stay_in_their_places():
    X = np.array([[0, 0, 5], [0, 0, 0], [1, 0, 0], [0, 0, 5]])
    m = DocumentMoments.from_matrix(X)
    assert m.vocabulary.words == ["0", "1", "2"]
    assert m.vocabulary.counts.tolist() == [1, 0, 10]
    assert m.counts.toarray().tolist() == [[1, 0, 0], [0, 0, 5]]
    assert m.times.tolist() == [1, 2]
    assert (m.n_documents, m.n_empty, m.whole) == (4, 1, True)
    assert m.restrict() is m  # a column that is always 0 stays
    assert DocumentMoments.from_corpus(X) == m
    assert DocumentMoments.from_corpus(X.tolist()) == m
    assert m.restrict(max_size=2).vocabulary.words == ["0", "2"]
    assert m.restrict(min_df=0.5).vocabulary.words == ["2"]
    assert m.restrict(["2", "0"]).counts.toarray().tolist() == [[5, 0], [0, 1]]
    named = DocumentMoments.from_matrix(sp.csr_array(X), words=np.array(["x", "y", "z"]))
    assert named.vocabulary.words == ["x", "y", "z"]
    assert type(named.vocabulary.words[0]) is str
    assert named != m


@given(MATRICES, MATRICES, MATRICES)
def test_fractions_add_up_too(A, B, C):
    A, B, C = (np.vstack([X, [0.25, 0, 1]]) for X in (A, B, C))
    a, b, c = map(DocumentMoments.from_matrix, (A, B, C))
    whole = DocumentMoments.from_matrix(np.vstack([A, B, C]))
    assert a + b + c == c + (b + a) == whole
    assert whole.counts.dtype == np.float64
    totals = A.sum(axis=0) + B.sum(axis=0) + C.sum(axis=0)
    assert np.abs(whole.vocabulary.counts - totals).max() < 0.5 + 1e-9
    cut = whole.restrict(["2", "1"])
    assert cut == a.restrict(["2", "1"]) + b + c
    assert cut.n_tokens == pytest.approx(whole.n_tokens)


def test_fractions_that_are_cut_away_leave_integers():
    X = np.array([[0.5, 3, 0], [0.5, 0, 2], [0, 0, 2]])
    m = DocumentMoments.from_matrix(X)
    assert m.n_short == 1  # 2 words; 2.5 have a third moment
    assert m.restrict(min_count=2).vocabulary.words == ["1", "2"]
    cut = m.restrict(["1", "2"])
    assert cut.counts.dtype == np.int32
    assert cut.times.tolist() == [1, 2]
    assert cut.rare_count == 1.0
    assert DocumentMoments.from_matrix(X * 2).counts.dtype == np.int32


def test_matrices_with_other_columns_do_not_add_up():
    X = np.eye(3)
    m = DocumentMoments.from_matrix(X)
    with pytest.raises(MomentsError, match="columns 3 and 2 do not add up"):
        m + DocumentMoments.from_matrix(X[:, :2])
    for other in (
        DocumentMoments.from_matrix(X, words=["a", "b", "c"]),
        DocumentMoments.from_matrix(X, words=["a", "b", "c"]).restrict(["b"]),
    ):
        for a, b in ((m, other), (other, m)):
            with pytest.raises(MomentsError, match="different columns do not add up"):
                a + b
    with pytest.raises(MomentsError, match="tokenizer 'matrix' and 'none'"):
        m + DocumentMoments.from_corpus([["a"]])


@pytest.mark.parametrize(
    ("X", "words", "error", "reason"),
    [
        ([[1, -2]], None, CorpusError, "row 0, column 1: -2 is not a count"),
        ([[0.0, 1], [np.nan, 0]], None, CorpusError, "row 1, column 0: nan"),
        ([[0, 0], [0, 0]], None, CorpusError, "all documents are empty"),
        (np.zeros((0, 3)), None, CorpusError, "0 documents"),
        ([[1, 2]], ["a"], ParameterError, "1 words, 1 of them distinct, for a matrix of 2"),
        ([[1, 2]], ["a", "a"], ParameterError, "2 words, 1 of them distinct"),
    ],
)
def test_bad_matrices(X, words, error, reason):
    with pytest.raises(error, match=reason):
        DocumentMoments.from_matrix(X, words)


# Files.


@pytest.mark.parametrize("settings", [{}, {"min_df": 3}, {"stop_words": ["wa"], "max_size": 3}])
def test_saved_moments_are_the_same_moments(tmp_path, zipf_lines, settings):
    m = DocumentMoments.from_corpus([*zipf_lines(50), ""], **settings)
    m.save(tmp_path / "moments")
    loaded = et.load(tmp_path / "moments")
    assert waiting(loaded, "counts")  # unpacked when asked for
    assert loaded.n_documents == 51
    assert loaded == m
    assert loaded.sources == m.sources
    assert loaded + m == m + m
    assert pickle.loads(pickle.dumps(et.load(tmp_path / "moments"))) == m


@pytest.mark.parametrize("unit", [0.3, 1, 2**40])
def test_saved_matrices(tmp_path, unit):
    m = DocumentMoments.from_matrix(np.array([[1, 0, 3], [0, 0, 0], [2, 0, 1]]) * unit)
    for moments in (m, m.restrict(["2"])):
        moments.save(tmp_path / "m")
        assert et.load(tmp_path / "m") == moments
        assert et.load(tmp_path / "m").counts.dtype == m.counts.dtype


def test_damaged_moments_are_refused(tmp_path, zipf_lines):
    m = DocumentMoments.from_corpus(zipf_lines(50))
    fractions = DocumentMoments.from_matrix(np.array([[0.5, 0, 1], [0, 2, 0.5]]))
    for moments in (m, fractions):
        moments.save(tmp_path / "m")
        arrays, about = read_saved(tmp_path / "m")
        for name in arrays.keys() - {"words"}:
            array = np.asarray(arrays[name])
            for damaged in (array[:-1], -array.astype(np.int64)):
                content = {**arrays, name: np.ascontiguousarray(damaged)}
                write_saved(tmp_path / "damaged", DocumentMoments._format, content, about)
                with pytest.raises(ModelFileError, match="damaged"):
                    et.load(tmp_path / "damaged")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"n_empty": -1}, "n_empty must be"),
        ({"rare_count": float("nan")}, "rare_count must be"),
        ({"whole": 1}, "whole must be"),
        ({"options": {"tokenizer": "words"}}, "options must be the way text was read"),
        ({"options": {"tokenizer": 1, "lowercase": True, "unit": "line"}}, "options must be"),
        ({"sources": "abc"}, "sources must be"),
        ({"vocabulary": ["ham", "eggs"]}, "vocabulary is no Vocabulary"),
        ({"vocabulary": et.Vocabulary(["ham"], [3])}, "counts has 2 columns for 1 words"),
        ({"vocabulary": et.Vocabulary(["ham", "ham"], [3, 1])}, "vocabulary has a string twice"),
        ({"times": np.array([1, 0])}, "times has 0, below 1"),
        ({"times": np.array([1])}, "times has shape"),
        ({"times": np.array([1.0, 1.0])}, "times holds float64"),
        ({"counts": np.eye(2)}, "counts is no sparse matrix in rows"),
        ({"counts": sp.csr_array([[1, 0], [0, 0]])}, "counts has documents without words"),
        ({"counts": sp.csr_array([[1.0, 0], [0, np.nan]])}, "counts.data has numbers"),
        ({"counts": sp.csr_array([[-1, 0], [0, 1]])}, "counts.data has -1, below 1"),
        ({"counts": sp.csr_array([[1, 0], [0, 2**53]])}, "counts has more tokens than"),
    ],
)
def test_moments_made_by_hand_are_checked(changes, why):
    parts = {"vocabulary": et.Vocabulary(["ham", "eggs"], [3, 1]), "times": np.array([1, 2])}
    parts |= {"counts": sp.csr_array([[1, 0], [1, 1]])}
    DocumentMoments(**parts).check()
    with pytest.raises(MomentsError, match=f"these are no moments of documents: {why}"):
        DocumentMoments(**parts | changes).check()


def test_wrong_places_of_counts_are_found():
    """Whatever a matrix says of itself."""
    words = et.Vocabulary(["ham", "eggs"], [3, 1])
    for part, wrong in (("indices", [0, 2, 1]), ("indices", [1, 0, 1]), ("indptr", [0, 4, 3])):
        counts = sp.csr_array([[1, 1], [0, 2]])
        setattr(counts, part, np.array(wrong, np.int32))
        counts.has_canonical_format = True
        with pytest.raises(MomentsError, match=r"counts(.ind\w+)? has|runs|falls"):
            DocumentMoments(words, counts, np.array([1, 1])).check()


# What cannot be done.


def test_moments_say_what_they_are_and_cannot_do(zipf_lines):
    whole = DocumentMoments.from_corpus(zipf_lines(50))
    cut = whole.restrict(min_df=5)
    assert whole.limits is None
    assert f"the {cut.rare_count} other tokens are gone" in cut.limits
    assert repr(whole).endswith("tokens, whole)")
    with pytest.raises(MomentsError, match="'never-seen' is not in these moments, which are cut"):
        cut.restrict(["never-seen"])
    with pytest.raises(MomentsError, match="different vocabularies"):
        cut + whole.restrict(min_df=8)
    with pytest.raises(MomentsError, match="text read with tokenizer 'words' and 'none'"):
        whole + DocumentMoments.from_corpus([["a"]])
    assert whole.restrict(whole.vocabulary.words).whole is False
    assert whole.restrict(min_df=1) is whole
    assert whole.__add__(3) is NotImplemented
    assert whole != 3
    for words in ([], ["wa", "wa"]):
        with pytest.raises(ParameterError, match="one word or more, each of them once"):
            whole.restrict(words)


@pytest.mark.parametrize(
    ("limits", "error", "reason"),
    [
        (
            {"max_df": 2},
            CorpusError,
            "none of 3 words is left; left out: 3 .* more than 2 documents; lower",
        ),
        ({"min_df": 9}, ParameterError, "min_df=9 asks for 9 of the 3 documents"),
        ({"max_df": 0.1}, ParameterError, r"min_df=1 asks for 1 of the 3 .* at most 0\.3; lower"),
        ({"max_df": 1, "min_df": 1}, CorpusError, "raise max_df"),
        ({"min_count": 9}, CorpusError, "fewer than 9 times; lower"),
        ({"stop_words": ["a", "b", "c"]}, CorpusError, "use fewer stop words"),
        ({"min_df": 0.9, "max_df": 2}, ParameterError, r"min_df=0\.9 asks for 2\.7 of the 3"),
        ({"min_df": 1.5}, ParameterError, r"min_df must be .*, not 1\.5"),
        ({"min_df": -1}, ParameterError, "min_df must be .*, not -1"),
        ({"max_df": "all"}, ParameterError, "max_df must be .*, not 'all'"),
        ({"max_df": True}, ParameterError, "max_df must be .*, not True"),
        ({"min_df": float("nan")}, ParameterError, "min_df must be .*, not nan"),
        ({"max_size": 0}, ParameterError, "max_size must be 1 or more"),
        ({"stop_words": "nonsense"}, ParameterError, "no stop words of 'nonsense'; languages: ar"),
    ],
)
def test_bad_limits(limits, error, reason):
    documents = [["a", "b", "c"], ["a", "b", "c"], ["a", "b", "c"]]
    with pytest.raises(error, match=reason):
        DocumentMoments.from_corpus(documents, **limits)
    with pytest.raises(error, match=reason):
        DocumentMoments.from_corpus(documents).restrict(**limits)


def test_bad_corpora():
    for corpus in ([[], []], ["", " \n"], [""]):
        with pytest.raises(CorpusError, match="contains no words"):
            DocumentMoments.from_corpus(corpus)
    with pytest.raises(CorpusError, match="documents are a list of strings"):
        DocumentMoments.from_corpus("one long text, not in a list")


# Documents by the words of a fitted vocabulary.


@given(DOCUMENTS, DOCUMENTS)
def test_document_counts_equal_their_definition(seen, new):
    m = moments(seen)
    X = document_counts(new, m.vocabulary, m.options)
    assert X.toarray().tolist() == [[words.count(w) for w in m.vocabulary] for words in new]
    assert X.has_canonical_format
    assert X.dtype == np.int32
    assert DocumentMoments.from_corpus([["a", "b"]], min_df=1).options == m.options


def test_documents_are_counted_as_they_were_learned_from():
    m = DocumentMoments.from_corpus(["Ham, and ham.", "Eggs"])
    V, options = m.vocabulary, m.options
    assert V.words == ["ham", "and", "eggs"]
    texts = ["EGGS ham\neggs!", "", "bread"]
    expected = [[1, 0, 2], [0, 0, 0], [0, 0, 0]]
    corpus = TextCorpus(texts, kind="texts", tokenizer="words", lowercase=True, unit="document")
    for X in (
        texts,
        np.array(texts),
        [["Eggs", "ham", "eggs"], [], ["bread"]],
        corpus,
        encode(corpus),
        np.array(expected),
        expected,
        sp.coo_array(expected, dtype=float),
    ):
        assert document_counts(X, V, options).toarray().tolist() == expected
    for X in ([""], [[]], ["", "\n"]):
        assert document_counts(X, V, options).toarray().tolist() == [[0, 0, 0]] * len(X)
    for X in ([], (), np.array([], object)):
        assert document_counts(X, V, options).shape == (0, 3)
    with pytest.raises(CorpusError, match=r"a matrix of 2 columns, but .* from 3 words; give"):
        document_counts(np.eye(2), V, options)
    with pytest.raises(CorpusError, match="row 1, column 1: -1"):
        document_counts([[1, 2, 3], [1, -1, 0]], V, options)


def test_matrices_are_counted_as_they_were_learned_from():
    X = np.array([[1, 2, 0, 4], [1, 0, 0, 0.5]])
    m = DocumentMoments.from_matrix(X)
    assert document_counts(X, m.vocabulary, m.options).toarray().tolist() == X.tolist()
    cut = m.restrict(["3", "0"])
    assert document_counts(X, cut.vocabulary, cut.options).toarray().tolist() == [[4, 1], [0.5, 1]]
    assert document_counts(X[:, [3, 0]], cut.vocabulary, cut.options).shape == (2, 2)
    turned = m.restrict(["3", "2", "1", "0"])
    found = document_counts(X, turned.vocabulary, turned.options)
    assert found.toarray().tolist() == X[:, ::-1].tolist()
    for bad in (X[:, :3], X[:, :1]):
        with pytest.raises(CorpusError, match="but the model was learned from 2 words"):
            document_counts(bad, cut.vocabulary, cut.options)
    named = DocumentMoments.from_matrix(X, words="abcd").restrict(["d", "a"])
    with pytest.raises(CorpusError, match="but the model was learned from 2 words"):
        document_counts(X, named.vocabulary, named.options)
    for text in (["a b"], [["a", "b"]], []):
        with pytest.raises(CorpusError, match="from the columns of a matrix; give one"):
            document_counts(text, m.vocabulary, m.options)


def test_document_counts_of_what_was_counted_are_the_moments(zipf_lines):
    texts = [*zipf_lines(200), ""]
    m = DocumentMoments.from_corpus(texts, min_df=3)
    X = document_counts(texts, m.vocabulary, m.options)
    again = DocumentMoments.from_matrix(X, m.vocabulary.words)
    assert bags_of(again) == bags_of(m)
    assert np.array_equal(again.counts.toarray(), m.counts.toarray())
    assert np.array_equal(again.times, m.times)


def test_the_real_newsgroups(data_folder, monkeypatch):
    monkeypatch.setenv("EIGENTEXT_DATA", str(data_folder))
    if not (data_folder / "topics/20news.jsonl.xz").exists():
        pytest.skip("no newsgroups in the data folder")
    texts = et.load_dataset("20news", split="test").texts[:2000]
    limits = {"min_df": 5, "max_df": 0.2, "stop_words": "english", "max_size": 3000}
    m = DocumentMoments.from_corpus(texts, **limits)
    assert m == DocumentMoments.from_corpus(texts).restrict(**limits)
    shards = [DocumentMoments.from_corpus(texts[k::3]) for k in range(3)]
    assert (shards[2] + shards[0] + shards[1]).restrict(**limits) == m
    X = document_counts(texts, m.vocabulary, m.options)
    assert (X.shape, int(X.sum())) == ((2000, 3000), m.n_tokens - m.rare_count)
    assert np.count_nonzero(X.sum(axis=1) == 0) == m.n_empty


def test_a_checkpoint_spares_counting_again(tmp_path, monkeypatch):
    from eigentext import checkpointing

    texts = ["ham and eggs", "eggs", "", "and so on", "eggs"]
    here = DocumentMoments.from_corpus(texts, min_df=2)

    with pytest.raises(KeyboardInterrupt), checkpointing(tmp_path / "kept"):
        assert DocumentMoments.from_corpus(texts, min_df=2) == here
        raise KeyboardInterrupt
    monkeypatch.setattr(DocumentMoments, "_counted", None)
    with pytest.raises(TypeError), checkpointing(tmp_path / "kept"):
        DocumentMoments.from_corpus(texts, min_df=1)  # other limits: it would have to count
    with checkpointing(tmp_path / "kept"):
        assert DocumentMoments.from_corpus(texts, min_df=2) == here
