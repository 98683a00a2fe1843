"""Compile all loops for the wheel: an archive for this version of Python, beside the engine.

Run it with ``python .ci/ship_loops.py``, about a minute. ``make wheel`` does so. To ship loops for
several versions of Python, run it with each of them before the wheel is built.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from eigentext.engine import shipped


def main() -> None:
    """Record every loop that `eigentext warm-up` compiles, and pack them."""
    for old in shipped.archives_of_this_python():
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        recorded = Path(folder, "recorded")
        environment = {
            **os.environ,
            "NUMBA_CPU_NAME": shipped.PROCESSOR,
            "NUMBA_CPU_FEATURES": "",
            "NUMBA_CACHE_DIR": str(Path(folder, "cache")),
            shipped.VARIABLE: f"record={recorded}",
        }
        subprocess.run(
            [sys.executable, "-m", "eigentext", "warm-up", "--quiet"], check=True, env=environment
        )
        path = shipped.pack(recorded)
        n_loops = len(list(recorded.iterdir()))
    print(f"{path}: {n_loops} loops, {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
