"""Vectors from trees as features of taggers: states of a parser, and words by their tree contexts.

Run it with ``.venv/bin/python benchmarks/state_vectors.py [--split dev|test]``.

The task is CoNLL-2000 chunks, from words and automatic parts of speech, and from words alone. With
``--split dev`` (the default) the last 936 training sentences are scored, and taggers learn from the
others; with ``--split test`` the 2,012 test sentences. Taggers learn from the first 500 and from
the first 2,000 sentences. F1 is the mean of two seeds. Intervals and p-values are those of the
paired bootstrap over sentences, against the row that is named, for both taggings of each sentence
together.

parser       `LatentPCFG(16, method="spectral+em")`, learned from the 3,501 training trees of the
             Penn sample (Wall Street Journal sections 00 and 01; CoNLL-2000 has 15 to 18, and 20).
tags         only the posteriors of tags of the same parser, which the states refine.
eigenwords   those of `_tagging`: 50 dimensions, 43 million tokens of plain text.
text, tree   eigenwords of 50 dimensions of the same sentences, by the words beside each word, and
             by the words that govern it and stand beside it in the parser's trees. The sentences
             are the words of the first 4,000 training sentences.

What takes long is made once and kept in a folder.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

import eigentext as et
from _harness import scratch
from _record import Table, fact, record, score
from _tagging import source, tagged
from eigentext import engine

FOLDER = scratch("state-vectors")
N_DEV, SIZES, SEEDS = 936, (500, 2000), 2
N_SENTENCES = 4000  # of plain text for eigenwords by text and by trees
DRAWS = 10_000
DIM = 50
# name: sources, and the row that it is compared with
CONTESTANTS: dict[str, tuple[tuple[str, ...], str]] = {
    "perceptron": ((), ""),
    "+ tags": (("tags",), "perceptron"),
    "+ parser": (("parser",), "+ tags"),
    "+ text": (("text",), "perceptron"),
    "+ tree": (("tree",), "+ text"),
    "+ eigenwords": (("eigenwords",), "perceptron"),
    "+ eigenwords, parser": (("eigenwords", "parser"), "+ eigenwords"),
    "+ tree, parser": (("tree", "parser"), "+ parser"),
}


class Kept:
    """Vectors of the tokens of known sentences, which were made once."""

    def __init__(self, sentences: list[list[str]], vectors: list[np.ndarray]):
        self.known = {tuple(one): rows for one, rows in zip(sentences, vectors, strict=True)}
        self.width = vectors[0].shape[1]

    def transform(self, sentences: list[list[str]]) -> list[np.ndarray]:
        """The vectors of the sentences; zeros for those that are not known."""
        return [
            self.known.get(tuple(one), np.zeros((len(one), self.width), np.float32))
            for one in sentences
        ]


# -- what is made once -----------------------------------------------------------------------------


def made(name: str, make: Any) -> Path:
    """A file in the folder, made if it is not there."""
    path = FOLDER / name
    FOLDER.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        start = time.process_time()
        make(path)
        print(f"{name}: {time.process_time() - start:.1f} CPU s", flush=True)
    return path


def learn_parser(path: Path) -> None:
    """The parser, from the training trees of the Penn sample."""
    trees = et.load_dataset("penn-sample", split="train")
    et.LatentPCFG(16, method="spectral+em").fit(trees).save(path)


def task_words() -> list[list[str]]:
    """All sentences that taggers learn from or are scored on, without labels."""
    train = tagged("chunk", "train")
    used = [*train[: max(SIZES)], *train[-N_DEV:], *tagged("chunk", "test")]
    return [[t[0] for t in one] for one in used]


def transform(path: Path) -> None:
    """The vectors of all tokens of the task."""
    parser = et.load(FOLDER / "parser")
    vectors = np.concatenate(parser.transform(task_words(), n_jobs=1))
    with path.open("wb") as file:
        np.save(file, vectors)


def tag_posteriors(path: Path) -> None:
    """The posteriors of tags: sums over all states of all preterminals with the same tag."""
    parser = et.load(FOLDER / "parser")
    names = parser.get_feature_names_out(n_components=None)
    tags = [name.split()[0].split("+")[-1] for name in names]
    known = sorted(set(tags))
    sums = np.zeros((len(tags), len(known)), np.float32)
    sums[np.arange(len(tags)), [known.index(tag) for tag in tags]] = 1
    parts, sentences = [], task_words()
    for first in range(0, len(sentences), 500):
        some = parser.transform(sentences[first : first + 500], n_components=None, n_jobs=1)
        parts.append(np.concatenate(some) @ sums)
    with path.open("wb") as file:
        np.save(file, np.concatenate(parts))


def plain_sentences() -> list[list[str]]:
    """The words of some training sentences."""
    return [[t[0] for t in one] for one in tagged("chunk", "train")[:N_SENTENCES]]


def parse(path: Path) -> None:
    """The parser's trees of the plain sentences."""
    parser = et.load(FOLDER / "parser")
    trees = [one.tree for one in parser.parses(plain_sentences(), n_jobs=1)]
    et.write_trees([tree for tree in trees if tree is not None], path)


