"""Where the work runs, and how it tells how far it is.

An engine is one small thing: it maps a function over shards, in parallel, and hands the results
back in the order of the shards. Statistics are sums of integers, so order and number of workers
never change a bit of them; where floating point enters, the shards are fixed by the data alone.
"""

from eigentext.engine._progress import Phase, Reporter, phase, report_to
from eigentext.engine.blocks import even_blocks
from eigentext.engine.threads import Engine, ThreadEngine, current, use

__all__ = [
    "Engine",
    "Phase",
    "Reporter",
    "ThreadEngine",
    "current",
    "even_blocks",
    "phase",
    "report_to",
    "use",
]
