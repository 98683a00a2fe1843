"""Slow queries, in real processes."""

import random
import threading
import time

import httpx
import pytest

import eigentext as et

from .conftest import running, wait_for_workers


def _tree(n: int, rng: random.Random) -> str:
    if n == 1:
        return f"(T{rng.randrange(8)} {rng.choice('abcdefgh')})"
    k = rng.randrange(1, n)
    return f"(N{rng.randrange(12)} {_tree(k, rng)} {_tree(n - k, rng)})"


@pytest.fixture(scope="module")
def slow_server(model_files, tmp_path_factory):
    """A grammar that allows everything and prunes nothing: 60 words take 15 s."""
    rng = random.Random(0)
    path = tmp_path_factory.mktemp("slow") / "slow.safetensors"
    et.PCFG(prune=0.0, horizontal=0, vertical=1).fit([_tree(20, rng) for _ in range(300)]).save(
        path
    )
    with running(model_files["words"], model_files["topics"], path, "--timeout", "2") as server:
        wait_for_workers(server)
        yield server


def _sentence(n_words: int) -> str:
    return " ".join(random.Random(1).choices("abcdefgh", k=n_words))


def test_a_slow_parse_is_ended_and_no_other_query_waits(slow_server):
    answers = []

    def parse():
        start = time.monotonic()
        answer = slow_server.post("/api/2/parse", text=_sentence(60))
        answers.append((answer, time.monotonic() - start))

    threads = [threading.Thread(target=parse) for _ in range(3)]  # more than there are workers
    for thread in threads:
        thread.start()
    taken = []
    while any(thread.is_alive() for thread in threads):
        start = time.monotonic()
        assert slow_server.get("/api/0/neighbors", word="cat").status_code == 200
        assert slow_server.get("/api/1/topics").status_code == 200
        taken.append(time.monotonic() - start)
        time.sleep(0.02)
    assert len(taken) > 10
    assert sorted(taken)[len(taken) // 2] < 0.2
    assert max(taken) < 1.5
    for answer, seconds in answers:
        assert answer.status_code == 503
        assert seconds < 2 * 2 + 2
    errors = [answer.json()["error"] for answer, _ in answers]
    assert any("took more than 2 seconds" in one and "--timeout" in one for one in errors)
    assert any("busy; try again" in one for one in errors)


def test_the_server_continues_with_new_workers(slow_server):
    """A worker takes a few seconds to load. Queries in the meantime are answered with 503."""
    assert slow_server.post("/api/2/parse", text=_sentence(60)).status_code == 503
    for _ in range(20):
        answer = slow_server.post("/api/2/parse", text=_sentence(4))
        if answer.status_code == 200:
            break
        assert answer.status_code == 503
        assert "try again" in answer.json()["error"]
    assert answer.json()["tokens"] == _sentence(4).split()


def test_queries_of_clients_that_have_left_are_dropped(slow_server):
    """Ten slow parses whose clients have left do not delay the next query."""
    for _ in range(10):
        with pytest.raises(httpx.ReadTimeout):
            slow_server.client.post("/api/2/parse", json={"text": _sentence(60)}, timeout=0.05)
    start = time.monotonic()
    while slow_server.post("/api/2/parse", text=_sentence(4)).status_code != 200:
        assert time.monotonic() - start < 15
