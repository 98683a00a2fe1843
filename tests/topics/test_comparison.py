"""Comparing two models: known answers, other words, other sizes, results, bad input."""

import json

import numpy as np
import pyarrow as pa
import pytest

import eigentext as et
from eigentext.corpus import Vocabulary
from eigentext.errors import EigentextError, ParameterError
from eigentext.topics import TopicModel, compare

rng = np.random.default_rng(0)
WORDS = [f"word{n}" for n in range(60)]
TOPICS = rng.dirichlet(np.full(60, 0.1), 5)


@pytest.fixture
def model():
    """``model(topics, weights=None, words=WORDS)``: a fitted model that has these topics."""

    def make(topics, weights=None, words=WORDS):
        topics = np.asarray(topics)
        made = TopicModel(1).fit([["ham", "egg", "ham"], ["egg", "ham", "egg"]] * 5)
        made.components_ = topics / topics.sum(axis=1, keepdims=True)
        K = len(topics)
        made.weights_ = np.full(K, 1 / K) if weights is None else np.asarray(weights, float)
        made.vocabulary_ = Vocabulary(list(words), np.ones(len(words), np.int64))
        made.n_topics_ = K
        return made

    return make


def kinds(found):
    return tuple(
        len(getattr(found, name)) for name in ("matched", "split", "merged", "new", "gone")
    )


def test_a_model_and_itself(model):
    one = model(TOPICS)
    found = compare(one, one)
    assert kinds(found) == (5, 0, 0, 0, 0)
    for k, match in enumerate(found.matched):
        assert (match.a, match.b, match.gained, match.lost) == (k, k, [], [])
        assert match.likeness == pytest.approx(1)
    assert (found.common_a, found.common_b, found.n_common) == pytest.approx((1, 1, 60))


def test_other_order_of_topics_and_words(model):
    order, columns = rng.permutation(5), rng.permutation(60)
    b = model(TOPICS[order][:, columns], words=[WORDS[column] for column in columns])
    found = compare(model(TOPICS), b)
    assert kinds(found) == (5, 0, 0, 0, 0)
    assert [match.b for match in found.matched] == np.argsort(order).tolist()
    assert np.diag(found.likeness[:, np.argsort(order)]) == pytest.approx(1)


def test_an_exact_mixture_is_merged_one_way_and_split_the_other(model):
    joined = 0.4 * TOPICS[0] + 0.6 * TOPICS[1]
    a, b = model(TOPICS), model([TOPICS[4], joined, TOPICS[2], TOPICS[3]])
    found = compare(a, b)
    assert kinds(found) == (3, 0, 1, 0, 0)
    (merged,) = found.merged
    assert (merged.topic, merged.parts) == (1, [0, 1])
    assert merged.shares == pytest.approx([0.4, 0.6], abs=1e-9)
    assert merged.likeness == pytest.approx(1)
    assert [(m.a, m.b) for m in found.matched] == [(2, 2), (3, 3), (4, 0)]
    back = compare(b, a)
    assert kinds(back) == (3, 1, 0, 0, 0)
    (split,) = back.split
    assert (split.topic, split.parts) == (1, [0, 1])
    assert split.shares == pytest.approx([0.4, 0.6], abs=1e-9)


def test_a_topic_of_other_words_is_new(model):
    words = [*WORDS, "x", "y", "z"]
    old = np.hstack([TOPICS, np.zeros((5, 3))])
    b = model(np.vstack([old, np.eye(63)[[60]] + np.eye(63)[[61]]]), words=words)
    found = compare(model(TOPICS), b, n_words=2)
    assert kinds(found) == (5, 0, 0, 1, 0)
    (new,) = found.new
    assert (new.topic, new.words, new.common, new.likeness) == (5, ["x", "y"], 0, 0)
    gone = compare(b, model(TOPICS))
    assert kinds(gone) == (5, 0, 0, 0, 1)
    assert gone.common_a == pytest.approx(5 / 6)


def test_a_topic_with_the_same_common_words_but_mostly_others_is_new(model):
    changed = np.hstack([TOPICS[0] * 0.3, 0.7])
    b = model(np.vstack([np.hstack([TOPICS, np.zeros((5, 1))])[1:], changed]), words=[*WORDS, "x"])
    found = compare(model(TOPICS), b)
    assert kinds(found) == (4, 0, 0, 1, 1)
    assert found.new[0].common == pytest.approx(0.3)
    assert (found.new[0].nearest, found.gone[0].topic) == (0, 0)


def test_unrelated_topics(model):
    blocks = np.kron(np.eye(6), np.ones(10))
    found = compare(model(blocks[:3]), model(blocks[3:]))
    assert kinds(found) == (0, 0, 0, 3, 3)
    assert (found.likeness == 0).all()


