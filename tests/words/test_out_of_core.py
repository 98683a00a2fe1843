"""A fit within a stated memory, or one that was killed and goes on, gives the same bits."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np
import pytest

import eigentext as et
from eigentext import CooccurrenceMoments, Eigenwords, NgramMoments, TextCorpus, engine
from eigentext.errors import EigentextError
from eigentext.factor import svd as svd_function
from eigentext.matrices import budget
from eigentext.matrices.runs import is_on_disk
from eigentext.moments import pairs, states, tries
from eigentext.storage.maps import is_mapped
from eigentext.words import template

NONE = 1  # a budget with no room: everything that can be on disk is there
pytestmark = pytest.mark.filterwarnings("ignore:memory=1, but")


@pytest.fixture(scope="module")
def text():
    return zipf_text(1700, 20_000)


def zipf_text(n_words, n_tokens, seed=0):
    drawn = np.random.default_rng(seed).zipf(1.3, n_tokens) % n_words
    return [" ".join(f"w{w}" for w in line) for line in drawn.reshape(-1, 20)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The temporary folder."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_same_vectors_on_disk_with_a_compact_basis(folder, text, n_threads, monkeypatch):
    monkeypatch.setattr(template, "_LARGE", 0)
    model = Eigenwords(60, window=2, min_count=1)
    expected = model.fit_moments(model.collect(text)).vectors_
    with engine.use(engine.ThreadEngine(n_threads)):
        assert np.array_equal(model.fit(text).vectors_, expected)
        assert np.array_equal(model.fit(text, memory=NONE).vectors_, expected)
        with et.checkpointing(folder / "kept"):
            assert np.array_equal(model.fit(text).vectors_, expected)


@pytest.mark.parametrize(
    ("context", "scaling"),
    [(context, scaling) for context in ("bag", "list") for scaling in ("cca", "reg", "ppmi")]
    + [("bag", "none")],
)
@pytest.mark.parametrize("transform", ["sqrt", "log"])
def test_the_same_vectors_on_disk(folder, text, context, scaling, transform):
    model = Eigenwords(
        20, window=2, min_count=1, context=context, scaling=scaling, count_transform=transform
    )
    model.fit(text)
    expected = model.vectors_, model.singular_values_, model.diagnostics_
    model.fit(text, memory=NONE)
    assert is_mapped(model.vectors_)
    assert np.array_equal(model.vectors_, expected[0])
    assert np.array_equal(model.singular_values_, expected[1])
    assert model.diagnostics_ == expected[2]
    assert not any(folder.iterdir())


def test_the_same_file_on_disk(folder, tmp_path, text):
    for keep in ("none", "cut", "whole"):
        model = Eigenwords(20, window=2, min_count=2, keep_moments=keep)
        model.fit(text).save(tmp_path / "a")
        with engine.use(engine.ThreadEngine(3)):
            model.fit(text, memory=NONE).save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert not any(folder.iterdir())


def test_text_is_added_within_a_memory(text):
    half = len(text) // 2
    settings = {"window": 2, "min_count": 2, "keep_moments": "whole"}
    whole = Eigenwords(20, **settings).fit(text)
    added = Eigenwords(20, **settings).fit(text[:half], memory=NONE)
    added.partial_fit(text[half:], memory=NONE)
    assert np.array_equal(added.vectors_, whole.vectors_)


@pytest.mark.parametrize("context", ["bag", "list"])
def test_counts_on_disk_are_the_counts(folder, text, context):
    settings = {"window": 3, "context": context, "min_count": 2}
    expected = CooccurrenceMoments.from_corpus(text, **settings)
    for n_shards in (None, 1, 5):
        found = CooccurrenceMoments.from_corpus(text, memory=NONE, n_shards=n_shards, **settings)
        assert is_on_disk(found.forward)
        assert found == expected
        with budget.within(NONE):
            counts = found.counts()
        assert is_on_disk(counts)
        assert np.array_equal(counts.toarray(), expected.counts().toarray())
        assert all(map(np.array_equal, found.totals(), expected.totals()))
    assert found + found == expected + expected
    assert found.thresholded(2) == expected.thresholded(2)
    assert found.restrict(min_count=4) == expected.restrict(min_count=4)
    assert not any(folder.iterdir())


def test_a_full_disk_is_an_error_that_names_the_remedy(folder, text):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, hard))
    try:
        with pytest.raises(EigentextError, match=f"{folder}.*TMPDIR"):
            Eigenwords(20, window=2, min_count=1).fit(text, memory=NONE)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not any(folder.iterdir())


def test_a_budget_that_is_too_small_is_said_to_be(text):
    model = Eigenwords(20, window=2, min_count=1)
    with pytest.warns(UserWarning, match=r"memory=1,000, but 1,\d+ words take about .*min_count"):
        model.fit(text, memory=1000)


# The system refuses memory.

_LIMITED = """
import json, os, resource, sys
import numpy as np
from eigentext import Eigenwords
model = Eigenwords(300, min_count=1, window=2)
small = [" ".join(f"w{w}" for w in line) for line in np.arange(4000).reshape(-1, 20)]
Eigenwords(10, min_count=1, window=2).fit(small, memory=1)  # compiles the loops first
text = [line.rstrip() for line in open(sys.argv[1])]
used = int(open("/proc/self/status").read().split("VmData:")[1].split()[0]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (used + int(sys.argv[2]), -1))
try:
    model.fit(text, memory=json.loads(sys.argv[3]))
except (MemoryError, OSError, RuntimeError, SystemError):  # of NumPy, threads, compiled loops
    print("no memory", flush=True)
    os._exit(0)  # what is left of the interpreter may want memory too
