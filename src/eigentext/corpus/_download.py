"""Downloads of data sets from the NLTK collection. Only complete, readable files are kept."""

import lzma
import os
import tempfile
import zipfile
import zlib
from pathlib import Path

from eigentext import engine
from eigentext.corpus._places import NLTK, Dataset, not_found, own_folder
from eigentext.errors import CorpusError

DOWNLOADS = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages"
# The errors of damaged, incomplete or encrypted archives, and of files that are not text.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(OSError, RuntimeError, ValueError),
)
_SECONDS = 30  # a download without data for this long is given up


def fetch(dataset: Dataset) -> Path:
    """Download the data set into the folder of eigentext. Keep it only if it can be read."""
    if not dataset.download:
        raise not_found(dataset, "not offered for download")
    base = os.environ.get("EIGENTEXT_DOWNLOADS") or DOWNLOADS
    url = f"{base.rstrip('/')}/{dataset.download}"
    data = _fetched(dataset, url)
    target = own_folder() / NLTK / dataset.download
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as folder:
            kept = Path(folder, target.name)
            kept.write_bytes(data)
            try:
                dataset.read(kept)
            except BROKEN as error:
                raise not_found(dataset, f"what {url} sent cannot be read ({error})") from error
            kept.replace(target)
    except OSError as error:
        raise CorpusError(
            f"{target}: cannot be written ({error.strerror}); "
            "set EIGENTEXT_CACHE to a folder that you may write to"
        ) from error
    return target


def _fetched(dataset: Dataset, url: str) -> bytes:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    pieces: list[bytes] = []
    try:
        with urlopen(url, timeout=_SECONDS) as response:
            size = int(response.headers.get("Content-Length", 0)) or None
            with engine.phase(f"download {dataset.name}", size, "B") as advance:
                while piece := response.read(1 << 16):
                    pieces.append(piece)
                    advance(len(piece))
    except (OSError, ValueError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # the connection
        raise not_found(dataset, f"{url} cannot be fetched ({error})") from error
    return b"".join(pieces)
