"""The command `eigentext explore`: its output, and how it ends."""

import re
import signal
import subprocess
import sys

import pytest

from eigentext.cli import main

from .conftest import running


def _mistake(capfd, *arguments) -> str:
    with pytest.raises(SystemExit) as exit:
        main(["explore", *map(str, arguments)])
    assert exit.value.code == 2
    (line,) = capfd.readouterr().err.splitlines()
    return line


def test_ctrl_c_ends_it_quietly_with_its_workers():
    with running() as server:  # without a model it compares trees
        assert server.get("/api/models").json() == {"models": []}
        assert server.get("/api/0/neighbors", word="a").status_code == 404
        children = f"pgrep -P {server.process.pid} || true"
        workers = subprocess.run(children, shell=True, capture_output=True, text=True).stdout
        assert workers.split()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(15) == 0
        assert server.process.stderr.read() == ""
        for worker in workers.split():
            alive = f"kill -0 {worker} 2>/dev/null"
            assert subprocess.run(alive, shell=True).returncode != 0


def test_other_machines_are_let_in_only_with_host_and_by_name(model_files):
    arguments = ("--host", "0.0.0.0", "--allow-host", "models.example")
    with running(model_files["words"], *arguments) as server:
        for host, status in (("models.example", 200), ("127.0.0.1", 200), ("other.example", 421)):
            answer = server.client.get("/api/models", headers={"Host": f"{host}:80"})
            assert answer.status_code == status
        server.process.send_signal(signal.SIGINT)
        server.process.wait(15)
        assert "everybody on the network can query" in server.process.stderr.read()


def test_mistakes_are_reported_in_one_line(capfd, model_files, tmp_path):
    assert "no such file" in _mistake(capfd, tmp_path / "missing").lower()
    (tmp_path / "text").write_text("no model")
    assert "text" in _mistake(capfd, tmp_path / "text")
    documents = ("--documents", tmp_path / "text")
    assert "for topics" in _mistake(capfd, model_files["words"], *documents)
    assert "--host" in _mistake(capfd, "--host", "no.such.host.invalid")
    assert "timeout" in _mistake(capfd, "--timeout", "0")


def test_without_starlette_it_says_what_to_install(model_files):
    code = (
        "import sys; sys.modules['starlette'] = None\n"
        "from eigentext.cli import main\n"
        "main(['explore'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "eigentext[web]" in done.stderr


def test_the_command_line_stays_light():
    code = (
        "import sys, eigentext.cli.main\n"
        "print([one for one in ('starlette', 'uvicorn', 'numba', 'anyio') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_service_behind_a_proxy(tmp_path):
    log = tmp_path / "access.log"
    base = "https://example.org/models/"
    with running("--base-url", base, "--access-log", log) as server:
        assert server.get("/models/healthz").json() == {"status": "ok"}
        public = {"host": "example.org"}
        page = server.client.get("/models/", headers=public)
        assert page.status_code == 200
        for name in re.findall(r'(?:src|href)="([^"]+)"', page.text):
            assert name.startswith("./")
            assert server.get(f"/models/{name[2:]}").status_code == 200
        assert server.client.get("/models/api/models", headers=public).json() == {"models": []}
        assert server.client.get("/models/", headers={"host": "other.org"}).status_code == 421
    lines = log.read_text().splitlines()
    assert len(lines) == 7
    assert [line.split()[3:5] for line in lines[:2]] == [
        ["/models/healthz", "200"],
        ["/models/", "200"],
    ]
    assert lines[-1].split()[4] == "421"


def test_the_log_on_standard_error():
    with running("--access-log", "-") as server:
        server.get("/healthz")
        server.process.send_signal(signal.SIGINT)
        told = server.process.stderr.read()
    assert " GET /healthz 200 " in told


def test_mistakes_of_a_service(capfd, tmp_path):
    assert "as in https://example.org/models/" in _mistake(capfd, "--base-url", "models")
    missing = tmp_path / "missing" / "log"
    assert "name another file" in _mistake(capfd, "--access-log", missing)
