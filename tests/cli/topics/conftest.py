"""Documents of three topics, a line each, and a model of them."""

from pathlib import Path

import numpy as np
import pytest

from eigentext.cli import main

TOPICS = (
    "ham eggs cheese bread butter soup salt pepper onion kitchen",
    "goal team match league coach ball score player season stadium",
    "court judge trial jury appeal verdict lawyer prison crime sentence",
)


def lines(n_lines: int, seed: int, n_words: int = 15) -> str:
    """Most of a document is of one topic, the rest of any; with signs and numbers, as in text."""
    rng = np.random.default_rng(seed)
    topics = [words.split() for words in TOPICS]
    falling = np.arange(1, 11) ** -0.5
    written = []
    for number in range(n_lines):
        kinds = np.where(rng.random(n_words) < 0.8, number % 3, rng.integers(3, size=n_words))
        places = rng.choice(10, n_words, p=falling / falling.sum())
        words = [topics[kind][place] for kind, place in zip(kinds, places)]
        written.append(f"The {' '.join(words[:7])}, the {' '.join(words[7:])}. {number}\n")
    return "".join(written)


@pytest.fixture(scope="session")
def documents(tmp_path_factory) -> Path:
    """300 lines."""
    path = tmp_path_factory.mktemp("text") / "documents.txt"
    path.write_text(lines(300, seed=0))
    return path


@pytest.fixture(scope="session")
def unseen(tmp_path_factory) -> Path:
    """Five other lines among blank ones, and one without known words."""
    path = tmp_path_factory.mktemp("text") / "unseen.txt"
    path.write_text(f"\n{lines(5, seed=1)}\n \n12 34 zebra\n")
    return path


@pytest.fixture(scope="session")
def topics(tmp_path_factory, documents) -> Path:
    """A model of `documents`, to be read only."""
    path = tmp_path_factory.mktemp("model") / "topics"
    with pytest.raises(SystemExit) as exit:
        main(["topics", "fit", str(documents), "-o", str(path), "-k", "3", "--no-cache", "-q"])
    assert exit.value.code in (0, None)
    return path
