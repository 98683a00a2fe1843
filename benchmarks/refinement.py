"""Taggers whose tags have hidden states, beside taggers without: parts of speech and chunks.

Run it with ``python benchmarks/refinement.py penn`` (or gum, chunks, conll, brown), some minutes
each. Each system is learned and tags the test sentences in a process of its own. "CPU s" is that of
learning, without reading the data; tokens/s is tagging, in CPU seconds of one process. The peak
memory is that of the process, with its data. p-values are those of the paired bootstrap
(`evaluate.compare_taggings`), against HMMTagger of order 2. Settings were chosen on the last 936
training sentences of CoNLL-2000 (`chosen`), never on test sentences.
"""

import json
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import eigentext as et
from _harness import measured, peak_bytes, scratch, serve
from _record import Table, fact, record, score

SIZES = (1, 2, 4, 8, 16)
TASKS = {
    "penn": "Parts of speech, Penn sample",
    "gum": "Parts of speech, GUM",
    "conll": "Parts of speech, CoNLL-2000",
    "chunks": "Chunks, CoNLL-2000",
    "brown": "Parts of speech, Brown",
    "chosen": "Chunks and parts of speech, part of the training sentences of CoNLL-2000",
}
TITLE = "Taggers with hidden states: {}"
BASE = "HMMTagger, order 2"
Sentences = list[list[tuple[str, str]]]


@cache
def data(task: str) -> tuple[Sentences, Sentences]:
    """The sentences to learn from, and those to test on."""
    match task:
        case "penn" | "gum":
            name: Any = {"penn": "penn-sample", "gum": "gum"}[task]
            parts: Any = [et.load_dataset(name, split=part) for part in ("train", "test")]
            return tuple([tree.tags() for tree in part] for part in parts)  # type: ignore
        case "conll" | "chunks" | "chosen chunks" | "chosen tags":
            parts = [et.load_dataset("conll2000", split=part) for part in ("train", "test")]
            if task.startswith("chosen"):
                parts = parts[0][:4000], parts[0][8000:]
            if "chunks" in task:
                return tuple(
                    [[(f"{word}|{pos}", tag) for word, pos, tag in one] for one in part]
                    for part in parts
                )  # type: ignore
            return tuple([[(word, pos) for word, pos, _ in one] for one in part] for part in parts)  # type: ignore
        case _:  # Brown has no split: every tenth sentence is for the test, the next one is spared
            tagged = et.load_dataset("brown", tagged=True)
            basic = [[(w, tag.split("-")[0] or tag) for w, tag in one] for one in tagged]
            return [one for i, one in enumerate(basic) if i % 10 > 1], basic[::10]


def systems(task: str) -> dict[str, Callable[[], Any]]:
    """The taggers by name."""
    kind: Any = {"classes": "factor", "scheme": "bio"} if "chunks" in task else {}
    found: dict[str, Callable[[], Any]] = {
        "HMMTagger, order 1": partial(et.HMMTagger, 1, **kind),
        BASE: partial(et.HMMTagger, 2, **kind),
    }
    refined = partial(et.RefinementHMM, **kind)
    if task.startswith("chosen"):
        for smoothing in (1, 3, 10, 30):
            how: Any = {"smoothing": smoothing}
            found[f"spectral+em, m = 8, smoothing {smoothing}"] = partial(refined, 8, **how)
        for n_iter in (0, 3, 10, 100):
            how = {"n_iter": n_iter, "tol": 0.0}
            found[f"spectral+em, m = 8, {n_iter} steps"] = partial(refined, 8, **how)
        return found
    small = task != "brown"
    for m in SIZES:
        found[f"spectral+em, m = {m}"] = partial(refined, m)
    for method in ("em", "spectral"):
        for m in SIZES[1:] if small else (8,):
            found[f"{method}, m = {m}"] = partial(refined, m, method=method)
    for decoding in ("pairs", "viterbi") if small else ():
        found[f"spectral+em, m = 8, {decoding}"] = partial(refined, 8, decoding=decoding)
    if small:
        found["Tagger"] = et.Tagger
    return found


