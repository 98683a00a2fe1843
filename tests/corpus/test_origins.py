"""Where labelled data comes from; fingerprints differ if anything differs."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from eigentext.corpus.origins import TAGGED, fingerprint_of, origin_in, origin_of_tagged

SENTENCES = st.lists(
    st.lists(st.lists(st.text("a1:,;\ud800", max_size=3), max_size=3), max_size=3), max_size=3
)


@given(SENTENCES, SENTENCES)
def test_equal_if_and_only_if_the_data_is_equal(a, b):
    assert (fingerprint_of(a) == fingerprint_of(b)) == (a == b)


def test_numbers_and_the_origin_of_models():
    words, tags = [["a", "dog"], ["a"]], [["D", "N"], ["D"]]
    found = origin_of_tagged(words, tags)
    assert {name: found[name] for name in ("n_sentences", "n_tokens", "n_words")} == {
        "n_sentences": 2, "n_tokens": 3, "n_words": 2,
    }  # fmt: skip
    as_tuples = [[(word,) for word in sentence] for sentence in words]
    assert origin_of_tagged(as_tuples, tags) == found
    vectors = SimpleNamespace(provenance_={"n_tokens": 7})
    with_vectors = origin_of_tagged(words, tags, {"vectors": vectors, "clusters": {}})
    assert with_vectors == found | {"given": {"vectors": {"n_tokens": 7}}}
    assert TAGGED.accepts(with_vectors)
    assert not TAGGED.accepts(found | {"sources": [3]})
    assert not TAGGED.accepts(found | {"n_tokens": -1})


def test_old_files_know_the_numbers():
    about = {"diagnostics": {"n_sentences": 2, "n_tokens": 3, "n_tags": 4}}
    assert origin_in(about) == {"n_sentences": 2, "n_tokens": 3, "sources": []}
    assert TAGGED.accepts(origin_in(about))
    assert origin_in(about | {"provenance": {"n_tokens": 1}}) == {"n_tokens": 1}
