"""Files in other encodings are read as UTF-8, and errors offer a guess."""

import pytest

from eigentext.corpus.conll import read_conll
from eigentext.corpus.encodings import checked_encoding, guess_encoding, not_utf8
from eigentext.corpus.ngram_counts import read_ngram_counts
from eigentext.corpus.readers import read_blocks, read_lines, read_whole
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.trees import read_trees
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate.readers import kind_of, read_pairs, read_questions
from eigentext.reranking.candidates import read_candidates, read_structures
from eigentext.words.clusters import WordClusters

TEXT = "Ça va déjà?\nEl niño, señor.\n" * 50
NAMES = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252")


@pytest.mark.parametrize("encoding", NAMES)
def test_any_encoding_is_read_as_utf8(tmp_path, encoding, monkeypatch):
    monkeypatch.setattr("eigentext.corpus.readers.BLOCK_BYTES", 7)  # characters are cut
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode(encoding))
    name = checked_encoding(encoding)
    assert read_whole(path, name).decode() == TEXT
    assert b"".join(block.data for block in read_blocks(path, encoding=name)).decode() == TEXT
    assert [line.decode() for _, line in read_lines(path, name)] == TEXT.splitlines()


@pytest.mark.parametrize("encoding", NAMES)
def test_the_guess_reads_the_text(encoding):
    assert (
        TEXT.encode(encoding).decode(guess_encoding(TEXT.encode(encoding))).strip("\ufeff") == TEXT
    )


def test_bytes_that_the_encoding_does_not_have_name_the_line(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("one\ntwo\n".encode("utf-16-le") + b"\x00\xd8x")
    with pytest.raises(CorpusError, match=r"text.txt, line 3: .*not utf-16-le; name another"):
        read_whole(path, "utf-16-le")
    blocks = read_blocks(path, encoding="utf-16-le", errors="replace")
    assert "\ufffd" in b"".join(block.data for block in blocks).decode()


@pytest.mark.parametrize("name", ["nonsense", "base64", "rot13", "", None, 5, "a\0b"])
def test_unknown_encodings_are_refused(name):
    with pytest.raises(ParameterError, match="encoding must be"):
        checked_encoding(name)


def test_the_error_offers_the_guess():
    assert not_utf8(TEXT.encode()) is None
    assert "--encoding cp1252" in not_utf8(b"abc \xe9")[1]
    assert "--encoding utf-16" in not_utf8("ham".encode("utf-16"))[1]
    assert "binary" in not_utf8(b"\0\0\0\0\0\0\0\1\2")[1]


@pytest.mark.parametrize("encoding", NAMES)
def test_all_readers_take_an_encoding(tmp_path, encoding):
    def file(text):
        path = tmp_path / "file"
        path.write_bytes(text.encode(encoding))
        return path

    tree = "(S (D el) (N niño))"
    assert str(*read_trees(file(tree), encoding=encoding)) == tree
    assert next(read_conll(file("niño N\n"), encoding=encoding)) == [("niño", "N")]
    assert [*TextCorpus(file("el niño"), encoding=encoding)] == [["el", "niño"]]
    assert read_ngram_counts(file("el niño\t3\n"), encoding=encoding).words == ["el", "niño"]
    assert str(read_candidates(file(f"-1\t{tree}\n"), encoding=encoding)[0][0].structure) == tree
    assert str(*read_structures(file(tree), encoding=encoding)) == tree
    assert read_pairs(file("niño té 1\n"), encoding=encoding) == [("niño", "té", 1.0)]
    questions = file("niño té a b\n")
    assert kind_of(questions, encoding=encoding) == "questions"
    assert read_questions(questions, encoding=encoding)[0][:2] == ("niño", "té")
    paths = file("0\tniño\t2\n1\tté\t1\n")
    assert "niño" in WordClusters.read_paths(paths, encoding=encoding).vocabulary_
