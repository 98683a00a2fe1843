"""Mistakes with models in pipelines, and how documents are cut into sentences."""

import pytest
import spacy

from eigentext.errors import ModelFileError, ParameterError
from eigentext.spacy.component import parts_of

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off


def test_a_model_must_be_named():
    nlp = spacy.blank("en")
    nlp.add_pipe("eigentext_tagger")
    with pytest.raises(ParameterError, match=r'config=\{"model": "my-model"\}'):
        nlp("x")


def test_a_model_of_another_kind(chunker, grammar, tmp_path):
    for name, path, wanted in (
        ("eigentext_tagger", grammar, "holds PCFG; give a Tagger"),
        ("eigentext_parser", chunker, "holds Tagger; give a grammar"),
        ("eigentext_parser", tmp_path / "none", "cannot be read"),
    ):
        nlp = spacy.blank("en")
        nlp.add_pipe(name, config={"model": str(path)})
        with pytest.raises(ModelFileError, match=wanted):
            nlp("x")


def test_lines_are_sentences_if_nothing_else_is_known():
    nlp = spacy.blank("en")
    text = "One. Two.\n\nThree."
    assert [part.text for part in parts_of(nlp(text))] == ["One. Two.", "", "Three."]
    nlp.add_pipe("sentencizer")
    parts = parts_of(nlp(text))
    assert [part.text.strip() for part in parts] == ["One.", "Two.", "Three."]
    assert all(text[part.start :].startswith(part.text) for part in parts)
