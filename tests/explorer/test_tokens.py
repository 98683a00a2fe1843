from eigentext.explorer.tokens import as_learned


def test_text_is_split_like_the_training_text():
    text = "The cat's out, 2 of them"
    assert as_learned(text, {"tokenizer": "whitespace", "lowercase": True})[1] == "cat's"
    assert as_learned(text, {"tokenizer": "words", "lowercase": True}) == [
        "the", "cat's", "out", "of", "them",
    ]  # fmt: skip
    assert as_learned(text, {"tokenizer": "none"}) == text.split()
    assert as_learned(text, {"tokenizer": "some.function", "lowercase": False}) == text.split()
