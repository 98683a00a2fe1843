"""Counts of a Dask cluster equal those of one machine, bit for bit, also if a worker dies."""

import os
import signal

import pytest

from eigentext import (
    CooccurrenceMoments,
    DocumentMoments,
    NgramMoments,
    TextCorpus,
    checkpointing,
    engine,
)
from eigentext.corpus.shards import shards_of
from eigentext.errors import CorpusError
from eigentext.moments import distributed as counting


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr("eigentext.corpus.shards._SHARD_BYTES", (300, 300))
    monkeypatch.setattr(counting, "_RANGE_BYTES", 1 << 13)


@pytest.fixture
def path(zipf_lines, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(zipf_lines(300)) + "\n\n\n")
    return path


def same(a, b):
    return a == b and a.sources == b.sources


@pytest.mark.parametrize("unit", ["line", "document", "stream"])
@pytest.mark.parametrize(
    "how",
    [
        {"window": 1, "weighting": "flat", "min_count": 5},
        {"window": 4, "context": "list", "weighting": "flat", "max_size": 20},
        {"window": 7},
    ],
)
def test_pairs(cluster, small_shards, path, unit, how):
    corpus = TextCorpus(path, unit=unit)
    here = CooccurrenceMoments.from_corpus(corpus, **how)
    with engine.use(cluster):
        assert same(CooccurrenceMoments.from_corpus(corpus, **how), here)


@pytest.mark.parametrize("unit", ["line", "stream"])
@pytest.mark.parametrize(("order", "min_count"), [(1, 1), (2, 3), (4, 2)])
def test_ngrams(cluster, small_shards, path, unit, order, min_count):
    corpus = TextCorpus(path, unit=unit)
    here = NgramMoments.from_corpus(corpus, order=order, min_count=min_count)
    with engine.use(cluster):
        assert same(NgramMoments.from_corpus(corpus, order=order, min_count=min_count), here)


def test_documents(cluster, small_shards, path, tmp_path, zipf_lines):
    others = [tmp_path / f"{number}.txt" for number in range(5)]
    for number, other in enumerate(others):
        other.write_text("\n".join(zipf_lines(20 * number, seed=number)))  # the first is empty
    texts = ["", *zipf_lines(100), "", "the same", "the same"]
    corpora = [TextCorpus(path), TextCorpus(others, unit="document"), texts]
    corpora.append([text.split() for text in texts])
    for corpus in corpora:
        here = DocumentMoments.from_corpus(corpus, min_df=2)
        with engine.use(cluster):
            assert same(DocumentMoments.from_corpus(corpus, min_df=2), here)


def test_texts_and_tokens_in_memory(cluster, small_shards, zipf_lines):
    texts = zipf_lines(200)
    for corpus in (texts, [text.split() for text in texts]):
        here = CooccurrenceMoments.from_corpus(corpus, window=3)
        with engine.use(cluster):
            assert same(CooccurrenceMoments.from_corpus(corpus, window=3), here)


def test_windows_reach_over_shards_smaller_than_they_are(cluster, path, monkeypatch):
    monkeypatch.setattr("eigentext.corpus.shards._SHARD_BYTES", (10, 10))
    path.write_text(path.read_text()[:1000])
    corpus = TextCorpus(path, unit="stream")
    here = CooccurrenceMoments.from_corpus(corpus, window=12)
    with engine.use(cluster):
        assert same(CooccurrenceMoments.from_corpus(corpus, window=12), here)


def test_errors_are_those_of_one_machine(cluster):
    with engine.use(cluster):
        with pytest.raises(CorpusError, match="one token only"):
            CooccurrenceMoments.from_corpus(["word"])
        with pytest.raises(CorpusError, match="no two words share a line"):
            CooccurrenceMoments.from_corpus(["one", "two"])
        with pytest.raises(CorpusError, match="no word occurs 9 times or more"):
            CooccurrenceMoments.from_corpus(["one two", "two one"], min_count=9)


class Killer:
    """Kills some workers, once, when a phase has come so far."""

    def __init__(self, cluster, phase: str, n_workers: int):
        self.cluster, self.phase, self.n_workers, self.killed = cluster, phase, n_workers, []

    def started(self, phase): ...
    def finished(self, phase): ...

    def advanced(self, phase):
        if phase.name == self.phase and not self.killed:
            self.killed = list(self.cluster.each(os.getpid).values())[: self.n_workers]
            for worker in self.killed:
                os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize("n_workers", [1, 2])
@pytest.mark.parametrize("phase", ["read and encode", "count"])
def test_workers_killed_on_the_way_change_nothing(cluster, small_shards, path, phase, n_workers):
    here = CooccurrenceMoments.from_corpus(path, window=5)
    killer = Killer(cluster, phase, n_workers)
    with engine.use(cluster), engine.report_to(killer):
        there = CooccurrenceMoments.from_corpus(path, window=5)
    assert killer.killed
    assert same(there, here)


def test_waves_of_a_checkpoint_are_not_counted_again(
    cluster, small_shards, path, tmp_path, monkeypatch
):
    monkeypatch.setattr(counting, "_WAVE", 4)
    here = CooccurrenceMoments.from_corpus(path, window=5)

    class Stop:
        def started(self, phase): ...
        def finished(self, phase): ...

        def advanced(self, phase):
            if phase.name == "count" and phase.done > 10:
                raise KeyboardInterrupt

    with (
        engine.use(cluster),
        engine.report_to(Stop()),
        pytest.raises(KeyboardInterrupt),
        checkpointing(tmp_path / "kept"),
    ):
        CooccurrenceMoments.from_corpus(path, window=5)
    assert any((tmp_path / "kept").glob("count-0.wave-4.*"))

    counted = []
    keep = cluster.keep
    monkeypatch.setattr(
        cluster,
        "keep",
        lambda function, items, *shared: (
            counted.append(len(items)) if function is counting.count_pairs else None,
            keep(function, items, *shared),
        )[1],
    )
    with engine.use(cluster), checkpointing(tmp_path / "kept"):
        assert same(CooccurrenceMoments.from_corpus(path, window=5), here)
    assert sum(counted) == len(shards_of(TextCorpus(path))) - 8
    assert not (tmp_path / "kept").exists()
