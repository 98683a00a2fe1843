"""How long the server waits for a slow client: uvicorn has no such limits of its own.

A client that sends its headers byte by byte, or never reads its answer, would keep a connection
for ever, and a few hundred of them would keep everybody else out ("slowloris"). Here a connection
is closed if the headers of a request are not complete in time, or if the client does not take its
answer in time. The guard limits the time of bodies.
"""

import asyncio
from typing import Any

HEADER_TIME = 10.0  # seconds from the first byte of a request (or the connection) to its headers
WRITE_TIME = 30.0  # seconds in which the client takes nothing of its answer
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain\r\n"
    b"content-length: 48\r\n\r\nthe headers did not arrive in time; send faster\n"
)


def patient_protocol(header_time: float = HEADER_TIME, write_time: float = WRITE_TIME) -> Any:
    """Return the protocol class of uvicorn with time limits."""
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

    base: Any = AutoHTTPProtocol

    class PatientProtocol(base):
        _headers: asyncio.TimerHandle | None = None
        _writes: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._headers = _stopped(self._headers)
            elif self._headers is None:
                self._wait_for_headers()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._writes = self.loop.call_later(write_time, self.transport.abort)

        def resume_writing(self) -> None:
            self._writes = _stopped(self._writes)
            super().resume_writing()

        def connection_lost(self, exc: Exception | None) -> None:
            self._headers, self._writes = _stopped(self._headers), _stopped(self._writes)
            super().connection_lost(exc)

        def _wait_for_headers(self) -> None:
            self._headers = self.loop.call_later(header_time, self._refuse)

        def _refuse(self) -> None:
            self._headers = None
            if not self.transport.is_closing():
                self.transport.write(_TOO_SLOW)
                self.transport.close()

    return PatientProtocol


def _stopped(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
