"""Which requests pass the guard, without a server; test_app tests it with one."""

import asyncio

import pytest

from eigentext.errors import ParameterError
from eigentext.explorer.guard import HEADERS, Guard, safe_headers


def _ask(headers, *, path="/api/models", hosts=(), body=b"", body_time=10.0):
    """The status of the answer, the bodies that reached the application, and the headers."""
    reached, sent = [], []

    async def inner(scope, receive, send):
        reached.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive():
        if body is None:
            await asyncio.sleep(60)
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        sent.append(message)

    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": path, "headers": raw, "method": "POST"}
    asyncio.run(Guard(inner, hosts=hosts, body_time=body_time)(scope, receive, send))
    return sent[0]["status"], reached, dict(sent[0]["headers"])


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765"])
def test_loopback_passes(host):
    assert _ask({"Host": host})[0] == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8765", "", "10.0.0.1",
     "evil.example:127.0.0.1", "user@localhost", "localhost@evil",
     "[::1].evil"],
)  # fmt: skip
def test_other_names_do_not(host):
    status, reached, _ = _ask({"Host": host})
    assert status == 421
    assert not reached


def test_names_can_be_allowed():
    assert _ask({"Host": "my-host:80"}, hosts=["My-Host"])[0] == 200
    assert _ask({"Host": "[fe80::1]:80"}, hosts=["fe80::1"])[0] == 200


def test_no_host_is_no_name():
    assert _ask({})[0] == 421


@pytest.mark.parametrize(("site", "status"), [("same-origin", 200), ("none", 200),
                                              ("cross-site", 403), ("same-site", 403)])  # fmt: skip
def test_other_sites_may_not_ask(site, status):
    headers = {"Host": "localhost", "Sec-Fetch-Site": site}
    assert _ask(headers)[0] == status
    assert _ask(headers, path="/")[0] == 200  # other sites may link to the page


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Length": "256000"}, 200),
        ({"Content-Length": "256001"}, 413),
        ({"Content-Length": "9" * 40}, 413),
        ({"Content-Length": "-1"}, 400),
        ({"Transfer-Encoding": "chunked"}, 411),
    ],
)
def test_bodies_have_a_length_and_a_limit(headers, status):
    assert _ask({"Host": "localhost", **headers})[0] == status


def test_a_body_that_does_not_come_is_not_waited_for():
    headers = {"Host": "localhost", "Content-Length": "5"}
    assert _ask(headers, body=None, body_time=0.05)[0] == 408


def test_a_body_reaches_the_application():
    headers = {"Host": "localhost", "Content-Length": "5"}
    assert _ask(headers, body=b"hello")[1] == [b"hello"]


def test_every_answer_has_the_policy():
    for host in ("localhost", "evil.example"):
        headers = _ask({"Host": host})[2]
        policy = headers[b"content-security-policy"].decode()
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers[b"x-content-type-options"] == b"nosniff"


def test_no_page_may_frame_it_unless_its_origin_is_named():
    assert safe_headers() is HEADERS
    assert HEADERS["X-Frame-Options"] == "DENY"
    named = safe_headers(["http://localhost:8888"])
    assert "X-Frame-Options" not in named
    policy = named["Content-Security-Policy"]
    assert policy.endswith("frame-ancestors http://localhost:8888")
    before = HEADERS["Content-Security-Policy"].partition("frame-ancestors")[0]
    assert policy.startswith(before)
    assert {n: v for n, v in HEADERS.items() if n in named and n != "Content-Security-Policy"} == {
        n: v for n, v in named.items() if n != "Content-Security-Policy"
    }


@pytest.mark.parametrize(
    "origin",
    ["*", "localhost:8888", "http://*", "http://a b", "http://a; script-src *", "https:", "",
     "javascript:alert(1)", "http://a/path", "http://a\nb"],
)  # fmt: skip
def test_what_is_no_origin(origin):
    with pytest.raises(ParameterError, match="is no origin"):
        Guard(None, frames=[origin])
