"""`--cluster`, `--checkpoint` and `--memory`, as users type them."""

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
    result = cli(*command, text, "-o", there, "--quiet", "--cluster", address)
    assert result.status == 0, result.err
    assert there.read_bytes() == here.read_bytes()


def test_a_cluster_of_ones_own(process, text, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    fit = ("words", "fit", text, "--dim", 5, "--min-count", 1, "--quiet")
    assert process(*fit, "-o", here).status == 0
    result = process(*fit, "-o", there, "--cluster", "local:2")
    assert (result.status, result.err) == (0, "")
    assert there.read_bytes() == here.read_bytes()


def test_clusters_that_are_none(cli, text, tmp_path, monkeypatch):
    monkeypatch.setattr("eigentext.engine.dask._PATIENCE", "1s")
    fit = ("words", "fit", text, "-o", tmp_path / "model", "--cluster")
    assert "no scheduler answers there" in cli(*fit, "tcp://127.0.0.1:9").mistake
    assert "write tcp://HOST:PORT" in cli(*fit, "127.0.0.1").mistake
    assert not (tmp_path / "model").exists()


def test_a_checkpoint_of_another_fit_is_refused(cli, text, tmp_path):
    folder = tmp_path / "kept"
    fit = ("words", "fit", text, "-o", tmp_path / "model", "--quiet", "--min-count", 1)
    Checkpoint(folder, {"command": "words fit", "dim": 7})
    assert (
        "holds the checkpoint of another fit, with min_count None, not 1"
        in cli(*fit, "--dim", 5, "--checkpoint", folder).mistake
    )
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear Sir")
    assert "holds other files" in cli(*fit, "--checkpoint", tmp_path / "full").mistake
    assert cli(*fit, "--dim", 5, "--checkpoint", tmp_path / "new").status == 0
    assert not (tmp_path / "new").exists()  # done


def test_a_killed_fit_goes_on_from_its_checkpoint(process, tmp_path, long_text):
    folder, model, undisturbed = (tmp_path / name for name in ("kept", "model", "undisturbed"))
    fit = ["words", "fit", str(long_text), "--dim", "200", "--min-count", "1", "--quiet"]
    arguments = [*fit, "-o", str(model), "--checkpoint", str(folder)]
    running = subprocess.Popen([sys.executable, "-m", "eigentext", *arguments])
    deadline = time.monotonic() + 60
    while len(list(folder.glob("svd-0*"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.002)
        assert running.poll() is None, "too fast to be killed"
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    assert not model.exists()
    assert list(folder.glob("count-0*"))

    assert process(*arguments).status == 0
    assert not folder.exists()
    assert process(*fit, "-o", undisturbed).status == 0
    assert model.read_bytes() == undisturbed.read_bytes()
