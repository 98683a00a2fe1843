"""A worker alone, over its pipes."""

import json
import subprocess
import sys

from eigentext.explorer.worker import HEAD, READY


def _send(worker, message):
    body = json.dumps(message).encode()
    worker.stdin.write(HEAD.pack(0, len(body)) + body)
    worker.stdin.flush()


def _receive(worker):
    status, size = HEAD.unpack(worker.stdout.read(HEAD.size))
    return status, worker.stdout.read(size)


def test_it_answers_and_ends_with_its_input(model_files):
    command = [sys.executable, "-P", "-m", "eigentext.explorer.worker"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        _send(worker, {"files": [(str(model_files["pcfg"]), "pcfg")]})
        assert _receive(worker) == (READY, b"")
        arguments = {"text": "the dog sees the cat"}
        _send(worker, {"model": 0, "query": "parse", "arguments": arguments})
        status, body = _receive(worker)
        assert status == 200
        assert json.loads(body)["tokens"] == arguments["text"].split()
        _send(worker, {"model": 0, "query": "parse", "arguments": {"text": ""}})
        assert _receive(worker)[0] == 400
        worker.stdin.close()
        assert worker.wait(10) == 0
