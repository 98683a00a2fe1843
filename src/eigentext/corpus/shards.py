"""A corpus on the workers of a Dask cluster: what `encode` is on one machine.

Files are cut into shards at blanks, so no token is cut. Packed files, files in other encodings than
UTF-8, and files of tables are never cut. Workers read the shards, encode them as
integers and keep them. They send words with counts, which are added in a tree, and the first tokens
of each shard, because windows of the shard before it reach into these.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eigentext import engine
from eigentext.corpus.documents import in_batches
from eigentext.corpus.encoded import END, EncodedCorpus, encoded_tokens
from eigentext.corpus.encodings import UTF8
from eigentext.corpus.given import as_corpus
from eigentext.corpus.readers import File, compression, cuts, expand_paths
from eigentext.corpus.text import TextCorpus, file_digest
from eigentext.corpus.tokenizers import UNIT_END
from eigentext.corpus.vocabulary import ranked
from eigentext.corpus.wordless import wordless
from eigentext.errors import ClusterError, CorpusError

# Large shards, because each adds one summand to the statistics; equally many per worker.
_SHARD_BYTES = (4 << 20, 128 << 20)  # the least and the most
_PER_WORD = 8  # approximate bytes of a token in a list


class Shard(TextCorpus):
    """A part of a corpus, read with the same options."""

    pieces: list[tuple[File, int, int | None]]

    def blocks(self) -> Iterator[Any]:
        """The blocks of this part; see :meth:`TextCorpus.blocks`."""
        seen = self.new_pass()
        for file, start, stop in self.pieces:
            yield from self.blocks_of(file, seen, start=start, stop=stop)
        if not self.pieces:
            yield from super().blocks()

    @property
    def size(self) -> int | None:
        """None: progress counts shards, not bytes."""
        return None


@dataclass
class EncodedShard:
    """A shard as integers, like an :class:`EncodedCorpus`, with its own numbering of words."""

    tokens: np.ndarray
    words: pa.LargeStringArray
    counts: np.ndarray

    def __sizeof__(self) -> int:
        # Dask needs the size to prefer running tasks where the shard is.
        return self.tokens.nbytes + self.words.nbytes + self.counts.nbytes

    def ids_in(self, vocabulary: pa.LargeStringArray, *, outside: int) -> np.ndarray:
        """The place of each word of the shard in a vocabulary; `END` stays `END`."""
        places = pc.index_in(self.words, value_set=vocabulary).fill_null(outside)
        return np.append(places.to_numpy(), END).astype(np.int32)


@dataclass
class ShardedCorpus:
    """A corpus as integers on the workers of a Dask cluster.

    Attributes
    ----------
    shards : list of kept EncodedShard
    heads : list of lists of str
        The first tokens of each shard, including `UNIT_END`.
    table : kept Arrow table
        All words with their counts, in the order of a vocabulary.
    n_words, n_tokens : int
    fingerprint, options
        As those of an :class:`EncodedCorpus`.
    """

    shards: list[Any]
    heads: list[list[str]]
    table: Any
    n_words: int
    n_tokens: int
    fingerprint: str
    options: dict[str, Any]

    def vocabulary(self, min_count: int = 1, max_size: int | None = None) -> tuple[Any, Any]:
        """The words within limits, kept on the workers, and their table in this process."""
        workers = _workers()
        (kept,) = workers.keep(ranked, [self.table], min_count, max_size)
        return workers.keep(_words, [kept])[0], workers.fetch(kept)

    def following(self, number: int, n_tokens: int) -> list[str]:
        """The first `n_tokens` tokens after a shard."""
        found: list[str] = []
        for head in self.heads[number + 1 :]:
            found += head[: n_tokens - len(found)]
            if len(found) >= n_tokens:
                break
        return found


def can_shard(corpus: Any) -> bool:
    """Whether workers can read a corpus: it must not be encoded already."""
    return not isinstance(corpus, EncodedCorpus)


def encode_on(corpus: Any, *, reach: int = 1, whole_units: bool = False) -> ShardedCorpus:
    """Read a corpus on the workers of the Dask cluster in use.

    Parameters
    ----------
    corpus : TextCorpus, or what :func:`eigentext.corpus.encode` takes
        The text.
    reach : int
        The number of tokens after its end that the statistics of a shard depend on.
    whole_units : bool
        Whether units must not be cut, as for statistics of documents.
    """
    corpus = as_corpus(corpus)
    workers = _workers()
    _check_sight(workers, corpus.files)
    pieces = shards_of(corpus, whole_units=whole_units)
    shards = workers.keep(encode_shard, pieces)
    digests = workers.keep(file_digest, map(_absolute, corpus.files))
    heads = workers.keep(_head, shards, reach)
    with engine.phase("read and encode", len(shards), "shards") as advance:
        for _ in workers.finished(heads):
            advance(1)
    with engine.phase("vocabulary"):
        counted = workers.combine(_joined, workers.keep(_table, shards))
        (table,) = workers.keep(_ranked, [counted])
        n_words, n_tokens = workers.fetch(workers.keep(_sizes, [table])[0])
        if n_words == 0:
            raise wordless(corpus)
        fingerprint = corpus.fingerprint(map(workers.fetch, digests))
    heads = [workers.fetch(head) for head in heads]
    return ShardedCorpus(shards, heads, table, n_words, n_tokens, fingerprint, corpus.options)


def shards_of(
    corpus: TextCorpus, size: int | None = None, *, whole_units: bool = False
) -> list[Shard]:
    """The corpus in parts of about `size` bytes, which can be read separately.

    Their tokens in order are the tokens of the corpus. Only plain text in UTF-8 is cut.
    """
    if corpus.errors == "skip":
        raise ClusterError(
            "bad lines cannot be skipped on Dask workers, which do not see all of them; leave "
            "--skip-bad (errors='skip') out, or fit without workers"
        )
    if corpus.table is not None:
        corpus = _rows_as_texts(corpus)
    in_memory: Sequence[Any] = corpus.texts or corpus.token_lists
    sizes = [file.stat().st_size for file in corpus.files] or _weights(in_memory)
    if size is None:
        size = _shard_bytes(sum(sizes))
    if not corpus.files:
        name = "texts" if corpus.texts else "token_lists"
        return [_part(corpus, **{name: in_memory[a:b]}) for a, b in _groups(sizes, size)]
    whole_lines = callable(corpus.tokenizer) or whole_units
    pieces: list[tuple[File, int, int | None]] = []
    for file in map(_absolute, corpus.files):
        is_plain = corpus.column is None and corpus.encoding == UTF8 and not compression(file)
        whole = not is_plain or (whole_units and corpus.unit == "document")
        places = [0] if whole else cuts(file, size, whole_lines=whole_lines)
        pieces += [(file, start, stop) for start, stop in zip(places, [*places[1:], None])]
    lengths = [
        (file.stat().st_size if stop is None else stop) - start for file, start, stop in pieces
    ]
    return [_part(corpus, pieces=pieces[a:b]) for a, b in _groups(lengths, size)]


def _rows_as_texts(corpus: TextCorpus) -> TextCorpus:
    """A table in memory as a list of texts, one for each row."""
    rows = TextCorpus.__new__(TextCorpus)
    vars(rows).update(vars(corpus), table=None)
    rows.texts = [text for _, part in in_batches(corpus) for text in part.texts]
    return rows


def _shard_bytes(total: int) -> int:
    least, most = _SHARD_BYTES
    n_workers = engine.workers().n_workers
    for_each = max(1, -(-total // (n_workers * most)))
    return max(least, -(-total // (n_workers * for_each)) + 1)


def _part(corpus: TextCorpus, **parts: Any) -> Shard:
    shard = Shard.__new__(Shard)
    vars(shard).update(vars(corpus))
    shard.texts, shard.token_lists, shard.pieces = [], [], []
    for name, value in parts.items():
        setattr(shard, name, value)
    if shard.pieces:
        shard.files = [file for file, _, _ in shard.pieces]
    return shard


def _weights(units: Sequence[Any]) -> list[int]:
    scale = 1 if isinstance(units[0], str) else _PER_WORD
    return [1 + scale * len(unit) for unit in units]


def _groups(sizes: Iterable[int], size: int) -> list[tuple[int, int]]:
    """Ranges of neighbors with a total of about `size`."""
    work = np.concatenate([[0], np.cumsum(list(sizes))])
    work += np.arange(len(work))  # empty files count, too
    return engine.even_blocks(work, size)


def _absolute(file: File) -> File:
    return file.absolute() if isinstance(file, Path) else file


def _workers() -> Any:
    workers = engine.distributed()
    assert workers is not None
    return workers


def _check_sight(workers: Any, files: Sequence[File]) -> None:
    """Raise ClusterError if a worker does not see a file, or sees another size."""
    names = [os.fspath(_absolute(file)) for file in files]
    sizes = [file.stat().st_size for file in files]
    for worker, problem in workers.each(_look_at, names, sizes).items():
        if problem:
            raise ClusterError(
                f"{problem} on the worker {worker}; put the files where all workers see them under "
                "the same name (a shared folder, or an address such as s3://…)"
            )


# Functions that run on workers.


def encode_shard(shard: Shard) -> EncodedShard:
    """Read and encode a shard."""
    tokens, words, counts = encoded_tokens(shard)
    return EncodedShard(np.asarray(tokens[:-1]), pa.array(words, pa.large_string()), counts)


def _head(shard: EncodedShard, n_tokens: int) -> list[str]:
    ids = shard.tokens[:n_tokens].tolist()
    return [UNIT_END if i == END else shard.words[i].as_py() for i in ids]


def _table(shard: EncodedShard) -> pa.Table:
    return pa.table({"word": shard.words, "count": shard.counts})


def _joined(a: pa.Table, b: pa.Table) -> pa.Table:
    both = pa.concat_tables([a, b]).combine_chunks()
    words = both["word"].combine_chunks().dictionary_encode()
    counts = np.zeros(len(words.dictionary), np.int64)
    np.add.at(counts, words.indices.to_numpy(), both["count"].to_numpy())
    return pa.table({"word": words.dictionary, "count": counts})


def _ranked(table: pa.Table) -> pa.Table:
    return ranked(table) if len(table) else table


def _sizes(table: pa.Table) -> tuple[int, int]:
    return len(table), pc.sum(table["count"]).as_py() or 0


def _words(table: pa.Table) -> pa.LargeStringArray:
    return table["word"].combine_chunks()


def _look_at(names: list[str], sizes: list[int]) -> str:
    """What is wrong with the files on this worker, or an empty string."""
    for name, size in zip(names, sizes):
        try:
            (file,) = expand_paths([name])
            there = file.stat().st_size
        except (CorpusError, OSError, ValueError) as error:
            return str(error).partition(";")[0]
        if there != size:
            return f"{name}: has {there} bytes, not {size} as here,"
    return ""
