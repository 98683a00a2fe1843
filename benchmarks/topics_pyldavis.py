"""`TopicModel.to_pyldavis` beside `pyLDAvis.prepare`: the same numbers, and a page that opens.

    python benchmarks/topics_pyldavis.py make FOLDER       # with eigentext
    python benchmarks/topics_pyldavis.py compare FOLDER    # with pyLDAvis

Test posts of 20 newsgroups, 20 topics of the training posts.
"""

import json
import sys
from pathlib import Path

import numpy as np


def make(folder):
    import eigentext as et
    from eigentext.moments import document_counts
    from eigentext.topics.inference import lifted

    folder.mkdir(parents=True, exist_ok=True)
    train, test = (et.load_dataset("20news", split=split).texts for split in ("train", "test"))
    model = et.TopicModel(20, stop_words="english", min_df=10, max_df=0.2).fit(train)
    model.to_pyldavis(test, folder / "topics.json")
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


def compare(folder):
    import pandas as pd
    import pyLDAvis

    given, ours = np.load(folder / "given.npz"), json.loads((folder / "topics.json").read_text())
    arrays = [given[name] for name in ("phi", "theta", "n")]
    prepared = pyLDAvis.prepare(*arrays, [*given["words"]], given["counts"], n_jobs=1)
    theirs = json.loads(prepared.to_json())
    print("the same keys:", [*theirs] == [*ours])
    print("the same order of topics:", theirs["topic.order"] == ours["topic.order"])
    for table in ("mdsDat", "tinfo", "token.table"):
        for name, column in theirs[table].items():
            a, b = np.array(column), np.array(ours[table][name])
            if a.dtype.kind in "OU":
                print(f"{table:12} {name:9} the same: {bool((a == b).all())}")
            else:
                apart = min(np.abs(a - b).max(), np.abs(a + b).max())  # signs of axes are free
                print(f"{table:12} {name:9} largest difference {apart:.1e}")
    parts = [pd.DataFrame(ours[table]) for table in ("mdsDat", "tinfo", "token.table")]
    rest = [ours[name] for name in ("R", "lambda.step", "plot.opts", "topic.order")]
    pyLDAvis.save_html(pyLDAvis.PreparedData(*parts, *rest), str(folder / "topics.html"))
    print(f"{folder / 'topics.html'}: {(folder / 'topics.html').stat().st_size:,} bytes")


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](Path(sys.argv[2]))
