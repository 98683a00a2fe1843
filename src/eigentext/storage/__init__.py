"""Model files: arrays in safetensors, the rest in JSON. A write is complete or leaves nothing."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.storage.checkpoints import Checkpoint, checkpoint, checkpointing
    from eigentext.storage.files import check_writable, read_saved, write_saved
    from eigentext.storage.models import Saved, load

__all__ = [
    "Checkpoint",
    "Saved",
    "check_writable",
    "checkpoint",
    "checkpointing",
    "load",
    "read_saved",
    "write_saved",
]

__getattr__ = lazily(
    __name__,
    {
        "Checkpoint": "checkpoints",
        "Saved": "models",
        "check_writable": "files",
        "checkpoint": "checkpoints",
        "checkpointing": "checkpoints",
        "load": "models",
        "read_saved": "files",
        "write_saved": "files",
    },
)
