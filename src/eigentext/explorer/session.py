"""``model.explore()``: the explorer on models of this process, in a notebook or in a browser.

The models are saved to a temporary folder, because slow queries run in processes of their own. The
server runs in a thread, on loopback and on a free port. It ends with :meth:`Session.close`, or with
this process.

A notebook shows the page in its cell. For this, the page may be framed by pages of the notebook's
own origin, and by no others. The origin is that of the Jupyter server that started this kernel. If
it cannot be found, the cell has a link instead, or the user names the origin.
"""

import atexit
import json
import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self
from urllib.parse import urlsplit

from eigentext.engine import notebook_shell
from eigentext.errors import EigentextError
from eigentext.explorer import server
from eigentext.explorer.guard import safe_headers

_PATIENCE = 30.0  # seconds in which the server must have started
_HEIGHT = 640  # pixels of the frame
_LOCAL = ("localhost", "127.0.0.1")  # two names of one Jupyter server


class Session:
    """The explorer while it is served.

    Attributes
    ----------
    url : str
        The address of the page, for browsers on this machine.
    """

    def __init__(self, models: Sequence[Any], origins: Sequence[str] = ()):
        server.check_installed()
        from eigentext.explorer.app import Explorer, application
        from eigentext.explorer.page import built_page
        from eigentext.explorer.pool import Pool

        self._origins = list(origins)
        safe_headers(self._origins)  # fails before models are saved
        self._folder = TemporaryDirectory(prefix="eigentext-explore-")
        atexit.register(self._folder.cleanup)
        paths = []
        for number, model in enumerate(models):
            name = type(model).__name__
            twins = sum(type(one) is type(model) for one in models[:number])
            paths.append(Path(self._folder.name, f"{name}-{twins + 1}" if twins else name))
            model.save(paths[-1])
        loaded = server.load_models(paths)
        files = [(str(path), one.name) for path, one in zip(paths, loaded)]
        pool = Pool(files, size=1, timeout=server.TIMEOUT)
        app = application(Explorer(loaded, built_page(), pool), frames=self._origins)
        self._listener = server.listening("127.0.0.1", 0)
        self.url = server.address("127.0.0.1", self._listener)
        self._server = server.web_server(app)
        run = {"target": self._server.run, "kwargs": {"sockets": [self._listener]}}
        self._thread = threading.Thread(**run, name="eigentext-explore", daemon=True)
        self._thread.start()
        self._wait_for_start()

    @property
    def is_closed(self) -> bool:
        """Whether the server has ended."""
        return not self._thread.is_alive()

    def close(self) -> None:
        """End the server, its processes and its files."""
        self._server.should_exit = True
        self._thread.join(_PATIENCE)
        self._listener.close()
        self._folder.cleanup()
        atexit.unregister(self._folder.cleanup)

    def wait(self) -> None:
        """Serve until Ctrl-C. A script that ends would end the server."""
        with suppress(KeyboardInterrupt):
            while self._thread.is_alive():
                self._thread.join(1.0)
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<explorer at {self.url}{', closed' if self.is_closed else ''}>"

    def _repr_html_(self) -> str:
        """The page in a frame, or a link to it."""
        url = escape(self.url)
        if self.is_closed:
            return f"<div>The explorer at {url} is closed. Call explore() again.</div>"
        link = f'<a href="{url}" target="_blank" rel="noopener">{url}</a>'
        if not self._origins:
            return (
                f"<div>The explorer: {link}<br><span style='opacity:0.7'>To see it in this cell, "
                "name the address of this notebook, as in "
                "<code>explore(origin='http://localhost:8888')</code>.</span></div>"
            )
        return (
            f'<iframe src="{url}" width="100%" height="{_HEIGHT}" title="the explorer" '
            'style="border:1px solid rgba(128,128,128,0.35);border-radius:6px"></iframe>'
            f"<div style='opacity:0.7;font-size:12px'>In a tab of its own: {link}</div>"
        )

    def _wait_for_start(self) -> None:
        for _ in range(round(_PATIENCE / 0.02)):
            if self._server.started:
                return
            self._thread.join(0.02)
            if not self._thread.is_alive():
                break
        self.close()
        raise EigentextError("the explorer did not start; the messages above say why")


def explore(*models: Any, origin: str | None = None) -> Session:
    """Serve the explorer on some models, and show it.

    In a notebook, the result shows itself. Elsewhere the address is printed, and a browser opens
    it, if there is a screen.
    """
    in_notebook = notebook_shell() is not None
    origins = [origin.rstrip("/")] if origin else notebook_origins() if in_notebook else []
    session = Session(models, origins)
    if not in_notebook:
        print(f"{session.url}  (close() ends it)")
        if _has_screen():
            webbrowser.open(session.url)
    return session


def notebook_origins() -> list[str]:
    """The origin of the Jupyter server that started this kernel; empty if it is not known.

    A server on this machine has two names, localhost and 127.0.0.1.
    """
    parent = os.environ.get("JPY_PARENT_PID", "")
    if not parent.isdigit():
        return []
    for folder in _runtime_folders():
        for kind in ("jpserver", "nbserver"):
            with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                about = json.loads((folder / f"{kind}-{parent}.json").read_text("utf-8"))
                url = urlsplit(about["url"])
                names = _LOCAL if url.hostname in _LOCAL else (url.hostname,)
                port = "" if url.port is None else f":{url.port}"
                return [f"{url.scheme}://{name}{port}" for name in names]
    return []


def _runtime_folders() -> list[Path]:
    """Where Jupyter keeps the files about running servers: beside the file of this kernel."""
    found = [Path(os.environ[name]) for name in ("JUPYTER_RUNTIME_DIR",) if name in os.environ]
    connect = sys.modules.get("ipykernel.connect")
    if connect is not None:
        with suppress(Exception):  # there is no connection file outside of a kernel
            found.append(Path(connect.get_connection_file()).parent)
    return found


def _has_screen() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
