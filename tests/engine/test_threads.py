"""Threads change when things are done, never what comes out or in which order."""

import copy
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from operator import add
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigentext import engine
from eigentext.engine import ThreadEngine, choice, current, use
from eigentext.engine.threads import usable_cores
from eigentext.errors import ParameterError


@given(st.lists(st.integers()), st.integers(1, 5))
def test_map_is_map(items, threads):
    assert list(ThreadEngine(threads).map(str, items)) == list(map(str, items))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_order_is_kept_whoever_is_first(threads):
    delays = [Random(0).random() / 200 for _ in range(60)]

    def work(number):
        time.sleep(delays[number])
        return number

    assert list(ThreadEngine(threads).map(work, range(60))) == list(range(60))


def test_the_work_is_done_by_that_many_threads():
    barrier = threading.Barrier(3, timeout=10)
    names = set()

    def work(_):
        barrier.wait()  # nobody passes before all three are here
        names.add(threading.current_thread().name)

    list(ThreadEngine(3).map(work, range(30)))
    assert len(names) == 3


def test_one_thread_is_a_plain_map():
    seen, taken = [], []

    def items():
        for number in range(3):
            taken.append(number)
            yield number

    results = ThreadEngine(1).map(lambda _: seen.append(threading.current_thread()), items())
    next(results)
    assert taken == [0]  # nothing is read ahead
    list(results)
    assert set(seen) == {threading.current_thread()}


@pytest.mark.parametrize("threads", [2, 3])
def test_no_more_than_two_a_worker_are_in_flight(threads):
    taken = 0

    def items():
        nonlocal taken
        for number in range(50):
            taken += 1
            yield number

    results = ThreadEngine(threads).map(abs, items())
    assert taken == 0  # it starts when it is asked
    for consumed, _ in enumerate(results, start=1):
        assert taken - consumed <= 2 * threads
    assert taken == 50


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_error_comes_in_its_place_and_ends_the_work(threads):
    done = []

    def work(number):
        if number == 5:
            raise ZeroDivisionError("five")
        done.append(number)
        return number

    results = ThreadEngine(threads).map(work, range(10_000))
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ZeroDivisionError, match="five"):
        next(results)
    time.sleep(0.02)
    assert len(done) <= 5 + 2 * threads  # what was in flight, not the rest of ten thousand
    with pytest.raises(StopIteration):
        next(results)


def test_what_waits_behind_an_error_is_not_begun():
    begun = []

    def work(number):
        begun.append(number)
        if number == 0:
            raise ZeroDivisionError
        time.sleep(0.3)

    with pytest.raises(ZeroDivisionError):
        list(ThreadEngine(2).map(work, range(100)))
    assert len(begun) < 4  # of the four that were in flight, two waited


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_of_the_items_is_raised(threads):
    def items():
        yield from range(20)
        raise OSError("the file ended early")

    with pytest.raises(OSError, match="ended early"):
        list(ThreadEngine(threads).map(abs, items()))


def test_no_threads_are_left_behind():
    results = ThreadEngine(4).map(lambda _: threading.current_thread(), range(1000))
    worker = next(results)
    assert worker.is_alive()
    results.close()
    del results
    worker.join(10)  # the engine is gone, and its threads go with it
    assert not worker.is_alive()


def test_maps_that_are_given_up_leave_no_work():
    engine, done = ThreadEngine(3), []
    for _ in range(20):
        results = engine.map(done.append, range(1000))
        next(results)
        results.close()
    assert list(engine.map(abs, [-1])) == [1]
    assert len(done) <= 20 * 7


def test_maps_side_by_side():
    engine = ThreadEngine(2)
    one, two = engine.map(abs, range(-50, 0)), engine.map(str, range(50))
    assert list(zip(one, two)) == [(50 - n, str(n)) for n in range(50)]


def test_many_threads_may_ask_one_engine_at_once():
    gate, found = threading.Barrier(6), []

    def run():
        gate.wait()
        found.append(sum(engine.map(abs, range(10))))

    with often_switching():
        for _ in range(50):
            engine = ThreadEngine(2)
            run_at_once(run, 6)
    assert found == [45] * 300


def test_eight_threads_that_ask_at_once_share_one_pool():
    with often_switching():
        for _ in range(30):
            engine, gate, names = ThreadEngine(2), threading.Barrier(8), set()

            def run(engine=engine, gate=gate, names=names):
                gate.wait()
                names.update(engine.map(lambda _: threading.get_ident(), range(10)))

            run_at_once(run, 8)
            assert len(names) <= 2


def test_eight_threads_that_ask_at_once_share_one_default_engine(monkeypatch):
    with often_switching():
        for _ in range(30):
            monkeypatch.setattr(choice, "_default", {})
            gate, found = threading.Barrier(8), []

            def run(gate=gate, found=found):
                gate.wait()
                found.append(current())

            run_at_once(run, 8)
            assert len(set(map(id, found))) == 1


@contextmanager
def often_switching():
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(switch)


