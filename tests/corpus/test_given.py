"""What may be given where text is wanted: a list of strings is text, files are paths."""

from pathlib import Path

import numpy as np
import pytest

import eigentext as et
from eigentext.corpus import TextCorpus, Vocabulary, encode, encode_sequences
from eigentext.corpus.documents import as_documents
from eigentext.corpus.given import as_corpus
from eigentext.corpus.symbols import symbol_ids
from eigentext.errors import CorpusError

TEXTS = ["here.txt", "*", "n/a", "h*.txt", "missing/file.txt"]  # the first and the fourth are files
SENTENCES = [["the", "cat", "sat"], ["a", "dog"]]


class Column:
    """Shaped as a column of a table is: neither a sequence nor an array."""

    def __init__(self, items):
        self.items = items

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)

    def __array__(self, dtype=None, copy=None):
        array = np.empty(len(self.items), object)
        array[:] = self.items
        return array

    def tolist(self):
        return list(self.items)


class Once:
    """An iterator that tells if anybody asks again after its end."""

    def __init__(self, items):
        self.left = iter(items)
        self.ended = False

    def __iter__(self):
        assert not self.ended, "gone through twice"
        return self

    def __next__(self):
        try:
            return next(self.left)
        except StopIteration:
            self.ended = True
            raise


@pytest.fixture(autouse=True)
def _folder_with_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("here.txt").write_text("inside of it\nand below\n")


def learned(corpus):
    """The words of a corpus, sorted."""
    return sorted(encode(corpus).words)


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], TEXTS[1:2], TEXTS[3:4]])
def test_a_list_of_strings_is_text_whatever_it_says(texts):
    assert [word for (word,) in as_corpus(texts)] == texts
    assert learned(texts) == sorted(texts)
    assert Vocabulary.from_corpus(texts).words == sorted(texts)
    assert encode_sequences(texts).words == texts
    assert et.NgramMoments.from_corpus(texts).vocabulary.words == sorted(texts)
    assert as_documents(texts).texts == texts


def test_topics_take_no_document_for_a_file():
    texts = ["here lies txt", "ham and cheese", "ham cheese here", "inside of it"]
    limits = {"min_df": 1, "max_df": 1.0, "stop_words": None}
    model = et.TopicModel(2, alpha0=0, **limits).fit(texts)
    for document in ("n/a", "*", "here.txt"):
        as_tokens = model.transform([document, "ham"])
        assert as_tokens.shape == (2, 2)
    assert et.DocumentMoments.from_corpus(["here.txt", "n/a"]).vocabulary.words == ["here", "txt"]


def test_files_are_paths():
    inside = sorted({"inside", "of", "it", "and", "below"})
    for files in (Path("here.txt"), [Path("here.txt")], (Path("h*.txt"),), iter([Path("*.txt")])):
        assert learned(files) == inside
    for one in (Path("here.txt"), [Path("here.txt")], "here.txt"):
        assert sorted(encode_sequences(one).words) == inside
    assert sorted(learned("he*.txt")) == inside  # one string by itself names files
    assert len(as_documents([Path("here.txt"), Path("here.txt")]).files) == 2


@pytest.mark.parametrize(
    "form",
    [list, tuple, iter, Once, Column, np.array, lambda texts: np.array(texts, object),
     lambda texts: dict.fromkeys(texts).keys()],  # a dict is a table
)  # fmt: skip
def test_every_form_of_a_list(form):
    texts = ["the cat sat", "n/a", "a dog"]
    assert encode(form(texts)).fingerprint == encode(texts).fingerprint
    assert as_documents(form(texts)).texts == texts
    words = ["the", "cat", "n/a"]
    assert encode_sequences(form(words)).fingerprint == encode_sequences(words).fingerprint
    assert TextCorpus(form(texts), kind="texts").texts == texts


@pytest.mark.parametrize("outer", [list, tuple, iter, Once, Column])
@pytest.mark.parametrize("inner", [list, tuple, iter, Once, Column, np.array])
def test_every_form_of_a_list_of_tokens(outer, inner):
    def form():
        return outer([inner(one) for one in SENTENCES])

    for make in (encode, as_documents, encode_sequences):
        expected = make(SENTENCES).fingerprint
        found = make(form()).fingerprint
        assert found == expected if isinstance(found, str) else found() == expected()


@pytest.mark.parametrize("form", [list, tuple, iter, Once, Column, np.array])
def test_every_form_of_one_sequence(form):
    vocabulary, options = Vocabulary(["cat", "the"], [2, 1]), {"tokenizer": "none"}
    assert symbol_ids(form(["the", "dog", "cat"]), vocabulary, options).tolist() == [1, -1, 0]
    integers = Vocabulary(["0", "1"], [1, 1]), {"tokenizer": "integers"}
    assert symbol_ids(form([1, 0, 7]), *integers).tolist() == [1, 0, -1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "the list is empty"),
        (iter(()), "the list is empty"),
        (["a", Path("here.txt")], "list of strings .text., .* not a mixture"),
        (["a", ["b"]], "not a mixture"),
        (["a", 5], "item 2 is 5; give a list of strings"),
        (["a", None], "item 2 is None"),
        (["a", {"b": 1}], "item 2 is {'b': 1}"),
        ([b"a"], "item 1 is b'a'"),
        (b"a", "item 1 is b'a'"),
        (5, "item 1 is 5"),
        (None, "item 1 is None"),
        ("missing", "missing: no such file.*a single string names a file; give text as a list"),
        ("a line\nand another", "is not a file name; give text as a list of strings"),
    ],
)
def test_what_is_no_text(given, message):
    with pytest.raises(CorpusError, match=message):
        encode(given)


def test_a_corpus_stays_as_it_is():
    corpus = TextCorpus(["a b"], unit="stream")
    assert as_corpus(corpus) is corpus


HALF = "b\ud800d"  # half a character, which no file can hold
TAGGED = [[("the", "D"), ("cat", "N")], [("a", "D"), (HALF, "N")]]
TREES = [et.Tree("S", [et.Tree("N", [word]), et.Tree("V", ["runs"])]) for word in ("cat", HALF)]


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (et.HMM(2), [["a", "b"], ["a", HALF]]),
        (et.KneserNey(2), ["a", HALF]),
        (et.BigramModel(2), ["a", HALF]),
        (et.Eigenwords(2), ["a b", f"a {HALF}"]),
        (et.Eigentokens(2), [["a", "b"], ["a", HALF]]),
        (et.TopicModel(2), ["a b", f"a {HALF}"]),
        (et.HMMTagger(), TAGGED),
        (et.HMMTagger(), [[("a", HALF)]]),
        (et.Tagger(), TAGGED),
        (et.Tagger(), [[("a", HALF)]]),
        (et.PCFG(), TREES),
        (et.PCFG(), [et.Tree(HALF, ["a"])]),
        (et.LatentPCFG(2), TREES),
    ],
)
def test_every_fit_refuses_halves_of_characters(model, data):
    with pytest.raises(CorpusError, match=r"half a character, U\+D800 .*repair it by"):
        model.fit(data)
