"""The example of a web service: with FastAPI's own client, and as a real process on loopback."""

import configparser
import importlib.util
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
import uvicorn

import eigentext as et

pytestmark = pytest.mark.filterwarnings("ignore:overflow")  # Python warns if Numba is off

pytest.importorskip("fastapi", reason="pip install fastapi to test the example of a service")
FOLDER = Path(__file__).parents[2] / "examples" / "service"
TAGGED = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("left", "O"), ("Rome", "B-LOC"), (".", "O")]] * 5
TREES = ["(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN dog))) (. .))"] * 5


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    et.Tagger().fit(TAGGED).save(folder / "tagger")
    et.PCFG().fit(map(et.Tree.parse, TREES)).save(folder / "parser")
    return {
        "EIGENTEXT_TAGGER": str(folder / "tagger"),
        "EIGENTEXT_PARSER": str(folder / "parser"),
    }


@pytest.fixture
def module():
    spec = importlib.util.spec_from_file_location("service_app", FOLDER / "app.py")
    found = importlib.util.module_from_spec(spec)
    sys.modules["service_app"] = found  # pydantic looks names up there
    spec.loader.exec_module(found)
    yield found
    del sys.modules["service_app"]


@pytest.fixture
def client(module, models, monkeypatch):
    """A client of the service, which runs in a thread on loopback."""
    for name, value in models.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(module.app, log_level="error"))
        run = {"target": server.run, "kwargs": {"sockets": [listener]}}
        thread = threading.Thread(**run, daemon=True)
        thread.start()
        try:
            port = listener.getsockname()[1]
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(15)
            assert not thread.is_alive()


def test_spans_and_trees_are_those_of_the_library(client, models):
    texts = ["Ann Lee left Rome.", "", "Lee\nleft"]
    expected = et.load(models["EIGENTEXT_TAGGER"]).spans_many(texts)
    found = client.post("/spans", json={"texts": texts}).json()
    assert [[tuple(span.values()) for span in one] for one in found] == [
        [tuple(span) for span in one] for one in expected
    ]
    sentences = ["the cat sees a dog.", "sees sees sees", " "]
    parses = list(et.load(models["EIGENTEXT_PARSER"]).parses(sentences))
    found = client.post("/parse", json={"sentences": sentences}).json()
    assert [one["tree"] for one in found] == [one.tree and str(one.tree) for one in parses]
    assert found[0]["log_probability"] == pytest.approx(parses[0].log_probability)
    assert found[0]["fallback"] is None
    assert found[2]["tree"] is found[2]["log_probability"] is None


def test_mistakes_of_clients(client):
    assert client.get("/healthz").json() == {"status": "ok", "models": ["parser", "tagger"]}
    assert client.post("/spans", json={"texts": "one"}).status_code == 422
    assert client.post("/spans", json={"texts": ["a"] * 101}).status_code == 422
    assert client.post("/spans", json={"texts": ["a" * 20_001]}).status_code == 422
    assert client.post("/parse", json={"sentences": [""]}).status_code == 422


def test_too_many_at_once_and_missing_models(client, module, monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.01)
    while module.LIMITER.acquire(blocking=False):
        pass
    busy = client.post("/spans", json={"texts": ["a"]})
    assert (busy.status_code, busy.headers["retry-after"]) == (503, "5")
    monkeypatch.delitem(module.MODELS, "parser")
    missing = client.post("/parse", json={"sentences": ["a"]})
    assert missing.status_code == 404
    assert "EIGENTEXT_PARSER" in missing.json()["detail"]


def test_a_real_process(models):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--log-level", "warning"],
        cwd=FOLDER,
        env=os.environ | models | {"PYTHONDONTWRITEBYTECODE": "1"},
    )
    try:
        url, end = f"http://127.0.0.1:{port}", time.monotonic() + 60
        while True:
            try:
                assert httpx.get(f"{url}/healthz", timeout=5).json()["status"] == "ok"
                break
            except httpx.TransportError:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.1)
        answer = httpx.post(f"{url}/spans", json={"texts": ["Ann Lee left."]}, timeout=30)
        assert json.loads(answer.text)[0][0]["label"] == "PER"
    finally:
        process.terminate()
        process.wait(15)


def test_the_systemd_unit_names_what_the_service_needs():
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str
    text = (FOLDER / "eigentext.service").read_text()
    unit.read_string(text)
    assert set(unit) >= {"Unit", "Service", "Install"}
    assert "app:app" in unit["Service"]["ExecStart"]
    for name in ("EIGENTEXT_TAGGER", "EIGENTEXT_PARSER", "NUMBA_CACHE_DIR", "EIGENTEXT_CACHE"):
        assert f"Environment={name}=" in text
