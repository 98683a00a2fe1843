"""Kernels of trees and tagged sequences: evaluations a second, memory, growth; the dual perceptron.

Run it with ``.venv/bin/python benchmarks/kernels.py [TABLE ...] [--trees N] [--lists FOLDER]``;
tables are gram, encode, sequences, growth, perceptron (all by default), and --trees takes fewer
than 1,000 trees and sentences, to try it out.

Trees are those of NLTK's Penn sample in the order of its files, normalised; decay is 0.4. An
evaluation is one K(a, b): a symmetric Gram matrix of n trees counts n (n + 1) / 2 of them, one of n
and m trees, and scores of n trees by m weighted ones, n m. Speeds are of CPU seconds on one thread
and of wall seconds on two, the best of 15 by turns (growth and perceptron: of one run); kernels
have been compiled and loaded, and sets of trees are encoded and have made their forests before,
which they keep ("ready" is how long that takes, beside as many evaluations). Plain Python runs on
the first 60 trees. Memory is the peak of the process, with Python, Numba and the treebank.

"perceptron" learns from 20-best lists of the first 1,500 trees of the training part by a PCFG of
the others (five folds), which take some minutes to make and are kept in the folder of lists.
"""

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import eigentext as et
from _grammars import Table, factors, gold, in_a_process, serve
from _harness import Phases
from _plain_kernels import indexed, looped, numbered, plain, recursive
from _reranking import FOLDER, jackknifed, kept
from eigentext import engine
from eigentext.kernels.measures import closest, tree_f1

DECAY, REPEATS, TURNS, FEW = 0.4, 5, 15, 60
SIZES = (250, 500, 1000, 2000, 3914)
N_LISTS, N_EPOCHS = 1500, 3
HALF = 0.5  # the decay of the perceptron: sums are exact, and ties are ties in whatever order

# shared/peers/kernels.md, section 1: one thread, another and busy machine state; the same trees.
PEERS = {
    "SVM-light-TK 1.5 (C)": "384 to 441",
    "KeLP, warm (Java, float32)": "154 to 161",
    "BOSS (Cython)": "62",
}


def best(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """CPU and wall seconds of the best of some runs, and what it gave."""
    runs, found = [], None
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), time.process_time()
        found = work()
        runs.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in runs), min(wall for _, wall in runs), found


def by_turns(work: Callable[[], Any]) -> dict[str, Any]:
    """Seconds on one thread and on two, the best of some runs by turns, and what they gave."""
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
    """The largest relative one."""
    return float((np.abs(found - expected) / np.maximum(expected, 1e-300)).max())


# -- what runs in a process of its own -------------------------------------------------------------


def measured(n: int, what: str) -> dict:
    """Our kernels on so many trees or sentences; ``encoded[:]`` has no forests yet."""
    kernel, structures = structures_of(what, n)
    encoded, alpha = kernel.encode(structures), alphas(n)
    warm(kernel, encoded)
    first, second = encoded[:], encoded[:]
    kernel.gram(first), kernel.gram(second)  # now they have
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
    # The tag is that of the chunk and the part of speech, as in shared/peers/kernels.md.
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
    """Listens to a perceptron: CPU seconds of each pass over its examples."""

    def __init__(self, n: int):
        self.n, self.seconds = n, []

    def started(self, phase: Any) -> None:
        """Look at the clock."""
        self._last = time.process_time()

    def advanced(self, phase: Any) -> None:
        """Note what a pass took, when it is over."""
        if phase.done % self.n == 0:
            now = time.process_time()
            self.seconds.append(now - self._last)
            self._last = now

    def finished(self, phase: Any) -> None:
        """Nothing to note."""


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
    """The dual perceptron as the seed has it: each score anew from all supports, at each step.

    The sum over supports is the kernel's fast one, or there would be no end to it.
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


def show_gram(asked: argparse.Namespace) -> None:
    n, few = asked.trees, min(FEW, asked.trees)
    table = Table(
        f"**Trees**, the first {n:,} of the Penn sample; thousands of evaluations a second",
        "one thread", "ratio", "two threads, wall", "ratio", "seconds for all, one thread",
    )  # fmt: skip
    slow = in_a_process("plain_trees", n=few)
    base = triangle(few) / slow["indexed"]["seconds"]
    for name, title in (("recursive", "all pairs of nodes"), ("indexed", "inverted index")):
        speed = triangle(few) / slow[name]["seconds"]
        times, all_ = f"x {speed / base:,.2g}", triangle(n) / speed
        table.row(f"Python: {title}, {few} trees", speed / 1e3, times, None, None, f"({all_:,.0f})")
    ours = show_ours(table, "trees", n, base)
    for name, speed in PEERS.items():
        table.row(f"{name}, elsewhere", speed, *[None] * 4)
    worst = max(row["difference"] for row in slow.values())
    print(
        f"\nTrace {ours['trace']:.6f}. Largest relative difference of entries from those of plain "
        f"Python {worst:.1e}; of scores from the Gram matrix times alpha, as a share of the "
        f"largest, {ours['difference']:.1e}; the same bits on two threads: {ours['same']}."
    )


def show_ours(table: Table, what: str, n: int, base: float) -> dict:
    """Rows of our kernels: their CPU speed beside `base`, their wall speed beside one thread's."""
    ours = in_a_process("measured", n=n, what=what)
    counts = {"gram": triangle(n), "rectangle": n * n, "scores": n * n, "ready": n * n}
    for name, evaluations in counts.items():
        cpu, (one, two) = ours[name]["cpu"], ours[name]["walls"]
        ratios = f"x {evaluations / cpu / base:,.1f}", f"x {one / two:.2f}"
        cells = evaluations / cpu / 1e3, ratios[0], evaluations / two / 1e3, ratios[1], cpu
        table.row(f"eigentext, {name}", *cells)
    return ours


