"""A real server and real clients: which requests it refuses, and how."""

import http.client
import json
import socket

import pytest

from eigentext.explorer.page import built_page

TREE = "(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))"


def _raw(server, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """The answer to raw bytes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(request)
        response = http.client.HTTPResponse(connection)
        response.begin()
        return response.status, dict(response.getheaders()), response.read()


def _refused(answer, status: int) -> str:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    (error,) = [answer.json()["error"]]
    assert error
    return error


# The page.


def test_files_of_the_page_are_served_by_their_names(server):
    page = built_page()
    if not page:
        assert "npm run build" in _refused(server.get("/"), 404)
        return
    for path, file in page.items():
        answer = server.get(path)
        assert answer.content == file.content
        assert answer.headers["content-type"] == file.type
        again = server.client.get(path, headers={"If-None-Match": answer.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/", "/api/models", "/nowhere"])
def test_every_answer_has_safe_headers(server, path):
    headers = server.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-opener-policy"] == "same-origin"
    assert "server" not in headers


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
     "/..%2f..%2fetc/passwd", "/static/index.html", "/.sources", "//etc/passwd",
     "/assets/../../app.py", "/%00", "/app.py", "/api/../app.py", "/api/0/..%2f..%2fapp.py",
     "/index.html/", "/..\\..\\etc\\passwd"],
)  # fmt: skip
def test_no_path_leaves_the_page(server, path):
    status, _, body = _raw(server, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    assert status == 404
    assert "error" in json.loads(body)


# Routes and methods.


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nothing", "/api/0", "/api/0/nothing",
                                  "/api/0/neighbors/x", "/nothing"])  # fmt: skip
def test_unknown_routes_are_not_found(server, path):
    assert "no such path" in _refused(server.get(path), 404) or path == "/api/nothing"


@pytest.mark.parametrize(
    "number", ["99", "-1", "x", "0x0", "1.0", "%D9%A3", "9" * 5000, "00000000000"]
)
def test_unknown_models_are_not_found(server, number):
    assert "no model" in _refused(server.get(f"/api/{number}/neighbors", word="cat"), 404)


def test_wrong_methods_are_refused(server):
    assert "GET" in _refused(server.post("/api/0/neighbors", word="cat"), 405)
    assert "POST" in _refused(server.get("/api/0/parse"), 405)
    answer = server.get("/api/kernel")
    assert _refused(answer, 405)
    assert "POST" in answer.headers["allow"]
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        assert _refused(server.client.request(method, "/api/models"), 405)
        assert _refused(server.client.request(method, "/"), 405)
    assert server.client.head("/api/models").status_code == 200


def test_views_that_a_model_lacks_are_not_found(server, numbers):
    path = f"/api/{numbers['topics']}/neighbors?word=cat"
    assert "topics, documents, proportions" in _refused(server.get(path), 404)
    assert "nothing to ask" in _refused(server.get(f"/api/{numbers['moments']}/map"), 404)


@pytest.mark.parametrize(
    ("path", "query"),
    [("neighbors", {}), ("neighbors", {"word": ""}), ("neighbors", {"word": "cat", "topn": 201}),
     ("neighbors", {"word": "cat", "topn": "x"}), ("neighbors", {"word": "x" * 201}),
     ("analogy", {"a": "cat", "b": "dog"}), ("map", {"n": 20_001}), ("map", {"n": 1}),
     ("words", {"limit": 0})],
)  # fmt: skip
def test_wrong_values_are_refused(server, path, query):
    _refused(server.get(f"/api/0/{path}", **query), 400)


# Bodies.


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[1]", b'"text"', b"null", b"\xff\xfe", b"{'text': 1}", b"[" * 100_000,
     b'{"a":' * 20_000, b'{"text": ' + b"9" * 5000 + b"}"],
)  # fmt: skip
def test_malformed_json_is_refused(server, body):
    headers = {"Content-Type": "application/json"}
    answer = server.client.post("/api/kernel", content=body, headers=headers)
    _refused(answer, 400)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_other_types_are_refused(server, kind):
    headers = {"Content-Type": kind} if kind else {}
    body = json.dumps({"a": TREE, "b": TREE}).encode()
    answer = server.client.post("/api/kernel", content=body, headers=headers)
    assert "application/json" in _refused(answer, 415)


@pytest.mark.parametrize("fields", [{}, {"text": 3}, {"text": ""}, {"text": ["the"]},
                                    {"text": "the dog", "k": 0}, {"text": "the dog", "k": "x"},
                                    {"text": "\0"}])  # fmt: skip
def test_wrong_fields_are_refused(server, numbers, fields):
    _refused(server.post(f"/api/{numbers['pcfg']}/parse", **fields), 400)


def test_halves_of_surrogates_are_refused(server, numbers):
    headers = {"Content-Type": "application/json"}
    path = f"/api/{numbers['pcfg']}/parse"
    answer = server.client.post(path, content=rb'{"text": "a \ud800"}', headers=headers)
    _refused(answer, 400)


def test_a_paste_of_10_mb_is_refused(server, numbers):
    answer = server.post(f"/api/{numbers['topics']}/proportions", text="ham eggs " * 1_100_000)
    assert "256 kB" in _refused(answer, 413)
    assert server.get("/api/models").status_code == 200


def test_a_body_in_chunks_is_refused(server):
    def chunks():
        yield from [b'{"a": "(A a)",', b'"b": "(A a)"}']

    headers = {"Content-Type": "application/json"}
    answer = server.client.post("/api/kernel", content=chunks(), headers=headers)
    assert "Content-Length" in _refused(answer, 411)


def test_bytes_that_are_not_http_are_refused(server):
    for request in (b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"):
        assert _raw(server, request)[0] == 400


# Names.


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "localhost.evil.example",
                                  "127.0.0.1.nip.io", "169.254.169.254"])  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/api/models"])
def test_forged_hosts_are_refused(server, host, path):
    answer = server.client.get(path, headers={"Host": host})
    assert "--allow-host" in _refused(answer, 421)


def test_no_host_at_all_is_refused(server):
    assert _raw(server, b"GET /api/models HTTP/1.0\r\n\r\n")[0] == 421


def test_pages_of_other_sites_are_refused(server):
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    answer = server.client.get("/api/models", headers=headers)
    assert "other sites" in _refused(answer, 403)
    assert "access-control-allow-origin" not in answer.headers


# The tree kernel, which needs no model.


def test_a_kernel_of_two_trees(server):
    answer = server.post("/api/kernel", a=TREE, b=TREE.replace("cat", "dog")).json()
    assert answer["value"] == pytest.approx(2.89344)
    assert answer["normalized"] == pytest.approx(0.791, abs=1e-3)
    assert answer["fragments"][0]["fragment"] == "(S (NP (DT the) NN) (VP (VBZ sleeps)))"


@pytest.mark.parametrize("fields", [{"a": TREE}, {"a": "(S", "b": TREE}, {"a": TREE, "b": 1},
                                    {"a": TREE, "b": TREE, "decay": 2},
                                    {"a": "(A " * 300 + "a" + ")" * 300, "b": TREE}])  # fmt: skip
def test_malformed_trees_are_refused(server, fields):
    _refused(server.post("/api/kernel", **fields), 400)


def test_words_are_data_and_never_markup(server):
    """Typed text comes back only as JSON, which no browser shows as a page."""
    word = "<script>alert(1)</script>"
    answer = server.get("/api/0/neighbors", word=word)
    assert answer.headers["content-type"] == "application/json"
    assert word in answer.json()["error"]