def word_sources() -> dict[str, Any]:
    """Eigenwords of the same sentences, by text and by trees."""
    trees = et.read_trees(made("trees.txt", parse))
    how: dict[str, Any] = {"context": "list", "weighting": "flat", "min_count": 2}
    moments = et.CooccurrenceMoments.from_trees(trees)
    text = [tree.leaves() for tree in trees]
    return {
        "text": et.Eigenwords(DIM, window=1, **how).fit(text),
        "tree": et.Eigenwords(DIM, window=moments.window, **how).fit_moments(moments),
    }


def sources() -> dict[str, tuple[str, Any]]:
    """The sources, with the parameters of the tagger that take them."""
    made("parser", learn_parser)
    sentences = task_words()
    borders = np.cumsum([len(one) for one in sentences])[:-1]
    states, tags = (
        Kept(sentences, np.split(np.load(made(name, make)), borders))
        for name, make in (("states.npy", transform), ("tags.npy", tag_posteriors))
    )
    words = word_sources()
    return {
        "parser": ("parser", states),
        "tags": ("parser", tags),
        "text": ("vectors", words["text"]),
        "tree": ("vectors", words["tree"]),
        "eigenwords": ("vectors", source("eigenwords")),
    }


# -- figures ---------------------------------------------------------------------------------------


def counts(gold: list[Any], predicted: list[Any]) -> np.ndarray:
    """Right, right chunks and predicted chunks of each sentence."""
    rows = []
    for one, other in zip(gold, predicted, strict=True):
        result = et.evaluate.chunks([one], [other])
        rows.append((result.n_right, result.n_gold, result.n_predicted))
    return np.array(rows)


def f1(sums: np.ndarray) -> np.ndarray:
    """F1 in percent, from sums of counts in the last axis."""
    return 200 * sums[..., 0] / (sums[..., 1] + sums[..., 2])


def bootstrap(a: np.ndarray, b: np.ndarray) -> tuple[float, float, float]:
    """The interval of 95% of the difference b - a, and its p-value: at least that of one draw."""
    rng, d = np.random.default_rng(0), f1(b.sum(axis=0)) - f1(a.sum(axis=0))
    weights = rng.multinomial(len(a), np.full(len(a), 1 / len(a)), size=DRAWS).astype(float)
    draws = f1(weights @ b) - f1(weights @ a)
    low, high = np.quantile(draws, [0.025, 0.975])
    p = (np.abs(draws - d) >= abs(d)).mean()
    return float(low), float(high), max(float(p), 1 / DRAWS)


def run(task: str, split: str, given: dict[str, tuple[str, Any]], table: Table) -> None:
    train, test = tagged("chunk", "train"), tagged("chunk", "test")
    if split == "dev":
        train, test = train[:-N_DEV], train[-N_DEV:]
    if task == "words alone":
        train, test = ([[(t[0], t[2]) for t in one] for one in part] for part in (train, test))
    gold, words = [[t[-1] for t in one] for one in test], [[t[:-1] for t in one] for one in test]
    for n in SIZES:
        known: dict[str, np.ndarray] = {}
        for name, (names, other) in CONTESTANTS.items():
            settings = {given[one][0]: given[one][1] for one in names}
            found = []
            for seed in range(SEEDS):
                tagger = et.Tagger(random_state=seed, **settings).fit(train[:n])
                found.append(counts(gold, [[t[-1] for t in x] for x in tagger.tag(words)]))
            known[name] = np.sum(found, axis=0)
            mean = float(np.mean([f1(one.sum(axis=0)) for one in found]))
            if not other:
                table.row(task, f"{n:,}", name, mean, None, None, None)
                continue
            low, high, p = bootstrap(known[other], known[name])
            difference = float(f1(known[name].sum(axis=0)) - f1(known[other].sum(axis=0)))
            text = f"{difference:+.2f} ({low:+.2f} to {high:+.2f})"
            table.row(task, f"{n:,}", name, mean, other, text, p)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--split", choices=("dev", "test"), default="dev")
    split = arguments.parse_args().split
    engine.use(engine.ThreadEngine(1))
    given = sources()
    columns = [
        score("F1", digits=2), fact("against"), fact("difference, 95% interval"), fact("p"),
    ]  # fmt: skip
    title = f"CoNLL-2000 chunks, {split}: features from trees"
    table = Table("chunks", title, columns, ["task", "labeled sentences", "system"])
    for task in ("with parts of speech", "words alone"):
        run(task, split, given, table)
    record(
        f"state_vectors_{split}",
        f"Features from trees ({split})",
        [table],
        about=(
            "Taggers of CoNLL-2000 chunks. \"parser\" is `parser.transform` of a grammar learned "
            "from 3,501 trees of the Penn sample, and \"tags\" the posteriors of tags of the same "
            "grammar. \"text\" and \"tree\" are eigenwords of the same 4,000 sentences, by "
            "contexts in the text and by contexts in the trees of that grammar. \"eigenwords\" "
            "are learned from 43 million tokens. Means of two seeds; paired bootstrap over "
            "sentences."
        ),
    )  # fmt: skip


if __name__ == "__main__":
    main()
