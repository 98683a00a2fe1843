"""Rare words and morphology: vectors with and without spelling, two-step CCA, and fastText.

Run it with ``.venv/bin/python benchmarks/rare_words.py`` (about 10 CPU minutes, most of them for
gensim's FastText), or name a text: ``rare_words.py first20``. The texts are the first 20 million,
the last 10 million and the first 4 million tokens of enwiki-30m, in lower case. All systems have
300 dimensions, min count 5, one thread and a process each. Their vectors are kept in the scratch
folder of the benchmarks, and are not learned again while they are there. ``--ours`` leaves gensim
out.

Scores: Spearman's rho of the rare words (RW) over the pairs whose words are in the vocabulary, and
over all pairs; MEN; WordSim353; and the share of Google's analogies by 3CosMul: inflection (the
sections gram5 to gram9), other grammar (gram1 to gram4) and meaning. A second table has the rare
words by the count of the rarer word of a pair, a third the differences to the first system with
intervals of a paired bootstrap. Analogies are drawn by their last two words, because questions that
share them are not independent.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from _harness import data, peak_bytes, scratch, unpacked
from _record import Table, record, score

TEXTS = {"first20": (0, 20), "last10": (20, 30), "first4": (0, 4)}  # millions of tokens
SMALL = "first4"  # counts for two steps take much memory, so they are for this text only
DIM, MIN_COUNT, DRAWS = 300, 5, 1000
BANDS = ((5, 20), (20, 100), (100, 1000), (1000, 10**12))
INFLECTION = ("gram5", "gram6", "gram7", "gram8", "gram9")
PAIRS = {"MEN": "men3000", "WordSim": "wordsim353"}
SYSTEMS = {
    "before": {},
    "spelling": {"oov": "characters"},
    "spelling, weight 0": {"oov": "characters", "spelling_weight": 0.0},
    "spelling, weight 1": {"oov": "characters", "spelling_weight": 1.0},
    "list, window 5": {"context": "list", "window": 5},
    "two steps": {"context": "list", "method": "two-step"},
    "two steps, spelling": {"context": "list", "method": "two-step", "oov": "characters"},
}
FASTTEXT = "gensim FastText, 1 epoch"


def text(name: str) -> Path:
    """The text as a plain file, in lower case."""
    path = scratch(f"{name}.txt")
    if not path.exists():
        first, last = (1_000_000 * bound for bound in TEXTS[name])
        part, n = path.with_suffix(".part"), 0
        with unpacked("text/enwiki-30m.tok.txt.xz").open() as lines, part.open("w") as file:
            for line in lines:
                n += len(line.split())
                if first < n <= last:
                    file.write(line.lower())
        part.rename(path)
    return path


def ours(path: Path, rare: list[str], **options):
    """Learn vectors: words, counts, vectors, and those of words outside the vocabulary."""
    import eigentext as et
    from eigentext.words.subwords import CharacterRidge

    with et.engine.use(et.engine.ThreadEngine(1)):
        model = et.Eigenwords(DIM, min_count=MIN_COUNT, **options).fit(str(path))
        spelling = model.spelling_
        if spelling is None:  # as oov="characters" was before
            start = time.process_time()
            spelling = CharacterRidge().fit(list(model), model.vectors_)
            print(f"    spelling alone: {time.process_time() - start:.1f} s", file=sys.stderr)
    missing = [word for word in rare if word not in model]
    vocabulary = model.vocabulary_
    print(f"    {_told(model.diagnostics_)}", file=sys.stderr)
    return vocabulary.words, vocabulary.counts, model.vectors_, missing, spelling.predict(missing)


def _told(diagnostics: dict) -> dict:
    return {key: value for key, value in diagnostics.items() if key.startswith("spelling")}


def fasttext(path: Path, rare: list[str]):
    """Skip-gram with character n-grams, the defaults of gensim."""
    from gensim.models import FastText
    from gensim.models.word2vec import LineSentence

    lines = LineSentence(str(path))
    model = FastText(
        vector_size=DIM, window=5, min_count=MIN_COUNT, sg=1, workers=1, epochs=1, seed=1
    )
    model.build_vocab(corpus_iterable=lines)
    model.train(corpus_iterable=lines, total_examples=model.corpus_count, epochs=1)
    words = model.wv.index_to_key
    missing = [word for word in rare if word not in model.wv.key_to_index]
    counts = np.array([model.wv.get_vecattr(word, "count") for word in words])
    return words, counts, model.wv.vectors, missing, np.array([model.wv[w] for w in missing])


def rare_words() -> list[str]:
    """The words of the pairs of rare words."""
    pairs = [line.split()[:2] for line in data("words/rareword2034.txt").read_text().splitlines()]
    return sorted({word.lower() for pair in pairs for word in pair})


def kept(system: str, name: str) -> Path:
    """The file of the vectors of a system."""
    return scratch(f"rare-words-{name}-{system.replace(' ', '-').replace(',', '')}.npz")


def run(system: str, name: str) -> None:
    """Learn in this process, and keep the vectors."""
    path, rare = text(name), rare_words()
    found = fasttext(path, rare) if system == FASTTEXT else ours(path, rare, **SYSTEMS[system])
    cost = [time.process_time(), peak_bytes() / 1e6]
    names = ("words", "counts", "vectors", "missing", "predicted")
    arrays = dict(zip(names, map(np.asarray, found), strict=True))
    np.savez(kept(system, name), cost=np.array(cost), **arrays)


class Scored:
    """What a system answers: cosines of all pairs, and which questions it answers right."""

    def __init__(self, system: str, name: str):
        from eigentext import evaluate
        from eigentext.evaluate.analogies import answer
        from eigentext.evaluate.vectors import WordVectors

        saved = np.load(kept(system, name))
        self.cpu, self.peak = saved["cost"].tolist()
        words, missing = saved["words"].tolist(), saved["missing"].tolist()
        self.counts = dict(zip(words, saved["counts"].tolist(), strict=True))
        both = words + missing, np.vstack([saved["vectors"], saved["predicted"]])
        known, everything = WordVectors((words, saved["vectors"])), WordVectors(both)
        self.pairs = {
            "RW": _cosines(known, evaluate.read_pairs(data("words/rareword2034.txt"))),
            "RW all": _cosines(everything, evaluate.read_pairs(data("words/rareword2034.txt"))),
            **{
                key: _cosines(known, evaluate.read_pairs(data(f"words/{file}.txt")))
                for key, file in PAIRS.items()
            },
        }
        questions = evaluate.read_questions(data("words/google-analogies.txt"))
        place, _, _ = known.find({word for question in questions for word in question[:4]})
        places = np.array([[place[word] for word in question[:4]] for question in questions])
        covered = (places >= 0).all(axis=1)
        best = answer(known, places[covered, :3], ("mul",))["mul"]
        self.right = {
            question: bool(there == place[question.d])
            for question, there in zip(
                (q for q, kept in zip(questions, covered) if kept), best, strict=True
            )
        }

    def rho(self, key: str, half: str | None, band: tuple[int, int] | None = None) -> float:
        """Spearman's correlation over the pairs, or a half of them, or a band of counts."""
        chosen = [
            (cosine, pair.score)
            for pair, cosine in self.pairs[key].items()
            if (half is None or _half(pair) == half)
            and (band is None or band[0] <= self.count(pair) < band[1])
        ]
        return _spearman(*np.array(chosen).T) if len(chosen) > 2 else np.nan

    def count(self, pair) -> int:
        """The count of the rarer word."""
        return min(self.counts.get(word.lower(), 0) for word in pair[:2])

    def share(self, group: str, half: str | None) -> float:
        """The share of right answers in percent."""
        chosen = [
            right
            for question, right in self.right.items()
            if _group(question.section) == group and (half is None or _half(question) == half)
        ]
        return 100 * float(np.mean(chosen))


