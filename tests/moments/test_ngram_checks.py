"""N-gram counts from hands and files: an error for what compiled loops could not work with."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import eigentext as et
from eigentext import HMM, BigramModel, KneserNey, NgramMoments, Vocabulary
from eigentext.errors import ModelFileError, MomentsError
from eigentext.moments.ngram_checks import check_ngrams
from eigentext.moments.packing import pack
from eigentext.storage import read_saved, write_saved

LINES = [line.split() for line in ("the cat sat", "a dog ran", "the dog sat", "a cat ran")] * 4


@pytest.fixture
def counted():
    return NgramMoments.from_corpus(LINES)


def changed(moments, k, **parts):
    """The levels, with one whose arrays are others."""
    level = moments.levels[k]
    kept = [
        np.array(parts.get(name, getattr(level, name))) for name in ("data", "indices", "indptr")
    ]
    other = sp.csr_array(level.shape, dtype=kept[0].dtype)
    other.data, other.indices, other.indptr = kept
    return {"levels": [*moments.levels[:k], other, *moments.levels[k + 1 :]]}


WRONG = {
    "indices past the symbols": lambda m: changed(m, 0, indices=m.levels[0].indices + 9),
    "negative indices": lambda m: changed(m, 1, indices=m.levels[1].indices - 9),
    "columns that fall": lambda m: changed(m, 0, indices=m.levels[0].indices[::-1]),
    "offsets": lambda m: changed(m, 0, indptr=m.levels[0].indptr[::-1]),
    "counts of nothing": lambda m: changed(m, 0, data=0 * m.levels[0].data),
    "too many": lambda m: changed(m, 0, data=m.levels[0].data + 2**40),
    "NaN": lambda m: changed(m, 0, data=m.levels[0].data * np.nan),
    "levels swapped": lambda m: {"levels": m.levels[::-1]},
    "dense levels": lambda m: {"levels": [level.toarray() for level in m.levels]},
    "no levels": lambda m: {"levels": None},
    "fewer words": lambda m: {"vocabulary": Vocabulary(["a"], [1])},
    "no vocabulary": lambda m: {"vocabulary": ["a"]},
    "unseen symbols": lambda m: {"unigrams": np.where(np.arange(8) == 3, 0, m.unigrams)},
    "no tokens": lambda m: {"unigrams": 0 * m.unigrams},
    "negative tokens": lambda m: {"unigrams": -m.unigrams},
    "options": lambda m: {"options": {"unit": 3}},
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_moments_made_by_hand_are_checked(counted, wrong):
    check_ngrams(counted)
    made = replace(counted, **WRONG[wrong](counted))
    for use in (
        KneserNey(2).fit_moments,
        BigramModel(2).fit_moments,
        HMM(2).fit_moments,
        lambda m: m.restrict(["a", "the"]),
        lambda m: m + counted,
        lambda m: counted + m,
    ):
        with pytest.raises(MomentsError, match=r"these are no n-gram moments: .*; count them"):
            use(made)


def test_other_things_are_no_moments(counted):
    for model in (KneserNey(2), BigramModel(2), HMM(2)):
        for thing in (LINES, None, counted.levels):
            with pytest.raises(MomentsError, match="are no NgramMoments"):
                model.fit_moments(thing)


def test_a_window_whose_end_was_never_counted():
    """Kneser-Ney goes from abc to bc: such moments are sound by themselves, and not a text's."""
    moments = NgramMoments.from_corpus([["a", "b", "c"]])
    bigrams = moments.levels[0].toarray()
    trigrams = moments.levels[1].toarray()
    places = {tuple(p): row for row, p in enumerate(np.argwhere(bigrams).tolist())}
    a, b, c = (moments.vocabulary[word] for word in "abc")
    del places[b, c]
    bigrams[b, c] = 0
    made = replace(
        moments, levels=[sp.csr_array(bigrams), sp.csr_array(trigrams[[*places.values()]])]
    )
    assert made.count([a, b, c]) == 1
    with pytest.raises(MomentsError, match="without its first symbol"):
        KneserNey(3).fit_moments(made)


def test_files_whose_counts_do_not_agree_are_refused(counted, tmp_path):
    """Checksums of packed counts are right here: they are those of other counts."""
    counted.save(tmp_path / "m")
    arrays, about = read_saved(tmp_path / "m")
    many = counted.levels[0].copy()
    many.data = many.data + 2**60
    arrays["packed.0"], arrays["blocks.0"] = pack(many)
    write_saved(tmp_path / "m", NgramMoments._format, arrays, about)
    with pytest.raises(ModelFileError, match="more windows than there are symbols"):
        et.load(tmp_path / "m").levels  # noqa: B018


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("order", 3.0), ("order", 10**9), ("order", 4), ("order", 0), ("order", None),
        ("whole", 1), ("options", []), ("options", {"tokenizer": 3}), ("sources", "abc"),
        ("options", {"unit": "page"}), ("sources", [1]),
    ],
)  # fmt: skip
def test_documents_of_files_are_checked(counted, tmp_path, name, value):
    counted.save(tmp_path / "m")
    arrays, about = read_saved(tmp_path / "m")
    write_saved(tmp_path / "m", NgramMoments._format, arrays, about | {name: value})
    with pytest.raises(ModelFileError, match=r"damaged or made by something else: "):
        et.load(tmp_path / "m")
