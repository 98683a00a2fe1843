"""Live bars: by themselves in notebooks, never in scripts unless asked for."""

import subprocess
import sys
import threading
import time
import types

import pytest

import eigentext as et
from eigentext.engine import bars, phase, report_to
from eigentext.engine.bars import LiveBars, automatic, notebook_shell

SLOW = """
import time
import eigentext as et
from eigentext.engine import phase
{}
with phase("count", 10, "tokens") as advance:
    for _ in range(7):
        time.sleep(0.2)
        advance(1)
with phase("factor"):
    time.sleep(0.1)
"""


@pytest.fixture
def quick(monkeypatch):
    """Drawings after 50 ms."""
    monkeypatch.setattr(bars, "_PATIENCE", 0.05)
    monkeypatch.setattr(bars, "_PAUSE", 0.02)
    monkeypatch.setattr(bars, "_IDLE", 0.2)


@pytest.fixture
def in_kernel(monkeypatch):
    """IPython, as a kernel has it, and what it displays."""
    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(("update", data))

    def display(data, raw, display_id):
        assert raw
        assert display_id
        shown.append(("display", data))
        return Handle()

    shell = types.SimpleNamespace(kernel=object(), execution_count=1)
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    inside = types.ModuleType("IPython.display")
    inside.display = display
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", inside)
    monkeypatch.setattr(bars, "_current", {"cell": None, "bars": None})
    return types.SimpleNamespace(shown=shown, shell=shell)


def work(seconds: float, name="count", total=10):
    with phase(name, total, "tokens") as advance:
        for _ in range(total):
            time.sleep(seconds / total)
            advance(1)


def test_a_script_shows_nothing_and_does_not_import_ipython():
    show = "import sys; assert 'IPython' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", SLOW.format("") + show], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_a_script_shows_what_it_asks_for():
    script = SLOW.format("et.progress(True)")
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert "s in all: count 1." in last
    assert "factor 0.1 s" in last


def test_a_notebook_shows_long_work_by_itself(quick, in_kernel):
    work(0.4)
    work(0.1, "factor")
    kinds = [kind for kind, _ in in_kernel.shown]
    assert kinds[0] == "display"
    assert set(kinds[1:]) == {"update"}
    during = in_kernel.shown[len(kinds) // 2][1]
    assert "tokens/s" in during["text/plain"]
    assert "left" in " ".join(data["text/plain"] for _, data in in_kernel.shown)
    last = in_kernel.shown[-1][1]
    assert "s in all: count 0.4 s, factor 0.1 s" in last["text/plain"]
    assert "count" in last["text/html"]


def test_short_work_is_not_shown(in_kernel):
    work(0.1)
    assert in_kernel.shown == []


def test_it_can_be_switched_off_and_on(quick, in_kernel):
    with et.progress(False):
        work(0.2)
    assert in_kernel.shown == []
    work(0.2)
    assert in_kernel.shown != []


def test_what_it_says_of_itself():
    with et.progress(False) as nothing:
        assert nothing is None
    shown = et.progress(None)
    assert repr(shown) == "progress(None)"


def test_a_named_listener_hears_alone(quick, in_kernel):
    with report_to(None):
        work(0.2)
    assert in_kernel.shown == []


def test_each_cell_has_its_own_bars(quick, in_kernel):
    work(0.2)
    in_kernel.shell.execution_count = 2
    work(0.2)
    assert [kind for kind, _ in in_kernel.shown].count("display") == 2


def test_work_that_fails_ends_the_bars(quick, in_kernel):
    with pytest.raises(ZeroDivisionError), phase("count"):
        time.sleep(0.2)
        raise ZeroDivisionError
    n_shown = len(in_kernel.shown)
    time.sleep(0.4)
    assert len(in_kernel.shown) == n_shown
    assert automatic()._thread is None  # nobody draws any more


def test_other_threads_have_no_bars(in_kernel):
    found = []
    thread = threading.Thread(target=lambda: found.append(automatic()))
    thread.start()
    thread.join()
    assert found == [None]
    assert automatic() is not None


def test_a_terminal_of_ipython_is_no_notebook(in_kernel):
    assert notebook_shell() is in_kernel.shell
    del in_kernel.shell.kernel
    assert notebook_shell() is None


def test_names_are_escaped(quick):
    drawn = []
    live = LiveBars(lambda html, plain, has_ended: drawn.append(html))
    with report_to(live), phase("<b>"):
        time.sleep(0.2)
    assert all("<b><b>" not in html for html in drawn)
    assert "&lt;b&gt;" in drawn[-1]


@pytest.mark.parametrize(
    ("seconds", "told"), [(5, "5 s"), (89, "89 s"), (300, "5 min"), (7200, "2.0 h")]
)
def test_times_are_rounded(seconds, told):
    assert bars._time(seconds) == told
