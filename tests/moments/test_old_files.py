"""Files of co-occurrence counts of version 1, made as that version made them."""

import numpy as np
import pytest

from eigentext import CooccurrenceMoments, load
from eigentext.errors import ModelFileError
from eigentext.storage import write_saved

TEXT = ["the cat sat on the mat .", "the dog sat on the rug .", "a cat saw a dog ."] * 3


def old_content(moments):
    """What version 1 saved."""
    F = moments.forward
    arrays = {
        "words": moments.vocabulary.words,
        "word_counts": moments.vocabulary.counts,
        "indptr": F.indptr.astype(np.int64),
        "indices": F.indices.astype(np.int32),
        "data": F.data.astype(np.uint16),
    }
    names = ("rare_count", "window", "context", "weighting", "whole", "options", "sources")
    return arrays, {name: getattr(moments, name) for name in names} | {"limits": moments.limits}


@pytest.mark.parametrize("how", [{}, {"min_count": 5}, {"context": "list", "min_count": 3}])
def test_the_same_counts(tmp_path, how):
    moments = CooccurrenceMoments.from_corpus(TEXT, window=2, **how)
    write_saved(tmp_path / "old", "eigentext.cooccurrence.v1", *old_content(moments))
    found = load(tmp_path / "old")
    assert found == moments
    found.save(tmp_path / "new")
    moments.save(tmp_path / "direct")
    assert (tmp_path / "new").read_bytes() == (tmp_path / "direct").read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", lambda a: a + 100),
        ("indices", lambda a: a[1:]),
        ("indptr", lambda a: a[::-1].copy()),
        ("indptr", lambda a: a[1:]),
        ("data", lambda a: a * 0),
        ("data", lambda a: a.astype(float)),
    ],
)
def test_damage(tmp_path, name, change):
    arrays, about = old_content(CooccurrenceMoments.from_corpus(TEXT, window=2))
    arrays |= {name: change(arrays[name])}
    write_saved(tmp_path / "old", "eigentext.cooccurrence.v1", arrays, about)
    with pytest.raises(ModelFileError, match=rf"old: damaged or made by something else: {name} "):
        load(tmp_path / "old")
