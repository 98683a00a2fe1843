"""The memory budget: what is left of it, who states it, and when a table cannot fit."""

import math
from concurrent.futures import ThreadPoolExecutor

import pytest

from eigentext.errors import ParameterError
from eigentext.matrices import budget
from eigentext.matrices.budget import check_room, machine_memory, resident


def test_without_a_budget_there_is_no_limit():
    assert budget.current().left == math.inf
    assert not budget.current().is_stated
    with budget.within(None):
        assert budget.current().left == math.inf


def test_what_is_left_is_the_budget_without_what_the_process_takes():
    with budget.within(1 << 50):
        assert budget.current().is_stated
        assert 0 < budget.current().left < 1 << 50
        assert budget.current().left == pytest.approx((1 << 50) - resident(), rel=1e-3)
    with budget.within(1):
        assert budget.current().left == 0


def test_the_innermost_budget_counts_and_ends_with_its_block():
    with budget.within(1 << 50):
        with budget.within(1):
            assert budget.current().left == 0
        with budget.within(None):
            assert budget.current().memory == 1 << 50
        with pytest.raises(KeyError), budget.within(7):
            raise KeyError
        assert budget.current().memory == 1 << 50
    assert budget.current().memory is None


def test_another_thread_has_its_own_budget():
    with budget.within(1), ThreadPoolExecutor(1) as pool:
        assert pool.submit(budget.current).result().memory is None


@pytest.mark.parametrize("memory", [0, -1, 1.5, "1 GB", True])
def test_a_budget_is_a_number_of_bytes(memory):
    with pytest.raises(ParameterError, match="memory"), budget.within(memory):
        pass


def test_what_is_reserved_or_shared_is_not_left():
    with budget.within(1 << 50):
        left = budget.current().left
        with budget.reserving(1 << 49, "words", "take fewer"):
            assert budget.current().left == pytest.approx(left - (1 << 49), rel=1e-3)
            with budget.shared_by(4):
                assert budget.current().left == pytest.approx((left - (1 << 49)) / 4, rel=1e-3)
        assert budget.current().left == pytest.approx(left, rel=1e-3)
    with budget.reserving(1 << 49, "words", "take fewer"):
        assert budget.current().left == math.inf


def test_a_budget_that_cannot_be_kept_warns_with_the_remedy():
    with (
        budget.within(1000),
        pytest.warns(UserWarning, match=r"memory=1,000, but 5 words take about .*: take fewer"),
        budget.reserving(10, "5 words", "take fewer"),
    ):
        assert budget.current().left == 0


def test_tables_that_fit_and_one_that_does_not():
    check_room(0, "nothing", "")
    check_room(machine_memory(), "all of it", "")
    with pytest.raises(
        ParameterError, match=r"a table needs about .* GB of memory, and this .*; ask"
    ):
        check_room(2 * machine_memory(), "a table", "ask for less")


def test_a_system_that_does_not_report_its_memory(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    check_room(1e300, "anything", "")


def test_compiled_loops_work_after_the_code_of_the_compiler_was_given_back():
    from eigentext.engine.compiled import njit

    budget.give_back()
    assert njit(cache=False)(lambda x: x + 1)(2) == 3
    budget.give_back()
    assert njit(cache=False)(lambda x: x * 2.5)(2) == 5


def test_where_the_system_has_no_such_functions_nothing_is_given_back(monkeypatch):
    monkeypatch.setattr(budget, "_c_library", lambda: None)
    budget.give_back()
