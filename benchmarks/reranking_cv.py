"""Reranking of the trees of a latent-variable grammar, by ten folds of the Penn sample.

Run it with ``.venv/bin/python benchmarks/reranking_cv.py [--folds 0 1 ...] [--clusters MODEL]
[--models log-linear perceptron] [--cache FOLDER]``. It can be interrupted: candidates and scores
of finished folds are kept in the folder.

The 3,914 trees are cut into ten runs. For each, ``LatentPCFG(16, method="spectral+em")`` and the
reranker learn from the other nine. The reranker's candidates come from five grammars, each of four
fifths of these nine runs. So no grammar and no reranker has seen a tree that it is tested on, nor
have the grammars that taught the reranker.

"MBR" is the parse of the grammar. "oracle" is the best candidate of each sentence. p is that of a
paired bootstrap over sentences: how often the reranker is not better in 10,000 draws. "train CPU s"
has everything from trees to the reranker on one thread: five grammars, their candidates, the
features and the fit; the grammar itself is not in it.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import eigentext as et
from _grammars import gold
from _harness import scratch
from _record import Table, fact, record, score
from eigentext import engine
from eigentext.evaluate import brackets
from eigentext.reranking import jackknife, read_candidates, write_candidates
from eigentext.reranking.folds import words_of

N_FOLDS, N_INNER, K = 10, 5, 25
DRAWS = 10_000


def grammar() -> et.LatentPCFG:
    """The grammar whose parses are to be improved."""
    return et.LatentPCFG(16, method="spectral+em", n_jobs=1)


def proposed(model: et.LatentPCFG, trees: list[et.Tree]) -> list[list[Any]]:
    """Candidates for the words of trees."""
    return list(model.candidates_many([words_of(tree) for tree in trees], K, n_jobs=1))


def lists_of(folder: Path, fold: int, learned: list[et.Tree], rest: list[et.Tree]) -> Any:
    """Candidates to learn from and to test on, and the CPU seconds for the former."""
    train, test, about = (folder / f"fold{fold}-{x}" for x in ("train.gz", "test.gz", "s.json"))
    if not about.exists():
        folder.mkdir(parents=True, exist_ok=True)
        start = time.process_time()
        lists = jackknife(lambda part: grammar().fit(part), proposed, learned, N_INNER)
        seconds = time.process_time() - start
        write_candidates(lists, train)
        write_candidates(proposed(grammar().fit(learned), rest), test)
        about.write_text(json.dumps({"lists": seconds}))
    seconds = json.loads(about.read_text())["lists"]
    return read_candidates(train), read_candidates(test), seconds


def scored(folder: Path, fold: int, trees: list[et.Tree], model: str, clusters: Any) -> dict:
    """Counts of matched, gold and predicted brackets of each sentence, and seconds."""
    path = folder / f"fold{fold}-{model}{'-clusters' if clusters else ''}.json"
    if path.exists():
        return json.loads(path.read_text())
    first, end = (len(trees) * k // N_FOLDS for k in (fold, fold + 1))
    learned, rest = trees[:first] + trees[end:], trees[first:end]
    train, test, seconds = lists_of(folder, fold, learned, rest)
    start = time.process_time()
    reranker = et.TreeReranker(model, clusters=clusters).fit(train, learned)
    fit = time.process_time() - start
    start = time.process_time()
    places = reranker.predict(test)
    used = time.process_time() - start
    found: dict[str, Any] = {"lists": seconds, "fit": fit, "predict": used, "n": len(rest)}
    counts = [
        [(s.matched, s.gold, s.predicted) for s in _sentences(tree, one)]
        for tree, one in zip(rest, test, strict=True)
    ]
    expected = [int(np.argmax([c.expected for c in one])) for one in test]
    best = [
        max(range(len(c)), key=lambda k: 2 * c[k][0] / max(c[k][1] + c[k][2], 1)) for c in counts
    ]
    for name, chosen in (("mbr", expected), ("reranked", places.tolist()), ("oracle", best)):
        found[name] = [own[place] for own, place in zip(counts, chosen)]
    found["candidates"] = sum(map(len, test))
    path.write_text(json.dumps(found))
    return found


def _sentences(tree: et.Tree, candidates: list[Any]) -> Any:
    return brackets([tree] * len(candidates), [one.structure for one in candidates]).sentences


def f1(counts: np.ndarray) -> Any:
    """F1 in percent of counts whose last axis is (matched, gold, predicted)."""
    matched, right, predicted = np.moveaxis(counts, -1, 0)
    return 200 * matched / (right + predicted)


def p_value(one: np.ndarray, other: np.ndarray) -> float:
    """How often `other` is not better than `one`, if sentences are drawn anew."""
    rng = np.random.default_rng(0)
    worse = 0
    for _ in range(DRAWS // 100):
        weights = rng.multinomial(len(one), np.full(len(one), 1 / len(one)), 100).astype(float)
        worse += int((f1(weights @ other) <= f1(weights @ one)).sum())
    return (worse + 1) / (DRAWS + 1)


def row(table: Table, label: str, name: str, found: list[dict]) -> None:
    """Add the figures of some folds to a table."""
    parts = {
        key: np.array([c for one in found for c in one[key]], float)
        for key in ("mbr", "reranked", "oracle")
    }
    base, new, best = (float(f1(part.sum(axis=0))) for part in parts.values())
    table.row(
        label,
        name,
        len(parts["mbr"]),
        base,
        new,
        best,
        new - base,
        p_value(parts["mbr"], parts["reranked"]),
        float(np.mean([one["lists"] + one["fit"] for one in found])),
        float(np.mean([one["fit"] for one in found])),
        float(np.mean([1000 * one["predict"] / one["n"] for one in found])),
    )


def main() -> None:
    options = argparse.ArgumentParser(description="What reranking of trees gains, by ten folds.")
    options.add_argument("--folds", nargs="+", type=int, default=list(range(N_FOLDS)))
    options.add_argument("--models", nargs="+", default=["log-linear"])
    options.add_argument("--clusters", type=Path, help="a model of `eigentext words cluster`")
    options.add_argument("--cache", type=Path, default=scratch("reranking-cv"))
    asked = options.parse_args()
    engine.use(engine.ThreadEngine(1))
    asked.cache.mkdir(parents=True, exist_ok=True)
    trees = [tree for part in ("train", "dev", "test") for tree in gold("penn-sample", part)]
    known = None if asked.clusters is None else et.load(asked.clusters)
    columns = [
        fact("sentences"),
        score("MBR", digits=2),
        score("reranked", digits=2),
        score("oracle", digits=2),
        score("gain", digits=2),
        fact("p"),
        "train CPU s",
        "fit CPU s",
        "score ms",
    ]
    table = Table("folds", "Ten folds of the Penn sample", columns, ("model", "fold"))
    for model in asked.models:
        for clusters in (None, known) if known is not None else (None,):
            label = f"{model}{', clusters' if clusters is not None else ''}"
            found = []
            for fold in asked.folds:
                found.append(scored(asked.cache, fold, trees, model, clusters))
                row(table, label, str(fold), found[-1:])
            row(table, label, "all", found)
    record("reranking_cv", "Reranking of trees, ten folds", [table], about=__doc__ or "")


if __name__ == "__main__":
    main()
