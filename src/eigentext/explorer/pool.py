"""A few worker processes: who takes too long is ended and replaced, and nobody else waits for it.

A thread cannot be stopped, so what may take long runs in processes. They speak frames over pipes
(see ``worker``), and no more than one query is with a worker at a time.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import eigentext
from eigentext.explorer.answers import refusal
from eigentext.explorer.worker import HEAD, READY

_MOST_WAITING = 64
_AGAIN = 1.0  # seconds after which a worker that did not start is started again
_GIVE_UP = 5  # times

Answer = tuple[int, bytes]


class Pool:
    """Workers over the same model files.

    Parameters
    ----------
    files
        Paths of models, and their names.
    size
        How many workers.
    timeout
        Seconds that a query may take, and may wait for a worker before.
    """

    def __init__(self, files: Sequence[tuple[str, str]], *, size: int = 2, timeout: float = 10.0):
        self.files, self.size, self.timeout = list(files), size, timeout
        self._idle: asyncio.Queue[Process] = asyncio.Queue()
        self._alive: set[Process] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._first = asyncio.Event()
        self._waiting = 0
        self._problem = ""

    async def start(self) -> None:
        """Begin to start the workers; queries wait for them."""
        for number in range(self.size):
            self._add(after_first=number > 0)

    async def stop(self) -> None:
        """End all workers."""
        for task in list(self._starting):
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for worker in list(self._alive):
            await self._end(worker)

    async def ask(
        self,
        model: int | None,
        query: str,
        arguments: dict[str, Any],
        *,
        patience: float = 1.0,
        gone: Callable[[], Awaitable[bool]] | None = None,
    ) -> Answer:
        """The answer of a worker; 503 if it takes more than `patience` times the time limit.

        `gone` tells whether who asked still listens: people type on while a query waits.
        """
        if self._waiting >= _MOST_WAITING:
            return 503, refusal("too many slow queries are waiting; try again in a while")
        self._waiting += 1
        try:
            worker = await asyncio.wait_for(self._idle.get(), self.timeout)
            if gone is not None and await gone():
                self._idle.put_nowait(worker)
                return 503, refusal("nobody listens any more")
        except TimeoutError:
            why = self._problem or (
                "all workers are busy" if self._first.is_set() else "models are still being loaded"
            )
            return 503, refusal(f"{why}; try again in a while")
        finally:
            self._waiting -= 1
        limit, done = patience * self.timeout, False
        try:
            request = {"model": model, "query": query, "arguments": arguments}
            answer = await asyncio.wait_for(_exchange(worker, request), limit)
            done = True
        except TimeoutError:
            return 503, refusal(
                f"that took more than {limit:g} seconds and was stopped; ask for less, or start "
                "eigentext explore with a larger --timeout"
            )
        except (OSError, asyncio.IncompleteReadError):
            return 503, refusal("that ended the process that worked on it; ask for less")
        finally:  # also where the client has gone
            if done:
                self._idle.put_nowait(worker)
            else:
                self._alive.discard(worker)
                _kill(worker)
                self._add()
        return answer

    # Starting and ending.

    def _add(self, *, after_first: bool = False) -> None:
        task = asyncio.create_task(self._started(after_first))
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _started(self, after_first: bool) -> None:
        if after_first:  # kernels are then compiled already, and not twice at once
            await self._first.wait()
        for _ in range(_GIVE_UP):
            worker = await self._spawn()
            try:
                _write(worker, {"files": self.files})
                status, _ = await _read(worker)
            except (OSError, asyncio.IncompleteReadError):
                status = -1
            if status == READY:
                self._problem = ""
                self._first.set()
                self._idle.put_nowait(worker)
                return
            await self._end(worker)
            await asyncio.sleep(_AGAIN)
        self._problem = "no worker process would start; the terminal says why"

    async def _spawn(self) -> Process:
        # Its own session: Ctrl-C in the terminal is not for it. Never the folder one happens to be
        # in (-P), where files may have the names of modules.
        home = str(Path(eigentext.__file__).parents[1])
        known = os.pathsep.join(filter(None, (home, os.environ.get("PYTHONPATH"))))
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "eigentext.explorer.worker"),
            stdin=PIPE,
            stdout=PIPE,
            start_new_session=True,
            env={**os.environ, "PYTHONPATH": known, "OPENBLAS_NUM_THREADS": "1"},
        )
        self._alive.add(worker)
        return worker

    async def _end(self, worker: Process) -> None:
        self._alive.discard(worker)
        _kill(worker)
        await worker.wait()


async def _exchange(worker: Process, request: dict[str, Any]) -> Answer:
    _write(worker, request)
    return await _read(worker)


def _write(worker: Process, message: dict[str, Any]) -> None:
    body = json.dumps(message).encode()
    assert worker.stdin is not None
    worker.stdin.write(HEAD.pack(0, len(body)) + body)


async def _read(worker: Process) -> Answer:
    assert worker.stdout is not None
    status, size = HEAD.unpack(await worker.stdout.readexactly(HEAD.size))
    return status, await worker.stdout.readexactly(size)


def _kill(worker: Process) -> None:
    with suppress(ProcessLookupError):
        worker.kill()
