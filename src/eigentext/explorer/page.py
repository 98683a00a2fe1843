"""Reads the built page into memory once. No path of a request ever reaches the file system."""

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

# A fixed table, because the tables of systems differ.
_TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "woff2": "font/woff2",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
}
NOT_BUILT = (
    "the page is not built, so only the API is served; in a clone of the repository, run npm ci "
    "and npm run build in explorer/"
)


class File(NamedTuple):
    """A file of the page."""

    content: bytes
    type: str
    etag: str


def built_page(folder: Traversable | None = None) -> dict[str, File]:
    """Return the files of the page by the path in their address. None if it is not built."""
    folder = files("eigentext.explorer") / "static" if folder is None else folder
    if not (folder / "index.html").is_file():
        return {}
    found = {f"/{name}": file for name, file in _files(folder, "")}
    found["/"] = found["/index.html"]
    return found


def _files(folder: Traversable, before: str) -> Iterator[tuple[str, File]]:
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _files(entry, f"{before}{entry.name}/")
            continue
        kind = _TYPES.get(entry.name.rpartition(".")[2])
        if kind is not None:
            content = entry.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            yield f"{before}{entry.name}", File(content, kind, etag)
