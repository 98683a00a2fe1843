"""Kernels of trees and tagged sequences: evaluations per second, memory, growth; the perceptron.

Run it with ``.venv/bin/python benchmarks/kernels.py [TABLE ...] [--trees N] [--lists FOLDER]``;
tables are gram, encode, sequences, growth, perceptron (default: all), and --trees takes fewer than
1,000 trees and sentences, for a quick try.

Trees are those of NLTK's Penn sample in the order of its files, normalized; decay is 0.4. An
evaluation is one K(a, b). A symmetric Gram matrix of n trees counts n (n + 1) / 2 evaluations; a
Gram matrix of n and m trees, and scores of n trees by m weighted ones, count n m. Speeds are by CPU
seconds on one thread and by wall seconds on two. Both are the best of 15 runs in turns (growth and
perceptron: one run). Loops have been compiled and loaded before. Sets of trees have been encoded
and have made their forests, which they keep; "ready" is the time for that, as if it were as many
evaluations. Plain Python runs on the first 60 trees. Memory is the peak of the process, with
Python, Numba and the treebank.

"perceptron" learns from 20-best lists of the first 1,500 training trees by a PCFG of the other
folds (five folds). The lists take some minutes to make and are kept in the folder of lists.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import eigentext as et
from _grammars import factors, gold, in_a_process, serve
from _harness import Phases
from _plain_kernels import indexed, looped, numbered, plain, recursive
from _record import Column, Table, fact, ratio, record
from _reranking import FOLDER, jackknifed, kept
from eigentext import engine
from eigentext.reranking.measures import closest, tree_f1

DECAY, REPEATS, TURNS, FEW = 0.4, 5, 15, 60
SIZES = (250, 500, 1000, 2000, 3914)
N_LISTS, N_EPOCHS = 1500, 3
HALF = 0.5  # the decay of the perceptron: sums are exact, so their order changes no tie


def best(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU and wall seconds of the best of some runs, and the result."""
    runs, found = [], None
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        runs.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in runs), min(wall for _, wall in runs), found


def by_turns(work: Callable[[], Any]) -> dict[str, Any]:
    """Seconds on one thread and on two, the best of some runs in turns, and the results."""
    runs: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    found = {}
    engines = {n: engine.ThreadEngine(n) for n in runs}
    for _ in range(TURNS):
        for n, threads in engines.items():
            with engine.use(threads):
                wall, cpu = time.perf_counter(), time.process_time()
                found[n] = work()
                runs[n].append((time.process_time() - cpu, time.perf_counter() - wall))
    walls = [min(wall for _, wall in runs[n]) for n in runs]
    return {"cpu": min(cpu for cpu, _ in runs[1]), "walls": walls, "found": list(found.values())}


def triangle(n: int) -> int:
    return n * (n + 1) // 2


def warm(kernel: Any, encoded: Any) -> None:
    some = encoded[:20]
    kernel.gram(some)
    kernel.gram(some, some[:])
    kernel.scores(some, np.ones(len(some)), some[:])


def alphas(n: int) -> np.ndarray:
    """Weights of both signs, as a perceptron has them."""
    return np.random.default_rng(0).integers(-3, 4, n).astype(float)


