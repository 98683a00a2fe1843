"""Running the command, in this process (fast) or in one of its own (all of it), and small texts."""

import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import eigentext as et
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


@pytest.fixture
def fit_of(cli, tmp_path):
    """Fit in this process; returns the model and what `--json` prints about it."""

    def run(group, *arguments, name="model"):
        result = cli(group, "fit", *arguments, "-o", tmp_path / name, "--json")
        assert result.status == 0, result.err
        assert result.err == ""
        return et.load(tmp_path / name), json.loads(result.out)

    return run


@pytest.fixture
def standard_input(monkeypatch):
    """Put some bytes, or those of a file, into standard input."""

    def give(content: bytes | Path):
        data = content.read_bytes() if isinstance(content, Path) else content
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))

    return give


@pytest.fixture
def start():
    """Start the command in a process of its own, with pipes to it."""

    def run(*arguments, **options) -> subprocess.Popen:
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        command = [sys.executable, "-m", "eigentext", *map(str, arguments)]
        return subprocess.Popen(command, text=True, **pipes | options)

    return run


@pytest.fixture
def interrupted(start, tmp_path):
    """Run a command that writes to the folder `out`, and press Ctrl-C after the block inside.

    The command must then leave nothing behind.
    """

    @contextlib.contextmanager
    def run(*arguments):
        folders = [tmp_path / name for name in ("out", "tmp")]
        for folder in folders:
            folder.mkdir()
        with start(*arguments, env=os.environ | {"TMPDIR": str(folders[1])}) as process:
            yield process
            # A signal just before a system call does not end that call: people press again.
            for _ in range(10):
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                    break
            out, err = process.communicate()
        assert process.returncode == 130
        assert err.endswith("eigentext: interrupted; nothing was written\n")
        assert "Traceback" not in err
        assert out == ""
        assert [path for folder in folders for path in folder.iterdir()] == []

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
