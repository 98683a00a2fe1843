"""``python -m eigentext.explorer.worker``: answers heavy queries in a process that can be ended.

Standard input and output carry frames: a head of two numbers, then JSON. The first frame of the
input names the files of the models. The first frame of the output says that they are loaded. Only
the parent process uses these pipes.
"""

import json
import os
import queue
import signal
import struct
import sys
import threading
from typing import Any, BinaryIO

HEAD = struct.Struct(">HI")  # a status, and the number of bytes that follow
READY = 0


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    if hasattr(os, "nice"):
        os.nice(5)  # the light queries of the server come first
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # other output goes to the terminal
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, asked), daemon=True).start()

    from eigentext.engine.threads import alone
    from eigentext.explorer.answers import answered
    from eigentext.explorer.models import explored
    from eigentext.storage import load

    with alone():
        files = json.loads(asked.get())["files"]
        models = [explored(load(path), name) for path, name in files]
        for model in models:
            if model.heavy:
                model.warm()
        _send(out, READY, b"")
        while True:
            request: dict[str, Any] = json.loads(asked.get())
            _send(out, *answered(models, request["model"], request["query"], request["arguments"]))


def _listen(source: BinaryIO, asked: "queue.SimpleQueue[bytes]") -> None:
    """Pass queries on. End this process when the parent ends, even during a parse."""
    while len(head := source.read(HEAD.size)) == HEAD.size:
        asked.put(source.read(HEAD.unpack(head)[1]))
    os._exit(0)


def _send(out: BinaryIO, status: int, body: bytes) -> None:
    out.write(HEAD.pack(status, len(body)) + body)
    out.flush()


if __name__ == "__main__":
    main()
