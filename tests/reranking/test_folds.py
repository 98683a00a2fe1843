"""Jack-knife: a model of all other folds makes the candidates of each input."""

import pytest

import eigentext as et
from eigentext import engine
from eigentext.errors import CorpusError, ParameterError
from eigentext.reranking.folds import as_gold, jackknife, n_best, words_of


@pytest.mark.parametrize("n_folds", [2, 3, 7, 10])
def test_each_input_is_answered_by_a_model_of_all_that_is_not_in_its_fold(n_folds):
    data = [f"sentence {i}" for i in range(10)]
    answers = jackknife(set, lambda seen, rest: [[one, seen, rest] for one in rest], data, n_folds)
    assert [one for one, _, _ in answers] == data
    for one, seen, rest in answers:
        assert one not in seen
        assert seen | set(rest) == set(data)
        assert len(seen) + len(rest) == len(data)
        assert len(rest) in (len(data) // n_folds, -(-len(data) // n_folds))


def test_data_may_be_an_iterator():
    found = jackknife(sum, lambda seen, rest: ([seen, one] for one in rest), iter([1, 2, 4]), 3)
    assert found == [[6, 1], [5, 2], [3, 4]]


@pytest.mark.parametrize("n_folds", [1, 4, 2.5, "2"])
def test_folds_that_cannot_be_made(n_folds):
    with pytest.raises(ParameterError, match=r"from 2 to the number of inputs \(3\)"):
        jackknife(list, lambda model, rest: [[] for _ in rest], "abc", n_folds)


def test_a_generator_that_forgets_an_input():
    with pytest.raises(ParameterError, match="fold 1 has 2 inputs, but gen returned 1 lists"):
        jackknife(list, lambda model, rest: [[]] * (2 - (rest[0] == 3)), [1, 2, 3, 4], 2)


class Shouting:
    """A model with the method k_best."""

    def k_best(self, words, k):
        return (([(word, "!" * i) for word in words], -float(i)) for i in range(k))


def test_n_best_of_many_sentences_in_order():
    sentences = [["a"], ["b", "c"]] * 20
    with engine.use(engine.ThreadEngine(2)):
        found = n_best(Shouting(), sentences, 2)
    assert [words_of(best[0][0]) for best in found] == sentences
    assert found[1][1] == ([("b", "!"), ("c", "!")], -1.0)


def test_a_model_that_answers_many_at_once_is_asked_once():
    class AtOnce(Shouting):
        def k_best_many(self, sentences, k):
            return [[f"{k} of {len(sentences)}"] for _ in sentences]

    assert n_best(AtOnce(), [["a"], ["b"]], 3) == [["3 of 2"], ["3 of 2"]]


def test_a_model_without_k_best():
    with pytest.raises(ParameterError, match="Vocabulary has no method k_best"):
        n_best(et.Vocabulary(["a"], [1]), [["a"]], 2)


def test_gold_is_what_a_base_model_can_propose():
    assert as_gold(
        "( (S (NP-SBJ (NNS cats)) (VP (VBP sleep) (NP (-NONE- *T*)))))"
    ) == et.Tree.parse("(S (NP (NNS cats)) (VP (VBP sleep)))")
    assert as_gold([["cats", "NNS"]]) == [("cats", "NNS")]
    assert words_of(as_gold("(S (NP (NNS cats)))")) == ["cats"]
    with pytest.raises(CorpusError, match="neither a tree nor a tagged sentence"):
        as_gold(["cats", "sleep"])
