"""Shares by group: means, the coverage of intervals, dates of all kinds, and clear errors."""

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import eigentext as et
from eigentext.errors import CorpusError, ParameterError
from eigentext.topics.shares import _means, grouped, shares_by

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
LABELS = ["food", "food", "sports"] * 20


@pytest.fixture(scope="module")
def model():
    return et.TopicModel(2).fit(TEXTS)


def test_shares_are_means_of_proportions(model):
    texts = ["ham goal goal goal", "ham", "unknown words", "goal goal", "eggs"]
    theta, labels = model.transform(texts), np.array(["a", "b", "b", "a", "b"])
    found = model.shares_by(texts, labels)
    assert found.groups == ["a", "b"]
    assert np.allclose(found.shares[0], theta[[0, 3]].mean(axis=0))
    assert np.allclose(found.shares[1], theta[[1, 4]].mean(axis=0))
    assert found.n_documents.tolist() == [2, 2]
    assert found.n_words.tolist() == [6, 2]
    assert found.n_left_out == 1
    assert found.few.all()
    by_words = model.shares_by(texts, labels, weights="words")
    assert np.allclose(by_words.shares[0], (4 * theta[0] + 2 * theta[3]) / 6)
    assert np.allclose(found.shares.sum(axis=1), 1)
    assert (found.low <= found.shares + 1e-12).all() and (found.shares <= found.high + 1e-12).all()
    assert (found.low[0] < found.shares[0]).all()  # the two documents of b are alike


@pytest.mark.parametrize(("alpha", "n", "least"), [(1.0, 30, 0.93), (0.3, 60, 0.90)])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_cover_the_truth(alpha, n, least, weighted):
    """95 % of them; somewhat fewer if a few documents have most of a topic."""
    rng = np.random.default_rng(0)
    prior = alpha * np.array([0.5, 0.3, 0.2])
    truth, inside = prior / prior.sum(), []
    for _ in range(600):
        theta = rng.dirichlet(prior, n)
        u = rng.integers(5, 50, n).astype(float) if weighted else np.ones(n)
        _, low, high, _ = _means(theta, u, np.zeros(n, int), 1, 0.95)
        inside.append((low[0] <= truth) & (truth <= high[0]))
    share = np.mean(inside, axis=0)
    assert (share > least).all() and (share < 0.985).all()


def test_intervals_are_wider_at_a_higher_level_and_missing_for_one_document(model):
    narrow, wide = (model.shares_by(TEXTS, LABELS, level=level) for level in (0.5, 0.99))
    assert (wide.high >= narrow.high).all() and (wide.low <= narrow.low).all()
    single = model.shares_by(["ham", "goal", "goal ham"], ["a", "b", "b"])
    assert np.isnan(single.low[0]).all() and np.isfinite(single.low[1]).all()
    assert single.to_arrow()["low"].null_count == 2


DAYS = ["2024-01-31", "2024-03-05", "2023-12-31", "2024-01-01"]


@pytest.mark.parametrize(
    "dates",
    [
        DAYS,
        [date.fromisoformat(day) for day in DAYS],
        [datetime.fromisoformat(f"{day}T23:00:00") for day in DAYS],
        [datetime.fromisoformat(day).replace(tzinfo=UTC) for day in DAYS],
        [np.datetime64(day) for day in DAYS],
        np.array(DAYS, "M8[ns]"),
        np.array(DAYS),
        pd.Series(pd.to_datetime(DAYS)),
        pd.Series(pd.to_datetime(DAYS)).dt.tz_localize("UTC"),
        pd.DatetimeIndex(DAYS),
        pa.array([date.fromisoformat(day) for day in DAYS]),
        pa.chunked_array([pa.array([datetime.fromisoformat(day) for day in DAYS])]),
        [f"{day} 10:15:00" for day in DAYS],
        [f"{day}T10:15:00Z" for day in DAYS],
    ],
    ids=lambda dates: type(dates).__name__,
)
def test_dates_of_all_kinds(model, dates):
    found = model.shares_by(TEXTS[:4], dates, period="month")
    assert found.groups == ["2023-12", "2024-01", "2024-03"]
    assert found.starts == [date(2023, 12, 1), date(2024, 1, 1), date(2024, 3, 1)]
    assert found.n_documents.tolist() == [1, 2, 1]


def test_periods():
    def names(period):
        return grouped(DAYS, period)[0]

    assert names("year") == ["2023", "2024"]
    assert names("week") == ["2023-W52", "2024-W01", "2024-W05", "2024-W10"]
    assert names("day") == sorted(DAYS)
    assert names("auto") == sorted(DAYS)
    many = [date.fromordinal(738000 + k) for k in range(0, 3000, 20)]
    assert len(grouped(many, "auto")[0]) == 9  # years
    assert grouped(many[:30], None)[0] == grouped(many[:30], "day")[0]  # dates are no labels
    assert grouped([2001, 1999, 2001], "year")[0] == ["1999", "2001"]
    assert grouped(["2001-5", "1999-12"], "month")[0] == ["1999-12", "2001-05"]
    assert grouped([date(1, 1, 1)], "week")[0] == ["0001-W01"]


def test_labels_are_in_order():
    assert grouped([10, 9, 10], None)[0] == ["9", "10"]
    assert grouped(["b", "a", 3], None)[0] == ["3", "a", "b"]
    assert grouped([True, False], None)[0] == ["False", "True"]