def run_at_once(work, n):
    threads = [threading.Thread(target=work) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_serve_one_map_after_another():
    engine = ThreadEngine(2)
    names = {
        name
        for _ in range(50)
        for name in engine.map(lambda _: threading.current_thread().name, range(4))
    }
    assert len(names) <= 2


def test_a_worker_may_map_in_turn():
    engine = ThreadEngine(2)
    sums = engine.map(lambda n: sum(engine.map(abs, range(n))), range(20))
    assert list(sums) == [n * (n - 1) // 2 for n in range(20)]


def test_a_forked_process_gets_threads_of_its_own():
    code = """
import os
from eigentext.engine import ThreadEngine
engine = ThreadEngine(2)
assert list(engine.map(abs, [-1, 2])) == [1, 2]
child = os.fork()
assert list(engine.map(abs, [-3, 4])) == [3, 4]
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_map_begun_before_a_fork_does_not_hang_the_child():
    code = """
import os, time
from eigentext.engine import ThreadEngine
engine = ThreadEngine(2)
results = engine.map(lambda n: time.sleep(0.2) or n, range(9))
assert next(results) == 0
child = os.fork()
if child == 0:
    try:
        next(results)
    except RuntimeError as error:
        assert "the process that started it" in str(error)
        assert list(engine.map(abs, [-3, 4])) == [3, 4]
        os._exit(0)
    os._exit(1)
assert os.waitpid(child, 0)[1] == 0
assert list(results) == [1, 2, 3, 4, 5, 6, 7, 8]
if os.fork() == 0:  # who gives it up does not wait for threads that are not there
    del results
    raise SystemExit
assert os.wait()[1] == 0
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_children_of_eight_threads_that_map():
    code = """
import os, threading
from eigentext.engine import ThreadEngine
engine, over = ThreadEngine(2), threading.Event()

def work():
    while not over.is_set():
        assert sum(engine.map(abs, range(9))) == 36

threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if child == 0:
        os._exit(sum(engine.map(abs, range(9))) != 36)
    assert os.waitpid(child, 0)[1] == 0
over.set()
for thread in threads:
    thread.join()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_an_engine_travels_as_its_number_of_threads():
    engine = ThreadEngine(3)
    list(engine.map(abs, range(9)))  # its threads cannot travel
    for other in (pickle.loads(pickle.dumps(engine)), copy.deepcopy(engine)):
        assert other.n_workers == 3
        assert list(other.map(abs, [-1])) == [1]
    context = multiprocessing.get_context("spawn")
    with context.Pool(1) as pool:
        assert pool.apply(_sum_on, (engine,)) == 36


def _sum_on(engine):
    return sum(engine.map(abs, range(9)))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_reduce_combines_from_first_to_last(threads):
    def work(number):
        time.sleep(0.002 * (number % 3))
        return str(number)

    assert ThreadEngine(threads).reduce(work, add, range(12)) == "01234567891011"


@given(st.lists(st.floats(-1e9, 1e9), min_size=1))
@settings(max_examples=20)
def test_even_sums_of_floats_are_the_same_bits(numbers):
    sums = {ThreadEngine(threads).reduce(abs, add, numbers) for threads in (1, 2, 4)}
    assert len(sums) == 1


def test_maps_within_maps():
    inner = ThreadEngine(2)
    outer = inner.map(lambda n: sum(inner.map(abs, range(n))), range(20))
    assert list(outer) == [n * (n - 1) // 2 for n in range(20)]


# Which engine.


def test_the_default_is_every_usable_core():
    assert isinstance(current(), ThreadEngine)
    assert current().n_workers == usable_cores() == ThreadEngine().n_workers
    if hasattr(os, "sched_getaffinity"):
        assert usable_cores() == len(os.sched_getaffinity(0))


@pytest.mark.parametrize("threads", [0, -1, True, False, 2.5, 2.0, "2", np.float64(2), [2]])
def test_the_number_of_threads_is_a_whole_number(threads):
    wording = f"n_threads must be a whole number, 1 or more, not {threads!r}"
    with pytest.raises(ParameterError, match=re.escape(wording)):
        ThreadEngine(threads)
    assert ThreadEngine(np.int32(2)).n_workers == 2


def test_with_restores_what_was():
    one, two = ThreadEngine(1), ThreadEngine(2)
    with use(one):
        assert current() is one
        with use(two):
            assert current() is two
        assert current() is one
        with pytest.raises(ZeroDivisionError), use(two):
            raise ZeroDivisionError
        assert current() is one
    assert current() not in (one, two)


def test_a_statement_holds_till_the_next():
    with use(ThreadEngine(1)):  # so that the statements below end with the test
        two, three = ThreadEngine(2), ThreadEngine(3)
        use(two)
        assert current() is two
        use(three)
        assert current() is three
    assert current().n_workers == usable_cores()


def test_an_engine_is_anything_with_its_methods():
    class Backwards:
        n_workers = 1

        def map(self, function, items):
            return iter([function(item) for item in reversed(list(items))][::-1])

        def reduce(self, function, combine, items):
            return ThreadEngine(1).reduce(function, combine, items)

    mine: engine.Engine = Backwards()
    with use(mine):
        assert current() is mine
        assert list(current().map(abs, [-1, -2])) == [1, 2]
