"""The explorer as a service: under a prefix, with a health check and a log."""

import asyncio
import json

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from eigentext.errors import ParameterError
from eigentext.explorer.front import Base, Front
from eigentext.explorer.guard import HEADERS, Guard


async def echo(request):
    return JSONResponse({"path": request.url.path, "query": str(request.query_params)})


def ask(path, *, base="/", log=None, method="GET", **headers):
    app = Guard(Starlette(routes=[Route("/{path:path}", echo)]))
    front = Front(app, Base.parse(base), log)

    async def one():
        transport = httpx.ASGITransport(front, client=("1.2.3.4", 5))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.request(method, path, headers=headers)

    return asyncio.run(one())


@pytest.mark.parametrize("base", ["/models", "/models/", "https://example.org/models/"])
def test_with_and_without_the_prefix(base):
    for path in ("/models/api/0/tag", "/api/0/tag"):
        assert ask(f"{path}?a=b", base=base).json() == {"path": "/api/0/tag", "query": "a=b"}
    assert ask("/models/", base=base).json()["path"] == "/"
    assert ask("/modelsx/y", base=base).json()["path"] == "/modelsx/y"


def test_the_slash_at_the_end_is_added():
    """Else the relative addresses of the page would lose the prefix."""
    answer = ask("/a/models", base="/a/models")
    assert (answer.status_code, answer.headers["location"]) == (308, "models/")
    assert answer.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]


def test_the_guard_sees_paths_without_the_prefix():
    other = {"sec-fetch-site": "cross-site"}
    assert ask("/models/api/x", base="/models", **other).status_code == 403
    assert ask("/models/x", base="/models", **other).status_code == 200


def test_health_is_told_to_every_host():
    for path, base in (("/healthz", "/"), ("/models/healthz", "/models"), ("/healthz", "/models")):
        answer = ask(path, base=base, host="10.1.2.3:80")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        assert answer.headers["cache-control"] == "no-store"
    assert ask("/other", host="10.1.2.3:80").status_code == 421
    assert ask("/healthz", method="HEAD").status_code == 200
    assert ask("/healthz", method="POST").status_code == 405


def test_a_line_for_each_request():
    lines = []
    ask("/models/api/0?secret=1", base="/models", log=lines.append)
    ask("/healthz", log=lines.append)
    ask("/%0Aforged%1b[0m" + "a" * 500, log=lines.append)
    ask("/x", log=lines.append, host="evil.org")
    assert [line.split()[1:5] for line in lines] == [
        ["1.2.3.4", "GET", "/models/api/0", "200"],
        ["1.2.3.4", "GET", "/healthz", "200"],
        ["1.2.3.4", "GET", *lines[2].split()[3:5]],
        ["1.2.3.4", "GET", "/x", "421"],
    ]
    assert all(line.isprintable() and "secret" not in line for line in lines)
    assert lines[2].split()[3].startswith("/%0Aforged%1B%5B0m")
    size = len(json.dumps({"status": "ok"}))
    assert lines[1].split()[5:7] == [str(size), "bytes"]
    assert lines[1].endswith(" ms")


def test_a_bug_is_logged_too():
    lines = []

    async def bug(scope, receive, send):
        raise RuntimeError("here")

    scope = {"type": "http", "path": "/a", "method": "GET", "client": None}
    with pytest.raises(RuntimeError):
        asyncio.run(Front(bug, log=lines.append)(scope, None, None))
    assert lines[0].split()[1:5] == ["-", "GET", "/a", "0"]


@pytest.mark.parametrize(
    ("text", "host", "path"),
    [
        ("/", "", "/"),
        ("/a/b", "", "/a/b/"),
        ("https://x.org", "x.org", "/"),
        ("http://[::1]:8000/a/", "::1", "/a/"),
    ],
)
def test_addresses(text, host, path):
    assert Base.parse(text)[1:] == (host, path)


@pytest.mark.parametrize(
    "text",
    ["", "models", "ftp://x.org/", "//x.org/a", "https://", "/a?b", "/a#b", "/a/../b", "/ä",
     "https://u@x.org/", "https://x.org:port/", "https://[/", "/a b", "/a\nb"],
)  # fmt: skip
def test_no_addresses(text):
    with pytest.raises(ParameterError, match="--base-url"):
        Base.parse(text)
