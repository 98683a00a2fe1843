"""Trees and constituents in a pipeline of spaCy, by a saved grammar."""

import pytest
import spacy
from spacy.tokens import Doc

from eigentext import Tree, load
from eigentext.spacy.parser import _nodes

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

TEXT = "the dog sees a cat. a cat sleeps."


@pytest.fixture
def nlp(grammar):
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("eigentext_parser", config={"model": str(grammar)})
    return nlp


def test_trees_of_sentences(nlp, grammar):
    doc, parser = nlp(TEXT), load(grammar)
    expected = [parser.parse(sentence.text) for sentence in doc.sents]
    assert doc._.parse_trees == expected
    assert doc._.parse_tree == Tree("", expected)
    assert [sentence._.parse_tree for sentence in doc.sents] == expected
    assert nlp("a cat sleeps.")._.parse_tree == expected[1]
    assert nlp(" ")._.parse_tree is None
    assert nlp("")._.parse_trees == []
    assert spacy.blank("en")("no parser")._.parse_tree is None


def test_constituents_are_spans(nlp):
    doc = nlp("the cat (x) sleeps.")
    found = [(span.text, span.label_) for span in doc.spans["eigentext_parser"]]
    assert found[:2] == [("the cat (x) sleeps.", "S"), ("the cat (x)", "NP")]
    assert ("sleeps", "VP") in found
    assert {token.tag_ for token in doc} == {""}


def test_tags_if_they_are_wanted(grammar):
    nlp = spacy.blank("en")
    config = {"model": str(grammar), "set_tags": True, "spans_key": "tree"}
    nlp.add_pipe("eigentext_parser", config=config)
    doc = nlp("a cat (x) sleeps.")
    tree = doc._.parse_tree
    assert [token.tag_ for token in doc] == [tag for _, tag in tree.tags()]
    assert doc.spans["tree"][0].label_ == "S"


def test_batches_bytes_and_processes(nlp):
    texts = [TEXT, "a dog sleeps.", ""] * 3
    expected = [nlp(text)._.parse_trees for text in texts]
    assert [doc._.parse_trees for doc in nlp.pipe(texts, batch_size=2)] == expected
    assert [doc._.parse_trees for doc in nlp.pipe(texts, batch_size=2, n_process=2)] == expected
    kept = Doc(nlp.vocab).from_bytes(nlp(TEXT).to_bytes())
    assert kept._.parse_trees == expected[0]
    assert kept.spans["eigentext_parser"][0].text == "the dog sees a cat."


def test_a_pipeline_on_disk_has_its_own_model(nlp, tmp_path):
    nlp.to_disk(tmp_path / "nlp")
    assert (tmp_path / "nlp" / "eigentext_parser" / "model").is_file()
    again = spacy.load(tmp_path / "nlp")
    assert again(TEXT)._.parse_trees == nlp(TEXT)._.parse_trees


def test_nodes_of_a_tree():
    tree = Tree.parse("(S (NP (D a) (N b)) (VP (V c)))")
    assert _nodes(tree) == [
        ("S", 0, 3, False), ("NP", 0, 2, False), ("D", 0, 1, True), ("N", 1, 2, True),
        ("VP", 2, 3, False), ("V", 2, 3, True),
    ]  # fmt: skip
    assert _nodes(Tree("", [tree])) == _nodes(tree)
