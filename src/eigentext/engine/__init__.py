"""Where the work runs, and how it reports its progress.

An engine maps a function over shards in parallel and returns the results in the order of the
shards. Statistics are sums of integers, so the number of workers never changes a bit of them. Sums
of floating-point numbers use shards that depend on the data alone.

There are two engines: the threads of this process (`current`), whose tasks share memory, and a Dask
cluster (`distributed`), whose tasks share nothing. `workers` returns the Dask cluster if there is
one, and else the threads.
"""

from eigentext.engine._progress import Phase, Reporter, phase, report_to
from eigentext.engine.bars import notebook_shell, progress
from eigentext.engine.blas import one_blas_thread
from eigentext.engine.blocks import even_blocks
from eigentext.engine.choice import current, distributed, use, workers
from eigentext.engine.threads import Engine, ThreadEngine, combined

__all__ = [
    "Engine",
    "Phase",
    "Reporter",
    "ThreadEngine",
    "combined",
    "current",
    "distributed",
    "even_blocks",
    "notebook_shell",
    "one_blas_thread",
    "phase",
    "progress",
    "report_to",
    "use",
    "workers",
]
