import pytest

from eigentext.explorer.tokens import as_learned, penn_tokens


@pytest.mark.parametrize(
    ("typed", "tokens"),
    [
        ("The old man sleeps.", "The old man sleeps ."),
        ("already , separate .", "already , separate ."),
        ("He said: “I can't, Ann's here!”", "He said : “ I ca n't , Ann 's here ! ”"),
        ("Dr. Li left the U.K. at 3.5", "Dr. Li left the U.K. at 3.5"),
        ("... - ?", "... - ?"),
    ],
)
def test_typed_sentences_become_those_of_treebanks(typed, tokens):
    assert penn_tokens(typed) == tokens.split()


def test_separate_tokens_stay_as_they_are():
    tokens = penn_tokens("She (Ann) doesn't, etc.")
    assert penn_tokens(" ".join(tokens)) == tokens


def test_text_is_split_like_the_training_text():
    text = "The cat's out, 2 of them"
    assert as_learned(text, {"tokenizer": "whitespace", "lowercase": True})[1] == "cat's"
    assert as_learned(text, {"tokenizer": "words", "lowercase": True}) == [
        "the", "cat's", "out", "of", "them",
    ]  # fmt: skip
    assert as_learned(text, {"tokenizer": "none"}) == text.split()
    assert as_learned(text, {"tokenizer": "some.function", "lowercase": False}) == text.split()
