"""``model.explore()``: a server in the background, and a frame for one notebook only."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
import types
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import eigentext as et
from eigentext.errors import EigentextError, ParameterError
from eigentext.explorer import session as module
from eigentext.explorer.session import Session, explore, notebook_origins

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5
ORIGIN = "http://localhost:8888"


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(3, window=2, min_count=1).fit(TEXT)


@pytest.fixture
def opened(monkeypatch):
    """The addresses that a browser would have opened."""
    seen = []
    monkeypatch.setattr(module.webbrowser, "open", seen.append)
    monkeypatch.setenv("DISPLAY", ":0")
    return seen


def ask(url: str, path: str = ""):
    with urllib.request.urlopen(url + path, timeout=20) as answer:
        return answer.headers, answer.read()


def test_a_model_is_served_in_the_background(words, opened, capsys):
    page = words.explore()
    try:
        assert page.url.startswith("http://127.0.0.1:")
        assert opened == [page.url]
        assert page.url in capsys.readouterr().out
        headers, body = ask(page.url, "api/models")
        (about,) = json.loads(body)["models"]
        assert (about["kind"], about["name"]) == ("words", "Eigenwords")
        assert headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
        near = json.loads(ask(page.url, "api/0/neighbors?word=cat&topn=2")[1])
        assert len(near["neighbors"]) == 2
        assert page.url in repr(page)
    finally:
        page.close()
    assert page.is_closed
    assert "closed" in repr(page)
    assert "explore() again" in page._repr_html_()
    with pytest.raises(urllib.error.URLError):
        ask(page.url)
    page.close()  # a second time does nothing


def test_without_a_screen_the_address_is_printed_only(words, opened, monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    with explore(words) as page:
        assert opened == []
        assert page.url in capsys.readouterr().out


def test_several_models_and_their_files(words):
    with Session([words, et.WordClusters(2).fit(words), words]) as page:
        folder = Path(page._folder.name)
        names = [one["name"] for one in json.loads(ask(page.url, "api/models")[1])["models"]]
        assert names == ["Eigenwords", "WordClusters", "Eigenwords-2"]
        assert folder.exists()
        assert folder.stat().st_mode & 0o077 == 0  # for this user only
    assert not folder.exists()


def test_a_script_that_ends_ends_the_server(tmp_path):
    script = (
        "import eigentext as et\n"
        f"words = et.Eigenwords(2, window=1, min_count=1).fit({TEXT!r})\n"
        "page = words.explore()\n"
        "print(page._folder.name)\n"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    environment.pop("DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    address, folder = done.stdout.splitlines()
    assert not Path(folder).exists()
    with pytest.raises(urllib.error.URLError):
        ask(address.split()[0])


def test_what_cannot_be_explored(words):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        et.Eigenwords().explore()
    with pytest.raises(EigentextError, match=r"no file format.*findings\(\) and plot\(\)"):
        et.factor.CCA(1).fit([[1.0], [2.0], [4.0]], [[1.0], [2.0], [3.0]]).explore()
    with pytest.raises(ParameterError, match="is no origin"):
        words.explore(origin="localhost:8888; script-src *")


def test_a_server_that_does_not_start_is_an_error(words, monkeypatch):
    broken = types.SimpleNamespace(started=False, should_exit=False, run=lambda sockets: None)
    monkeypatch.setattr(module.server, "web_server", lambda app: broken)
    with pytest.raises(EigentextError, match="did not start"):
        Session([words])


# Notebooks.


@pytest.fixture
def jupyter(monkeypatch, tmp_path):
    """A kernel that a Jupyter server started."""
    shell = types.SimpleNamespace(kernel=object())
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    connect = types.ModuleType("ipykernel.connect")
    connect.get_connection_file = lambda: str(tmp_path / "kernel-1.json")
    monkeypatch.setitem(sys.modules, "ipykernel.connect", connect)
    monkeypatch.delenv("JUPYTER_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("JPY_PARENT_PID", "77")
    about = tmp_path / "jpserver-77.json"
    about.write_text(json.dumps({"url": "http://localhost:8888/", "pid": 77}))
    return about


def test_the_origin_is_that_of_the_server_of_this_kernel(jupyter, monkeypatch):
    both = ["http://localhost:8888", "http://127.0.0.1:8888"]
    assert notebook_origins() == both
    jupyter.write_text(json.dumps({"url": "https://hub.example/user/me/"}))
    assert notebook_origins() == ["https://hub.example"]
    for broken in ("", "[]", '{"url": 3}', '{"url": "http://[", "port": 1}'):
        jupyter.write_text(broken)
        assert notebook_origins() == []
    monkeypatch.setenv("JPY_PARENT_PID", "../77")
    assert notebook_origins() == []
    monkeypatch.delenv("JPY_PARENT_PID")
    assert notebook_origins() == []


def test_a_notebook_shows_a_frame_and_opens_no_tab(jupyter, words, opened, capsys):
    with words.explore() as page:
        assert opened == []
        assert capsys.readouterr().out == ""
        assert f'<iframe src="{page.url}"' in page._repr_html_()
        headers, _ = ask(page.url)
        assert "X-Frame-Options" not in headers
        policy = headers["Content-Security-Policy"]
        ancestors = "frame-ancestors http://localhost:8888 http://127.0.0.1:8888"
        assert policy.split("; ")[-1] == ancestors


def test_an_unknown_notebook_shows_a_link(jupyter, words):
    jupyter.unlink()
    with words.explore() as page:
        shown = page._repr_html_()
        assert "<iframe" not in shown
        assert page.url in shown
        assert "origin=" in shown
        assert ask(page.url)[0]["X-Frame-Options"] == "DENY"
    with words.explore(origin=f"{ORIGIN}/") as page:
        policy = ask(page.url)[0]["Content-Security-Policy"]
        assert policy.endswith(f"frame-ancestors {ORIGIN}")


# In a browser.


@pytest.fixture
def site(tmp_path):
    """A page on this machine that frames another; its origin."""
    (tmp_path / "page").mkdir()

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(tmp_path / "page"))

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield tmp_path / "page" / "index.html", f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no chromium")
@pytest.mark.parametrize("allowed", [True, False])
def test_only_the_named_origin_can_frame_the_page(words, site, allowed):
    api = pytest.importorskip("playwright.sync_api")
    index, origin = site
    with Session([words], [origin if allowed else ORIGIN]) as page:
        index.write_text(f"<!doctype html><body>{page._repr_html_()}</body>")
        with api.sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
            )
            tab = browser.new_page()
            tab.goto(origin)
            frame = tab.frame_locator("iframe")
            if allowed:
                frame.get_by_text("Eigenwords").first.wait_for(timeout=20_000)
            else:
                tab.wait_for_timeout(1_500)
                assert frame.get_by_text("Eigenwords").count() == 0
            browser.close()
