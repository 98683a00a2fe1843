"""`TwoViewTopics`: answers by one view or both, the order of documents, bad input, files."""

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext import engine
from eigentext.errors import CorpusError, LittleDataWarning, ModelFileError, ParameterError

FOODS, GAMES, LAWS = "ham eggs cheese bread", "goal team match win", "court judge jury trial"
TITLES = ["breakfast", "sports", "justice"]


def _documents(n=150, seed=0, length=8):
    rng = np.random.default_rng(seed)
    h = rng.integers(0, 3, n)
    pools = [part.split() for part in (FOODS, GAMES, LAWS)]
    texts = [" ".join(rng.choice(pools[k], length)) for k in h]
    titles = [TITLES[k] for k in h]
    numbers = 2 * np.eye(3)[h] + rng.normal(size=(n, 3))
    return texts, titles, numbers, h


def _agree(shares, h):
    table = np.zeros((3, 3))
    np.add.at(table, (shares.argmax(axis=1), h), 1)
    return table.max(axis=1).sum() / len(h)


@pytest.mark.parametrize("kind", ["titles", "numbers"])
def test_documents_have_topics_by_either_view_or_both(kind):
    texts, titles, numbers, h = _documents()
    second = titles if kind == "titles" else numbers
    model = et.TwoViewTopics(3).fit(texts, second)
    assert {frozenset(words) for words in model.top_words(4)} == {
        frozenset(part.split()) for part in (FOODS, GAMES, LAWS)
    }
    both, first, other = (
        model.transform(texts, second),
        model.transform(texts),
        model.transform(None, second),
    )
    assert _agree(both, h) > 0.98
    assert _agree(first, h) > 0.98
    assert _agree(other, h) > 0.8
    assert np.allclose(both.sum(axis=1), 1)
    assert np.allclose(model.fit_transform(texts, second), both)
    unknown = model.transform(["nothing known"])
    assert np.allclose(unknown, model.weights_)


def test_the_second_view_decides_where_words_are_missing():
    texts, titles, _, _ = _documents()
    model = et.TwoViewTopics(3).fit(["", *texts[1:]], titles)
    empty = model.transform([""] * 3, TITLES)
    assert np.allclose(empty, model.transform(None, TITLES))
    assert len(set(empty.argmax(axis=1))) == 3
    assert model.diagnostics_["n_without_first"] == 1


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["titles", "numbers"])
def test_neither_order_nor_threads_change_a_bit(kind, threads):
    texts, titles, numbers, _ = _documents()
    second = np.array(titles) if kind == "titles" else numbers
    order = np.random.default_rng(1).permutation(len(texts))
    one = et.TwoViewTopics(3).fit(texts, second)
    with engine.use(engine.ThreadEngine(threads)):
        two = et.TwoViewTopics(3).fit([texts[i] for i in order], second[order])
    assert np.array_equal(one.components_, two.components_)
    assert np.array_equal(one.weights_, two.weights_)
    assert np.array_equal(one.transform(texts, second), two.transform(texts, second))


def test_balance_zero_ignores_the_second_view_of_documents():
    texts, _, numbers, _ = _documents()
    model = et.TwoViewTopics(3, balance=0).fit(texts, numbers)
    assert np.allclose(model.transform(texts, numbers), model.transform(texts))


def test_units_of_numbers_do_not_matter():
    texts, _, numbers, _ = _documents()
    one = et.TwoViewTopics(3).fit(texts, numbers)
    two = et.TwoViewTopics(3).fit(texts, numbers * [1000, 0.01, 3] + 5)
    assert np.allclose(one.transform(texts), two.transform(texts), atol=1e-6)
    assert np.allclose(two.second_means_, one.second_means_ * [1000, 0.01, 3] + 5, rtol=1e-4)


