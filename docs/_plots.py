"""Draws the plots of the documentation from the kept runs of benchmarks.

``python docs/_results.py`` calls :func:`draw_all`. Each plot is a function that takes the kept runs
it needs, draws them, and returns the figure. Files are small and the same every time: text stays
text, and there is no date. The description of a file has a digest of its data, so a test can tell
whether a plot is up to date without drawing it.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from _record import kept, rows_of, table_of

OURS, PEERS = "tab:blue", ("tab:orange", "tab:green", "tab:red", "tab:purple")
GRAY = "gray"


def _rows(run: str, table: str) -> dict[tuple[str, ...], dict[str, Any]]:
    return dict(rows_of(table_of(kept(run), table)))


def words() -> Any:
    """CPU seconds and analogies of word vectors."""
    rows = _rows("words", "systems")
    figure, axes = _panels(2, (9, 3.6))
    styles = {
        "gensim Word2Vec": (PEERS[0], "s"),
        "scikit-learn TruncatedSVD": (PEERS[1], "^"),
        "eigentext": (OURS, "o"),
        "eigentext, window 5": (OURS, "D"),
    }
    for axis, column, title in (
        (axes[0], "Google mul", "Google analogies, percent right"),
        (axes[1], "similarity", "similarity, Spearman's correlation"),
    ):
        for system, (color, marker) in styles.items():
            for min_count, filled in (("100", True), ("5", False)):
                found = rows[f"enwiki-30m, {min_count}", system]
                face = color if filled else "white"
                label = system if filled else None
                point = {"marker": marker, "ls": "", "ms": 8, "color": color, "mfc": face}
                axis.semilogx(found["CPU s"], found[column], **point, label=label)
        axis.set(xlabel="CPU seconds", title=title)
    axes[0].legend(loc="center right", fontsize=8)
    axes[1].annotate("filled: min count 100\nhollow: min count 5", (0.97, 0.7), **_NOTE)
    return figure


def topics() -> Any:
    """CPU seconds and perplexity of topics."""
    rows = _rows("topics", "topics")
    figure, axes = _panels(2, (9, 3.6))
    styles = {
        "gensim LdaMulticore": (PEERS[0], "s-"),
        "scikit-learn": (PEERS[1], "^-"),
        "tomotopy": (PEERS[2], "v-"),
        "eigentext, refine=0": (OURS, "o--"),
        "eigentext": (OURS, "o-"),
    }
    for axis, data, title in zip(axes, ("20news", "reuters"), ("20 newsgroups", "Reuters")):
        for system, (color, style) in styles.items():
            found = [rows[data, K, system] for K in ("20", "50", "100")]
            seconds, perplexity = ([one[x] for one in found] for x in ("CPU s", "perplexity"))
            axis.semilogx(seconds, perplexity, style, color=color, label=system)
        axis.set(xlabel="CPU seconds", title=f"{title}: perplexity, lower is better")
    axes[1].legend(fontsize=8, loc="lower left")
    note = "K = 20, 50 and 100 topics, from left to right"
    axes[0].annotate(note, (0.97, 0.07), **_NOTE)
    return figure


def topics_users() -> Any:
    """CPU seconds, and agreement with labels and coherence of topics, for all systems."""
    rows = _rows("topics_users", "users")
    figure, axes = _panels(4, (13, 8), columns=2)
    colors = {"eigentext": OURS, "tomotopy": PEERS[2], "scikit-learn": PEERS[1], "NMF": PEERS[3]}
    colors |= {"BERTopic": PEERS[0], "KeyNMF": "tab:brown"}
    markers = dict.fromkeys(colors, "")
    names = {name.partition(" (")[0]: None for _, _, name in rows}
    for system in names:
        kind = next(one for one in colors if system.startswith(one))
        markers[kind] += "osD^vPX*<>hd"[len(markers[kind])]
        for axis, (data, score) in zip(axes, _USERS):
            found = {
                int(K): one
                for (source, K, name), one in rows.items()
                if source == data and name.partition(" (")[0] == system
            }
            points = [(found[K]["CPU s"], found[K][score]) for K in sorted(found)]
            if points:
                style = {"marker": markers[kind][-1], "color": colors[kind], "ms": 6, "lw": 0.8}
                axis.semilogx(*zip(*points), **style, label=system)
    for axis, (data, score) in zip(axes, _USERS):
        title = {"20news": "20 newsgroups", "reuters": "Reuters"}[data]
        axis.set(xlabel="CPU seconds of the fit", title=f"{title}: {score}, higher is better")
        low, high = axis.get_xlim()
        ticks = [x * 10**n for n in range(4) for x in (1, 2, 5) if low <= x * 10**n <= high]
        axis.set_xticks(ticks, labels=[f"{x:,}" for x in ticks])
        axis.set_xticks([], minor=True)
    known = [axis.get_legend_handles_labels() for axis in axes]  # not all systems are in each
    marks = {name: mark for handles, labels in known for mark, name in zip(handles, labels)}
    order = [name for name in names if name in marks]
    shown = [marks[name] for name in order]
    figure.legend(shown, order, fontsize=8, loc="outside right upper")
    axes[0].annotate("K = 20, 50 and 100 topics, joined", (0.97, 0.07), **_NOTE)
    return figure


_USERS = [(data, score) for score in ("NMI", "NPMI") for data in ("20news", "reuters")]


def parsers() -> Any:
    """CPU seconds and F1 of parsers on the Penn sample."""
    ours = _rows("grammars_spectral_final_penn", "final")
    plain = _rows("grammars", "penn-sample")
    peers = _rows("peers_parsing", "penn-sample")
    figure, axes = _panels(1, (7, 4.4))
    axis = axes[0]

    def line(rows: dict, names: list[str], style: str, color: str, label: str) -> None:
        found = [rows[(name,)] for name in names]
        axis.semilogx(
            [one["train CPU s"] for one in found],
            [one["F1"] for one in found],
            *(style,),
            color=color,
            label=label,
        )

    cycles = ["Berkeley, 1 split-merge cycle", *(f"Berkeley, {n} cycles" for n in range(2, 6))]
    line(peers, cycles, "s-", PEERS[0], "Berkeley parser, 1 to 5 cycles *")
    line(peers, ["Rainbow, EM m=8, 10 steps"], "^", PEERS[1], "Rainbow, EM, m = 8 *")
    line(peers, ["Spectral-Parser, tuned"], "v", PEERS[2], "Spectral-Parser, tuned *")
    line(plain, ["pcfg-h2-v2-mbr"], "x", OURS, "PCFG()")
    line(plain, [f"em-{m}" for m in (2, 4, 8, 16, 32)], "o:", OURS, "EM, m = 2 to 32")
    line(ours, ["spectral-16"], "D", OURS, "spectral, m = 16 (default)")
    line(ours, ["pivot-16"], "P", OURS, "pivot, m = 16")
    votes = ["spectral+em-16", "4-spectral+em-16"]
    line(ours, votes, "*-", OURS, "spectral+em, one and four votes")
    axis.set(xlabel="CPU seconds to learn", ylabel="F1 on the Penn sample, test part")
    axis.legend(fontsize=8, loc="lower right")
    axis.annotate("* on another, busy machine", (0.02, 0.96), **_NOTE | {"ha": "left"})
    return figure


def parsers_time() -> Any:
    """CPU seconds of learning by states, and the hours of [Cohen et al. 2013]."""
    figure, axes = _panels(2, (9, 3.6))
    ours, paper = (_rows("parsers_time_penn", table) for table in ("time", "paper"))
    styles = {"EM": (PEERS[0], "s-"), "spectral": (OURS, "o-"), "spectral+em": (OURS, "*:")}
    for axis, rows, unit, title in (
        (axes[0], ours, " s", "Penn sample, CPU seconds of learning"),
        (axes[1], paper, "", "[Cohen et al. 2013], hours"),
    ):
        for method, (color, style) in styles.items():
            found = {int(m): row.get(f"{method}{unit}") for (m,), row in rows.items()}
            points = [(m, value) for m, value in found.items() if value is not None]
            if points:
                axis.plot(*zip(*points), style, color=color, label=method)
        axis.set(yscale="log", xlabel="m, the most states of a label", title=title)
        axis.set(xticks=[int(m) for (m,) in ours])
        low, high = axis.get_ylim()
        ticks = [x for x in (2, 5, 10, 20, 50, 100, 200) if low <= x <= high]
        axis.set_yticks(ticks, labels=map(str, ticks))
        axis.set_yticks([], minor=True)
    axes[0].legend(fontsize=8, loc="upper left")
    return figure


def taggers() -> Any:
    """F1 of taggers by what they learn from."""
    figure, axes = _panels(2, (9, 3.2))
    names = ("labels alone", "+ word2vec", "+ eigenwords", "+ all three", "5 runs, all three")
    every = "+ eigenwords, clusters, eigentokens"
    plain = ("perceptron", "+ word2vec", "+ eigenwords", every, f"5 runs {every}")
    bilou = ("bilou", "bilou + word2vec", "bilou + eigenwords", f"bilou {every}")
    keys = {"chunk": (*bilou, f"bilou, 5 runs {every}"), "ner": plain}
    colors = (GRAY, PEERS[0], OURS, OURS, OURS)
    for axis, (task, title, limits) in zip(
        axes, (("chunk", "CoNLL-2000 chunks, F1", (93, 95)), ("ner", "WNUT17 names, F1", (0, 35)))
    ):
        rows = _rows("tagging", task)
        axis.axvline(rows[("CRFsuite AP",)]["F1"], color="black", ls=":", label="CRFsuite AP")
        values = [rows[(key,)]["F1"] for key in keys[task]]
        axis.barh(names, values, color=colors)
        axis.set(xlim=limits, title=title)
        axis.invert_yaxis()
    axes[0].legend(fontsize=8, loc="upper right")
    axes[1].set_yticklabels([])
    return figure


def hmm_error() -> Any:
    """The error of hidden Markov models by sequences."""
    labels = "sequences of 20 symbols", "L1 error over all triples"
    return _falling("hmm_error", *labels, "1/√N", 1.0)


def grammars_error() -> Any:
    """The error of grammars by trees."""
    labels = "M, trees to learn from", "L1 error over all trees"
    return _falling("grammars_recovery", *labels, "1/√M", 0.8)


def _falling(run: str, x: str, y: str, guide: str, height: float) -> Any:
    figure, axes = _panels(1, (6, 4.2))
    axis, rows = axes[0], _rows(run, "errors")
    names = [name for name in rows["spectral",] if name != "slope"]
    sizes = np.array([int(name.replace(",", "")) for name in names])
    for (label, found), marker in zip(rows.items(), "os^vDx"):
        axis.loglog(sizes, [found[name] for name in names], marker=marker, label=label[0])
    lowest = height * rows["spectral",][names[-1]]
    axis.loglog(sizes, lowest * np.sqrt(sizes[-1] / sizes), "--", color=GRAY, label=guide)
    axis.set(xlabel=x, ylabel=y)
    axis.legend(fontsize=8)
    return figure


def power_iteration() -> Any:
    """Errors of power iterations by steps."""
    figure, axes = _panels(1, (6, 4))
    axis, steps = axes[0], 0
    for (system, start), found in _rows("power_iteration", "errors").items():
        errors = [float(error) for error in found["errors"].split()]
        steps = max(steps, len(errors))
        color = OURS if system == "tensor" else PEERS[0]
        label = f"{system}, five starts" if start == "0" else None
        style = "o-" if system == "tensor" else "-"
        axis.semilogy(np.maximum(errors, 1e-15), style, color=color, ms=3, lw=1, label=label)
    axis.semilogy(0.9 ** np.arange(steps), "--", color=GRAY, label="(λ₂/λ₁)ᵗ = 0.9ᵗ")
    axis.set(xlabel="step t", ylabel="tangent of the angle to the vector")
    axis.legend(fontsize=8)
    return figure


def tagging_curve() -> Any:
    """F1 of taggers by labeled sentences."""
    figure, axes = _panels(2, (9, 3.6))
    all_sentences = {"chunk": 8936, "ner": 3394}
    titles = {"chunk": "CoNLL-2000 chunks", "ner": "WNUT17 names"}
    places = dict(zip(titles, axes))
    for (task, learned_from), found in _rows("tagging_curve", "curve").items():
        sizes = [all_sentences[task] if size == "all" else int(size) for size in found]
        axis = places[task]
        color = OURS if "plain text" in learned_from else GRAY
        axis.plot(sizes, list(found.values()), marker="o", color=color, label=learned_from)
        axis.set(xscale="log", xticks=sizes, xticklabels=sizes, title=titles[task])
        axis.set(xlabel="labeled sentences", ylabel="F1")
        axis.minorticks_off()
        axis.legend(loc="lower right", fontsize=8)
    return figure


def calibration() -> Any:
    """The share of right spans by their probability: scores, and calibrated marginals."""
    figure, axes = _panels(2, (9, 4.2))
    rows = _rows("calibration_spans", "spans_bins")
    shown = ("spectral", "pivot", "em", "spectral+em", "PCFG")
    titles = {"scores": "scores, cut off at 0 and 1", "calibrated": "marginals, calibrated"}
    for axis, (kind, title) in zip(axes, titles.items()):
        axis.plot([0, 1], [0, 1], "--", color=GRAY)
        for parser, color, marker in zip(shown, (OURS, *PEERS), "osvD^"):
            key = "penn-sample", parser, kind
            found = [one for label, one in rows.items() if label[:3] == key]
            points = [[one[x] for one in found] for x in ("probability", "right")]
            axis.plot(*points, marker=marker, ms=4, lw=1, color=color, label=parser)
        axis.set(xlabel="mean probability of a bin", title=title, xlim=(0, 1), ylim=(0, 1))
    axes[0].set(ylabel="share of right spans, Penn sample")
    axes[0].legend(fontsize=8, loc="upper left")
    return figure


# The file of each plot, its function, and the runs it shows.
PLOTS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "results-words.svg": (words, ("words",)),
    "results-topics.svg": (topics, ("topics",)),
    "results-topics-users.svg": (topics_users, ("topics_users",)),
    "results-parsers.svg": (
        parsers,
        ("grammars_spectral_final_penn", "grammars", "peers_parsing"),
    ),
    "parsers-time.svg": (parsers_time, ("parsers_time_penn",)),
    "results-taggers.svg": (taggers, ("tagging",)),
    "hmm-error.svg": (hmm_error, ("hmm_error",)),
    "grammars-error.svg": (grammars_error, ("grammars_recovery",)),
    "power-iteration.svg": (power_iteration, ("power_iteration",)),
    "tagging-curve.svg": (tagging_curve, ("tagging_curve",)),
    "calibration.svg": (calibration, ("calibration_spans",)),
}
_NOTE = {"xycoords": "axes fraction", "ha": "right", "va": "top", "fontsize": 8, "color": GRAY}


def _panels(n: int, size: tuple[float, float], columns: int | None = None) -> Any:
    from matplotlib import pyplot as plt

    columns = columns or n
    figure, axes = plt.subplots(
        n // columns, columns, figsize=size, squeeze=False, layout="constrained"
    )
    for axis in axes.flat:
        axis.grid(alpha=0.3)
        axis.set_axisbelow(True)
    return figure, axes.ravel()


def digest(name: str) -> str:
    """A short digest of the tables that a plot shows."""
    tables = [kept(run)["tables"] for run in PLOTS[name][1]]
    return hashlib.sha256(json.dumps(tables).encode()).hexdigest()[:16]


def drawn_from(path: Path) -> str | None:
    """The digest in the description of a drawn file."""
    found = re.search(r"data ([0-9a-f]{16})", path.read_text(encoding="utf-8"))
    return found and found[1]


def draw_all(folder: Path) -> None:
    """Draw every plot into a folder."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot as plt

    fonts = ["DejaVu Sans", "Arial"]
    style: Any = {"svg.hashsalt": "eigentext", "svg.fonttype": "none", "font.sans-serif": fonts}
    with matplotlib.rc_context(style):
        for name, (draw, _) in PLOTS.items():
            figure = draw()
            about = {"Date": None, "Creator": None, "Description": f"data {digest(name)}"}
            figure.savefig(folder / name, metadata=about)
            plt.close(figure)
            path = folder / name
            lines = (line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
