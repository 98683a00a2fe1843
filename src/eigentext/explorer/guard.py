"""What every request has to pass, and what every answer carries.

* The Host header must name this server: else a page of another site whose name was made to point
  here (DNS rebinding) could read the answers.
* Other sites' pages may not ask the API at all: browsers say where a request is from.
* Bodies have a length that is told beforehand, and a small one. What is too long is read and
  thrown away, to some limit, so that who sends it hears why it is refused.
* Answers allow a browser nothing but the page's own files, and are shown in no other page.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import Any

from eigentext.explorer.answers import refusal
from eigentext.explorer.asking import MOST_BYTES

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::\d*)?", re.ASCII)
_MOST_DRAINED = 32_000_000  # bytes of a body that is refused
_DRAIN_TIME = 10.0  # seconds


class Guard:
    """An ASGI application around another."""

    def __init__(self, app: Any, *, hosts: Iterable[str] = (), body_time: float = 10.0):
        self.app, self.body_time = app, body_time
        self.hosts = {name.strip("[]").lower() for name in (*LOOPBACK, *hosts)}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_RAW_HEADERS]
            await send(message)

        headers: dict[bytes, bytes] = dict(scope["headers"])
        refused = self._refused(scope, headers)
        if refused:
            if _has_body(headers):
                await _drain(receive)
            await _answer(send_safely, *refused)
            return
        if _has_body(headers):
            try:
                body = await asyncio.wait_for(_body(receive), self.body_time)
            except TimeoutError:
                message = "the body of the request took too long to come; send it at once"
                await _answer(send_safely, 408, message)
                return
            receive = _having_read(body, receive)
        await self.app(scope, receive, send_safely)

    def _refused(self, scope: Any, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if _name(host) not in self.hosts:
            return 421, (
                f"this server does not answer to the name {host[:80]!r}; use the address that "
                "eigentext explore printed, or start it with --allow-host NAME"
            )
        site = headers.get(b"sec-fetch-site", b"same-origin")
        if scope["path"].startswith("/api/") and site not in (b"same-origin", b"none"):
            return 403, "pages of other sites may not ask; open the page of eigentext explore"
        if b"transfer-encoding" in headers:
            return 411, "a body needs a Content-Length; send it whole, not in chunks"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return 400, "Content-Length is no number; send a whole one"
        if len(length) > 12 or int(length) > MOST_BYTES:
            return 413, f"that is more than {MOST_BYTES // 1000} kB; shorten it"
        return None


def _name(host: str) -> str:
    """A Host header without its port; what is no such header is no name."""
    match = _HOST.fullmatch(host)
    return (match[1] or match[2]).lower() if match else ""


def _has_body(headers: dict[bytes, bytes]) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def _body(receive: Any) -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return b"".join(parts)


async def _drain(receive: Any) -> None:
    async def read() -> None:
        size = 0
        while size < _MOST_DRAINED:
            message = await receive()
            size += len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return

    try:
        await asyncio.wait_for(read(), _DRAIN_TIME)
    except TimeoutError:
        return


def _having_read(body: bytes, receive: Any) -> Any:
    """A `receive` that gives the body first."""
    given = False

    async def again() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: Any, status: int, message: str) -> None:
    body = refusal(message)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
