"""Vectors in spaCy: in a vocabulary, and by `spacy init vectors`."""

import subprocess
import sys

import numpy as np
import pytest
import spacy

from eigentext import Eigenwords, TextCorpus
from eigentext.errors import ParameterError
from eigentext.spacy import add_vectors

TEXT = ["The cat sat on the mat .", "The dog sat on the rug .", "A cat saw a dog ."] * 9


@pytest.fixture(scope="module")
def words():
    return Eigenwords(4, window=2, min_count=1).fit(TEXT)


def test_a_vocabulary_has_the_vectors(words, tmp_path):
    nlp = add_vectors(spacy.blank("en"), words)
    doc = nlp("The cat saw a unicorn")
    for token in doc[:4]:
        np.testing.assert_array_equal(token.vector, words[token.text])
    assert not doc[4].has_vector
    assert doc[1].similarity(nlp("dog")[0]) == pytest.approx(words.similarity("cat", "dog"), 1e-5)
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")("cat")[0]
    np.testing.assert_array_equal(again.vector, words["cat"])


def test_a_model_of_lower_case_finds_capitals():
    words = Eigenwords(4, window=2, min_count=1).fit(TextCorpus(TEXT, lowercase=True))
    token = add_vectors(spacy.blank("en"), words)("Cat")[0]
    np.testing.assert_array_equal(token.vector, words["cat"])


def test_another_object():
    with pytest.raises(ParameterError, match="give a fitted Eigenwords"):
        add_vectors(spacy.blank("en"), object())


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_the_command_of_spacy_reads_exported_vectors(words, tmp_path, name):
    words.export(tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-m", "spacy", "init", "vectors", "en", tmp_path / name, tmp_path / "nlp"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    nlp = spacy.load(tmp_path / "nlp")
    assert nlp.vocab.vectors.n_keys == len(words.vocabulary_)  # equal vectors share a row
    for word in words.vocabulary_.words:
        np.testing.assert_allclose(nlp.vocab[word].vector, words[word], atol=1e-5)
