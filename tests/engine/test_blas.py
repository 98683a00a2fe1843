"""One BLAS thread while anybody needs it, and what was there before when nobody does."""

import gc
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from random import Random

import numpy as np
import pytest
import scipy.linalg  # noqa: F401 - whose BLAS is another than NumPy's
import scipy.sparse as sp
from threadpoolctl import threadpool_info, threadpool_limits

import eigentext as et
from eigentext.engine import blas, one_blas_thread
from eigentext.factor import svd

pytestmark = pytest.mark.skipif(
    not any(one["user_api"] == "blas" for one in threadpool_info()), reason="no BLAS to limit"
)
MANY = 3


def limits(api="blas") -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == api}


@pytest.fixture(autouse=True)
def _many_threads():
    """So that there is something to restore, on machines of one core too."""
    with threadpool_limits(MANY, "blas"):
        yield
    assert not blas._holders
    assert not blas._before


def run_threads(work, n=8):
    errors = []

    def kept(number):
        try:
            work(number)
        except BaseException as error:  # threads would swallow it
            errors.append(error)

    threads = [threading.Thread(target=kept, args=(number,)) for number in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_one_thread_inside_and_what_was_there_after():
    with one_blas_thread():
        assert limits() == {1}
    assert limits() == {MANY}


def test_nested():
    with one_blas_thread():
        with one_blas_thread():
            assert limits() == {1}
        assert limits() == {1}
    assert limits() == {MANY}


def test_after_an_exception():
    with pytest.raises(ZeroDivisionError), one_blas_thread(), one_blas_thread():
        raise ZeroDivisionError
    assert limits() == {MANY}


def test_as_a_decorator_at_every_call():
    @one_blas_thread()
    def inside(depth):
        assert limits() == {1}
        if depth:
            inside(depth - 1)

    for _ in range(2):
        inside(2)
        assert limits() == {MANY}


def test_who_comes_first_may_leave_first():
    # The order that used to leave one thread for good.
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert limits() == {1}
    second.__exit__(None, None, None)
    assert limits() == {MANY}


def test_eight_threads_come_and_go():
    def work(number):
        rng = Random(number)
        for _ in range(40):
            with one_blas_thread():
                time.sleep(rng.random() / 5000)
                assert limits() == {1}
            time.sleep(rng.random() / 5000)

    run_threads(work)
    assert limits() == {MANY}


def test_eight_threads_fit_and_score():
    A = sp.random_array((300, 200), density=0.05, rng=np.random.default_rng(0), format="csr")
    vectors = np.random.default_rng(1).standard_normal((60, 5)).astype(np.float32)
    expected = svd(A, 3, method="krylov", n_iter=3)
    clusters = et.WordClusters(4, method="kmeans").fit(vectors).labels_
    openmp = limits("openmp")

    def work(number):
        for turn in range(2):
            if (number + turn) % 2:
                found = svd(A, 3, method="krylov", n_iter=3)
                assert all(np.array_equal(one, two) for one, two in zip(found, expected))
            else:
                found = et.WordClusters(4, method="kmeans").fit(vectors).labels_
                assert np.array_equal(found, clusters)

    run_threads(work)
    assert limits() == {MANY}
    assert limits("openmp") == openmp


def test_openmp_is_limited_if_asked_and_in_this_thread_only():
    from sklearn.cluster import KMeans  # noqa: F401 - loads OpenMP

    with threadpool_limits(2, "openmp"):
        with one_blas_thread():
            assert limits("openmp") == {2}
        with one_blas_thread(openmp=True):
            assert limits("openmp") == {1}
            assert limits() == {1}
        assert limits("openmp") == {2}


def test_a_generator_that_is_given_up_lets_go():
    def numbers():
        with one_blas_thread():
            yield from range(10)

    one, two = numbers(), numbers()
    next(one), next(two)
    del one
    gc.collect()
    assert limits() == {1}
    two.close()
    assert limits() == {MANY}


def test_what_somebody_else_sets_meanwhile_stays():
    outer = one_blas_thread()
    outer.__enter__()
    with threadpool_limits(2, "blas"):  # for good, had it no end
        outer.__exit__(None, None, None)
        assert limits() == {2}


def test_a_second_comer_has_one_thread_whatever_was_set_meanwhile():
    with one_blas_thread(), threadpool_limits(2, "blas"):
        with one_blas_thread():
            assert limits() == {1}
        assert limits() == {1}
    assert limits() == {MANY}


def test_nobody_else_sets_the_limit():
    here = Path(et.__file__).parent
    users = re.compile(r"^\s*(from|import) threadpoolctl\b", re.M)
    found = [path for path in here.rglob("*.py") if users.search(path.read_text())]
    assert found == [here / "engine" / "blas.py"]


# Each in a process of its own: forks, and libraries that are not loaded yet.

HEAD = """
import os, threading
from threadpoolctl import threadpool_info, threadpool_limits
from eigentext.engine import one_blas_thread

def limits():
    return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

def child_of(check):
    child = os.fork()
    if child == 0:
        try:
            check()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
"""


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_a_library_loaded_inside_is_limited_by_who_enters_next():
    run("""
threadpool_limits(3, "blas")
with one_blas_thread():
    import scipy.linalg
    assert sorted(limits())[0] == 1 and len(limits()) == 2, limits()
    before = max(limits())
    with one_blas_thread():
        assert limits() == [1, 1]
    assert limits() == [1, 1]
assert sorted(limits()) == sorted([3, before]), limits()
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_child_holds_only_what_its_own_thread_held():
    run("""
import numpy, scipy.linalg
threadpool_limits(3, "blas")
entered, may_leave = threading.Event(), threading.Event()

def other():
    with one_blas_thread():
        entered.set()
        may_leave.wait()

thread = threading.Thread(target=other)
thread.start()
entered.wait()
assert limits() == [1, 1]

def clean():
    assert limits() == [3, 3], limits()  # the other thread is not here
    with one_blas_thread():
        assert limits() == [1, 1]
        numpy.ones((500, 500)) @ numpy.ones((500, 500))
    assert limits() == [3, 3]
    numpy.ones((500, 500)) @ numpy.ones((500, 500))

child_of(clean)
with one_blas_thread():
    child_of(lambda: os._exit(limits() != [1, 1]))
    child = os.fork()
if child == 0:  # which left the block itself
    os._exit(limits() != [3, 3])
assert os.waitpid(child, 0)[1] == 0
assert limits() == [1, 1]
may_leave.set()
thread.join()
assert limits() == [3, 3]
""")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forks_amid_threads_that_come_and_go():
    run("""
import numpy, scipy.linalg
threadpool_limits(3, "blas")
over = threading.Event()

def work():
    while not over.is_set():
        with one_blas_thread():
            pass

def check():
    for _ in range(10):
        with one_blas_thread():
            assert limits() == [1, 1]
    assert limits() == [3, 3], limits()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(10):
    child_of(check)
over.set()
for thread in threads:
    thread.join()
assert limits() == [3, 3]
""")
