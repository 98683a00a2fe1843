"""Checks every request, and adds safe headers to every answer.

* The Host header must name this server. Otherwise another site could make its own name point here
  (DNS rebinding), and its page could read the answers.
* Pages of other sites may not use the API at all. Browsers say where a request comes from.
* A body must announce its length, and must be small. A body that is too long is read and thrown
  away, up to a limit, so that the client can receive the reason of the refusal.
* Answers tell the browser to load nothing but the files of the page, and to show them in no other
  page. A notebook may show them in a cell, if it was named: then the pages of its origin may, and
  no others.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from eigentext.errors import ParameterError
from eigentext.explorer.answers import refusal
from eigentext.explorer.asking import MOST_BYTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
_ORIGIN = re.compile(r"https?://(?:\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::\d{1,5})?", re.ASCII)
_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::\d*)?", re.ASCII)
_MOST_DRAINED = 32_000_000  # bytes that are read of a body that is refused
_DRAIN_TIME = 10.0  # seconds


def safe_headers(frames: Iterable[str] = ()) -> dict[str, str]:
    """Return the headers of all answers. Pages of the origins `frames` may show the explorer."""
    frames = list(frames)
    for origin in frames:
        if not _ORIGIN.fullmatch(origin):
            raise ParameterError(
                f"{origin!r:.80} is no origin; give the scheme, the host and the port of the "
                "notebook's address, as in http://localhost:8888"
            )
    if not frames:
        return HEADERS
    policy = _POLICY.replace("frame-ancestors 'none'", f"frame-ancestors {' '.join(frames)}")
    # X-Frame-Options cannot name an origin, and browsers that know the policy do not need it.
    others = {name: value for name, value in HEADERS.items() if name != "X-Frame-Options"}
    return others | {"Content-Security-Policy": policy}


class Guard:
    """An ASGI application around another one."""

    def __init__(
        self,
        app: "ASGIApp",
        *,
        hosts: Iterable[str] = (),
        frames: Iterable[str] = (),
        body_time: float = 10.0,
    ):
        self.app, self.body_time = app, body_time
        safe = safe_headers(frames)
        self._headers = [(name.lower().encode(), value.encode()) for name, value in safe.items()]
        self.hosts = {name.strip("[]").lower() for name in (*LOOPBACK, *hosts)}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_safely(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers]
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
                message = "the body of the request did not arrive in time; send it faster"
                await _answer(send_safely, 408, message)
                return
            receive = _having_read(body, receive)
        await self.app(scope, receive, send_safely)

    def _refused(self, scope: "Scope", headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if _name(host) not in self.hosts:
            return 421, (
                f"this server does not answer to the name {host[:80]!r}; use the address that "
                "eigentext explore printed, or start it with --allow-host NAME"
            )
        site = headers.get(b"sec-fetch-site", b"same-origin")
        if scope["path"].startswith("/api/") and site not in (b"same-origin", b"none"):
            return (
                403,
                "pages of other sites may not use this server; open the page of eigentext explore",
            )
        if b"transfer-encoding" in headers:
            return 411, "a body needs a Content-Length; send it whole, not in chunks"
        length = headers.get(b"content-length", b"0")
        if not length.isdigit():
            return 400, "Content-Length must be a whole number"
        if len(length) > 12 or int(length) > MOST_BYTES:
            return 413, f"the body has more than {MOST_BYTES // 1000} kB; shorten it"
        return None


def _name(host: str) -> str:
    """The name in a Host header, without the port. It is empty if the header is not valid."""
    match = _HOST.fullmatch(host)
    return (match[1] or match[2]).lower() if match else ""


def _has_body(headers: dict[bytes, bytes]) -> bool:
    return b"transfer-encoding" in headers or headers.get(b"content-length", b"0") != b"0"


async def _body(receive: "Receive") -> bytes:
    parts = []
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return b"".join(parts)


async def _drain(receive: "Receive") -> None:
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


def _having_read(body: bytes, receive: "Receive") -> "Receive":
    """A `receive` that returns the body first."""
    given = False

    async def again() -> "Message":
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _answer(send: "Send", status: int, message: str) -> None:
    body = refusal(message)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