def test_words_that_changed(model):
    p = np.zeros(60)
    p[:3] = 0.5, 0.3, 0.2
    q = np.zeros(60)
    q[[0, 1, 3]] = 0.5, 0.35, 0.15
    (match,) = compare(model([p]), model([q])).matched
    assert (match.gained, match.lost) == (["word3", "word1"], ["word2"])
    assert match.likeness == pytest.approx(0.5 + np.sqrt(0.3 * 0.35))


@pytest.mark.parametrize("threshold", [0.0, 0.6, 1.0])
def test_the_threshold(model, threshold):
    noisy = TOPICS + rng.dirichlet(np.full(60, 0.5), 5)
    found = compare(model(TOPICS), model(noisy), threshold=threshold)
    assert found.threshold == threshold
    assert all(match.likeness >= threshold for match in found.matched)
    assert (threshold < 1) == bool(found.matched)


def test_the_default_threshold_is_between_its_limits(model):
    alike = TOPICS[0] + 1e-4 * TOPICS
    assert compare(model(alike), model(alike)).threshold == 0.9
    blocks = np.kron(np.eye(6), np.ones(10))
    assert compare(model(blocks), model(blocks)).threshold == 0.5
    assert compare(model(TOPICS[:1]), model(TOPICS[:1])).threshold == 0.5  # K = 1


def test_every_topic_is_somewhere(model):
    for seed in range(20):
        lots = np.random.default_rng(seed)
        a = model(lots.dirichlet(np.full(60, 0.1), lots.integers(1, 8)))
        mixed = lots.dirichlet(np.full(len(a.components_), 0.4), lots.integers(1, 8))
        b = model(mixed @ a.components_ + 0.1 * lots.dirichlet(np.full(60, 0.1), len(mixed)))
        found = compare(a, b)
        parts = [k for m in found.merged for k in m.parts]
        seen = {*(m.a for m in found.matched), *(m.topic for m in found.split), *parts}
        gone = {m.topic for m in found.gone}
        assert seen | gone == set(range(len(a.components_)))
        assert not seen & gone
        parts = [k for m in found.split for k in m.parts]
        seen = {*(m.b for m in found.matched), *(m.topic for m in found.merged), *parts}
        new = {m.topic for m in found.new}
        assert seen | new == set(range(len(b.components_)))
        assert not seen & new


def test_documents():
    meals, games = ["ham eggs ham cheese"] * 20, ["goal team goal match"] * 20
    a, b = TopicModel(2).fit(meals + games), TopicModel(2).fit(meals + games + games)
    found = compare(a, b, meals[:3] + games[:1])
    food = [int(model.transform(["ham eggs"]).argmax()) for model in (a, b)]
    assert found.documents[food[0], food[1]] == 0.75
    assert found.documents.sum() == 1
    assert compare(a, b, iter(meals)).documents[food[0], food[1]] == 1
    assert compare(a, b).documents is None


def test_what_the_result_shows(model):
    b = np.vstack([TOPICS[1:3].sum(axis=0), TOPICS[3:], np.eye(60)[[7]]])
    found = compare(model(TOPICS), model(b))
    told = str(found)
    assert told.splitlines()[0].startswith("topics: ")
    assert len(told.splitlines()) == 1 + sum(kinds(found))
    assert "\n" not in repr(found)
    page = found._repr_html_()
    assert all(kind in page for kind in ("same", "merged", "new", "gone"))
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["merged"][0]["parts"] == [1, 2]
    assert np.allclose(plain["likeness"], found.likeness)
    table = found.to_arrow()
    assert found.to_pandas()["kind"].tolist() == table["kind"].to_pylist()
    assert table.num_rows == sum(kinds(found))
    assert table.column("kind").to_pylist()[0] == "matched"
    empty = compare(model(np.eye(60)[:1]), model(np.eye(60)[:1]), n_words=0)
    assert empty.to_arrow().schema == table.schema
    assert isinstance(table, pa.Table)


def test_bad_input(model):
    one = model(TOPICS)
    with pytest.raises(ParameterError, match="b must be a TopicModel, not list"):
        compare(one, TOPICS.tolist())
    with pytest.raises(EigentextError, match="no word in common"):
        compare(one, model(TOPICS, words=[f"other{n}" for n in range(60)]))
    with pytest.raises(Exception, match="not fitted"):
        compare(one, TopicModel())
    for wrong in ({"n_words": -1}, {"threshold": 2}, {"threshold": "high"}):
        with pytest.raises(ParameterError):
            compare(one, one, **wrong)


def test_seeds_and_orders_of_real_topics(data_folder):
    texts = et.load_dataset("reuters", split="train").texts
    a = TopicModel(10).fit(list(texts))
    b = TopicModel(10, random_state=1).fit(list(texts)[::-1])
    assert kinds(compare(a, b)) == (10, 0, 0, 0, 0)