else:
    print(model.vectors_.shape, float(np.abs(model.vectors_).sum(dtype=np.float64)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system must count what is private")
def test_a_fit_that_memory_is_too_small_for_succeeds_within_a_budget(tmp_path):
    rng = np.random.default_rng(0)
    drawn = np.concatenate([np.arange(40_000), rng.zipf(1.3, 100_000) % 40_000])
    text = tmp_path / "text"
    text.write_text("\n".join(" ".join(f"w{w}" for w in line) for line in drawn.reshape(-1, 20)))

    def fit(room, memory):
        arguments = [sys.executable, "-c", _LIMITED, text, str(room), json.dumps(memory)]
        done = subprocess.run(arguments, capture_output=True, text=True)
        return done.stdout or done.stderr

    assert not fit(125 << 20, None).startswith("(40000, 300)")
    within = fit(125 << 20, 1)
    assert within.startswith("(40000, 300)")
    assert within == fit(1 << 40, None)


# A killed fit goes on.

_FIT = """
import sys
from eigentext import Eigenwords, checkpointing
memory = 1 if sys.argv[3] == "disk" else None
with checkpointing(sys.argv[2]):
    Eigenwords(150, min_count=1, window=2).fit([*open(sys.argv[1])], memory=memory)
"""


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_fit_killed_during_the_svd_goes_on_with_the_same_bits(tmp_path, monkeypatch, where):
    text = tmp_path / "text"
    text.write_text("\n".join(zipf_text(9000, 100_000)))
    folder = tmp_path / "state"
    process = subprocess.Popen([sys.executable, "-c", _FIT, text, folder, where])
    third = folder / "svd-0.block-003.state"
    while not third.exists():
        assert process.poll() is None
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = {path.name: path.stat().st_ino for path in folder.glob("*.state")}
    n_kept = sum(name.startswith("svd") for name in kept)
    assert n_kept >= 3
    assert "count-0.sum.state" in kept

    made = []
    module = sys.modules[svd_function.__module__]
    orthonormalize = module._orthonormalize_against
    monkeypatch.setattr(
        module, "_orthonormalize_against", lambda *a: made.append(1) or orthonormalize(*a)
    )
    model = Eigenwords(150, min_count=1, window=2)
    lines = text.read_text().splitlines(keepends=True)  # as the other process read them
    model.fit(lines)
    undisturbed, n_blocks = model.vectors_, len(made)
    made.clear()
    phases = []

    class Listener:
        def started(self, phase):
            phases.append(phase.name)
            if phase.name == "factor":  # still the same files
                for name, number in kept.items():
                    assert (folder / name).stat().st_ino == number

        def advanced(self, phase): ...
        def finished(self, phase): ...

    with et.checkpointing(folder), engine.report_to(Listener()):
        model.fit(lines, memory=1 if where == "disk" else None)
    assert np.array_equal(model.vectors_, undisturbed)
    assert len(made) == n_blocks - n_kept
    assert "count" not in phases
    assert not folder.exists()


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    pass


@pytest.mark.parametrize("memory", [None, NONE])
def test_shards_that_were_counted_are_not_counted_again(tmp_path, monkeypatch, text, memory):
    for module in (pairs, tries, states):
        monkeypatch.setattr(module, "SHARD", 3000)
    expected = CooccurrenceMoments.from_corpus(text)
    made = []
    assembled = pairs.assembled

    def counting(*arguments, **options):
        made.append(1)
        if len(made) == stop:
            raise Stopped
        return assembled(*arguments, **options)

    monkeypatch.setattr(pairs, "assembled", counting)
    folder, stop = tmp_path / "state", 5
    with pytest.raises(Stopped), et.checkpointing(folder):
        CooccurrenceMoments.from_corpus(text, memory=memory)
    assert len(list(folder.glob("count-0.run-*.state"))) == 4
    made.clear()
    stop = 0
    with et.checkpointing(folder):
        assert CooccurrenceMoments.from_corpus(text, memory=memory) == expected
        assert len(made) == 4  # of 8
        assert [path.name for path in folder.glob("*.state")] == ["count-0.sum.state"]
        # Another text, or another vocabulary of it, is another count.
        assert CooccurrenceMoments.from_corpus(text, memory=memory, min_count=2) != expected
    with pytest.raises(Stopped), et.checkpointing(folder):
        assert CooccurrenceMoments.from_corpus(text, memory=memory) == expected
        raise Stopped
    with et.checkpointing(folder):
        shorter = text[:-1]
        expected = CooccurrenceMoments.from_corpus(shorter, n_shards=1)
        assert CooccurrenceMoments.from_corpus(shorter, memory=memory) == expected


def test_n_grams_that_were_counted_are_not_counted_again(tmp_path, monkeypatch, text):
    monkeypatch.setattr(tries, "SHARD", 3000)
    expected = NgramMoments.from_corpus(TextCorpus(text), order=3)
    made = []
    count_shard = tries.count_shard

    def counting(*arguments):
        made.append(1)
        if len(made) == stop:
            raise Stopped
        return count_shard(*arguments)

    monkeypatch.setattr(tries, "count_shard", counting)
    folder, stop = tmp_path / "state", 5
    with pytest.raises(Stopped), et.checkpointing(folder):
        NgramMoments.from_corpus(TextCorpus(text), order=3)
    made.clear()
    stop = 0
    with et.checkpointing(folder) as point:
        assert NgramMoments.from_corpus(TextCorpus(text), order=3) == expected
        assert len(made) == 4
        point._times.clear()  # as in the next process
        assert NgramMoments.from_corpus(TextCorpus(text), order=3) == expected
        assert len(made) == 4
