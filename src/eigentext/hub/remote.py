"""Models on the Hugging Face Hub, by the library huggingface_hub, if it is installed."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from eigentext.errors import EigentextError
from eigentext.hub.folders import CARD, CONFIG, save
from eigentext.storage.files import MODEL_FILE
from eigentext.storage.models import load

_FILES = [MODEL_FILE, CARD, CONFIG]


def push(
    model: Any,
    repo_id: str,
    *,
    private: bool = True,
    token: str | None = None,
    message: str = "A model of eigentext",
    **about: Any,
) -> str:
    """Put a model on the Hub, with its card; returns the address of the commit.

    Parameters
    ----------
    model : fitted model, or path
        A path is a folder of :func:`eigentext.hub.save`, whose card you may have edited.
    repo_id : str
        "user/name". The repository is made if it does not exist.
    private : bool
        Whether a new repository is private. To publish is a decision: say False.
    token : str, optional
        Of your account; by default that of ``hf auth login``.
    message : str
        Of the commit.
    **about
        What the card says: see :func:`eigentext.hub.card`. Not for folders, which have a card.
    """
    hub = _library("push")
    if isinstance(model, (str, os.PathLike)):
        if about:
            raise EigentextError(
                f"{model}: has its card already, so {next(iter(about))} has no effect; edit "
                f"{CARD}, or give the model itself"
            )
        load(model)  # so that only models are pushed
        return _upload(hub, Path(model), repo_id, private, token, message)
    with tempfile.TemporaryDirectory(prefix="eigentext-") as name:
        folder = save(model, Path(name, "model"), **{"repo_id": repo_id, **about})
        return _upload(hub, folder, repo_id, private, token, message)


def pull(repo_id: str, *, revision: str | None = None, token: str | None = None) -> Any:
    """Load a model from the Hub. It is kept in the cache of huggingface_hub.

    The file holds arrays and JSON, and a schema checks them: no code from the Hub runs.

    Parameters
    ----------
    repo_id : str
        "user/name".
    revision : str, optional
        A commit, a tag or a branch. Name a commit if others can change the repository.
    token : str, optional
        For private repositories; by default that of ``hf auth login``.
    """
    hub = _library("pull")
    with _named(repo_id):
        folder = hub.snapshot_download(
            repo_id, revision=revision, token=token, allow_patterns=_FILES
        )
    return load(folder)


def _upload(
    hub: Any, folder: Path, repo_id: str, private: bool, token: str | None, message: str
) -> str:
    with _named(repo_id):
        hub.create_repo(repo_id, private=private, token=token, exist_ok=True)
        done = hub.upload_folder(
            repo_id=repo_id,
            folder_path=folder,
            token=token,
            commit_message=message,
            allow_patterns=_FILES,
        )
    return str(done.commit_url)


def _library(what: str) -> Any:
    try:
        return import_module("huggingface_hub")
    except ImportError as error:
        raise EigentextError(
            f"hub.{what} needs huggingface_hub; run pip install 'eigentext[hub]'"
        ) from error


@contextmanager
def _named(repo_id: str) -> Iterator[None]:
    """Turn errors of the Hub into one that names the repository."""
    errors = import_module("huggingface_hub.errors")
    try:
        yield
    except (errors.HfHubHTTPError, errors.HFValidationError, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise EigentextError(
            f"{repo_id}: the Hub refused it, or was not reached ({reason:.200}); check the name, "
            "the network, and your token (hf auth login)"
        ) from error
