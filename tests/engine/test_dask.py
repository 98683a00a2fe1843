"""Tasks on real worker processes give what threads give, or a reason why not."""

import operator
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import eigentext
from eigentext import engine
from eigentext.engine.dask import DaskEngine, connected
from eigentext.errors import ClusterError, ParameterError


def halves(x, by=2.0):
    return x / by


def fails(x):
    raise ValueError(f"no {x}")


def dies_once(flag):
    """Kill this worker the first time."""
    try:
        Path(flag).touch(exist_ok=False)
    except FileExistsError:
        return os.getpid()
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def dies(_):
    os.kill(os.getpid(), signal.SIGKILL)


def test_map_keeps_the_order_and_shares(cluster):
    items = list(range(23))
    assert list(cluster.map(halves, items, 4.0)) == [x / 4 for x in items]
    assert list(cluster.map(abs, [])) == []


def test_sums_of_floats_have_the_bits_of_threads(cluster):
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 8, 9, 20, 65):
        items = rng.normal(size=n).tolist()
        there = cluster.reduce(halves, operator.add, items)
        assert there == engine.ThreadEngine(2).reduce(halves, operator.add, items)


def test_the_error_of_a_task_is_raised_here(cluster):
    with pytest.raises(ValueError, match="no 3"):
        list(cluster.map(fails, [3]))


def test_what_is_kept_stays_and_can_be_items(cluster):
    kept = cluster.keep(halves, [2.0, 4.0])
    assert cluster.fetch(cluster.combine(operator.add, cluster.keep(halves, kept))) == 1.5
    assert sorted(cluster.fetch(one) for one in cluster.finished(kept)) == [1.0, 2.0]


def test_use_takes_a_client(cluster):
    assert engine.distributed() is None
    with engine.use(cluster.client):
        assert isinstance(engine.distributed(), DaskEngine)
        assert isinstance(engine.current(), engine.ThreadEngine)
        assert engine.workers() is engine.distributed()
    assert engine.workers() is engine.current()


def test_a_worker_that_dies_changes_nothing(cluster, tmp_path):
    kept = cluster.keep(halves, [float(x) for x in range(8)])
    for _ in cluster.finished(kept):
        pass
    assert cluster.fetch(cluster.keep(dies_once, [str(tmp_path / "flag")])[0]) > 0
    assert [cluster.fetch(one) for one in kept] == [x / 2 for x in range(8)]


def test_a_task_that_kills_all_workers_is_an_error():
    with (
        connected("local:1") as one,
        pytest.raises(ClusterError, match="that tried one task died"),
    ):
        one.fetch(one.keep(dies, [0])[0])


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("nowhere", "write tcp://HOST:PORT for a scheduler, or local:N"),
        ("local:0", "local:0 has no workers"),
    ],
)
def test_a_cluster_in_other_words(name, reason):
    with pytest.raises(ParameterError, match=reason), connected(name):
        pass


def test_no_such_scheduler(monkeypatch):
    monkeypatch.setattr("eigentext.engine.dask._PATIENCE", "1s")
    with (
        pytest.raises(ClusterError, match=r"tcp://127.0.0.1:9: no scheduler answers there"),
        connected("tcp://127.0.0.1:9"),
    ):
        pass


# A cluster as people start one, in processes of its own.


@contextmanager
def started(*command: str, **environment: str):
    process = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def scheduler(folder: Path):
    """A scheduler, and its address."""
    file = folder / "scheduler.json"
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show")
    with started("scheduler", *options, "--scheduler-file", str(file)) as process:
        deadline = time.monotonic() + 60
        while not file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        import json

        yield process, json.loads(file.read_text())["address"]


def worker(address: str, **environment: str):
    return started("worker", address, "--nthreads", "1", "--no-dashboard", **environment)


def test_no_workers(tmp_path, monkeypatch):
    monkeypatch.setattr("eigentext.engine.dask._PATIENCE", "2s")
    with (
        scheduler(tmp_path) as (_, address),
        pytest.raises(ClusterError, match="a scheduler, but no workers"),
        connected(address),
    ):
        pass


def test_workers_of_another_version_are_refused(tmp_path):
    import shutil

    shutil.copytree(
        Path(eigentext.__file__).parent,
        tmp_path / "other" / "eigentext",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    module = tmp_path / "other" / "eigentext" / "__init__.py"
    module.write_text(module.read_text().replace(eigentext.__version__, "0.0.9"))
    with (
        scheduler(tmp_path) as (_, address),
        worker(address, PYTHONPATH=str(tmp_path / "other")),
        pytest.raises(ClusterError, match=r"has eigentext 0\.0\.9, but here it is"),
        connected(address),
    ):
        pass


def test_a_lost_scheduler_is_a_clear_error(tmp_path):
    with (
        scheduler(tmp_path) as (process, address),
        worker(address),
        connected(address) as cluster,
        pytest.raises(ClusterError, match="lost the scheduler"),
    ):
        kept = cluster.keep(time.sleep, [60])
        process.kill()
        cluster.fetch(kept[0])
