"""What a user does first with an installed wheel. `.ci/smoke` runs it outside of the repository."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import eigentext as et

COMMAND = Path(sys.executable).with_name("eigentext")
TREES = ["(S (NP (D the) (N dog)) (VP (V slept)))", "(S (NP (P she)) (VP (V saw) (NP (N dogs))))"]


def main() -> None:
    """Fit, save, load, use, take the tour, and open the explorer."""
    source = Path(et.__file__)
    assert "site-packages" in source.parts, source
    assert not os.access(source.parent, os.W_OK), "this installation should be read-only"
    assert "HOME" not in os.environ
    print(f"user {os.geteuid()}, Python {sys.version.split()[0]}, eigentext {et.__version__}")
    start = time.process_time()
    words = et.Eigenwords(5, min_count=1).fit(["the cat sees a dog", "a dog hears the cat"] * 20)
    words.save("words")
    print("neighbors of cat:", et.load("words").most_similar("cat", 2))
    parser = et.LatentPCFG(2).fit(TREES * 20)
    parser.save("parser")
    print(et.load("parser").parse("she slept"))
    print(f"first calls: {time.process_time() - start:.1f} CPU s")
    run("demo", "-o", "demo", "--no-explore", "--quiet")
    compiled = list(Path(tempfile.gettempdir()).rglob("*.nbc"))
    print("loops that had to be compiled:", sorted(path.name for path in compiled))
    from eigentext.engine import shipped

    assert shipped.is_there(), "the wheel has no compiled loops for this machine"
    assert len(compiled) < 10, "most loops should come with the wheel"
    explore("words", "parser")


def run(*arguments: str) -> None:
    """Run the command."""
    subprocess.run([COMMAND, *arguments], check=True)


def explore(*models: str) -> None:
    """Open the explorer, ask it for its page, and end it."""
    command = [COMMAND, "explore", *models, "--port", "0", "--no-open", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        address = line.split('"address": "')[1].split('"')[0]
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"<html" in answer.read().lower()
        print("the explorer answered at", address)
        server.send_signal(signal.SIGINT)
        server.wait(timeout=30)


if __name__ == "__main__":
    main()
