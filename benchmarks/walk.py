"""Which files a fit visits, and how often the reader changes rooms on the way.

``python benchmarks/walk.py`` fits small models of words, topics and a grammar, notes each function
of the library when it is first called, and prints the files in that order. "Rooms" are the folders
of ``src/eigentext``. The foundation (engine, storage, matrices, parameters, estimators, monitor)
counts as files but not as changes of room: every room stands on it.
"""

import argparse
import os
import random
import sys
import threading
import warnings
from itertools import pairwise
from pathlib import Path

import eigentext as et
from _record import Table, fact, record, score
from eigentext import Tree

ROOT = Path(et.__file__).parent
FOUNDATION = (
    "engine",
    "storage",
    "matrices",
    "parameters.py",
    "estimators.py",
    "monitor.py",
    "errors.py",
)


def words() -> None:
    """Fit word vectors."""
    et.Eigenwords(5, window=2, min_count=1).fit(["the cat sat on the mat", "a dog ran home"] * 100)


def topics() -> None:
    """Fit topics of two kinds of documents."""
    rng = random.Random(0)
    kinds = ["apple", "pear", "plum", "fig", "lemon"], ["car", "bus", "train", "bike", "tram"]
    et.TopicModel(2, alpha0=1.0).fit(
        [" ".join(rng.choices(kinds[i % 2], k=30)) for i in range(300)]
    )


def grammar() -> None:
    """Fit a latent-variable PCFG by the spectral method."""
    rng = random.Random(0)
    et.LatentPCFG(4, method="spectral").fit([_sentence(rng) for _ in range(300)])


def _sentence(rng: random.Random) -> Tree:
    def phrase(depth: int) -> str:
        noun = f"(NP (DT {rng.choice(['the', 'a'])}) (NN {rng.choice(['cat', 'dog', 'house'])}))"
        if depth == 0 or rng.random() < 0.6:
            return noun
        return f"(NP {noun} (PP (IN in) {phrase(depth - 1)}))"

    verb = rng.choice(["sees", "likes", "builds"])
    return Tree.parse(f"(S {phrase(2)} (VP (VBZ {verb}) {phrase(2)}))")


def walk(fit) -> list[str]:
    """The files that a fit visits, in the order of their first visit."""
    fit()  # imports everything
    files: list[str] = []

    def note(frame, event, _) -> None:
        name = frame.f_code.co_filename
        is_code = event == "call" and frame.f_code.co_name not in ("<module>", "__getattr__")
        if is_code and name.startswith(f"{ROOT}{os.sep}"):
            file = str(Path(name).relative_to(ROOT))
            if file not in files:
                files.append(file)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        fit()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files


def room_changes(files: list[str]) -> int:
    """How often two files in a row, the foundation left out, are in different rooms."""
    rooms = [Path(file).parts[0] for file in files]
    rooms = [room for room in rooms if room not in FOUNDATION]
    return sum(a != b for a, b in pairwise(rooms))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", action="store_true", help="list the files, too")
    shown = parser.parse_args()
    warnings.simplefilter("ignore")
    columns = (score("files", "lower"), score("changes of room", "lower"), fact("of grammars"))
    table = Table("walk", "Files that a fit visits", columns, ("fit",), silent=True)
    for fit in (words, grammar, topics):
        files = walk(fit)
        own = sum(file.startswith("grammars") for file in files)
        print(
            f"{fit.__name__}: {len(files)} files, {room_changes(files)} changes of room"
            + (f", {own} files of grammars" if own else "")
        )
        table.row(fit.__name__, len(files), room_changes(files), own or None)
        if shown.files:
            print(*(f"  {file}" for file in files), sep="\n")
    record("walk", "Files that a fit visits", [table])


if __name__ == "__main__":
    main()
