"""The states of loops: kept now and then, taken up only by the same loop over the same data."""

from functools import partial

import numpy as np
import pytest

from eigentext.storage import checkpoint, checkpointing
from eigentext.storage import checkpoints as module
from eigentext.storage.checkpoints import Iteration, fingerprint


def count_to(n, data, stop_at=None):
    """A loop; counts how many steps it took."""
    loop = Iteration("count", n, data)
    total, steps = 0, 0
    if kept := loop.kept():
        total = int(kept[0]["total"][0])
    while total < n:
        total, steps = total + 1, steps + 1
        if total == stop_at:
            raise KeyboardInterrupt
        state = {"total": np.array([total])}, {}
        loop.keep(partial(tuple, state), is_last=total == n)
    return steps


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(module, "EVERY", 0.0)


def interrupted(folder, *loops):
    with pytest.raises(KeyboardInterrupt), checkpointing(folder):
        for loop in loops:
            count_to(*loop)


def test_a_loop_goes_on(tmp_path, always):
    data = np.arange(3)
    interrupted(tmp_path / "a", (10, data, 7))
    with checkpointing(tmp_path / "a"):
        assert count_to(10, data) == 4
        assert count_to(10, data) == 10  # another loop of the same name
    assert not (tmp_path / "a").exists()


def test_what_is_done_is_not_done_again(tmp_path, always):
    data = np.arange(3)
    interrupted(tmp_path / "a", (5, data), (10, data, 7))
    with checkpointing(tmp_path / "a"):
        assert [count_to(5, data), count_to(10, data)] == [0, 4]


@pytest.mark.parametrize(
    ("n", "data"), [(10, np.arange(4)), (11, np.arange(3)), (10, np.arange(3.0))]
)
def test_the_state_of_other_data_is_not_taken(tmp_path, always, n, data):
    interrupted(tmp_path / "a", (10, np.arange(3), 7))
    with checkpointing(tmp_path / "a"):
        assert count_to(n, data) == n


def test_short_loops_write_nothing(tmp_path, monkeypatch):
    with checkpointing(tmp_path / "a"):
        point = checkpoint()
        count_to(10, None)
        assert not list(point.folder.glob("*.state"))
        now = [0.0]
        monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
        written = []
        monkeypatch.setattr(point, "write", lambda *state: written.append(now[0]))
        loop = Iteration("slow")
        for _ in range(25):
            now[0] += 1
            loop.keep(lambda: ({}, {}), is_last=now[0] == 25)
        assert written == [10, 20, 25]


def test_without_a_checkpoint_nothing_is_asked_for():
    loop = Iteration("count", object())
    assert loop.kept() is None
    loop.keep(lambda: pytest.fail("not to be worked out"), is_last=True)


def test_fingerprints():
    a = np.arange(6)
    different = [
        (a,), (a + 1,), (a.astype(np.int32),), (a.reshape(2, 3),), (a[::-1],), (a[:3], a[3:]),
        ("a",), ("a", None), (0,), (0.0,), (a[:0],), (),
    ]  # fmt: skip
    assert len({fingerprint(*things) for things in different}) == len(different)
    assert fingerprint(a.reshape(2, 3).T) == fingerprint(np.array(a.reshape(2, 3).T, order="C"))


def test_what_takes_long_to_describe_is_asked_for_only_where_needed(tmp_path, always):
    def asked():
        calls.append(1)
        return np.arange(3)

    calls = []
    Iteration("count", asked)
    assert calls == []
    with checkpointing(tmp_path / "a"):
        Iteration("count", asked)
    assert calls == [1]
