"""Running the application: on loopback, on a free port, until Ctrl-C."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from eigentext.errors import EigentextError, ParameterError
from eigentext.explorer.guard import LOOPBACK
from eigentext.explorer.models import Explored, explored

PORT = 8765
TIMEOUT = 10.0
_KEEP_ALIVE = 15  # seconds that an idle connection stays
_CONNECTIONS = 500
_GOODBYE = 2  # seconds for what is being answered at Ctrl-C


def check_installed() -> None:
    """Raise unless what serves is there."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise EigentextError(
            "the explorer needs Starlette and uvicorn; run pip install 'eigentext[web]'"
        ) from error


def load_models(paths: Sequence[Path]) -> list[Explored]:
    """The models in files, ready for light queries."""
    from eigentext.storage import load

    models = [explored(load(path), name) for path, name in zip(paths, model_names(paths))]
    for model in models:
        model.ready()
    return models


def model_names(paths: Sequence[Path]) -> list[str]:
    """The files' names without endings, or with, where that tells them apart."""
    stems = [path.stem if path.suffix == ".safetensors" else path.name for path in paths]
    return [
        stem if stems.count(stem) == 1 else f"{path.parent.name}/{path.name}"
        for path, stem in zip(paths, stems)
    ]


def listening(host: str, port: int | None) -> socket.socket:
    """A socket that listens; by default on the usual port or, if that is taken, on a free one."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port or 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        raise ParameterError(f"--host {host}: no such address here ({error.strerror})") from error
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
                " (0 is any free one), or another --host"
            ) from error
        return listener
    raise AssertionError("port 0 was tried")


def address(host: str, listener: socket.socket) -> str:
    """What to type into a browser."""
    port = listener.getsockname()[1]
    if host in ("0.0.0.0", "::", ""):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it."""
    return host in LOOPBACK or host.startswith("127.")


def serve(app: Any, listener: socket.socket) -> None:
    """Answer until Ctrl-C."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=_GOODBYE,
        limit_concurrency=_CONNECTIONS,
    )
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])
