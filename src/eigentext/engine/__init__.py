"""Where the work runs, and how it tells how far it is.

An engine is one small thing: it maps a function over shards, in parallel, and hands the results
back in the order of the shards. Statistics are sums of integers, so order and number of workers
never change a bit of them; where floating point enters, the shards are fixed by the data alone.

There are two: the threads of this process (`current`), whose tasks share memory, and a Dask cluster
(`cluster`), whose tasks share nothing. What suits both runs on `workers`.
"""

from eigentext.engine._progress import Phase, Reporter, phase, report_to
from eigentext.engine.blas import one_blas_thread
from eigentext.engine.blocks import even_blocks
from eigentext.engine.choice import cluster, current, use, workers
from eigentext.engine.threads import Engine, ThreadEngine, combined

__all__ = [
    "Engine",
    "Phase",
    "Reporter",
    "ThreadEngine",
    "cluster",
    "combined",
    "current",
    "even_blocks",
    "one_blas_thread",
    "phase",
    "report_to",
    "use",
    "workers",
]
