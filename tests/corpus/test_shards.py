"""Shards put together are the corpus, and workers read them as this process would."""

import os
from pathlib import Path

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigentext import TextCorpus, engine
from eigentext.corpus.encoded import END, encode
from eigentext.corpus.shards import encode_on, encode_shard, shards_of
from eigentext.corpus.tokenizers import UNIT_END
from eigentext.errors import ClusterError, CorpusError

TEXT = st.text(st.sampled_from("aé \n\t\r"), max_size=60)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("shards")


def words_of(tokens, words):
    return [UNIT_END if i == END else str(words[i]) for i in tokens.tolist()]


def whole(corpus):
    encoded = encode(corpus)
    return words_of(encoded.tokens[:-1], encoded.words)


def together(shards):
    parts = map(encode_shard, shards)
    return [word for part in parts for word in words_of(part.tokens, part.words)]


@given(
    st.lists(TEXT, min_size=1, max_size=4).filter(lambda texts: any(map(str.split, texts))),
    st.integers(1, 20),
    st.sampled_from(["line", "document", "stream"]),
    st.booleans(),
)
def test_shards_of_files_are_the_corpus(folder, texts, size, unit, whole_units):
    paths = [folder / f"{number}.txt" for number in range(len(texts))]
    for path, text in zip(paths, texts):
        path.write_bytes(text.encode())
    corpus = TextCorpus(paths, unit=unit)
    shards = shards_of(corpus, size, whole_units=whole_units)
    assert together(shards) == whole(corpus)
    if whole_units and unit != "stream":
        ends = [encode_shard(shard).tokens for shard in shards]
        assert all(len(part) == 0 or part[-1] == END for part in ends[:-1])


@given(
    st.lists(TEXT, min_size=1, max_size=9),
    st.integers(1, 40),
    st.sampled_from(["line", "document"]),
)
def test_shards_of_texts_are_the_corpus(texts, size, unit):
    texts = [*texts, "a"]
    corpus = TextCorpus(texts, unit=unit, kind="texts")
    assert together(shards_of(corpus, size)) == whole(corpus)
    lists = TextCorpus([text.split() for text in texts], kind="tokens")
    assert together(shards_of(lists, size)) == whole(lists)


def test_a_compressed_file_is_one_shard(tmp_path):
    import gzip

    paths = [tmp_path / "a.gz", tmp_path / "b.gz"]
    for path in paths:
        path.write_bytes(gzip.compress(b"one two\nthree " * 100))
    shards = shards_of(TextCorpus(paths), 10)
    assert len(shards) == 2
    assert together(shards) == whole(TextCorpus(paths))


def test_a_tokenizer_of_ones_own_gets_whole_lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("one two three four\nfive six\n" * 20)
    corpus = TextCorpus(path, tokenizer=lambda line: [line])
    assert together(shards_of(corpus, 30)) == whole(corpus)


def test_a_sharded_corpus_knows_what_an_encoded_one_knows(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("eigentext.corpus.shards._SHARD_BYTES", (40, 40))
    path = tmp_path / "text.txt"
    path.write_text("the cat sat on the mat\n\na dog ran\n" * 20)
    corpus = TextCorpus(path)
    encoded = encode(corpus)
    with engine.use(cluster):
        text = encode_on(corpus, reach=3)
        _, table = text.vocabulary(min_count=1)
    assert len(text.shards) > 10
    assert (text.n_tokens, text.n_words) == (encoded.n_tokens, len(encoded.words))
    assert (text.fingerprint, text.options) == (encoded.fingerprint, encoded.options)
    known = dict(zip(encoded.words, encoded.counts.tolist()))
    assert dict(zip(*(table[name].to_pylist() for name in ("word", "count")))) == known
    stream = words_of(encoded.tokens[:-1], encoded.words)
    heads = [head for head in text.heads if head]
    assert heads[0] == stream[:3]
    assert all(len(text.following(number, 3)) <= 3 for number in range(len(text.shards)))


def test_addresses_are_read_as_files_are(tmp_path):
    text = "the cat sat\nthe dog ran\n" * 30
    path = tmp_path / "text.txt"
    path.write_text(text)
    with fsspec.open("memory://corpus/text.txt", "wb") as file:
        file.write(text.encode())
    remote = TextCorpus("memory://corpus/*.txt")
    assert [str(file) for file in remote.files] == ["memory:///corpus/text.txt"]
    assert list(remote) == list(TextCorpus(path))
    assert remote.fingerprint() == TextCorpus(path).fingerprint()
    assert together(shards_of(remote, 50)) == whole(TextCorpus(path))
    assert list(TextCorpus(f"file://{path}")) == list(TextCorpus(path))
    with pytest.raises(CorpusError, match="no file matches; check the pattern"):
        TextCorpus("memory://corpus/*.gz")
    with pytest.raises(CorpusError, match="cannot be read"):
        TextCorpus("memory://corpus/nothing.txt")
    with pytest.raises(CorpusError, match="fsspec cannot open it"):
        TextCorpus("no-such-system://a/b.txt")


def test_a_broken_line_is_named_wherever_it_is_read(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("eigentext.corpus.shards._SHARD_BYTES", (40, 40))
    path = tmp_path / "bad.txt"
    path.write_bytes(b"a few good words here\n" * 20 + b"\xff\n")
    with engine.use(cluster), pytest.raises(CorpusError, match=rf"{path}, line 21: byte 0xff"):
        encode_on(path)


def test_nothing_to_read(cluster, tmp_path):
    path = tmp_path / "empty.txt"
    path.touch()
    with (
        engine.use(cluster),
        pytest.raises(CorpusError, match="contains no words; is the file"),
    ):
        encode_on(path)


def test_workers_that_do_not_see_the_file(cluster, tmp_path, monkeypatch):
    # One name for two places: each process has a folder of its own that it works in.
    (tmp_path / "mine.txt").write_text("to be or not to be")
    monkeypatch.chdir(tmp_path)
    corpus = TextCorpus("/proc/self/cwd/mine.txt")
    with (
        engine.use(cluster),
        pytest.raises(
            ClusterError, match=r"no such file on the worker tcp://.*put the files where"
        ),
    ):
        encode_on(corpus)
    there = next(iter(cluster.each(os.getcwd).values()))
    (Path(there) / "mine.txt").write_text("another text")
    try:
        with (
            engine.use(cluster),
            pytest.raises(ClusterError, match="has 12 bytes, not 18 as here, on the worker"),
        ):
            encode_on(corpus)
    finally:
        (Path(there) / "mine.txt").unlink()
