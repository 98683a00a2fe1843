"""The original files of CoNLL-2002, Spanish and Dutch, with the commands that a user types.

For each language it runs ``eigentext tagger fit esp.train -o model`` and ``eigentext tagger
evaluate model esp.testb``, straight from the files of the task: nobody converts them, names their
columns or repairs their tags. Peers are CRFsuite's averaged perceptron and its CRF (L-BFGS) with
the same features as strings, in the same run. Each contestant has one thread and its own process.
F1 is that of conlleval, on testb.
"""

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import eigentext as et
from _grammars import in_a_process, serve
from _harness import data, peak_bytes, scratch
from _record import Table, fact, record, score

LANGUAGES = {"Spanish": "esp", "Dutch": "ned"}
COMMANDS = {"eigentext": (), "eigentext, crf": ("--model", "crf", "--c2", "0.1")}
PEERS = {
    "CRFsuite, averaged perceptron": ("averaged-perceptron", {"max_iterations": 10}),
    "CRFsuite, L-BFGS": ("lbfgs", {"c1": 0, "c2": 0.1, "max_iterations": 100}),
}


def files(language: str) -> tuple[Path, Path]:
    """The files to learn from and to test on, as the archive has them."""
    folder = scratch("conll2002")
    with zipfile.ZipFile(data("nltk_data/corpora/conll2002.zip")) as archive:
        for name in archive.namelist():
            if not (folder / name).exists():
                archive.extract(name, folder)
    short = LANGUAGES[language]
    return folder / f"conll2002/{short}.train", folder / f"conll2002/{short}.testb"


def command(*arguments: object) -> tuple[dict[str, Any], float, str]:
    """What a command prints as JSON, the CPU seconds it took, and its warnings."""
    call = [sys.executable, "-m", "eigentext", *map(str, arguments), "--json", "--threads", "1"]
    start = os.times()
    done = subprocess.run(
        call, capture_output=True, text=True, check=True, env=os.environ | {"NO_COLOR": "1"}
    )
    end = os.times()
    seconds = end.children_user + end.children_system - start.children_user - start.children_system
    return json.loads(done.stdout), seconds, done.stderr


def commands(language: str, options: list[str]) -> dict[str, Any]:
    """``tagger fit`` and ``tagger evaluate``; loops are compiled before the clock starts."""
    train, test = files(language)
    model = scratch(f"conll2002-{LANGUAGES[language]}")
    few = scratch("conll2002-few.txt")
    lines = train.read_text().splitlines()
    few.write_text("\n".join([*lines[:2000], ""]))
    command("tagger", "fit", few, "-o", model, *options)
    told, fitted, warned = command("tagger", "fit", train, "-o", model, *options)
    scores, evaluated, _ = command("tagger", "evaluate", model, test)
    return {
        "F1": 100 * scores["f1"],
        "P": 100 * scores["precision"],
        "R": 100 * scores["recall"],
        "fit": fitted,
        "evaluate": evaluated,
        "MB": told["peak_memory"] / 1e6 if "peak_memory" in told else None,
        "n": (told["n_sentences"], told["n_tokens"], scores["n_sentences"], scores["n_tokens"]),
        "warned": warned,
    }


def peer(language: str, algorithm: str, settings: dict[str, Any]) -> dict[str, Any]:
    """CRFsuite with the same features. Reading and making features counts, as it does for us."""
    import pycrfsuite

    from eigentext.evaluate import chunks
    from tagging import strings

    train, test = files(language)
    start = time.process_time()
    sentences = list(et.read_conll(train))
    features = et.Tagger(columns=["word", "pos"]).fit(sentences[:200])._features
    trainer = pycrfsuite.Trainer(algorithm, settings, verbose=False)
    for one in sentences:
        trainer.append(strings(one, features.sparse, features), [token[-1] for token in one])
    path = scratch("conll2002.crfsuite")
    trainer.train(str(path))
    trained = time.process_time()
    found = pycrfsuite.Tagger()
    found.open(str(path))
    gold = list(et.read_conll(test))
    result = chunks(gold, [found.tag(strings(one, features.sparse, features)) for one in gold])
    return {
        "F1": 100 * result.f1,
        "P": 100 * result.precision,
        "R": 100 * result.recall,
        "fit": trained - start,
        "evaluate": time.process_time() - trained,
        "MB": peak_bytes() / 1e6,
    }


def main() -> None:
    scores = [score(name, digits=2) for name in ("F1", "P", "R")]
    columns = (*scores, "fit CPU s", "evaluate CPU s", "peak MB")
    table = Table("names", "Names on testb, one thread", columns, ("language", "tagger"))
    sizes = Table(
        "sizes",
        "Files as they are read",
        tuple(map(fact, ("sentences", "tokens", "test sentences", "test tokens"))),
        ("language",),
    )
    for language in LANGUAGES:
        rows = {}
        for name, options in COMMANDS.items():
            rows[name] = in_a_process("commands", language=language, options=list(options))
        for name, (algorithm, settings) in PEERS.items():
            given = {"language": language, "algorithm": algorithm, "settings": settings}
            rows[name] = in_a_process("peer", **given)
        for name, row in rows.items():
            table.row(language, name, *(row[x] for x in ("F1", "P", "R", "fit", "evaluate", "MB")))
        sizes.row(language, *rows["eigentext"]["n"])
        if warned := rows["eigentext"]["warned"]:
            print(warned, file=sys.stderr)
    about = "Words and parts of speech of the files; default features. CPU times of whole commands."
    record("conll2002", "CoNLL-2002", [sizes, table], about=about, peers=("python-crfsuite",))


if __name__ == "__main__" and not serve(commands, peer):
    main()