def contest(task: str, system: str) -> dict[str, Any]:
    """Learn and tag. The tags are kept for the bootstrap."""
    warnings.simplefilter("ignore")
    train, test = data(task)
    tagger = systems(task)[system]()
    if isinstance(tagger, et.Tagger) and "chunks" in task:
        train, test = ([[(*w.split("|"), t) for w, t in one] for one in part]  # type: ignore
                       for part in (train, test))  # fmt: skip
    small: Any = train[:30]
    systems(task)[system]().fit(small)  # compile
    start = time.process_time()
    tagger.fit(train)
    cpu = time.process_time() - start
    peak = peak_bytes()
    words: Any = [[token[:-1] if len(token) > 2 else token[0] for token in one] for one in test]
    answer = tagger.tag if isinstance(tagger, et.Tagger) else tagger.tag_many
    answer(words[:20])
    start = time.process_time()
    found = answer(words)
    seconds = time.process_time() - start
    path = scratch(f"refinement-{task}-{system}.json".replace(" ", "_"))
    path.write_text(json.dumps([[token[-1] for token in one] for one in found]))
    return {
        "cpu": cpu,
        "peak": peak,
        "rate": sum(map(len, words)) / seconds,
        "passes": tagger.diagnostics_.get("passes"),
        "path": str(path),
    }


def run(task: str) -> Table:
    """The table of one task."""
    is_chunks = "chunks" in task
    measure = score("F1" if is_chunks else "accuracy", digits=2)
    columns = (measure, fact("less order 2"), fact("p"), "CPU s", "tokens/s", "peak MB",
               fact("EM steps"))  # fmt: skip
    table = Table(task.replace(" ", "_"), TASKS.get(task, task), columns)
    gold = [[tag for _, tag in one] for one in data(task)[1]]
    answers = {}
    for system in systems(task):
        cost = measured(f"{task}: {system}")
        figures = cost["figures"]
        answers[system] = json.loads(Path(figures["path"]).read_text())
        base = answers.get(BASE, answers[system])
        found = et.evaluate.compare_taggings(gold, base, answers[system])
        is_base = system == BASE or BASE not in answers
        difference = None if is_base else f"{100 * found.difference:+.2f}"
        table.row(
            system, 100 * found.b, difference, None if is_base else f"{found.p:.4f}", cost["cpu"],
            figures["rate"], cost["peak"] / 1e6, figures["passes"],
        )  # fmt: skip
    return table


def main() -> None:
    tasks = [*TASKS, "chosen chunks", "chosen tags"]
    if serve({f"{t}: {s}": partial(contest, t, s) for t in tasks for s in systems(t)}):
        return
    for task in sys.argv[1:] or list(TASKS):
        names = ("chosen chunks", "chosen tags") if task == "chosen" else (task,)
        record(f"refinement_{task}", TITLE.format(TASKS[task]), [run(name) for name in names],
               about=ABOUT[task])  # fmt: skip


_COMMON = (
    "Learned from {}, tested on {}. RefinementHMM has m states for each tag, and decoding by "
    'marginals if no other is named. "less order 2" is the difference from HMMTagger of order 2, '
    "in points, and p its p-value (paired bootstrap, 10,000 draws). CPU s is learning, tokens/s "
    "tagging by CPU time, both without compiling. Peak memory includes the data."
)
_WSJ = "the 8,936 training sentences", "the 2,012 test sentences"
ABOUT = {
    "penn": _COMMON.format("files 1 to 169 (3,501 sentences)", "files 185 to 199 (196 sentences)"),
    "gum": _COMMON.format("the 10,224 sentences of train", "the 1,464 of test"),
    "conll": _COMMON.format(*_WSJ),
    "chunks": _COMMON.format(*_WSJ)
    + " Tokens are words with their part of speech; labels are chunk tags with it (joint). Tagger "
    "has both as columns.",
    "brown": _COMMON.format("eight of ten sentences", "one of ten")
    + " Tags are those of Brown up to the first dash.",
    "chosen": "How the defaults were chosen: learned from the first 4,000 training sentences, "
    "tested on the last 936.",
}

if __name__ == "__main__":
    main()
