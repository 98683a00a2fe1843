"""The web application: JSON about the models, and the page that shows it.

A request names a model by its number, a view by its name in a table, and a file of the page by its
name in memory. So no part of a request is ever used as a path on disk.
"""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from eigentext.engine.threads import alone
from eigentext.explorer.answers import KERNEL, answered, refusal, to_json
from eigentext.explorer.asking import MOST_BYTES, Arguments, RefusedError
from eigentext.explorer.guard import Guard
from eigentext.explorer.models import Explored
from eigentext.explorer.page import NOT_BUILT, File
from eigentext.explorer.pool import Answer, Pool

_THREADS = 2  # for light queries; more threads would only wait for each other
_MAP_PATIENCE = 6.0  # times the time limit: a map takes longer than a parse, and is made once
_MOST_MAPS = 16
_ASKED = {
    "GET": ("words", "neighbors", "analogy", "map", "spectrum", "topics", "clusters"),
    "POST": ("next", "parse", "marginals", "states", "proportions", "tag"),
}
_NO_PATH = "no such path; the page is at /, and the list of models at /api/models"


class Explorer:
    """The state of the application: models, the page, workers, and the maps made so far."""

    def __init__(self, models: Sequence[Explored], page: dict[str, File], pool: Pool):
        self.models, self.page, self.pool = list(models), page, pool
        self.about = to_json({"models": [one.about(m) for m, one in enumerate(self.models)]})
        self._limiter: anyio.CapacityLimiter | None = None
        self._maps: dict[tuple[int, str], Answer] = {}
        self._mapping: dict[tuple[int, str], anyio.Lock] = {}
        self._constant: dict[
            tuple[int, str], Answer
        ] = {}  # answers to light queries without arguments

    # Answering.

    async def list_models(self, request: Request) -> Response:
        """Answer with the list of all models."""
        return _json(200, self.about)

    async def ask(self, request: Request) -> Response:
        """Answer a query of a view of a model."""
        model = self._model(request.path_params["m"])
        view = request.path_params["view"]
        allowed = next((method for method, views in _ASKED.items() if view in views), None)
        if allowed is None:
            return _json(404, refusal(_NO_PATH))
        _check_method(request, allowed)
        arguments = dict(request.query_params)
        if allowed == "POST":
            arguments = await _body(request)
        return _json(*await self.answer(model, view, arguments, request))

    async def documents(self, request: Request) -> Response:
        """Answer with the typical documents of a topic."""
        model = self._model(request.path_params["m"])
        return _json(*await self.answer(model, "documents", {"topic": request.path_params["t"]}))

    async def kernel(self, request: Request) -> Response:
        """Answer with the kernel of two trees, which needs no model."""
        _check_method(request, "POST")
        return _json(*await self.answer(None, KERNEL, await _body(request), request))

    async def answer(
        self, model: int | None, query: str, arguments: Arguments, request: Request | None = None
    ) -> Answer:
        """Answer by a thread of this process or, if the query is heavy, by a worker."""
        if model is None or query in self.models[model].heavy:
            if model is not None and query == "map":
                return await self._map(model, arguments)
            gone = None if request is None else request.is_disconnected
            return await self.pool.ask(model, query, arguments, gone=gone)
        if not arguments and (model, query) in self._constant:
            return self._constant[model, query]
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(_THREADS)
        work = partial(_answered_alone, self.models, model, query, arguments)
        answer = 503, refusal("the server is busy; try again later")
        with anyio.move_on_after(self.pool.timeout):
            answer = await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._limiter
            )
        if not arguments and answer[0] == 200:
            self._constant[model, query] = answer
        return answer

    async def static(self, request: Request) -> Response:
        """Answer with a file of the page, by its exact name."""
        file = self.page.get(request.scope["path"])
        if file is None:
            missing = request.scope["path"] == "/" and not self.page
            return _json(404, refusal(NOT_BUILT if missing else _NO_PATH))
        headers = {"ETag": file.etag, "Cache-Control": "no-cache"}
        if file.etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(file.content, headers={**headers, "Content-Type": file.type})

    # Private steps.

    def _model(self, number: str) -> int:
        good = number.isascii() and number.isdecimal() and len(number) < 9
        if not good or int(number) >= len(self.models):
            raise HTTPException(404, f"no model {number[:20]!r}; /api/models lists them")
        return int(number)

    async def _map(self, model: int, arguments: Arguments) -> Answer:
        """The map for a number of words. It is made once, even if several clients ask for it."""
        key = model, str(arguments.get("n", ""))[:20]
        lock = self._mapping.setdefault(key, anyio.Lock())
        try:
            async with lock:
                if key not in self._maps:
                    answer = await self.pool.ask(model, "map", arguments, patience=_MAP_PATIENCE)
                    if answer[0] != 200:
                        return answer
                    if len(self._maps) >= _MOST_MAPS:
                        self._maps.pop(next(iter(self._maps)))
                    self._maps[key] = answer
                return self._maps[key]
        finally:
            if not lock.statistics().tasks_waiting:
                self._mapping.pop(key, None)


def application(
    explorer: Explorer, *, hosts: Sequence[str] = (), frames: Sequence[str] = ()
) -> Guard:
    """Return the ASGI application. It answers to loopback and to the names in `hosts`.

    Pages of the origins `frames` may show it inside of them.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await explorer.pool.start()
        try:
            yield
        finally:
            await explorer.pool.stop()

    # These routes take all methods. Otherwise a wrong method would reach the route of the page.
    every = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"]
    routes = [
        Route("/api/models", explorer.list_models),
        Route("/api/kernel", explorer.kernel, methods=every),
        Route("/api/{m}/topics/{t}/documents", explorer.documents),
        Route("/api/{m}/{view}", explorer.ask, methods=every),
        Route("/{path:path}", explorer.static),
    ]
    handlers: dict[Any, Any] = {
        HTTPException: _http_error,
        RefusedError: _refused,
        Exception: _bug,
    }
    app = Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers=handlers,
    )
    return Guard(app, hosts=hosts, frames=frames)


def _answered_alone(
    models: Sequence[Explored], number: int, query: str, arguments: Arguments
) -> Answer:
    with alone():  # the other threads answer other queries
        return answered(models, number, query, arguments)


async def _body(request: Request) -> Arguments:
    """The JSON object of a request."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "send JSON, with Content-Type: application/json")
    body = await request.body()
    if len(body) > MOST_BYTES:
        raise RefusedError(413, f"the body has more than {MOST_BYTES // 1000} kB; shorten it")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        why = str(error)[:80]
        raise RefusedError(400, f"the body is not JSON ({why}); send one JSON object") from error
    if not isinstance(found, dict):
        raise RefusedError(400, 'the body must be a JSON object, as in {"text": "the old man"}')
    return found


def _json(status: int, body: bytes, headers: dict[str, str] | None = None) -> Response:
    return Response(
        body,
        status,
        headers={"Cache-Control": "no-store", **(headers or {})},
        media_type="application/json",
    )


def _check_method(request: Request, allowed: str) -> None:
    if request.method != allowed and (request.method, allowed) != ("HEAD", "GET"):
        raise HTTPException(405, headers={"Allow": allowed})


async def _http_error(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    message = error.detail
    if error.status_code == 405:
        message = f"this path takes {headers.get('Allow')}, not {request.method}"
    return _json(error.status_code, refusal(message), headers)


async def _refused(request: Request, error: RefusedError) -> Response:
    return _json(error.status, refusal(str(error), **error.more))


async def _bug(request: Request, error: Exception) -> Response:
    return _json(500, refusal("this is a bug in eigentext; the terminal says more"))
