import pytest

from eigentext.explorer import asking
from eigentext.explorer.asking import RefusedError


@pytest.mark.parametrize(
    "value", [0, 11, "11", "-1", "1.0", "x", True, None, [1], "٣x", "9" * 5000]
)
def test_numbers_out_of_range_are_refused(value):
    with pytest.raises(RefusedError, match="from 1 to 10") as refused:
        asking.whole({"n": value}, "n", 5, most=10)
    assert refused.value.status == 400


def test_numbers_in_range_are_taken():
    assert [asking.whole({"n": n}, "n", 5, most=10) for n in (1, "10")] == [1, 10]
    assert asking.whole({}, "n", 5, most=10) == 5


@pytest.mark.parametrize("value", [0, 1.5, float("nan"), float("inf"), "0.4", True, None])
def test_no_decay_out_of_range(value):
    with pytest.raises(RefusedError, match="above 0 and at most 1"):
        asking.number({"decay": value}, "decay", 0.4, above=0, most=1)


@pytest.mark.parametrize("value", [None, 3, ["a"], "", " \n", "a\0b", "a\ud800b"])
def test_text_is_text(value):
    with pytest.raises(RefusedError):
        asking.text({"text": value})


def test_long_words_and_long_sentences_are_refused():
    with pytest.raises(RefusedError, match="200 characters"):
        asking.word({"word": "a" * 201})
    with pytest.raises(RefusedError, match="11 words, but at most 10"):
        asking.check_length(["a"] * 11, 10, "sentence")
    with pytest.raises(RefusedError, match="no words"):
        asking.check_length([], 10, "sentence")
