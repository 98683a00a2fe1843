"""N-grams at scale and in service: fits within a budget, files, loading and scoring, beside KenLM.

Run it with ``.venv/bin/python benchmarks/ngrams_service.py``. It needs the module kenlm (``pip
install kenlm``), which reads the ARPA file of the same model. The text is the first 20 million
tokens of enwiki-30m, and the next 500,000 are scored, with unknown words. Each row is a process of
its own with one thread. Files are kept in the temporary folder.
"""

import os
import sys
import time

from _harness import Phases, measured, peak_bytes, scratch, serve, unpacked
from _record import Column, Table, fact, record, score

TEXT = "text/enwiki-30m.tok.txt.xz"
TRAINED, SCORED = 20_000_000, 500_000
SHORT = 25  # words of a short sentence
SEEN, UNSEEN = scratch("ngrams-20m.txt"), scratch("ngrams-20m.unseen")
GIGABYTE = 1_000_000_000
PRUNE = (0, 0, 1)
SETTINGS = {
    "counts": {"mapped": False},
    "mapped": {"mapped": True},
    "mapped, 16 bits": {"quantize": 16},
    "mapped, 8 bits": {"quantize": 8},
    "mapped, 4 bits": {"quantize": 4},
}


def prepare() -> None:
    """Write the text to learn from and the text to score."""
    if SEEN.exists() and UNSEEN.exists():
        return
    n = 0
    with unpacked(TEXT).open() as text, SEEN.open("w") as seen, UNSEEN.open("w") as unseen:
        for line in text:
            (seen if n < TRAINED else unseen).write(line)
            n += len(line.split())
            if n >= TRAINED + SCORED:
                break


def file_of(order: int, form: str):
    return scratch(f"ngrams-20m-{order}-{form.replace(', ', '-').replace(' ', '-')}")


def fit(order: int, memory: int | None, prune=()) -> dict:
    """Fit a model and save its counts, or its tables if it is pruned."""
    from eigentext import KneserNey, engine

    engine.use(engine.ThreadEngine(1))
    started, phases = time.process_time(), Phases()
    with engine.report_to(phases):
        model = KneserNey(order, prune=prune).fit(SEEN, memory=memory, cache=False)
        path = file_of(order, "pruned" if prune else "counts")
        model.save(path, mapped=bool(prune))
    cpu = time.process_time() - started
    peak = max(peak for *_, peak in phases.found.values())
    figures = {"n-grams": sum(model.diagnostics_["ngrams"]), "file MB": path.stat().st_size / 1e6}
    return {"cpu": cpu, **figures, "most MB": max(peak, peak_bytes() / 1e6)}


def write_forms(order: int) -> dict:
    """Write the mapped files and, for order 3, the ARPA file."""
    import eigentext as et

    model = et.load(file_of(order, "counts"))
    for form, settings in SETTINGS.items():
        if form != "counts":
            model.save(file_of(order, form), **settings)
    if order == 3:
        model.to_arpa(file_of(3, "arpa"))
    return {}


def timed(call, repeats: int = 3) -> float:
    """The fewest CPU seconds of some calls."""
    times = []
    for _ in range(repeats):
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def sentences() -> tuple[list[list[str]], list[list[str]]]:
    """The lines to score, and the same words in short sentences."""
    lines = [line.split() for line in UNSEEN.read_text().splitlines()]
    short = [line[at : at + SHORT] for line in lines for at in range(0, len(line), SHORT)]
    return lines, short


def serve_ours(order: int, form: str) -> dict:
    """Load a model and score with it. What is compiled once for all is not counted."""
    import warnings

    import numpy as np

    import eigentext as et

    et.engine.use(et.engine.ThreadEngine(1))
    lines, short = sentences()
    tiny = scratch("ngrams-tiny")
    with warnings.catch_warnings(action="ignore"):
        small = et.KneserNey(3).fit([["to", "be"], ["or", "not"]])
    settings = {"mapped": True} if form == "pruned" else SETTINGS[form]
    small.save(tiny, **settings)
    et.load(tiny).log_probabilities([["to"]])
    et.load(tiny).log_probabilities(["to"])
    path = file_of(order, form)
    started = time.process_time()
    model = et.load(path)
    model.log_probabilities(["the"])
    load = time.process_time() - started
    scores = model.log_probabilities(lines, rare=True)
    n = sum(map(len, lines))
    rates = {
        "in bulk": timed(lambda: model.log_probabilities(lines, rare=True)),
        "by line": timed(lambda: [model.log_probabilities(one, rare=True) for one in lines]),
        "by 25 words": timed(lambda: [model.log_probabilities(one, rare=True) for one in short]),
    }
    return {
        "load ms": 1000 * load,
        "file MB": path.stat().st_size / 1e6,
        **{name: n / seconds for name, seconds in rates.items()},
        "perplexity": float(np.exp(-scores.mean())),
    }


