"""Exported vectors are opened by gensim, the reader that people use."""

import numpy as np
import pytest
from gensim.models import KeyedVectors

from eigentext import Eigenwords, TextCorpus, Vocabulary
from eigentext.errors import EigentextError, ParameterError
from eigentext.words.export import write_vectors

# gensim leaves a file without a header open.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
OPENERS = {
    "word2vec": {},
    "word2vec-binary": {"binary": True},
    "glove": {"no_header": True},
}


@pytest.fixture
def words():
    text = ["the naïve cat sat", 'a "dog" ran ,', "的 猫 the dog", "x1 … cat ran"] * 5
    return Eigenwords(3, min_count=1, window=2).fit(TextCorpus(text, kind="texts"))


@pytest.mark.parametrize("format", OPENERS)
def test_gensim_opens_it(tmp_path, words, format):
    words.export(tmp_path / "vectors", format)
    opened = KeyedVectors.load_word2vec_format(tmp_path / "vectors", **OPENERS[format])
    assert opened.index_to_key == words.vocabulary_.words
    assert np.array_equal(opened.vectors, words.vectors_)  # every bit survives, in text too
    best = words.most_similar("cat", 3)
    assert opened.most_similar("cat", topn=1)[0][1] == pytest.approx(best[0][1], abs=1e-5)


@pytest.mark.parametrize("format", OPENERS)
def test_many_words_over_several_blocks(tmp_path, format):
    names = [f"w{i}" for i in range(5000)]
    vectors = np.random.default_rng(0).standard_normal((5000, 7)).astype(np.float32)
    vectors[0, :3] = [0, 1e-30, -1e30]
    write_vectors(tmp_path / "vectors", Vocabulary(names, [1] * 5000), vectors, format)
    opened = KeyedVectors.load_word2vec_format(tmp_path / "vectors", **OPENERS[format])
    assert opened.index_to_key == names
    assert np.array_equal(opened.vectors, vectors)


@pytest.mark.parametrize("bad", ["two words", "no\u00a0break", "line\nend", ""])
@pytest.mark.parametrize("format", OPENERS)
def test_words_with_blanks_are_refused(tmp_path, bad, format):
    with pytest.raises(EigentextError, match="blank"):
        write_vectors(tmp_path / "vectors", Vocabulary(["fine", bad], [1, 1]), np.ones((2, 2)), format)
    assert not (tmp_path / "vectors").exists()


def test_unknown_formats_and_places(tmp_path, words):
    with pytest.raises(ParameterError, match="format"):
        words.export(tmp_path / "vectors", "fasttext")
    with pytest.raises(EigentextError, match="cannot be written"):
        words.export(tmp_path / "missing" / "vectors")
