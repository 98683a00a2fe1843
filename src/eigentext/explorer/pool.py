"""A few worker processes. One that takes too long is ended and replaced, and no other query waits.

A thread cannot be stopped, so slow queries run in processes. They exchange frames over pipes (see
``worker``). A worker has at most one query at a time.
"""

import asyncio
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
from eigentext.storage.valid_json import json_text

_MOST_WAITING = 64
_AGAIN = 1.0  # the seconds between two attempts to start a worker
_GIVE_UP = 5  # the number of attempts

Answer = tuple[int, bytes]


class Pool:
    """Workers that all have the same model files.

    Parameters
    ----------
    files
        The paths of models, and their names.
    size
        The number of workers.
    timeout
        The seconds that a query may wait for a worker, and the seconds that it may then take.
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
        """Begin to start the workers. Queries wait for them."""
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
        """Return the answer of a worker. It is 503 after `patience` times the time limit.

        `gone` says whether the client has left: people continue to type while a query waits.
        """
        if self._waiting >= _MOST_WAITING:
            return 503, refusal("too many slow queries are waiting; try again later")
        self._waiting += 1
        try:
            worker = await asyncio.wait_for(self._idle.get(), self.timeout)
            if gone is not None and await gone():
                self._idle.put_nowait(worker)
                return 503, refusal("the client has left")
        except TimeoutError:
            why = self._problem or (
                "all workers are busy"
                if self._first.is_set()
                else "the models are still being loaded"
            )
            return 503, refusal(f"{why}; try again later")
        finally:
            self._waiting -= 1
        limit, done = patience * self.timeout, False
        try:
            request = {"model": model, "query": query, "arguments": arguments}
            answer = await asyncio.wait_for(_exchange(worker, request), limit)
            done = True
        except TimeoutError:
            return 503, refusal(
                f"the query took more than {limit:g} seconds and was stopped; ask for less, or "
                "start eigentext explore with a larger --timeout"
            )
        except (OSError, asyncio.IncompleteReadError):
            return 503, refusal("the query ended the process that worked on it; ask for less")
        finally:  # also if the client has left
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
        if after_first:  # so that two workers do not compile the same loops
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
        self._problem = "no worker process could be started; the terminal says why"

    async def _spawn(self) -> Process:
        # A new session keeps Ctrl-C in the terminal away from the worker. With -P, Python does not
        # import from the current folder, where files may have the names of modules.
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
    body = json_text(message).encode()
    assert worker.stdin is not None
    worker.stdin.write(HEAD.pack(0, len(body)) + body)


async def _read(worker: Process) -> Answer:
    assert worker.stdout is not None
    status, size = HEAD.unpack(await worker.stdout.readexactly(HEAD.size))
    return status, await worker.stdout.readexactly(size)


def _kill(worker: Process) -> None:
    with suppress(ProcessLookupError):
        worker.kill()