def test_differences(model):
    found = model.shares_by(TEXTS, LABELS)
    gap = found.difference("food", "sports")
    food = int(model.transform(["ham"]).argmax())
    assert gap.difference[food] > 0.5 and gap.low[food] > 0.5 and gap.p[food] < 1e-9
    assert np.allclose(found.difference("sports", "food").difference, -gap.difference)
    assert (gap.adjusted_p >= gap.p).all()
    assert gap.to_arrow()["topic"].to_pylist()[0] in (0, 1) and len(gap.to_pandas()) == 2
    same = found.difference("food", "food")
    assert (same.difference == 0).all() and (same.p == 1).all()


def test_p_values_are_uniform_without_a_difference():
    rng = np.random.default_rng(1)
    model = et.TopicModel(2).fit(TEXTS)
    words = model.vocabulary_.words
    texts = [" ".join(rng.choice(words, 8)) for _ in range(1200)]
    p = []
    for start in range(0, 1200, 30):
        labels = ["a", "b"] * 15
        found = model.shares_by(texts[start : start + 30], labels)
        p.append(found.difference("a", "b").p[0])
    assert 0 < np.mean(np.array(p) < 0.25) < 0.5


def test_tables_and_figures(model):
    found = model.shares_by(TEXTS, ["2024-01-01", "2024-02-01", "2024-03-01"] * 20, period="month")
    table = found.to_arrow()
    names = ["group", "start", "topic", "share", "low", "high", "documents", "words", "few"]
    assert table.column_names == names and len(table) == 6
    assert found.to_pandas()["share"].tolist() == found.shares.ravel().tolist()
    assert "start" not in model.shares_by(TEXTS, LABELS).to_arrow().column_names
    assert found._repr_html_().count("<tr") >= 4
    pytest.importorskip("matplotlib")
    for shares in (found, model.shares_by(TEXTS, LABELS)):
        ax = shares.plot()
        assert len(ax.get_legend().get_texts()) == 2
    assert len(found.plot([1]).lines) == 1
    with pytest.raises(ParameterError, match="topics are numbers from 0 to 1"):
        found.plot([2])


def test_columns_of_tables(model, tmp_path):
    rows = {"text": TEXTS[:3], "day": ["2024-01-01", "2024-02-01", "2024-02-02"], "n": [1, 2, 1]}
    for table in (rows, pd.DataFrame(rows), pa.table(rows)):
        corpus = et.TextCorpus(table, column="text", tokenizer="words", lowercase=True)
        found = model.shares_by(corpus, "day", period="month")
        assert found.groups == ["2024-01", "2024-02"]
        assert np.allclose(found.shares[0], model.transform(TEXTS[:1])[0])
        assert model.shares_by(corpus, "n").groups == ["1", "2"]
    path = tmp_path / "posts.csv"
    path.write_text("text,day\nham eggs,2024-01-01\ngoal,soon\n")
    corpus = et.TextCorpus(path, column="text", tokenizer="words", lowercase=True)
    with pytest.raises(CorpusError, match=r"posts.csv, row 2, column 'day': 'soon' is not a date"):
        model.shares_by(corpus, "day", period="month")
    with pytest.raises(CorpusError, match="no column 'nope'"):
        model.shares_by(corpus, "nope")
    path.write_text("text,day\nham eggs,2024-01-01\ngoal,\n")
    with pytest.raises(CorpusError, match=r"posts.csv, row 2, column 'day' has no label or date"):
        model.shares_by(et.TextCorpus(path, column="text", tokenizer="words"), "day")


@pytest.mark.parametrize(
    ("by", "options", "message"),
    [
        (["2024-01-01", "soon"], {"period": "month"}, "document 1: 'soon' is not a date"),
        (["2024-13-01", "2024-01-01"], {"period": "year"}, "document 0: '2024-13-01' is not"),
        (["a", None], {}, "document 1 has no label"),
        (["a", float("nan")], {}, "document 1 has no label"),
        (pd.Series(pd.to_datetime(["2024-01-01", None])), {}, "document 1 has no label"),
        (["a"], {}, "1 labels for 2 documents; give one for each"),
        ("day", {}, "the documents are not a table"),
        (7, {}, "a label or a date for each document, not int"),
        (np.ones((2, 2)), {}, "has the shape"),
        (["a", "b"], {"period": "decade"}, "period must be"),
        (["a", "b"], {"weights": "tokens"}, "weights must be"),
        (["a", "b"], {"level": 1.0}, "level must be"),
    ],
)
def test_bad_input(model, by, options, message):
    with pytest.raises((CorpusError, ParameterError), match=message):
        shares_by(model, TEXTS[:2], by, **options)


def test_bad_documents_and_groups(model):
    with pytest.raises(CorpusError, match="no document has a word"):
        model.shares_by(["xyz"], ["a"])
    with pytest.raises(CorpusError, match="no document has a word"):
        model.shares_by([], [])
    found = model.shares_by(["ham", "goal", "xyz"], ["a", "b", "c"])
    assert found.groups == ["a", "b"]  # c has no known words
    with pytest.raises(ParameterError, match="no group 'c'; there are a, b"):
        found.difference("a", "c")
    with pytest.raises(CorpusError, match="single document"):
        found.difference("a", "b")


def test_one_topic():
    found = et.TopicModel(1).fit(TEXTS).shares_by(TEXTS, LABELS)
    assert np.allclose(found.shares, 1) and np.isfinite(found.low).all()
    assert found.difference("food", "sports").p.tolist() == [1.0]


def test_intervals_of_a_single_topic_hold_its_share():
    texts = ["ham eggs ham", "eggs ham cheese", "cheese eggs"] * 9
    found = et.TopicModel(1).fit(texts).shares_by(texts, ["a", "b", "b"] * 9)
    assert (found.shares == 1).all()
    assert (found.low <= 1).all()
    assert (found.high == 1).all()
