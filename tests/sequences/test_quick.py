"""The short way from lists to ids gives what the long way gives, or leaves the input to it."""

import numpy as np
import pytest

from eigentext import KneserNey, Vocabulary
from eigentext.corpus.symbols import INTEGERS, are_events, sequence_ids
from eigentext.errors import CorpusError
from eigentext.sequences._quick import sentence_ids, sentences_ids

VOCABULARY = Vocabulary(["a", "b", "c d", "", "é"], [5, 4, 3, 2, 1])
LINES = {"tokenizer": "none", "unit": "line", "lowercase": False}


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("words", [["a"], ["a", "zz", ""], ["É", "A", "c d"], ["b"] * 50])
def test_one_sentence(words, lowercase):
    options = LINES | {"lowercase": lowercase}
    found = sentence_ids(words, VOCABULARY, options)
    assert found is not None
    assert found.dtype == np.int32
    assert np.array_equal(found, sequence_ids(words, VOCABULARY, options))


def test_several_sentences():
    sentences = [["a", "b"], [], ["c d", "zz"], [""], []]
    found, long = (way(sentences, VOCABULARY, LINES) for way in (sentences_ids, sequence_ids))
    assert found is not None
    for ids in (found, long):
        kept = ids[are_events(ids, LINES)]
        assert kept.tolist() == [0, 1, -1, 2, -2, -1, 3, -1]


@pytest.mark.parametrize(
    "tokens",
    [
        [],
        [[]],
        [[], []],
        ("a", "b"),
        "a b",
        ["a", 1],
        [["a"], "b"],
        [["a"], ("b",)],
        [["a", 2]],
        [[1, 2]],
        ["a b", "c d"],
        ["a", "\ud800"],
        [["a", "\ud800"]],
        np.array(["a"]),
        None,
    ],
)
def test_other_input_takes_the_long_way(tokens):
    assert sentence_ids(tokens, VOCABULARY, LINES) is None
    assert sentences_ids(tokens, VOCABULARY, LINES) is None


def test_models_of_integers_take_the_long_way():
    options = LINES | {"tokenizer": INTEGERS}
    assert sentence_ids(["a"], VOCABULARY, options) is None
    assert sentences_ids([["a"]], VOCABULARY, options) is None


@pytest.mark.filterwarnings("ignore:.*Too little text")
def test_models_answer_the_same_by_both_ways():
    lines = [["to", "be", "or", "not"], ["to", "see", "or", "be"]] * 3
    model = KneserNey(3).fit(lines)
    for rare in (True, False):
        whole = model.log_probabilities([tuple(line) for line in lines], rare=rare)
        assert np.array_equal(model.log_probabilities(lines, rare=rare), whole)
        each = [model.log_probabilities(line, rare=rare) for line in lines]
        assert np.array_equal(np.concatenate(each), whole)
    stream = KneserNey(2).fit([word for line in lines for word in line])
    assert len(stream.log_probabilities(lines[0])) == 4
    assert stream.score(lines[0]) == stream.log_probabilities(tuple(lines[0])).mean()
    with pytest.raises(CorpusError, match="surrogates"):
        model.log_probabilities(["to", "\ud800"])
    with pytest.raises(CorpusError, match="no word of this text"):
        stream.score(["zz"])
