"""Entities and tags in a pipeline of spaCy, by a saved tagger."""

import pytest
import spacy
from spacy.tokens import Doc

from eigentext import load

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

TEXT = "Ann saw New York. Bo saw Rome."


@pytest.fixture
def nlp(chunker):
    nlp = spacy.blank("en")
    nlp.add_pipe("eigentext_tagger", config={"model": str(chunker)})
    return nlp


def entities(doc):
    return [(entity.text, entity.label_) for entity in doc.ents]


def test_entities_are_the_spans_of_the_tagger(nlp, chunker):
    doc = nlp(TEXT)
    expected = load(chunker).spans(TEXT)
    assert entities(doc) == [("Ann", "PER"), ("New York", "LOC"), ("Bo", "PER"), ("Rome", "LOC")]
    assert [(e.start_char, e.end_char, e.label_) for e in doc.ents] == [x[:3] for x in expected]
    group = doc.spans["eigentext_tagger"]
    assert list(group) == list(doc.ents)
    assert group.attrs["scores"] == pytest.approx([x.confidence for x in expected])
    assert nlp.get_pipe("eigentext_tagger").labels == ("LOC", "PER")
    assert entities(nlp("")) == entities(nlp(" \n ")) == []


def test_batches_change_nothing(nlp):
    texts = [TEXT, "", "Lee saw Paris.\n\nKim saw Rome.", "x"] * 5
    found = list(nlp.pipe(texts, batch_size=3))
    assert [doc.text for doc in found] == texts
    assert [entities(doc) for doc in found] == [entities(nlp(text)) for text in texts]


def test_sentences_of_the_document(chunker, nlp):
    nlp.add_pipe("sentencizer", first=True)
    doc = nlp(TEXT)
    tagger = load(chunker)
    alone = [len(tagger.spans(sentence.text)) for sentence in doc.sents]
    assert len(alone) == 2
    assert [len(sentence.ents) for sentence in doc.sents] == alone == [2, 2]


def test_entities_of_other_components_may_stay(chunker):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "CITY", "pattern": "York"}])
    config = {"model": str(chunker), "overwrite_ents": False, "spans_key": "names"}
    nlp.add_pipe("eigentext_tagger", config=config)
    doc = nlp("Ann saw New York.")
    assert entities(doc) == [("Ann", "PER"), ("York", "CITY")]
    assert [span.text for span in doc.spans["names"]] == ["Ann", "New York"]


def test_tags_go_to_the_tokens_that_have_the_characters(tagger):
    nlp = spacy.blank("en")
    nlp.add_pipe("eigentext_tagger", config={"model": str(tagger)})
    doc = nlp("The well-known dog doesn't bark (x).\n A cat  sleeps.")
    found = {token.text: token.tag_ for token in doc}
    assert [found[part] for part in ("well", "-", "known")] == ["JJ"] * 3  # one token there
    assert (found["does"], found["n't"], found["("], found["."]) == ("VBZ", "RB", "-LRB-", ".")
    assert {token.tag_ for token in doc if token.is_space} == {""}
    assert all(token.tag_ for token in doc if not token.is_space)
    assert "NN" in nlp.get_pipe("eigentext_tagger").labels
    wide = Doc(nlp.vocab, words=["dogdoesn't", "bark"])
    assert [token.tag_ for token in nlp.get_pipe("eigentext_tagger")(wide)][1] == "VB"


def test_a_pipeline_on_disk_has_its_own_model(nlp, chunker, tmp_path):
    expected = entities(nlp(TEXT))
    other = tmp_path / "other"
    other.write_bytes(chunker.read_bytes())
    moved = spacy.blank("en")
    moved.add_pipe("eigentext_tagger", config={"model": str(other)})
    moved.to_disk(tmp_path / "nlp")
    as_bytes = moved.to_bytes()
    other.unlink()
    assert entities(spacy.load(tmp_path / "nlp")(TEXT)) == expected
    copy = spacy.blank("en")
    copy.add_pipe("eigentext_tagger")
    assert entities(copy.from_bytes(as_bytes)(TEXT)) == expected


def test_processes(nlp, chunker):
    texts = [TEXT, "Lee saw Paris."] * 3
    found = [entities(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=2)]
    assert found == [entities(nlp(text)) for text in texts]
