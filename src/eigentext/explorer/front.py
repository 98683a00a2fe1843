"""What stands before the application when it is a service: a prefix, a health check, a log.

A proxy may serve the explorer under a prefix, such as https://example.org/models/. Requests then
arrive with the prefix, or without it if the proxy removes it. Both are answered. The page itself
names its files and queries by relative addresses, so it works under any prefix that ends with a
slash.

`/healthz` answers to every host name, because probes often use an address. It says nothing about
the models.
"""

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from eigentext.errors import ParameterError
from eigentext.explorer.guard import HEADERS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEALTH = "/healthz"
_HEALTHY = b'{"status": "ok"}'
_SEGMENT = re.compile(r"[A-Za-z0-9_~.-]+")
_LONGEST = 200  # characters of a path in the log


class Base(NamedTuple):
    """The public address of the page: its host, if it is known, and its path.

    The path begins and ends with a slash.
    """

    url: str = ""
    host: str = ""
    path: str = "/"

    @classmethod
    def parse(cls, text: str) -> "Base":
        """Read an address, as in https://example.org/models/, or a path, as in /models.

        Examples
        --------
        >>> Base.parse("https://example.org/models")
        Base(url='https://example.org/models/', host='example.org', path='/models/')
        >>> Base.parse("/models/").path
        '/models/'
        """
        try:
            found = urlsplit(text)
            host = found.hostname or ""
            found.port  # noqa: B018 - raises if it is no number
        except ValueError:
            raise _no_base(text) from None
        parts = [part for part in found.path.split("/") if part]
        is_url = found.scheme in ("http", "https") and bool(host)
        is_path = not found.scheme and not found.netloc and found.path.startswith("/")
        good = all(_SEGMENT.fullmatch(part) and part.strip(".") for part in parts)
        extra = found.query or found.fragment or found.username or not text.isprintable()
        if not (is_url or is_path) or not good or extra:
            raise _no_base(text)
        path = "".join(f"/{part}" for part in parts) + "/"
        return cls(f"{found.scheme}://{found.netloc}{path}" if is_url else "", host, path)


class Front:
    """An ASGI application around the guarded one.

    Parameters
    ----------
    app
        The application.
    base
        Where the page is served.
    log : callable, optional
        Gets a line for each request: time, client, method, path without its query, status, bytes
        and milliseconds. Queries are left out, because they are what people typed.
    """

    def __init__(
        self, app: "ASGIApp", base: Base | None = None, log: Callable[[str], None] | None = None
    ):
        self.app, self.base, self.log = app, base or Base(), log

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a health check, or pass a request on without its prefix."""
        if scope["type"] != "http" or self.log is None:
            await self._answer(scope, receive, send)
            return
        start, status, size = time.perf_counter(), 0, 0

        async def counting(message: "Message") -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self._answer(scope, receive, counting)
        finally:
            took = 1000 * (time.perf_counter() - start)
            self.log(_line(scope, status, size, took))

    async def _answer(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        prefix = self.base.path.rstrip("/")
        path = scope["path"]
        if prefix and path == prefix:
            # Relative, so that it is right whatever the proxy is called.
            where = f"{prefix.rpartition('/')[2]}/".encode()
            await _send(send, 308, b"", (b"location", where))
            return
        if prefix and path.startswith(f"{prefix}/"):
            path = path[len(prefix) :]
            scope = {**scope, "path": path, "raw_path": quote(path).encode()}
        if path == HEALTH:
            allowed = scope["method"] in ("GET", "HEAD")
            body = _HEALTHY if allowed else b'{"error": "this path takes GET"}'
            more = () if allowed else ((b"allow", b"GET"),)
            await _send(send, 200 if allowed else 405, body, *more)
            return
        await self.app(scope, receive, send)


async def _send(send: "Send", status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    safe = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    start = {"type": "http.response.start", "status": status, "headers": [*headers, *more, *safe]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _line(scope: "Scope", status: int, size: int, took: float) -> str:
    """A line of the log. Everything that the client chose is quoted."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    client = (scope.get("client") or ("-",))[0]
    path = quote(scope["path"])[:_LONGEST]
    method = quote(scope["method"])[:20]
    return f"{now} {client} {method} {path} {status} {size} bytes {took:.1f} ms"


def _no_base(text: str) -> ParameterError:
    return ParameterError(
        f"--base-url {text!r:.80} is no address of a page; give one as in "
        "https://example.org/models/, or a path as in /models/"
    )
