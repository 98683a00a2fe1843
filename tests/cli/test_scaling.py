"""`--workers`, `--checkpoint` and `--memory`, as users type them."""

import os
import signal
import subprocess
import sys
import time

import pytest

from eigentext.storage import Checkpoint

FITS = [
    ("words", "fit", "--dim", 5, "--min-count", 1),
    ("words", "tokens", "--dim", 5, "--min-count", 1),
    ("hmm", "fit", "--states", 3),
    ("bigram", "fit", "--states", 3),
    ("kneser-ney", "fit"),
    ("topics", "fit", "--topics", 3),
]


@pytest.fixture
def address(cluster):
    return cluster.address


@pytest.mark.filterwarnings("ignore:too few n-grams", "ignore:.*discounts")
@pytest.mark.parametrize("command", FITS, ids=lambda command: "-".join(command[:2]))
def test_every_fit_runs_on_a_cluster(cli, address, text, tmp_path, command):
    here, there = tmp_path / "here", tmp_path / "there"
    assert cli(*command, text, "-o", here, "--quiet").status == 0
    result = cli(*command, text, "-o", there, "--quiet", "--workers", address)
    assert result.status == 0, result.err
    assert there.read_bytes() == here.read_bytes()


def test_grammars_and_taggers_on_a_cluster(cli, address, tmp_path):
    trees, tagged, lines = (tmp_path / name for name in ("trees.mrg", "tagged.conll", "lines.txt"))
    trees.write_text("(S (NP (D the) (N dog)) (VP (V saw) (NP (P him))))\n" * 30)
    tagged.write_text("the D B-NP\ndog N I-NP\nsaw V B-VP\nhim P B-NP\n\n" * 30)
    lines.write_text("the dog saw him\n" * 150)

    def both(*command):
        for place, options in (("here", ()), ("there", ("--cluster", address))):
            result = cli(*command, "-o", tmp_path / place, "--quiet", *options)
            assert result.status == 0, result.err
        assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
        return (tmp_path / "here").rename(tmp_path / command[0])

    # The old name of --workers works without a warning.
    grammar = both("grammar", "fit", trees, "--states", 2, "--method", "em", "--iterations", 3)
    both("grammar", "parse", grammar.rename(tmp_path / "g"), lines)
    both("grammar", "nbest", tmp_path / "g", lines, "-k", 2)
    tagger = both("tagger", "fit", tagged)
    both("tagger", "tag", tagger.rename(tmp_path / "t"), tagged, "--labelled")


def test_a_cluster_of_ones_own(process, text, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    fit = ("words", "fit", text, "--dim", 5, "--min-count", 1, "--quiet")
    assert process(*fit, "-o", here).status == 0
    result = process(*fit, "-o", there, "--workers", "local:2")
    assert (result.status, result.err) == (0, "")
    assert there.read_bytes() == here.read_bytes()


def test_clusters_that_are_none(cli, text, tmp_path, monkeypatch):
    monkeypatch.setattr("eigentext.engine.dask._PATIENCE", "1s")
    fit = ("words", "fit", text, "-o", tmp_path / "model", "--workers")
    assert "no scheduler answers there" in cli(*fit, "tcp://127.0.0.1:9").mistake
    assert "write tcp://HOST:PORT" in cli(*fit, "127.0.0.1").mistake
    assert not (tmp_path / "model").exists()


def test_a_checkpoint_of_another_fit_is_refused(cli, text, tmp_path):
    folder = tmp_path / "kept"
    fit = ("words", "fit", text, "-o", tmp_path / "model", "--quiet", "--min-count", 1)
    Checkpoint(folder, {"command": "words fit", "dim": 7})
    assert (
        "contains the checkpoint of another fit, with min_count None, not 1"
        in cli(*fit, "--dim", 5, "--checkpoint", folder).mistake
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear Sir")
    assert "contains other files" in cli(*fit, "--checkpoint", tmp_path / "full").mistake
    assert cli(*fit, "--dim", 5, "--checkpoint", tmp_path / "new").status == 0
    assert not (tmp_path / "new").exists()  # done


def killed(arguments, folder, pattern, n_states):
    """Run a fit, and kill it when its checkpoint holds so many states by that name."""
    running = subprocess.Popen([sys.executable, "-m", "eigentext", *arguments])
    deadline = time.monotonic() + 60
    while len(list(folder.glob(pattern))) < n_states and time.monotonic() < deadline:
        time.sleep(0.002)
        assert running.poll() is None, "too fast to be killed"
    os.kill(running.pid, signal.SIGKILL)
    running.wait()


def test_killed_fits_and_full_disks_cost_what_came_after_the_checkpoint(
    process, tmp_path, long_text
):
    folder, model, undisturbed = (tmp_path / name for name in ("kept", "model", "undisturbed"))
    fit = ["words", "fit", str(long_text), "--dim", "200", "--min-count", "1", "--no-cache", "-q"]
    arguments = [*fit, "-o", str(model), "--checkpoint", str(folder)]
    killed(arguments, folder, "count-0.sum*", 1)
    killed(arguments, folder, "svd-0*", 3)
    assert not model.exists()
    counted = next(folder.glob("count-0.sum*")).stat()

    # A disk that has room for no more than a megabyte: the next block of the SVD has two.
    no_room = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
"""
    result = process(*arguments, before=no_room)
    assert result.status == 2
    assert f"{folder}/svd-0" in result.err
    assert "cannot be written (File too large)" in result.err

    assert process(*fit, "-o", undisturbed).status == 0
    assert next(folder.glob("count-0.sum*")).stat().st_mtime_ns == counted.st_mtime_ns
    assert process(*arguments).status == 0
    assert model.read_bytes() == undisturbed.read_bytes()
    assert not folder.exists()


def test_the_driver_of_a_cluster_killed_during_the_svd(process, address, tmp_path, long_text):
    folder, model, undisturbed = (tmp_path / name for name in ("kept", "model", "undisturbed"))
    fit = ["words", "fit", str(long_text), "--dim", "200", "--min-count", "1", "--no-cache", "-q"]
    arguments = [*fit, "-o", str(model), "--checkpoint", str(folder), "--workers", address]
    killed(arguments, folder, "svd-0*", 3)
    assert not model.exists()
    blocks = {path.name: path.stat().st_mtime_ns for path in folder.glob("svd-0*")}
    assert list(folder.glob("count-0.wave-0*"))
    result = process(*arguments)
    assert result.status == 0, result.err
    assert len(blocks) >= 3
    assert process(*fit, "-o", undisturbed).status == 0
    assert model.read_bytes() == undisturbed.read_bytes()