def show_encode(asked: argparse.Namespace) -> None:
    found = in_a_process("encoding", n=asked.trees)
    table = Table(
        f"**Encoding** {asked.trees:,} of each, CPU s, one thread",
        "seconds", "nodes", "distinct", "most in one",
    )  # fmt: skip
    for title, cells in found.items():
        table.row(title, *cells)


def show_sequences(asked: argparse.Namespace) -> None:
    n = asked.trees
    table = Table(
        f"**Tagged sequences**, the first {n:,} of CoNLL-2000, tags chunk|part of speech; "
        "thousands of evaluations a second",
        "one thread", "ratio", "two threads, wall", "ratio", "seconds for all, one thread",
    )  # fmt: skip
    slow = in_a_process("plain_sequences", n=n)
    base = triangle(n) / slow["seconds"]
    table.row("Numba: all pairs of words", base / 1e3, "x 1", None, None, slow["seconds"])
    show_ours(table, "sequences", n, base)
    print(f"\nLargest relative difference from the plain loop {slow['difference']:.1e}.")


def show_growth(asked: argparse.Namespace) -> None:
    table = Table(
        "**Growth**, one thread: a symmetric Gram matrix, and scores of all trees by all",
        "distinct nodes", "Gram CPU s", "factor", "thousands/s", "matrix MB", "peak MB",
        "scores CPU s", "factor", "thousands/s", "peak MB",
    )  # fmt: skip
    gram, scores = factors(), factors()
    for n in SIZES:
        row = in_a_process("size", n=n)
        (_, cpu, memory), (_, fast, less) = row["gram"], row["scores"]
        speeds = triangle(n) / cpu / 1e3, n * n / fast / 1e3
        cells = cpu, gram(cpu), speeds[0], row["matrix"], memory, fast, scores(fast), speeds[1]
        table.row(f"{n:,} trees", row["nodes"], *cells, less)


def show_perceptron(asked: argparse.Namespace) -> None:
    n = min(N_LISTS, asked.trees) if asked.trees < 1000 else N_LISTS
    row = in_a_process("perceptron", n=n, folder=str(asked.lists))
    updates, made = sum(row["mistakes"]), row["making"]
    table = Table(
        f"**Dual perceptron**, {n:,} lists, {row['candidates']:,} candidates with {row['nodes']:,} "
        f"distinct nodes; mistakes {', '.join(map(str, row['mistakes']))}, {row['support']:,} "
        "supports; CPU s, one thread",
        *(f"pass {t}" for t in range(1, len(row["passes"]) + 1)), "all", "ms an update", "peak MB",
    )  # fmt: skip
    for title, passes, name in (
        ("each score anew, at each step", row["passes anew"], "anew"),
        ("scores kept", row["passes"], "fit"),
    ):
        seconds = sum(passes)
        table.row(title, *passes, seconds, 1e3 * seconds / updates, row[name][2])
    ratio = sum(row["passes anew"]) / sum(row["passes"])
    print(
        f"\nx {ratio:.1f}; the same mistakes: {row['same']}. Encoding took {row['encode'][1]:.2f} s"
        + ("." if made is None else f", the lists {made:.0f} s.")
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
    options.add_argument("--trees", type=int, default=1000, help="fewer, to try it out")
    options.add_argument("--lists", type=Path, default=FOLDER, help="where n-best lists are kept")
    asked = options.parse_intermixed_args()
    if unknown := set(asked.tables) - set(TABLES):
        options.error(f"no table {unknown.pop()!r}: they are {', '.join(TABLES)}")
    for name in asked.tables or TABLES:
        TABLES[name](asked)


if __name__ == "__main__" and not serve(
    measured, plain_trees, plain_sequences, encoding, size, perceptron
):
    main()
