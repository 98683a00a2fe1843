"""Runs the application on loopback, on a free port, until Ctrl-C."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from eigentext.errors import EigentextError, ParameterError
from eigentext.explorer.guard import LOOPBACK
from eigentext.explorer.models import Explored, explored

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

PORT = 8765
TIMEOUT = 10.0
_KEEP_ALIVE = 15  # the seconds that an idle connection stays open
_CONNECTIONS = 500
_GOODBYE = 2  # the seconds after Ctrl-C in which running queries may end


def check_installed() -> None:
    """Raise EigentextError unless Starlette and uvicorn are installed."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise EigentextError(
            "the explorer needs Starlette and uvicorn; run pip install 'eigentext[web]'"
        ) from error


def load_models(paths: Sequence[Path]) -> list[Explored]:
    """Load models from files, and make them ready for light queries."""
    from eigentext.storage import load

    models = [explored(load(path), name) for path, name in zip(paths, model_names(paths))]
    for model in models:
        model.ready()
    return models


def model_names(paths: Sequence[Path]) -> list[str]:
    """Return the names of files without endings, or with the folder if two are equal."""
    stems = [path.stem if path.suffix == ".safetensors" else path.name for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name}/{path.name}"
        for path, stem in zip(paths, stems)
    ]


def listening(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens. Without `port`, take the usual one or, if taken, a free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port or 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ParameterError(
            f"--host {host}: this machine has no such address ({error.strerror}); give another one"
        ) from error
    for wanted in [PORT, 0] if port is None else [port]:
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address[0], wanted, *address[2:]))
            listener.listen(1024)
        except OSError as error:
            listener.close()
            if port is None and wanted:
                continue
            raise ParameterError(
                f"cannot listen on {host}, port {wanted} ({error.strerror}); choose another --port"
                " (0 means any free one), or another --host"
            ) from error
        return listener
    raise AssertionError("port 0 was tried")


def address(host: str, listener: socket.socket) -> str:
    """Return the address of the page for a browser."""
    port = listener.getsockname()[1]
    if host in ("0.0.0.0", "::", ""):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host."""
    return host in LOOPBACK or host.startswith("127.")


def serve(app: "ASGIApp", listener: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        web_server(app).run(sockets=[listener])


def web_server(app: "ASGIApp") -> "uvicorn.Server":
    """Return the server of an application. It does not run yet."""
    import uvicorn

    from eigentext.explorer.patience import patient_protocol

    config = uvicorn.Config(
        app,
        http=patient_protocol(),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GOODBYE,
        limit_concurrency=_CONNECTIONS,
    )
    return uvicorn.Server(config)
