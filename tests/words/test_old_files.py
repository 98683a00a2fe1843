"""Files of word vectors of version 1, made as that version made them."""

import numpy as np
import pytest

from eigentext import Eigenwords, load
from eigentext.errors import ModelFileError
from eigentext.storage import write_saved

TEXT = ["the cat sat on the mat .", "the dog sat on the rug .", "a cat saw a dog ."] * 3
OLD = (
    "n_components", "window", "min_count", "scaling", "alpha", "beta", "context", "weighting",
    "max_size", "keep_moments", "random_state",
)  # fmt: skip


def old_content(words):
    """What version 1 saved."""
    arrays = {
        "vectors": np.array(words.vectors_),
        "singular_values": words.singular_values_,
        "words": words.vocabulary_.words,
        "word_counts": words.vocabulary_.counts,
    }
    used = dict(words.parameters_)
    parameters = {name: used[name] for name in OLD} | {"transform": used["count_transform"]}
    about = {
        "parameters": parameters,
        "provenance": words.provenance_,
        "diagnostics": words.diagnostics_,
    }
    if (moments := words.moments_) is not None:
        F = moments.forward
        parts = {
            "words": moments.vocabulary.words,
            "word_counts": moments.vocabulary.counts,
            "indptr": F.indptr.astype(np.int64),
            "indices": F.indices.astype(np.int32),
            "data": F.data.astype(np.uint16),
        }
        arrays |= {f"moments.{name}": part for name, part in parts.items()}
        names = ("rare_count", "window", "context", "weighting", "whole", "options", "sources")
        about["moments"] = {name: getattr(moments, name) for name in names}
    return arrays, about


@pytest.mark.parametrize("keep", ["none", "cut", "whole"])
def test_an_old_model_is_used_as_a_new_one(tmp_path, keep):
    words = Eigenwords(3, window=2, min_count=1, keep_moments=keep).fit(TEXT)
    write_saved(tmp_path / "old", "eigentext.words.v1", *old_content(words))
    found = load(tmp_path / "old")
    np.testing.assert_array_equal(found.vectors_, words.vectors_)
    assert found.most_similar("cat") == words.most_similar("cat")
    assert found.moments_ == words.moments_
    used = dict(words.parameters_)
    assert {name: found.get_params()[name] for name in OLD} == {name: used[name] for name in OLD}
    if keep == "whole":
        more = ["a rat sat on a mat ."]
        found.partial_fit(more)
        np.testing.assert_array_equal(found.vectors_, words.partial_fit(more).vectors_)


def test_damage(tmp_path):
    words = Eigenwords(3, window=2, min_count=1, keep_moments="whole").fit(TEXT)
    arrays, about = old_content(words)
    write_saved(tmp_path / "old", "eigentext.words.v1", arrays, about | {"moments": 3})
    with pytest.raises(ModelFileError, match="moments is no document"):
        load(tmp_path / "old")
