"""Tagged sentences as a table: a row for each token, in order."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from eigentext import Tagger
from eigentext.errors import CorpusError
from eigentext.tagging.tables import token_schema, token_table

TAGGED = [[("a", "D"), ("dog", "N")], [("the", "D"), ("cat", "N")]] * 5


@pytest.fixture(scope="module")
def tagger():
    return Tagger().fit(TAGGED)


def test_a_row_for_each_token(tagger):
    sentences = [["the", "dog"], [], ["a", "cat"]]
    frame = tagger.to_pandas(sentences, confidence=True)
    assert frame["sentence"].tolist() == [1, 1, 3, 3]
    assert frame["token"].tolist() == [1, 2, 1, 2]
    rows = [*zip(frame["word"], frame["tag"])]
    assert rows == [token for sentence in tagger.tag(sentences) for token in sentence]
    assert np.allclose(frame["confidence"], np.concatenate(tagger.confidences(sentences)))
    assert tagger.to_arrow(sentences).column_names == ["sentence", "token", "word", "tag"]


@pytest.mark.parametrize("kind", [pd.Series, pa.array, lambda texts: pa.chunked_array([texts])])
def test_columns_are_sentences(tagger, kind):
    assert tagger.tag(kind(["the dog", "a cat"])) == tagger.tag(["the dog", "a cat"])
    with pytest.warns(UserWarning, match="1 of 2 texts are missing"):
        assert tagger.tag(kind(["the dog", None]))[1] == []


@pytest.mark.parametrize("kind", [pd.DataFrame, pa.table, dict])
def test_a_table_is_not_a_list_of_sentences(tagger, kind):
    with pytest.raises(CorpusError, match="table with the columns 'id', 'text'; give only the"):
        tagger.tag(kind({"id": [1, 2], "text": ["the dog", "a cat"]}))


def test_several_columns_and_no_tokens():
    schema = token_schema(["word", "pos", "token"], confidence=True)
    assert schema.names == ["sentence", "token", "word", "pos", "given_token", "tag", "confidence"]
    assert token_table(schema, [], []).num_rows == 0
    assert token_table(schema, [[], []], [np.zeros(0)] * 2).num_rows == 0
    found = token_table(schema, [[("a", "D", "1", "B")]], [np.array([0.5])], first=7)
    assert [*found.to_pylist()[0].values()] == [7, 1, "a", "D", "1", "B", 0.5]
