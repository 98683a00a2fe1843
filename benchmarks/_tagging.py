"""What the benchmarks of taggers share: tagged data, plain text, and models of plain text.

The plain text is that of text8-prefix and enwiki-30m, and the words (not the labels) of the
sentences of the tasks, test parts included. Sources are models of the plain text. They are learned
once and kept in a folder, together with what learning cost.
"""

import json
import time
from pathlib import Path
from typing import Any, cast

import eigentext as et
from _harness import peak_bytes, scratch, unpacked

FOLDER = scratch("tagging")
DIM = 50
TASKS = {"chunk": "conll2000", "ner": "wnut17"}


def tagged(task: str, split: str) -> list[Any]:
    """Sentences of CoNLL-2000 (word, part of speech, chunk tag) or WNUT17 (word, tag)."""
    return et.load_dataset(cast(Any, TASKS[task]), split=cast(Any, split))


def plain_text() -> list[Path]:
    """Files of text: a line is a sentence, a paragraph or, in text8, all of it."""
    own = FOLDER / "own.txt"
    if not own.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        sentences = [*tagged("chunk", "all"), *tagged("ner", "all")]
        own.write_text("".join(" ".join(t[0] for t in one) + "\n" for one in sentences))
    corpora = ("text/text8-prefix.txt.xz", "text/enwiki-30m.tok.txt.xz")
    return [*(unpacked(name) for name in corpora), own]


def source(name: str) -> Any:
    """A model of the plain text, learned if it is not in the folder."""
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        wall, cpu = time.perf_counter(), time.process_time()
        LEARN[name](path)
        cost = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        cost["MB"] = peak_bytes() / 1e6
        path.with_suffix(".json").write_text(json.dumps(cost))
    if name == "word2vec":
        from gensim.models import KeyedVectors

        return KeyedVectors.load(str(path))
    return et.load(path)


def cost(name: str) -> dict[str, float]:
    """The cost of learning a source: wall and CPU seconds, megabytes."""
    return json.loads((FOLDER / name).with_suffix(".json").read_text())


def _eigenwords(path: Path) -> None:
    model = et.Eigenwords(DIM, window=1, context="list", weighting="flat", min_count=2)
    model.fit(plain_text()).save(path)


def _clusters(path: Path) -> None:
    """Clusters of vectors of twice the dimension, without the rarest words."""
    words = et.Eigenwords(2 * DIM, window=1, context="list", weighting="flat")
    et.WordClusters(3000).fit(words.fit(plain_text())).save(path)


def _eigentokens(path: Path) -> None:
    et.Eigentokens(DIM, window=3).fit(plain_text()).save(path)


def _states(path: Path) -> None:
    et.HMM(DIM, max_size=30_000).fit(et.TextCorpus(plain_text())).save(path)


def _word2vec(path: Path) -> None:
    """Skip-gram with window 2, on all cores, five epochs."""
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    whole = FOLDER / "whole.txt"
    with whole.open("wb") as file:
        for name in plain_text():
            file.write(name.read_bytes().rstrip(b"\n") + b"\n")
    model = Word2Vec(vector_size=DIM, window=2, min_count=2, workers=2, sg=1, seed=1)
    sentences = LineSentence(str(whole))
    model.build_vocab(sentences)
    model.train(sentences, total_examples=model.corpus_count, epochs=5)
    model.wv.save(str(path))
    whole.unlink()


LEARN = {
    "eigenwords": _eigenwords,
    "clusters": _clusters,
    "eigentokens": _eigentokens,
    "states": _states,
    "word2vec": _word2vec,
}