def difference(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest relative difference."""
    return float((np.abs(found - expected) / np.maximum(expected, 1e-300)).max())


# -- tasks, each in its own process ----------------------------------------------------------------


def measured(n: int, what: str) -> dict:
    """Our kernels on n trees or sentences; ``encoded[:]`` has no forests yet."""
    kernel, structures = structures_of(what, n)
    encoded, alpha = kernel.encode(structures), alphas(n)
    warm(kernel, encoded)
    first, second = encoded[:], encoded[:]
    kernel.gram(first), kernel.gram(second)  # now both have forests
    gram = by_turns(lambda: kernel.gram(first))
    rectangle = by_turns(lambda: kernel.gram(first, second))
    scores = by_turns(lambda: kernel.scores(first, alpha, second))
    ready = by_turns(lambda: (one := encoded[:], one.forests, one.rows(one)))
    reference = gram["found"][0] @ alpha
    worst = np.abs(scores["found"][0] - reference).max() / np.abs(reference).max()
    pairs = [[*one.pop("found")] for one in (gram, rectangle, scores)]
    ready.pop("found")
    return {
        "gram": gram,
        "rectangle": rectangle,
        "scores": scores,
        "ready": ready,
        "difference": float(worst),
        "trace": float(np.trace(pairs[0][0])),
        "same": all(np.array_equal(*pair) for pair in pairs),
    }


def structures_of(what: str, n: int) -> tuple[Any, list[Any]]:
    if what == "trees":
        return et.TreeKernel(DECAY), gold("penn-sample", "all", n)
    # The tag joins the chunk tag and the part of speech.
    sentences = et.load_dataset("conll2000")[:n]
    return et.SequenceKernel(DECAY), [[(w, f"{c}|{p}") for w, p, c in one] for one in sentences]


def plain_trees(n: int) -> dict:
    """Plain Python on a few trees, and whether it agrees with ours."""
    kernel, trees = structures_of("trees", n)
    expected, found = kernel.gram(trees), {}
    for function in (recursive, indexed):
        start = time.process_time()
        nodes = [plain(tree) for tree in trees]
        gram = np.zeros((n, n))
        for i in range(n):
            for j in range(i, n):
                gram[i, j] = gram[j, i] = function(nodes[i], nodes[j], DECAY)
        seconds = time.process_time() - start
        found[function.__name__] = {"seconds": seconds, "difference": difference(gram, expected)}
    return found


def plain_sequences(n: int) -> dict:
    kernel, sentences = structures_of("sequences", n)
    sequences = numbered(sentences)
    looped(numbered(sentences[:2]), DECAY)
    cpu, _, gram = best(lambda: looped(sequences, DECAY))
    expected = kernel.gram(sentences)
    return {"seconds": cpu, "difference": difference(gram, expected)}


def encoding(n: int) -> dict:
    engine.use(engine.ThreadEngine(1))
    (kernel, trees), (other, sentences) = (structures_of(x, n) for x in ("trees", "sequences"))
    strings = [str(tree) for tree in trees]
    found = {}
    for title, work in (
        ("bracket strings", lambda: kernel.encode(strings)),
        ("trees", lambda: kernel.encode(trees)),
        ("tagged sentences", lambda: other.encode(sentences)),
    ):
        cpu, _, encoded = best(work)
        sizes = encoded.store.nodes.size[encoded.roots]
        found[title] = cpu, int(sizes.sum()), len(encoded.store), int(sizes.max())
    return found


def size(n: int) -> dict:
    engine.use(engine.ThreadEngine(1))
    kernel, trees = structures_of("trees", n)
    encoded, alpha = kernel.encode(trees), alphas(n)
    warm(kernel, encoded)
    phases, found = Phases(), {"nodes": len(encoded.store)}
    with phases("scores"):
        kernel.scores(encoded[:], alpha, encoded[:])
    with phases("gram"):
        gram = kernel.gram(encoded[:])
    return found | phases.found | {"matrix": gram.nbytes / 1e6}


class Passes:
    """Measures the CPU seconds of each pass of a perceptron over its examples."""

    def __init__(self, n: int):
        self.n, self.seconds = n, []

    def started(self, phase: Any) -> None:
        """Start the clock."""
        self._last = time.process_time()

    def advanced(self, phase: Any) -> None:
        """Keep what a pass took when it is over."""
        if phase.done % self.n == 0:
            now = time.process_time()
            self.seconds.append(now - self._last)
            self._last = now

    def finished(self, phase: Any) -> None:
        """Do nothing: passes have been kept."""


def perceptron(n: int, folder: str) -> dict:
    engine.use(engine.ThreadEngine(1))
    trees = gold("penn-sample", "train", n)
    lists, making = kept(Path(folder), f"pcfg-{n}-5", lambda: jackknifed(et.PCFG, trees, 5))
    structures = [[one.structure for one in candidates] for candidates in lists]
    right = [closest(c, t, tree_f1) for c, t in zip(structures, trees)]
    kernel = et.TreeKernel(HALF)
    et.KernelPerceptron(kernel, n_epochs=2).fit(structures[:20], right[:20])
    phases, passes = Phases(), Passes(n)
    with phases("encode"):
        encoded = kernel.encode([one for candidates in structures for one in candidates])
    with phases("fit"), engine.report_to(passes):
        model = et.KernelPerceptron(kernel, n_epochs=N_EPOCHS).fit(
            structures, right, encoded=encoded
        )
    with phases("anew"):
        again = recomputed(kernel, encoded, structures, right)
    return phases.found | {
        "making": making,
        "candidates": len(encoded),
        "nodes": len(encoded.store),
        "mistakes": model.n_mistakes_,
        "support": len(model.support_),
        "passes": passes.seconds,
        "passes anew": again[0],
        "same": again[1] == model.mistakes_,
    }


def recomputed(kernel: Any, encoded: Any, structures: Any, right: list[int]) -> tuple[Any, Any]:
    """The dual perceptron of [Collins 2003]: each step computes its scores from all supports.

    The sum over supports is the fast one of the kernel; a plain sum would take hours.
    """
    borders = np.cumsum([0, *map(len, structures)])
    alpha, identity = np.zeros(len(encoded)), encoded.identity
    mistakes, seconds = [], []
    for epoch in range(N_EPOCHS):
        start = time.process_time()
        for i, y in enumerate(right):
            support = np.flatnonzero(alpha)
            some = encoded[borders[i] : borders[i + 1]]
            z = int(kernel.scores(encoded[support], alpha[support], some).argmax())
            if identity[borders[i] + z] != identity[borders[i] + y]:
                alpha[borders[i] + y] += 1
                alpha[borders[i] + z] -= 1
                mistakes.append((epoch, i, z))
        seconds.append(time.process_time() - start)
    return seconds, mistakes


# -- the tables ------------------------------------------------------------------------------------


SPEEDS: tuple[Column | str, ...] = (
    "one thread, thousands/s",
    ratio("ratio"),
    "two threads, thousands/s",
    ratio("of two threads"),
    "all on one thread, s",
)


def show_gram(asked: argparse.Namespace) -> tuple[Table, str]:
    n, few = asked.trees, min(FEW, asked.trees)
    table = Table("gram", f"Trees, the first {n:,} of the Penn sample", SPEEDS)
    slow = in_a_process("plain_trees", n=few)
    base = triangle(few) / slow["indexed"]["seconds"]
    for name, title in (("recursive", "all pairs of nodes"), ("indexed", "inverted index")):
        speed = triangle(few) / slow[name]["seconds"]
        cells = speed / 1e3, speed / base, None, None, triangle(n) / speed
        table.row(f"Python: {title}, {few} trees", *cells)
    ours = show_ours(table, "trees", n, base)
    worst = max(row["difference"] for row in slow.values())
    return table, (
        f"Trees: trace {ours['trace']:.6f}. The largest relative difference of entries from those "
        f"of plain Python is {worst:.1e}; that of scores from the Gram matrix times alpha, as a "
        f"share of the largest, is {ours['difference']:.1e}; the same bits on two threads: "
        f"{ours['same']}."
    )


def show_ours(table: Table, what: str, n: int, base: float) -> dict:
    """Add our kernels: their CPU speed beside `base`, their wall speed beside one thread."""
    ours = in_a_process("measured", n=n, what=what)
    counts = {"gram": triangle(n), "rectangle": n * n, "scores": n * n, "ready": n * n}
    for name, evaluations in counts.items():
        cpu, (one, two) = ours[name]["cpu"], ours[name]["walls"]
        speed = evaluations / cpu
        cells = speed / 1e3, speed / base, evaluations / two / 1e3, one / two, cpu
        table.row(f"eigentext, {name}", *cells)
    return ours


def show_encode(asked: argparse.Namespace) -> tuple[Table, str]:
    found = in_a_process("encoding", n=asked.trees)
    columns = ("CPU s", *map(fact, ("nodes", "distinct", "most in one")))
    table = Table("encode", f"Encoding {asked.trees:,} of each, one thread", columns, ("what",))
    for title, cells in found.items():
        table.row(title, *cells)
    return table, ""


def show_sequences(asked: argparse.Namespace) -> tuple[Table, str]:
    n = asked.trees
    title = f"Tagged sequences, the first {n:,} of CoNLL-2000, tags chunk|part of speech"
    table = Table("sequences", title, SPEEDS)
    slow = in_a_process("plain_sequences", n=n)
    base = triangle(n) / slow["seconds"]
    table.row("Numba: all pairs of words", base / 1e3, 1.0, None, None, slow["seconds"])
    show_ours(table, "sequences", n, base)
    worst = slow["difference"]
    return table, f"Sequences: the largest relative difference from the plain loop is {worst:.1e}."


def show_growth(asked: argparse.Namespace) -> tuple[Table, str]:
    gram_columns = ("Gram, CPU s", fact("Gram factor"), "Gram, thousands/s", "matrix MB")
    score_columns = ("scores, CPU s", fact("scores factor"), "scores, thousands/s")
    columns = (fact("distinct nodes"), *gram_columns, "Gram, peak MB", *score_columns)
    table = Table(
        "growth",
        "Growth, one thread: a symmetric Gram matrix, and scores of all trees by all",
        (*columns, "scores, peak MB"),
        ("trees",),
    )
    gram, scores = factors(), factors()
    for n in SIZES:
        row = in_a_process("size", n=n)
        (_, cpu, memory), (_, fast, less) = row["gram"], row["scores"]
        speeds = triangle(n) / cpu / 1e3, n * n / fast / 1e3
        cells = cpu, gram(cpu), speeds[0], row["matrix"], memory, fast, scores(fast), speeds[1]
        table.row(f"{n:,}", row["nodes"], *cells, less)
    return table, ""


def show_perceptron(asked: argparse.Namespace) -> tuple[Table, str]:
    n = min(N_LISTS, asked.trees) if asked.trees < 1000 else N_LISTS
    row = in_a_process("perceptron", n=n, folder=str(asked.lists))
    updates, made = sum(row["mistakes"]), row["making"]
    passes = (f"pass {t}, s" for t in range(1, len(row["passes"]) + 1))
    table = Table(
        "perceptron",
        f"The dual perceptron, {n:,} lists, {row['candidates']:,} candidates; CPU s, one thread",
        (*passes, "all, s", "ms for an update", "peak MB"),
        ("scores",),
    )
    for title, times, name in (
        ("computed at each step", row["passes anew"], "anew"),
        ("kept", row["passes"], "fit"),
    ):
        seconds = sum(times)
        table.row(title, *times, seconds, 1e3 * seconds / updates, row[name][2])
    made_in = "" if made is None else f", making the lists {made:.0f} s"
    return table, (
        f"Perceptron: {row['nodes']:,} distinct nodes; mistakes "
        f"{', '.join(map(str, row['mistakes']))}; {row['support']:,} supports; the same mistakes "
        f"both ways: {row['same']}. Encoding took {row['encode'][1]:.2f} s{made_in}."
    )


TABLES = {
    "gram": show_gram,
    "encode": show_encode,
    "sequences": show_sequences,
    "growth": show_growth,
    "perceptron": show_perceptron,
}


def main() -> None:
    options = argparse.ArgumentParser(description="The speed of kernels.")
    options.add_argument("tables", nargs="*", metavar="TABLE", help=", ".join(TABLES))
    options.add_argument("--trees", type=int, default=1000, help="fewer, for a quick try")
    options.add_argument("--lists", type=Path, default=FOLDER, help="where n-best lists are kept")
    asked = options.parse_intermixed_args()
    if unknown := set(asked.tables) - set(TABLES):
        options.error(f"unknown table {unknown.pop()!r}: use {', '.join(TABLES)}")
    tables, notes = zip(*(TABLES[name](asked) for name in asked.tables or TABLES))
    notes = [note for note in notes if note]
    print("", *notes, sep="\n")
    record(
        "kernels",
        "Kernels",
        tables,
        about="Trees of NLTK's Penn sample in the order of its files, normalized; decay 0.4. A "
        "symmetric Gram matrix of n trees counts n (n + 1) / 2 evaluations, all else each pair. "
        'One thread by CPU seconds, two by wall seconds. "gram" is symmetric, "rectangle" has all '
        'pairs twice, "scores" are those of all trees by all weighted trees, "ready" is making '
        "the forests of a set, which happens once.",
        notes=notes,
    )


if __name__ == "__main__" and not serve(
    measured, plain_trees, plain_sequences, encoding, size, perceptron
):
    main()
