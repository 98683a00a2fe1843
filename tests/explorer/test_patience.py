"""Slow clients are sent away, and others are served meanwhile. Everything is on loopback."""

import socket
import threading
import time
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from eigentext.explorer import server
from eigentext.explorer.patience import patient_protocol

SHORT, LONG = 0.5, 20.0  # seconds; tests end long before the second


async def app(scope, receive, send):
    size = int(scope["path"].strip("/") or 2)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x" * size})


@contextmanager
def served(**times):
    with server.listening("127.0.0.1", 0) as listener:
        config = uvicorn.Config(
            app,
            http=patient_protocol(**times),
            lifespan="off",
            log_level="error",
            timeout_graceful_shutdown=1,
        )
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            yield listener.getsockname()
        finally:
            running.should_exit = True
            thread.join(10)
            assert not thread.is_alive()


@contextmanager
def connected(address):
    with socket.create_connection(address, timeout=LONG) as one:
        yield one


def received(one) -> bytes:
    """Everything until the server closes the connection."""
    parts = []
    while data := one.recv(1 << 16):
        parts.append(data)
    return b"".join(parts)


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: a\r\nx: "])
def test_headers_that_never_end(sent):
    with served(header_time=SHORT) as address, connected(address) as slow:
        slow.sendall(sent)
        url = "http://{}:{}/".format(*address)
        assert httpx.get(url, timeout=LONG).text == "xx"
        assert received(slow).startswith(b"HTTP/1.1 408 ")


def test_slowloris_byte_by_byte():
    """Bytes that arrive do not buy more time."""
    with served(header_time=SHORT) as address, connected(address) as slow:
        end = time.monotonic() + LONG
        with pytest.raises(OSError):  # reset, or a broken pipe
            for byte in b"GET / HTTP/1.1\r\n" + b"x-a: b\r\n" * 1000:
                assert time.monotonic() < end
                slow.sendall(bytes([byte]))
                time.sleep(0.05)


def test_many_requests_on_one_connection():
    """Idle time between requests counts for uvicorn's own limit, not for headers."""
    with served(header_time=SHORT) as address:
        url = "http://{}:{}/".format(*address)
        with httpx.Client(timeout=LONG) as client:
            for pause in (0, 2 * SHORT, 0):
                time.sleep(pause)
                assert client.get(url).text == "xx"
        with connected(address) as slow:  # a second request that never ends
            slow.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            assert slow.recv(1 << 16).startswith(b"HTTP/1.1 200")
            slow.sendall(b"GET / HT")
            assert b"HTTP/1.1 408 " in received(slow)


def test_a_client_that_does_not_read():
    size = 50_000_000  # more than the buffers of the system
    with served(header_time=LONG, write_time=SHORT) as address:
        with connected(address) as slow:
            slow.sendall(b"GET /%d HTTP/1.1\r\nhost: a\r\n\r\n" % size)
            time.sleep(3 * SHORT)
            try:
                n_bytes = len(received(slow))
            except ConnectionError:
                n_bytes = 0
            assert n_bytes < size
        url = "http://{}:{}/{}".format(*address, size)
        assert len(httpx.get(url, timeout=LONG).content) == size


def test_the_explorer_has_these_limits():
    protocol = server.web_server(app).config.http
    assert protocol.__name__ == "PatientProtocol"
