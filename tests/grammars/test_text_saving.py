"""What a parser learned from plain text, in its file."""

import numpy as np
import pytest

import eigentext as et
from eigentext.corpus.toy_treebank import sampled_trees
from eigentext.errors import ModelFileError, ParameterError
from eigentext.grammars.text_saving import arrays_to_text, text_to_arrays

CLUSTERS = {"river": "00", "cat": "00", "saw": "01", "found": "01", "unheard": "01"}
SENTENCES = [["the", "cat", "unheard", "a", "river"], ["the", "unheard", "saw", "the", "cat"]]


@pytest.fixture(scope="module", params=["spectral", "spectral+em"])
def model(request):
    rng = np.random.default_rng(0)
    vectors = ["the", "a", "cat", "dog", "unheard"], rng.standard_normal((5, 4))
    model = et.LatentPCFG(
        3, method=request.param, nodes_per_state=3, vectors=vectors, clusters=CLUSTERS
    )
    with pytest.warns(UserWarning, match="only"):
        return model.fit(sampled_trees(40, seed=1))


def test_a_file_gives_the_same_answers(model, tmp_path):
    model.save(tmp_path / "parser")
    again = et.load(tmp_path / "parser")
    assert again.provenance_["coverage"] == model.provenance_["coverage"]
    for words in SENTENCES:
        assert again.parse(words) == model.parse(words)
        assert again.scores(words) == model.scores(words)


def test_a_new_fit_needs_the_sources_again(model, tmp_path):
    model.save(tmp_path / "parser")
    again = et.load(tmp_path / "parser")
    with pytest.raises(ParameterError, match=r"give them again: set_params\(vectors"):
        again.fit(sampled_trees(5, seed=1))
    assert again.parse(SENTENCES[0]) == model.parse(SENTENCES[0])  # nothing is lost
    again.set_params(vectors=None, clusters=None).fit(sampled_trees(5, seed=1))


def test_parts_of_a_file_belong_together(model):
    text = model._cascade.coarse.words.lexicon.text
    arrays = text_to_arrays(text)
    assert arrays_to_text({}) is None and text_to_arrays(None) == {}
    for name in arrays:
        with pytest.raises(ModelFileError, match=rf"{name} is missing"):
            arrays_to_text({key: part for key, part in arrays.items() if key != name})
    gaps = arrays | {"text.groups": np.where(text.groups < 0, -1, text.groups + 1)}
    with pytest.raises(ModelFileError, match="one more than clusters"):
        arrays_to_text(gaps)
