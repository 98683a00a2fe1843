"""The memory budget of a fit: how much of it is left."""

import math
import mmap
import resource
import sys
from pathlib import Path

DEFAULT_MEMORY = 2_000_000_000  # bytes, where nobody states a budget


def resident() -> int:
    """The memory this process takes now, in bytes (where the system does not say, at its most)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
    except (OSError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def room(memory: int | None) -> float:
    """What is left of a stated memory of the process: bytes; endless if none was stated."""
    return math.inf if memory is None else max(0, memory - resident())


def give_back() -> None:
    """Let the system have what Arrow and malloc keep for later."""
    import pyarrow as pa

    for pool in (pa.default_memory_pool(), pa.system_memory_pool()):
        pool.release_unused()
