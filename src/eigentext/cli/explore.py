"""`eigentext explore`: a local web page over saved models."""

import os
import sys
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eigentext.cli._bundles import JsonFlag
from eigentext.cli._console import notes, print_json, print_plain, print_warning
from eigentext.cli._options import Bundle, with_options
from eigentext.cli.topics._shared import DocumentOptions, UnitOption
from eigentext.errors import ParameterError

if TYPE_CHECKING:
    from eigentext.explorer.front import Base
    from eigentext.explorer.models import Explored

_LOOP = "eigentext.grammars.chart._chart_loops.inside"  # the slowest to compile
_ALL_ADDRESSES = ("0.0.0.0", "::", "")


@dataclass(kw_only=True)
class ServerOptions(Bundle):
    """Where the page is served, and to whom."""

    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on. With any other address than the default, other machines "
            "can reach the page."
        ),
    ] = "127.0.0.1"
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port to listen on; 0 is any free port.",
            show_default="8765, or a free one",
        ),
    ] = None
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Also answer to this host name."),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="Where a proxy serves the page, as in https://example.org/models/ or /models/. "
            "Its host name is allowed, too.",
        ),
    ] = None
    access_log: Annotated[
        Path | None,
        typer.Option(
            "--access-log",
            metavar="FILE",
            help="Write a line for each request to this file; - is standard error.",
        ),
    ] = None
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds that a query may take.")
    ] = 10.0
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes for slow queries, such as parses.")
    ] = 2

    def names(self) -> list[str]:
        """Return the host names that the page answers to."""
        own = [] if self.host in _ALL_ADDRESSES else [self.host]
        public = self.base().host
        return [*(self.allow_host or []), *own, *([public] if public else [])]

    def base(self) -> "Base":
        """Return the public address of the page."""
        from eigentext.explorer.front import Base

        return Base.parse(self.base_url) if self.base_url else Base()

    @contextmanager
    def log(self) -> Iterator[Callable[[str], None] | None]:
        """Open the log, and yield a function that writes a line, or None without a log."""
        if self.access_log is None:
            yield None
            return
        if str(self.access_log) == "-":
            yield lambda line: print(line, file=sys.stderr, flush=True)
            return
        try:
            file = self.access_log.open("a", buffering=1, encoding="utf-8")
        except OSError as error:
            raise ParameterError(
                f"--access-log {self.access_log}: cannot be written ({error.strerror}); name "
                "another file, or - for standard error"
            ) from error
        with file:
            yield lambda line: print(line, file=file)


@dataclass(kw_only=True)
class TopicDocuments(Bundle):
    """Documents that show what topics are about."""

    documents: Annotated[
        list[Path] | None,
        typer.Option(
            "--documents", metavar="FILE", help="For topics: show typical documents from these."
        ),
    ] = None
    unit: UnitOption = None

    def add_to(self, models: list["Explored"], paths: list[Path]) -> None:
        """Find typical documents for all topics among the models."""
        if not self.documents:
            return
        topics = [(one, path) for one, path in zip(models, paths) if one.kind == "topics"]
        if not topics:
            raise ParameterError("--documents are for topics, but no model has any; leave it out")
        for one, path in topics:
            reading = DocumentOptions(unit=self.unit)
            one.add_documents(reading.corpus(one.model, path, self.documents))


@with_options()
def explore(
    serving: ServerOptions,
    documents: TopicDocuments,
    models: Annotated[
        list[Path] | None,
        typer.Argument(help="Files written by `fit` or `save`; without any, only tree kernels."),
    ] = None,
    open: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Look at saved models in a browser: words, sequences, topics, grammars, kernels.

    The page is served from this machine until Ctrl-C. By default only this machine can reach it.
    """
    from eigentext.explorer import server

    server.check_installed()
    from eigentext.explorer.app import Explorer, application
    from eigentext.explorer.front import Front
    from eigentext.explorer.page import NOT_BUILT, built_page
    from eigentext.explorer.pool import Pool

    paths = models or []
    _announce_compiling()
    base = serving.base()
    with (  # fails before models load
        serving.log() as log,
        server.listening(serving.host, serving.port) as listener,
    ):
        loaded = server.load_models(paths)
        documents.add_to(loaded, paths)
        page = built_page()
        if not page:
            print_warning(NOT_BUILT)
        if not server.is_loopback(serving.host):
            _warn_of_access(serving)
        files = [(str(path.resolve()), one.name) for path, one in zip(paths, loaded)]
        pool = Pool(files, size=serving.workers, timeout=serving.timeout)
        where = server.address(serving.host, listener)
        app = application(Explorer(loaded, page, pool), hosts=serving.names())
        if json:
            about = {"address": where, "models": [one.name for one in loaded]}
            print_json(about | ({"base_url": base.url or base.path} if serving.base_url else {}))
        else:
            print_plain(f"{where}  (Ctrl-C ends it)")
        if open:
            webbrowser.open(where)
        server.serve(Front(app, base, log), listener)


def _announce_compiling() -> None:
    """Say why the first answers are slow: the worker processes compile, and cannot say so."""
    from eigentext.engine.compiled import announce, substitute_folder

    with notes():
        announce(_LOOP)
    if folder := substitute_folder():
        os.environ["NUMBA_CACHE_DIR"] = folder  # so that workers do not warn of it, too


def _warn_of_access(serving: ServerOptions) -> None:
    names = serving.allow_host or []
    known = f"; it answers to {', '.join(names)}" if names else "; name it with --allow-host NAME"
    print_warning(
        f"--host {serving.host}: everybody on the network can query these models, without a "
        f"password{known}"
    )
