"""How long learning takes with more and more hidden states: EM beside spectral learning.

Run it with ``.venv/bin/python benchmarks/parsers_time.py [--data gum] [--states 4 8 16 24 32]
[--repeats 3]``. It learns from the training part of the Penn sample (or of GUM), and makes the
running-time table of [Cohen et al. 2013] for our implementation: one step of EM, EM with its usual
40 steps, spectral learning with its parts, and spectral+em, which takes 4 steps from there.

Each fit runs in its own process, on one thread, with all loops loaded. A figure is the median of
the repeats, in CPU seconds from trees in memory to the model. All three methods share the encoding
of the treebank and the small grammar that prunes (25 steps of EM with few states); "shared" is what
these take, and all totals contain it. What is left of a total are the lexicon and the counting of
negative marginals. ``--em-up-to`` leaves out EM with more states.
"""

import argparse
from statistics import median
from typing import Any

import eigentext as et
from _grammars import in_a_process, serve, trees, warm_fit
from _harness import Phases
from _record import Table, fact, ratio, record
from eigentext import engine
from grammars_spectral import DATA, PAPER_STATES, Parts

SHARED = ("treebank", "pruning em")
STEPS = ("em", "smoothed em")


class Times(Parts):
    """The CPU seconds of each phase, and the number of steps of those that have steps."""

    def __init__(self):
        super().__init__()
        self.steps: dict[str, int] = {}

    def finished(self, phase) -> None:
        """Add up both."""
        super().finished(phase)
        if phase.unit == "steps":
            self.steps[phase.name] = self.steps.get(phase.name, 0) + phase.done


def timed(name: str, limit: int | None, options: dict[str, Any]) -> dict[str, Any]:
    """The CPU seconds of a fit, by phase."""
    engine.use(engine.ThreadEngine(1))
    model, examples = et.LatentPCFG(**options), trees(name, "train", limit)
    warm_fit(model, examples)
    phases, times = Phases(), Times()
    with engine.report_to(times), phases("fit"):
        model.fit(examples)
    _, total, memory = phases.found["fit"]
    seconds = times.seconds
    n_steps = sum(times.steps.get(phase, 0) for phase in STEPS)
    return {
        "total": total,
        "MB": memory,
        "shared": sum(seconds.get(phase, 0.0) for phase in SHARED),
        "features": seconds.get("features", 0.0),
        "SVDs": seconds.get("projections", 0.0),
        "averages": seconds.get("averages", 0.0),
        "steps": n_steps,
        "step": sum(seconds.get(phase, 0.0) for phase in STEPS) / max(n_steps, 1),
    }


def medians(asked: argparse.Namespace, m: int, method: str) -> dict[str, float]:
    """The medians of several runs."""
    options = {"n_states": m, "method": method}
    where = {"name": DATA[asked.data], "limit": asked.trees}
    runs = [in_a_process("timed", **where, options=options) for _ in range(asked.repeats)]
    return {name: median(run[name] for run in runs) for name in runs[0]}


def tables(asked: argparse.Namespace) -> list[Table]:
    """The seconds by states, and the hours of the paper."""
    table = Table(
        "time",
        f"{DATA[asked.data]}: CPU seconds of learning by m",
        (
            *("shared s", "EM step s", fact("EM steps"), "EM s", "spectral s"),
            *("features s", "SVDs s", "averages s", "spectral+em s"),
            *(ratio("EM / spectral"), "EM MB", "spectral MB"),
        ),
        ("m",),
    )
    paper = Table(
        "paper",
        "Hours of [Cohen et al. 2013] on the whole Penn treebank: EM until its best model",
        tuple(map(fact, ("EM", "spectral", "EM / spectral"))),
        ("m",),
    )
    for m in asked.states:
        spectral, mixed = (medians(asked, m, method) for method in ("spectral", "spectral+em"))
        em = medians(asked, m, "em") if m <= asked.em_up_to else {}
        table.row(
            *(m, spectral["shared"], em.get("step"), em.get("steps"), em.get("total")),
            *(spectral[x] for x in ("total", "features", "SVDs", "averages")),
            mixed["total"],
            *(em["total"] / spectral["total"] if em else None, em.get("MB"), spectral["MB"]),
        )
    for m, (_, _, spectral, em) in PAPER_STATES.items():
        paper.row(m, em, spectral, em / spectral)
    return [table, paper]


ABOUT = (
    "One thread, medians of repeated runs, each in its own process with all loops loaded. All "
    "totals contain what is shared: the treebank and the pruning grammar. The machine was shared "
    "with other work, so CPU seconds vary by a fifth and more."
)


def main() -> None:
    options = argparse.ArgumentParser(description="Seconds of learning by states.")
    option = options.add_argument
    option("--data", choices=DATA, default="penn")
    option("--states", type=int, nargs="+", default=[4, 8, 16, 24, 32])
    option("--em-up-to", type=int, default=32, help="the most states for EM")
    option("--repeats", type=int, default=3)
    option("--trees", type=int, help="learn from the first ones only")
    asked = options.parse_args()
    title = f"Seconds of learning by states: {DATA[asked.data]}"
    record(f"parsers_time_{asked.data}", title, tables(asked), about=ABOUT)


if __name__ == "__main__" and not serve(timed):
    main()