def _cosines(vectors, pairs) -> dict:
    place, _, _ = vectors.find({word for pair in pairs for word in pair[:2]})
    pairs = [pair for pair in pairs if place[pair.a] >= 0 and place[pair.b] >= 0]
    left = vectors.unit_rows(np.array([place[pair.a] for pair in pairs]))
    right = vectors.unit_rows(np.array([place[pair.b] for pair in pairs]))
    return dict(zip(pairs, np.einsum("ij,ij->i", left, right).tolist(), strict=True))


def _half(item) -> str:
    from eigentext import evaluate

    return "dev" if evaluate.half([item], "dev") else "test"


def _group(section: str) -> str:
    if not section.startswith("gram"):
        return "meaning"
    return "inflection" if section.startswith(INFLECTION) else "grammar"


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    from scipy.stats import rankdata

    return float(np.corrcoef(rankdata(x), rankdata(y))[0, 1])


SIMILARITY = ("RW", "RW all", "MEN", "WordSim")
GROUPS = ("inflection", "grammar", "meaning")


def differences(first: Scored, other: Scored) -> list[tuple[str, float, float, float]]:
    """The difference of each score on all items, with a 95 % interval of the paired bootstrap."""
    rng = np.random.default_rng(0)
    found = []
    for key in SIMILARITY:
        both = [pair for pair in first.pairs[key] if pair in other.pairs[key]]
        x, z = (np.array([s.pairs[key][p] for p in both]) for s in (first, other))
        y = np.array([pair.score for pair in both])
        draws = rng.integers(len(both), size=(DRAWS, len(both)))
        moved = [_spearman(z[d], y[d]) - _spearman(x[d], y[d]) for d in draws]
        point = _spearman(z, y) - _spearman(x, y)
        found.append((key, point, *np.quantile(moved, [0.025, 0.975]).tolist()))
    for group in GROUPS:
        both = [q for q in first.right if q in other.right and _group(q.section) == group]
        ends: dict = {}
        for question in both:
            gain = other.right[question] - first.right[question]
            one = ends.setdefault((question.section, question.c, question.d), [0, 0])
            one[0], one[1] = one[0] + gain, one[1] + 1
        sums = np.array(list(ends.values()), float)
        draws = rng.integers(len(sums), size=(DRAWS, len(sums)))
        totals = sums[draws].sum(axis=1)
        moved, point = 100 * totals[:, 0] / totals[:, 1], 100 * sums[:, 0].sum() / sums[:, 1].sum()
        found.append((group, point, *np.quantile(moved, [0.025, 0.975]).tolist()))
    return found


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:4])
        return
    parser = argparse.ArgumentParser(description="Rare words, with and without spelling.")
    parser.add_argument("texts", nargs="*", help=f"default: {', '.join(TEXTS)}")
    parser.add_argument("--ours", action="store_true", help="leave gensim out")
    asked = parser.parse_args()
    shown = [*(score(name, digits=3) for name in SIMILARITY)]
    shown += [score(name, digits=1) for name in GROUPS]
    labels = ("text", "system", "half")
    table = Table("systems", "Costs and scores", ("CPU s", "peak MB", *shown), labels)
    columns = [score(f"{low} to {high}" if high < 1e9 else f"{low} or more") for low, high in BANDS]
    bands = Table("bands", "RW by the count of the rarer word", columns, labels[:2])
    columns = [score("difference"), score("from"), score("to")]
    changes = Table("changes", "Differences to the first system", columns, (*labels[:2], "score"))
    for name in asked.texts or TEXTS:
        first = None
        systems = [*SYSTEMS, *([] if asked.ours or name == "last10" else [FASTTEXT])]
        for system in systems:
            if SYSTEMS.get(system, {}).get("context") == "list" and name != SMALL:
                continue
            if not kept(system, name).exists():
                command = [sys.executable, sys.argv[0], "--run", system, name]
                subprocess.run(command, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
            scored = Scored(system, name)
            for half in (None, "test"):
                figures = [scored.rho(key, half) for key in SIMILARITY]
                figures += [scored.share(group, half) for group in GROUPS]
                costs = (None, None) if half else (scored.cpu, scored.peak)
                table.row(name, system, half or "all", *costs, *figures)
            bands.row(name, system, *(scored.rho("RW", None, band) for band in BANDS))
            first = first or scored
            if scored is not first:
                for change in differences(first, scored):
                    changes.row(name, system, *change)
    record(
        "rare_words",
        "Rare words and morphology",
        [table, bands, changes],
        about="300 dimensions, min count 5, one thread, a process for each system; CPU seconds and "
        "memory are those of the whole process. first20, last10 and first4 are the first 20 "
        "million, the last 10 million and the first 4 million tokens of enwiki-30m in lower case. "
        "RW, MEN and WordSim are Spearman's rho (RW: the pairs in the vocabulary; RW all: all "
        "2,034 pairs, with predicted vectors); inflection (gram5 to gram9), grammar (gram1 to "
        "gram4) and meaning are percent of Google's analogies by 3CosMul. The system `before` has "
        "the vectors of contexts alone, and predicts unseen words with the defaults of "
        "CharacterRidge. Differences are on all items, with 95% intervals of the paired bootstrap.",
        peers=("gensim",),
    )


if __name__ == "__main__":
    main()