def serve_kenlm() -> dict:
    import math

    import kenlm

    lines, short = sentences()
    path = file_of(3, "arpa")
    started = time.process_time()
    model = kenlm.Model(str(path))
    model.score("the")
    load = time.process_time() - started
    texts, parts = ([" ".join(one) for one in some] for some in (lines, short))
    total = sum(map(model.score, texts)) * math.log(10)
    n = sum(map(len, lines))
    return {
        "load ms": 1000 * load,
        "file MB": path.stat().st_size / 1e6,
        "by line": n / timed(lambda: [model.score(one) for one in texts]),
        "by 25 words": n / timed(lambda: [model.score(one) for one in parts]),
        "perplexity": math.exp(-total / (n + len(lines))),
    }


FITS = {
    "order 3": lambda: fit(3, None),
    "order 3, 1 GB": lambda: fit(3, GIGABYTE),
    "order 5": lambda: fit(5, None),
    "order 5, 1 GB": lambda: fit(5, GIGABYTE),
    "order 3, prune 0 0 1, 1 GB": lambda: fit(3, GIGABYTE, PRUNE),
    "order 5, prune 0 0 1, 1 GB": lambda: fit(5, GIGABYTE, PRUNE),
}
FORMS = [*SETTINGS, "pruned"]
CONTESTANTS = {
    **FITS,
    "forms 3": lambda: write_forms(3),
    "forms 5": lambda: write_forms(5),
    **{
        f"{order} {form}": lambda order=order, form=form: serve_ours(order, form)
        for order in (3, 5)
        for form in FORMS
    },
    "3 kenlm": serve_kenlm,
}


def main() -> None:
    prepare()
    if serve(CONTESTANTS):
        return
    fits = Table(
        "fits",
        "Fits on 20 million tokens",
        ("CPU s", "peak MB", "file MB", fact("n-grams")),
        labels=("fit",),
    )
    for name in FITS:
        found = measured(name)
        figures = found["figures"]
        fits.row(name, found["cpu"], figures["most MB"], figures["file MB"], figures["n-grams"])
    service = Table(
        "service",
        "Loading and scoring, with one thread",
        (
            "file MB",
            Column("load ms", "time", "lower"),
            "peak MB",
            *(Column(name, "rate", "higher") for name in ("by 25 words", "by line", "in bulk")),
            score("perplexity", "lower", digits=2),
            fact("against counts"),
        ),
        labels=("order", "form"),
        about="Scoring is in tokens for each CPU second.",
    )
    for order in (3, 5):
        exact = 0.0
        measured(f"forms {order}")
        rows = [*FORMS, *(["kenlm"] if order == 3 else [])]
        for form in rows:
            found = measured(f"{order} {form}")
            figures = found["figures"]
            names = ("by 25 words", "by line", "in bulk", "perplexity")
            exact = exact or figures["perplexity"]
            off = f"{figures['perplexity'] / exact - 1:+.1e}"
            print(f"{order} {form}: perplexity {figures['perplexity']:.9f}")
            label = {"pruned": "mapped, pruned 0 0 1", "kenlm": "kenlm.Model of the ARPA file"}
            service.row(
                str(order), label.get(form, form), figures["file MB"], figures["load ms"],
                found["peak"] / 1e6, *(figures.get(name) for name in names), off,
            )  # fmt: skip
    record(
        "ngrams_service",
        "N-grams at scale and in service",
        [fits, service],
        about="The first 20 million tokens of enwiki-30m (314,555 words); the next 500,000 are "
        "scored, with unknown words as the rare word, in 5,981 lines, or in sentences of 25 words "
        "at most. Loading is et.load and the score of one word. The peak of a fit is that of its "
        "phases, with all that the process takes; that of loading and scoring includes the text.",
        peers=("kenlm",),
    )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