def test_one_column_one_topic_and_matrices():
    texts, titles, numbers, _ = _documents()
    model = et.TwoViewTopics(2).fit(texts, numbers[:, 0])
    assert model.second_means_.shape == (2, 1)
    assert (et.TwoViewTopics(1).fit(texts, titles).transform(texts, titles) == 1).all()
    counts = sp.csr_array(np.random.default_rng(0).poisson(1.0, (50, 6)))
    model = et.TwoViewTopics(2).fit(counts, counts[:, :3])
    assert model.second_kind_ == "words"
    assert model.transform(counts, counts[:, :3]).shape == (50, 2)


def test_an_empty_field_is_told():
    texts, titles, _, _ = _documents()
    mostly = [title if i % 5 == 0 else "" for i, title in enumerate(titles)]
    with pytest.warns(LittleDataWarning, match="80% of the documents have no words in the second"):
        model = et.TwoViewTopics(3).fit(texts, mostly)
    assert model.diagnostics_["n_without_second"] == 120
    assert any("second view" in one.sentence for one in model.findings())
    some = [title if i % 5 else "" for i, title in enumerate(titles)]
    model = et.TwoViewTopics(3).fit(texts, some)
    assert any("30 of 150 documents" in one.sentence for one in model.findings())


@pytest.mark.parametrize(
    ("second", "told"),
    [
        (None, "give second"),
        ([[1.0]] * 149, "different lengths: 150 documents, and 149"),
        (["a title"] * 151, "different lengths"),
        ([[np.nan]] * 150, "nan in row 0"),
        ([[3.0, 1.0]] * 150, "constant"),
        ([""] * 150, "no words"),
    ],
)
def test_bad_second_views_are_refused_with_a_remedy(second, told):
    texts = _documents()[0]
    with pytest.raises((ParameterError, CorpusError), match=told):
        et.TwoViewTopics(3).fit(texts, second)


def test_bad_questions_are_refused():
    texts, _, numbers, _ = _documents()
    model = et.TwoViewTopics(3).fit(texts, numbers)
    with pytest.raises(ParameterError, match="nothing to transform"):
        model.transform(None)
    with pytest.raises(ParameterError, match="2 columns, but the model was learned from 3"):
        model.transform(texts, numbers[:, :2])
    with pytest.raises(ParameterError, match="different lengths"):
        model.transform(texts, numbers[:5])
    with pytest.raises(ParameterError, match="has numbers"):
        model.top_words(3, view="second")
    with pytest.raises(ParameterError, match="'first' or 'second'"):
        model.top_words(3, view="third")


@pytest.mark.parametrize("kind", ["titles", "numbers"])
def test_files_give_the_same_answers(tmp_path, kind):
    texts, titles, numbers, _ = _documents()
    second = titles if kind == "titles" else numbers
    model = et.TwoViewTopics(3).fit(texts, second)
    model.save(tmp_path / "model")
    loaded = et.load(tmp_path / "model")
    assert np.array_equal(loaded.transform(texts, second), model.transform(texts, second))
    assert loaded.top_words(3) == model.top_words(3)
    assert "topics of documents with two views" in loaded._repr_html_()


def test_a_covariance_that_is_none_is_refused(tmp_path):
    texts, _, numbers, _ = _documents()
    model = et.TwoViewTopics(3).fit(texts, numbers)
    model.covariance_ = -model.covariance_
    model.save(tmp_path / "model")
    with pytest.raises(ModelFileError, match="covariance"):
        et.load(tmp_path / "model")


@pytest.mark.parametrize("kind", ["titles", "numbers"])
def test_the_curve_shows_the_steps_of_em(kind):
    texts, titles, numbers, _ = _documents()
    model = et.TwoViewTopics(3).fit(texts, titles if kind == "titles" else numbers)
    (line,) = model.plot("curve").lines
    assert line.get_ydata().tolist() == model.diagnostics_["changes"]
    with pytest.raises(ParameterError, match="without steps"):
        et.TwoViewTopics(3, refine=0).fit(texts, numbers).plot("curve")
