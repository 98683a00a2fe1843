"""Sentences with parts of speech and chunks, and taggers learned from them."""

import random
from pathlib import Path

import pytest

from eigentext import load, read_conll, write_conll
from eigentext.cli import main

# The words of the text that word vectors are learned from (`text`), and those it has not.
NOUNS = ("cat", "dog", "horse", "sheep", "river", "mountain", "village", "teacher")
VERBS = ("sees", "hears", "follows", "finds")
ADJECTIVES = ("small", "large", "quiet", "green")
COLUMNS = ("word", "pos", "label")


def phrase(rng: random.Random) -> list[tuple[str, str, str]]:
    words = [("the", "DT", "B-NP"), (rng.choice(ADJECTIVES), "JJ", "I-NP")]
    return [words[0], *words[1:][: rng.randrange(2)], (rng.choice(NOUNS), "NN", "I-NP")]


def sentences(n: int, seed: int = 0) -> list[list[tuple[str, ...]]]:
    """Some labels are wrong, so that nothing is certain."""
    rng = random.Random(seed)

    def verb() -> tuple[str, str, str]:
        return rng.choice(VERBS), "VBZ", "B-VP" if rng.random() < 0.8 else "O"

    return [[*phrase(rng), verb(), *phrase(rng), (".", ".", "O")] for _ in range(n)]


@pytest.fixture(scope="session")
def train(tmp_path_factory) -> Path:
    """Words, parts of speech and chunks."""
    path = tmp_path_factory.mktemp("tagged") / "train.txt"
    write_conll(sentences(40), path)
    return path


@pytest.fixture(scope="session")
def dev(tmp_path_factory) -> Path:
    """The same of other sentences, with words that are new, packed."""
    path = tmp_path_factory.mktemp("tagged") / "dev.gz"
    other = {"cat": "sailor", "finds": "teaches", "green": "purple"}
    write_conll(
        [[(other.get(word, word), *rest) for word, *rest in one] for one in sentences(15, seed=1)],
        path,
    )
    return path


@pytest.fixture(scope="session")
def words(tmp_path_factory) -> Path:
    """Words and parts of speech, with tabs between."""
    path = tmp_path_factory.mktemp("tagged") / "words.txt"
    lines = (
        "".join(f"{word}\t{pos}\n" for word, pos, _ in one) + "\n" for one in sentences(40, seed=2)
    )
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    """``learned(file, ...)``: a tagger of it, to be read only."""

    def fit(file, *options: str) -> Path:
        path = tmp_path_factory.mktemp("model") / "tagger"
        with pytest.raises(SystemExit) as exit:
            main(["tagger", "fit", str(file), "-o", str(path), *options, "--quiet"])
        assert exit.value.code in (0, None)
        return path

    return fit


@pytest.fixture(scope="session")
def chunker(learned, train) -> Path:
    """From words and parts of speech to chunks; not too sure of itself."""
    return learned(train, "--epochs", "2")


@pytest.fixture(scope="session")
def tagger(learned, words) -> Path:
    """From words alone to parts of speech."""
    return learned(words, "--epochs", "2")


@pytest.fixture(scope="session")
def tagged(dev):
    """The tokens of `dev` without labels, and with them."""
    found = list(read_conll(dev, columns=COLUMNS))
    return [[token[:-1] for token in one] for one in found], found


@pytest.fixture(scope="session")
def loaded(chunker, tagger):
    return load(chunker), load(tagger)
