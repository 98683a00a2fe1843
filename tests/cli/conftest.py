"""Running the command, in this process (fast) or in one of its own (all of it), and small texts."""

import os
import random
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from eigentext.cli import main

NOUNS = ["cat", "dog", "horse", "sheep", "river", "mountain", "village", "teacher", "farmer"]
VERBS = ["sees", "hears", "follows", "finds", "loves", "fears"]
ADJECTIVES = ["small", "large", "quiet", "green", "old", "young"]


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def mistake(self) -> str:
        """The line that a user's mistake ends in: the only one printed, and no traceback."""
        assert self.status == 2, self.err
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("eigentext: ")
        return line.removeprefix("eigentext: ")


@pytest.fixture
def cli(capfd):
    """Run the command in this process."""

    def run(*arguments) -> Result:
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Result(exit.value.code or 0, out, err)

    return run


@pytest.fixture
def process():
    """Run the command in a process of its own, as a user does."""

    def run(*arguments, before: str = "", env: dict[str, str] | None = None, **options) -> Result:
        code = f"{before}\nfrom eigentext.cli import main\nmain()"
        launch = ("-c", code) if before else ("-m", "eigentext")
        done = subprocess.run(
            [sys.executable, *launch, *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            env=os.environ | (env or {}),
            **options,
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run


def sentences(n_sentences: int, seed: int = 0) -> str:
    rng = random.Random(seed)

    def phrase() -> str:
        return f"the {rng.choice(ADJECTIVES)} {rng.choice(NOUNS)}"

    return "".join(f"{phrase()} {rng.choice(VERBS)} {phrase()} .\n" for _ in range(n_sentences))


@pytest.fixture(scope="session")
def text(tmp_path_factory) -> Path:
    """A few thousand words in short sentences."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text(sentences(500))
    return path


@pytest.fixture(scope="session")
def more_text(tmp_path_factory) -> Path:
    """Other sentences, with words that the first text lacks."""
    path = tmp_path_factory.mktemp("text") / "more.txt"
    path.write_text(sentences(200, seed=1).replace("farmer", "baker"))
    return path


@pytest.fixture(scope="session")
def long_text(tmp_path_factory) -> Path:
    """Enough words to keep a fit of many dimensions busy for some seconds."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{place}" for place in range(20_000)])
    lines = words[(20_000 * rng.random((30_000, 20)) ** 2).astype(int)].tolist()
    path = tmp_path_factory.mktemp("text") / "long.txt"
    path.write_text("\n".join(map(" ".join, lines)))
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory, text) -> Path:
    """A model of `text`, to be read only."""
    path = tmp_path_factory.mktemp("model") / "model"
    options = ["--dim", "4", "--window", "1", "--no-cache", "--quiet"]
    with pytest.raises(SystemExit):
        main(["words", "fit", str(text), "-o", str(path), *options])
    return path
