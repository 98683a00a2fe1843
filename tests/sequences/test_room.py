"""Memory is asked for before it is taken."""

import pytest

from eigentext.errors import ParameterError
from eigentext.sequences._room import _memory, check_room


def test_what_fits_and_what_does_not():
    check_room(0, "nothing", "")
    check_room(_memory(), "all of it", "")
    with pytest.raises(
        ParameterError, match=r"a table needs about .* GB of memory, and this .*; ask"
    ):
        check_room(2 * _memory(), "a table", "ask for less")


def test_a_system_that_does_not_tell(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    check_room(1e300, "anything", "")
