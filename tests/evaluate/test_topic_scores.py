"""The table of all scores of topics: the parts it is made of, its laws, and bad input."""

import json

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import eigentext as et
from eigentext.errors import EigentextError, ParameterError
from eigentext.evaluate import (
    coherence,
    distinct_words,
    diversity,
    label_agreement,
    topics,
    word_intrusion,
)
from eigentext.moments import document_counts

TEXTS = ["ham eggs ham cheese", "eggs cheese ham eggs", "goal team goal match"] * 20
LABELS = ["food", "food", "sport"] * 20


@pytest.fixture(scope="module")
def model():
    return et.TopicModel(2).fit(TEXTS)


def test_figures_are_those_of_their_functions(model):
    texts = [*TEXTS[:30], "team cheese", "unknown"]
    labels = [*LABELS[:30], "food", "food"]
    found = topics(model, texts, labels, n_words=3)
    X = document_counts(texts, model.vocabulary_, model.provenance_["options"])
    top, names = model.top_words(3), model.vocabulary_.words
    assert found.perplexity == pytest.approx(model.perplexity(texts))
    assert found.npmi == coherence(top, X, words=names).mean
    assert found.umass == coherence(top, X, words=names, measure="umass").mean
    assert found.diversity == distinct_words(top) == diversity(top)
    assert found.intrusion == word_intrusion(top, X, words=names, n_words=3).mean == 1
    largest = model.transform(texts[:31]).argmax(axis=1)
    agreement = label_agreement(largest, labels[:31])
    assert (found.purity, found.nmi, found.ari) == (agreement.purity, agreement.nmi, agreement.ari)
    assert (found.n_documents, found.n_empty, found.n_topics) == (32, 1, 2)
    assert found.agreement.n_documents == 31  # nobody knows the topic of an empty document


def test_topics_that_are_the_labels_agree_fully(model):
    found = topics(model, TEXTS, LABELS)
    assert (found.purity, found.nmi, found.ari) == pytest.approx((1, 1, 1))
    assert found.by_topic["label"] == ["food", "sport"]
    assert found.by_topic["documents"] == [40, 20]
    swapped = topics(model, TEXTS, [{"food": "sport", "sport": "food"}[x] for x in LABELS])
    assert swapped.nmi == pytest.approx(found.nmi)


def test_without_labels_there_is_no_agreement(model):
    found = topics(model, TEXTS)
    assert found.purity is found.nmi is found.ari is found.stability is None
    assert "purity" not in str(found)
    assert "label" not in found.by_topic


def test_every_way_to_show_it(model):
    found = topics(model, TEXTS, LABELS, stability=1)
    told = found.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["stability"]["order"] == 1
    assert [line.split("  ")[0] for line in str(found).splitlines()[:4]] == [
        *("perplexity", "NPMI", "UMass", "diversity"),
    ]
    assert "stability, resample" in str(found)
    assert "food" in found._repr_html_()
    assert list(found.to_pandas()["label"]) == ["food", "sport"]
    assert repr(found).startswith("TopicScores(perplexity ")


def test_texts_may_be_a_generator_a_corpus_or_counts(model):
    expected = topics(model, TEXTS, LABELS).to_dict()
    X = document_counts(TEXTS, model.vocabulary_, model.provenance_["options"])
    for texts in (iter(TEXTS), et.TextCorpus(TEXTS, tokenizer="words"), X, X.toarray()):
        assert topics(model, texts, iter(LABELS)).to_dict() == expected


def test_columns_get_names():
    words = ["cheese", "eggs", "goal", "ham"]
    counts = np.array([[text.split().count(word) for word in words] for text in TEXTS])
    model = et.TopicModel(2).fit(counts)
    found = topics(model, counts, words=words, n_words=2)
    assert {word for some in found.by_topic["words"] for word in some} <= set(words)


def test_one_topic_has_no_intruders():
    model = et.TopicModel(1).fit(TEXTS)
    found = topics(model, TEXTS, LABELS)
    assert found.intrusion is None
    assert found.nmi == pytest.approx(0)
    assert found.purity == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("texts", "labels", "options", "told"),
    [
        (TEXTS, LABELS[:5], {}, "5 labels and 60 documents"),
        (TEXTS, "food", {}, "a list with a label"),
        (TEXTS, [None] * 60, {}, "exactly one label"),
        (["who knows", "nothing"], None, {}, "two known words"),
        (TEXTS, None, {"n_words": 1}, "n_words"),
        (TEXTS, None, {"stability": -1}, "stability"),
    ],
)
def test_bad_input_is_told(model, texts, labels, options, told):
    with pytest.raises(EigentextError, match=told):
        topics(model, texts, labels, **options)


def test_an_unfitted_model_is_told():
    with pytest.raises(NotFittedError, match="call fit first"):
        topics(et.TopicModel(2), TEXTS)
    with pytest.raises(ParameterError, match="TopicModel, not str"):
        topics("model", TEXTS)
    with pytest.raises(ParameterError):
        topics(et.TopicModel(2).fit(TEXTS), TEXTS, words=["a"])
