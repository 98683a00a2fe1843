"""Model files: arrays in safetensors, the rest in JSON. A write is complete or leaves nothing."""

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
