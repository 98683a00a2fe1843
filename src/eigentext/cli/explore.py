"""`eigentext explore`: a local web page over saved models."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated, Any

import typer

from eigentext.cli._console import (
    JsonFlag,
    notes,
    print_json,
    print_warning,
    printer,
)
from eigentext.cli.topics._shared import UnitOption, documents_for
from eigentext.errors import ParameterError

_KERNEL = "eigentext.grammars.chart._chart_loops.inside"


def explore(
    models: Annotated[
        list[Path] | None,
        typer.Argument(help="Files written by `fit` or `save`; without any, kernels of trees."),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; others than loopback are open to others.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="0 is any free one.", show_default="8765, or a free one"
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Answer to this host name, too."),
    ] = None,
    documents: Annotated[
        list[Path] | None,
        typer.Option("--documents", metavar="FILE", help="Show typical ones of these for topics."),
    ] = None,
    unit: UnitOption = None,
    timeout: Annotated[
        float, typer.Option(min=0.1, max=3600, help="Seconds that a query may take.")
    ] = 10.0,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes for slow queries, such as parses.")
    ] = 2,
    open: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Look at saved models in a browser: words, sequences, topics, grammars, kernels.

    The page is served on this machine, for this machine, until Ctrl-C.
    """
    from eigentext.explorer import server

    server.check_installed()
    from eigentext.explorer.app import Explorer, application
    from eigentext.explorer.page import NOT_BUILT, built_page
    from eigentext.explorer.pool import Pool

    paths = models or []
    _tell_compiling()
    listener = server.listening(host, port)  # a port that is taken is told before the loading
    with listener:
        loaded = server.load_models(paths)
        _add_documents(loaded, paths, documents or [], unit)
        page = built_page()
        if not page:
            print_warning(NOT_BUILT)
        _warn_of_others(host, allow_host or [], server.is_loopback(host))
        files = [(str(path.resolve()), one.name) for path, one in zip(paths, loaded)]
        pool = Pool(files, size=workers, timeout=timeout)
        names = [*(allow_host or []), *([] if host in ("0.0.0.0", "::", "") else [host])]
        where = server.address(host, listener)
        app = application(Explorer(loaded, page, pool), hosts=names)
        if json:
            print_json({"address": where, "models": [one.name for one in loaded]})
        else:
            printer.print(f"{where}  (Ctrl-C ends it)", markup=False)
        if open:
            webbrowser.open(where)
        server.serve(app, listener)


def _tell_compiling() -> None:
    """Say why the first answers are slow: it is the workers that compile, and nobody hears them."""
    from eigentext.engine.compiled import announce, substitute_folder

    with notes():
        announce(_KERNEL)
    if folder := substitute_folder():
        os.environ["NUMBA_CACHE_DIR"] = folder  # workers need not warn of it too


def _add_documents(
    models: list[Any], paths: list[Path], documents: list[Path], unit: str | None
) -> None:
    """Find typical documents for all topics."""
    if not documents:
        return
    topics = [(one, path) for one, path in zip(models, paths) if one.kind == "topics"]
    if not topics:
        raise ParameterError("--documents are for topics, and no model is of such; leave it out")
    for one, path in topics:
        one.add_documents(documents_for(one.model, documents, unit, "strict", path))


def _warn_of_others(host: str, names: list[str], is_loopback: bool) -> None:
    if is_loopback:
        return
    known = f"; it answers to {', '.join(names)}" if names else "; name it with --allow-host NAME"
    print_warning(
        f"--host {host}: everybody on the network can query these models, without a password{known}"
    )
