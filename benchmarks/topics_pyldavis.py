"""`TopicModel.to_pyldavis` beside `pyLDAvis.prepare`: whether the numbers are the same.

    python benchmarks/topics_pyldavis.py [--peers PYTHON]

Test posts of 20 newsgroups, 20 topics of the training posts. pyLDAvis works in the Python of
--peers, or in this one. The page of pyLDAvis for our file is written beside the other files, in a
temporary folder that is kept with ``--folder FOLDER``.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from _record import Table, fact, record, score

TABLES = ("mdsDat", "tinfo", "token.table")


def make(folder: Path) -> float:
    """Write our file, and what pyLDAvis needs. Return the CPU seconds of our export."""
    import eigentext as et
    from eigentext.moments import document_counts
    from eigentext.topics.inference import lifted

    folder.mkdir(parents=True, exist_ok=True)
    train, test = (et.load_dataset("20news", split=split).texts for split in ("train", "test"))
    model = et.TopicModel(20, stop_words="english", min_df=10, max_df=0.2).fit(train)
    start = time.process_time()
    model.to_pyldavis(test, folder / "topics.json")
    seconds = time.process_time() - start
    counts = document_counts(test, model.vocabulary_, model.provenance_["options"])
    known = np.flatnonzero(counts.sum(axis=1) > 0)
    theta = model.transform(counts[known])
    np.savez(
        folder / "given.npz",
        phi=lifted(model.components_),
        theta=theta / theta.sum(axis=1, keepdims=True),
        n=counts[known].sum(axis=1),
        words=np.array(model.vocabulary_.words),
        counts=counts.sum(axis=0) + 1,
    )
    return seconds


def peer(folder: Path) -> None:
    """With pyLDAvis: write its numbers, and its page for our file."""
    import pandas as pd
    import pyLDAvis

    given, ours = np.load(folder / "given.npz"), json.loads((folder / "topics.json").read_text())
    arrays = [given[name] for name in ("phi", "theta", "n")]
    start = time.process_time()
    prepared = pyLDAvis.prepare(*arrays, [*given["words"]], given["counts"], n_jobs=1)
    seconds = time.process_time() - start
    about = {"version": pyLDAvis.__version__, "seconds": seconds}
    (folder / "about.json").write_text(json.dumps(about))
    (folder / "pyldavis.json").write_text(prepared.to_json())
    parts = [pd.DataFrame(ours[table]) for table in TABLES]
    rest = [ours[name] for name in ("R", "lambda.step", "plot.opts", "topic.order")]
    pyLDAvis.save_html(pyLDAvis.PreparedData(*parts, *rest), str(folder / "topics.html"))


def compare(folder: Path) -> Table:
    """A row for each column of the tables in both files."""
    theirs, ours = (
        json.loads((folder / name).read_text()) for name in ("pyldavis.json", "topics.json")
    )
    if [*theirs] != [*ours] or theirs["topic.order"] != ours["topic.order"]:
        sys.exit("the files have other parts, or another order of topics")
    columns = (fact("values"), score("not the same", "lower"), fact("largest difference"))
    table = Table("columns", "Columns of the file", columns, ("table", "column"))
    for name in TABLES:
        for column, values in theirs[name].items():
            a, b = np.array(values), np.array(ours[name][column])
            if a.dtype.kind in "OU":
                table.row(name, column, len(a), int((a != b).sum()), None)
                continue
            b = -b if name == "mdsDat" and np.dot(a, b) < 0 else b  # signs of axes are free
            unlike = int((np.abs(a - b) > 1e-9).sum())
            table.row(name, column, len(a), unlike, float(np.abs(a - b).max()))
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", default=sys.executable, help="a Python with pyLDAvis")
    parser.add_argument("--folder", type=Path, help="where the files stay")
    parser.add_argument("--peer", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        peer(given.peer)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        seconds = make(folder)
        subprocess.run([given.peers, __file__, "--peer", str(folder)], check=True)
        about = json.loads((folder / "about.json").read_text())
        cost = Table("cost", "The work", ("CPU s",))
        cost.row("to_pyldavis, from text", seconds)
        cost.row("pyLDAvis.prepare, from arrays", about["seconds"])
        table = compare(folder)
    record(
        "topics_pyldavis",
        "The file for pyLDAvis",
        [table, cost],
        about="20 topics of the training posts of 20 newsgroups, and the test posts. The same "
        'arrays go to pyLDAvis.prepare. "not the same" counts the values that differ by more than '
        "1e-9; the two axes of the map may have another sign. Ours includes reading the text and "
        "the shares of topics.",
        notes=[f"pyLDAvis {about['version']}"],
    )


if __name__ == "__main__":
    main()
