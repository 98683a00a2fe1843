"""The error about a text without words says what was in it."""

import pytest

from eigentext import TextCorpus, TopicModel
from eigentext.corpus import encode
from eigentext.errors import CorpusError


@pytest.mark.parametrize(
    ("text", "tokenizer", "message"),
    [
        ("", "words", r"contains no words; is the file empty\?"),
        ("\n \n", "whitespace", r"contains no words; is the file empty\?"),
        ("x y\n1", "words", r"letters, digits and signs \(x, y, 1\) are dropped .* simple"),
        ("a b c d e f", "words", r"\(a, b, c, d, e, …\)"),
        ("ham eggs", str.split, None),
        ("ham eggs", lambda line: [], "gives no tokens for ham, eggs; choose another"),
    ],
)
def test_what_was_dropped_and_why(tmp_path, text, tokenizer, message):
    path = tmp_path / "text.txt"
    path.write_text(text)
    corpus = TextCorpus(path, tokenizer=tokenizer)
    if message is None:
        assert sorted(encode(corpus).words) == ["eggs", "ham"]
        return
    with pytest.raises(CorpusError, match=message) as error:
        encode(corpus)
    assert str(error.value).startswith(f"{path}: contains no words")


def test_documents_of_single_letters():
    with pytest.raises(CorpusError, match=r"the corpus: .* \(a, b, c\) are dropped"):
        TopicModel(2).fit(["a b c"] * 9)
    with pytest.raises(CorpusError, match="left out: 3 English stop words"):
        TopicModel(2).fit(["the of and"] * 9)
