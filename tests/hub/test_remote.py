"""Push and pull, with the real huggingface_hub and a small server that stands for the Hub.

The server has the few addresses that these two calls use, and keeps repositories in memory. It
shows that the library is called as it wants to be. It does not show what the Hub itself accepts.
"""

import base64
import hashlib
import importlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar
from urllib.parse import unquote, urlsplit

import pytest

import eigentext as et
from eigentext.errors import EigentextError

TEXT = ["the cat sat here", "the dog sat there", "a cat ran here", "a dog ran there"] * 5


@pytest.fixture(scope="module")
def words():
    return et.Eigenwords(3, window=2).fit(TEXT)


class _Hub(BaseHTTPRequestHandler):
    """Repositories of models, by name: whether they are private, and their files."""

    repositories: ClassVar[dict] = {}

    def log_message(self, *_):
        pass

    def _answer(self, value, status=200, headers=()):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, content in (("Content-Length", str(len(data))), *headers):
            self.send_header(name, content)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _missing(self):
        code = [("X-Error-Code", "RepoNotFound"), ("X-Error-Message", "Repository not found")]
        self._answer({"error": "Repository not found"}, 404, code)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = unquote(urlsplit(self.path).path)
        if path == "/api/repos/create":
            asked = json.loads(body)
            name = "/".join(filter(None, [asked.get("organization"), asked["name"]]))
            private = asked.get("private") or asked.get("visibility") == "private"
            self.repositories.setdefault(name, {"private": bool(private), "files": {}})
            self._answer({"url": f"{self.server.address}/{name}"})
        elif "/preupload/" in path:
            files = [
                {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                for one in json.loads(body)["files"]
            ]
            self._answer({"files": files})
        elif "/commit/" in path:
            name = path.removeprefix("/api/models/").partition("/commit/")[0]
            for line in map(json.loads, body.splitlines()):
                if line["key"] == "file":
                    content = base64.b64decode(line["value"]["content"])
                    self.repositories[name]["files"][line["value"]["path"]] = content
            self._answer(
                {
                    "commitUrl": f"{self.server.address}/{name}/commit/{'1' * 40}",
                    "commitOid": "1" * 40,
                    "success": True,
                }
            )
        else:
            self._answer({"valid": True, "errors": [], "warnings": []})

    def do_GET(self):
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/api/models/"):
            name = "/".join(path.split("/")[3:5])
            files = self.repositories.get(name, {}).get("files")
            if files is None:
                self._missing()
            elif "/tree/" in path:
                self._answer(
                    [
                        {"type": "file", "path": file, "size": len(content), "oid": _tag(content)}
                        for file, content in files.items()
                    ]
                )
            else:
                siblings = [{"rfilename": file} for file in files]
                self._answer({"id": name, "sha": "1" * 40, "siblings": siblings})
        elif "/resolve/" in path:
            name, _, rest = path[1:].partition("/resolve/")
            content = self.repositories[name]["files"][rest.partition("/")[2]]
            tag = f'"{_tag(content)}"'
            self._answer(content, headers=[("ETag", tag), ("X-Repo-Commit", "1" * 40)])
        else:
            self._missing()

    def do_HEAD(self):
        self.do_GET()


def _tag(content):
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """The repositories of the server that stands for the Hub."""
    pytest.importorskip("huggingface_hub")
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", server.address)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")
    monkeypatch.setenv("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    before = {name: one for name, one in sys.modules.items() if name.startswith("huggingface_hub")}
    for name in before:
        del sys.modules[name]
    importlib.import_module("huggingface_hub")  # reads these variables
    _Hub.repositories.clear()
    yield _Hub.repositories
    server.shutdown()
    server.server_close()
    for name in [name for name in sys.modules if name.startswith("huggingface_hub")]:
        del sys.modules[name]
    sys.modules.update(before)


def test_a_model_is_pushed_and_pulled(hub, words):
    url = et.hub.push(words, "me/words", license="mit", language="en")
    assert "me/words/commit" in url
    assert hub["me/words"]["private"]
    files = hub["me/words"]["files"]
    assert sorted(files) == ["README.md", "config.json", "model.safetensors"]
    assert b'et.hub.pull("me/words")' in files["README.md"]
    pulled = et.hub.pull("me/words")
    assert pulled.most_similar("cat") == words.most_similar("cat")
    assert pulled.provenance_ == words.provenance_


def test_a_folder_is_pushed_with_its_own_card(hub, words, tmp_path):
    folder = et.hub.save(words, tmp_path / "words")
    (folder / "README.md").write_text("---\nlicense: mit\n---\nmine")
    (folder / "secret.txt").write_text("not for others")
    et.hub.push(folder, "me/mine", private=False)
    assert not hub["me/mine"]["private"]
    assert hub["me/mine"]["files"]["README.md"].endswith(b"mine")
    assert "secret.txt" not in hub["me/mine"]["files"]
    with pytest.raises(EigentextError, match=r"license has no effect; edit README\.md"):
        et.hub.push(folder, "me/mine", license="mit")


def test_errors_name_the_repository(hub, words):
    with pytest.raises(EigentextError, match=r"me/nothing: the Hub refused it, or was not reached"):
        et.hub.pull("me/nothing")
    with pytest.raises(EigentextError, match="not a name: the Hub refused it"):
        et.hub.push(words, "not a name")


def test_without_the_library_the_error_names_it(words, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(EigentextError, match=r"push needs .*pip install 'eigentext\[hub\]'"):
        et.hub.push(words, "me/words")
    with pytest.raises(EigentextError, match=r"pull needs .*pip install 'eigentext\[hub\]'"):
        et.hub.pull("me/words")
