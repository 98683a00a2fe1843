"""Small saved models of all kinds, and a process of `eigentext explore` that serves them."""

import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

import eigentext as et

NOUNS = ["cat", "dog", "horse", "sheep", "river", "mountain", "village", "teacher", "farmer"]
VERBS = ["sees", "hears", "follows", "finds", "loves", "fears"]
ADJECTIVES = ["small", "large", "quiet", "green", "old", "young"]
TOPICS = ["ham eggs cheese bread butter milk", "goal team match player ball coach"]


def _sentence(rng: random.Random) -> list[str]:
    def phrase() -> list[str]:
        return ["the", rng.choice(ADJECTIVES), rng.choice(NOUNS)]

    return [*phrase(), rng.choice(VERBS), *phrase()]


def _tree(rng: random.Random) -> str:
    def phrase(depth: int) -> str:
        noun = f"(NP (DT the) (NN {rng.choice(NOUNS)}))"
        if depth < 2 and rng.random() < 0.4:
            return f"(NP {noun} (PP (IN {rng.choice(['near', 'with'])}) {phrase(depth + 1)}))"
        return noun

    verb = f"(VBZ {rng.choice(VERBS)})"
    attached = rng.random() < 0.3
    more = f" (PP (IN with) {phrase(2)})" if attached else ""
    return f"(S {phrase(0)} (VP {verb} {phrase(0)}{more}))"


def _tagged(words: list[str]) -> list[tuple[str, str]]:
    tags = {**dict.fromkeys(NOUNS, "N"), **dict.fromkeys(VERBS, "V"), "the": "D"}
    return [(word, tags.get(word, "A")) for word in words]


def _lists(n: int):
    """Lists of candidates, and the gold trees, in which a phrase is attached high."""
    lists, gold = [], []
    for noun, verb in itertools.islice(itertools.product(NOUNS, VERBS), n):
        high = f"(S (NP (DT the) (NN {noun})) (VP (VBZ {verb}) (PP (IN of) (NP (NN {noun})))))"
        low = f"(S (NP (DT the) (NN {noun})) (NP (VBZ {verb}) (PP (IN of) (NP (NN {noun})))))"
        lists.append([(low, -20.5), (high, -21.0)])
        gold.append(et.Tree.parse(high))
    return lists, gold


@pytest.fixture(scope="session")
def model_files(tmp_path_factory) -> dict[str, Path]:
    """A saved model of each kind, by its name."""
    rng = random.Random(0)
    sentences = [_sentence(rng) for _ in range(400)]
    trees = [_tree(rng) for _ in range(300)]
    texts = [" ".join(rng.choices(rng.choice(TOPICS).split(), k=12)) for _ in range(200)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little text causes warnings
        words = et.Eigenwords(4, window=1, min_count=1).fit(sentences)
        models = {
            "words": words,
            "clusters": et.WordClusters(4).fit(words),
            "eigentokens": et.Eigentokens(3, window=1, min_count=1).fit(sentences),
            "hmm": et.HMM(3, method="spectral+em", n_iter=5).fit(sentences),
            "spectral-hmm": et.HMM(3).fit(sentences),
            "bigram": et.BigramModel(3).fit(sentences),
            "class-bigram": et.ClassBigram(n_classes=5).fit(sentences),
            "kneser-ney": et.KneserNey(2).fit(sentences),
            "pcfg": et.PCFG().fit(trees),
            "latent": et.LatentPCFG(2, method="em", n_iter=3, n_smooth=2).fit(trees),
            "topics": et.TopicModel(2).fit(texts),
            "tagger": et.Tagger(n_epochs=2).fit([_tagged(one) for one in sentences[:100]]),
            "hmm-tagger": et.HMMTagger().fit([_tagged(one) for one in sentences[:100]]),
            "reranker": et.Reranker(decay=[0.4], n_epochs=2).fit(*_lists(20)),
            "moments": words.collect(sentences),
        }
    folder = tmp_path_factory.mktemp("models")
    paths = {name: folder / f"{name}.safetensors" for name in models}
    for name, model in models.items():
        model.save(paths[name])
    (folder / "documents.txt").write_text("\n".join(texts[:50]))
    return paths


@pytest.fixture(scope="session")
def numbers(model_files) -> dict[str, int]:
    """The number of each model."""
    return {name: number for number, name in enumerate(model_files)}


class Server:
    """A running `eigentext explore`."""

    def __init__(self, process: subprocess.Popen, address: str):
        self.process, self.address = process, address
        self.port = int(address.rstrip("/").rpartition(":")[2])
        self.client = httpx.Client(base_url=address, timeout=60, trust_env=False)

    def get(self, path: str, **query) -> httpx.Response:
        return self.client.get(path, params=query or None)

    def post(self, path: str, **fields) -> httpx.Response:
        return self.client.post(path, json=fields)


@contextmanager
def running(*arguments, before: str = ""):
    """Start the command. At the end, stop it as Ctrl-C does."""
    code = f"{before}\nfrom eigentext.cli import main\nmain()"
    command = [sys.executable, "-c", code, "explore", "--json", "--port", "0"]
    process = subprocess.Popen(
        [*command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        line = process.stdout.readline()
        if not line:
            raise AssertionError(process.communicate()[1])
        server = Server(process, json.loads(line)["address"])
        with server.client:
            yield server
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(15)
        finally:
            process.kill()
            process.stdout.close()
            process.stderr.close()


@pytest.fixture(scope="session")
def server(model_files):
    """A server with all models."""
    documents = next(iter(model_files.values())).parent / "documents.txt"
    with running(*model_files.values(), "--documents", documents, "--unit", "line") as one:
        wait_for_workers(one)
        yield one


def wait_for_workers(server: Server) -> None:
    """Wait until the first worker has loaded its models."""
    for _ in range(20):
        tree = "(S (A a))"
        if server.post("/api/kernel", a=tree, b=tree).status_code == 200:
            return
        time.sleep(0.5)
    raise AssertionError("no worker is ready")
