"""Ten-fold cross-validation of parsers on the Penn sample and on GUM, and from one to the other.

Run ``.venv/bin/python benchmarks/parsers_cv.py --systems NAME ... [--corpus NAME ...]``. It prints
a table for each corpus, and writes ``benchmarks/results/new/parsers_cv.json`` (or ``--name``).

A corpus is

* penn: ten folds of all 3,914 trees. A fold has whole files, which are documents;
* gum: ten folds of all 13,263 trees. The files do not name documents, so a fold is a run of
  consecutive trees;
* penn-gum: learned from all of Penn, tested on every fourth tree of GUM;
* gum-penn: learned from all of GUM, tested on all of Penn.

A system is one of SYSTEMS, with changes: ``spectral+em:n_states=8,features=simple``. At the end may
come ``/vectors``, ``/clusters`` or ``/text`` (both): the parser then takes the models of plain text
that ``--vectors`` and ``--clusters`` name. ``@LABEL`` after all that changes only the name: results
of two versions of the code can so be kept apart, as spectral@before and spectral.

Each fold is learned and parsed in a process of its own, on one thread, with all loops loaded. The
result, with all trees, is written to the folder ``--cache`` as soon as it is there. So a run that
was interrupted goes on, and several processes that run the same command share the work. ``--folds 0
1 2`` does only a part. ``--report`` does no work, and prints what there is.

A system is compared with the one without ``/...``, if there is one, and else with ``--baseline``
(by default the first system): difference of F1, its interval of 95 % and p of the paired bootstrap
over sentences (``et.evaluate.compare``), on the folds that both have. "error removed" is the share
of the baseline's 100 - F1 that is gone. CPU seconds and MB are means over folds.
"""

import argparse
import ast
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import eigentext as et
from _grammars import in_a_process, serve, warm_fit
from _harness import Phases
from _record import NEW, Table, fact, record, score
from eigentext import engine
from eigentext.corpus._places import candidates
from eigentext.corpus.datasets import _PENN_FILE, _files, _named
from eigentext.corpus.trees import parse_trees
from eigentext.evaluate import BracketResult, brackets, compare_results, folds

N_FOLDS = 10
EVERY = 4  # of GUM's trees, for tests of a grammar of Penn
SYSTEMS: dict[str, Callable[..., Any]] = {
    "pcfg": et.PCFG,
    "latent": et.LatentPCFG,
    "spectral": lambda **given: et.LatentPCFG(**{"method": "spectral"} | given),
    "spectral+em": lambda **given: et.LatentPCFG(**{"method": "spectral+em"} | given),
    "em": lambda **given: et.LatentPCFG(**{"method": "em"} | given),
    "ensemble": lambda **given: et.LatentPCFG(**{"method": "spectral+em", "n_grammars": 4} | given),
}
CORPORA = ("penn", "gum", "penn-gum", "gum-penn")
TEXTS = {"": (), "vectors": ("vectors",), "clusters": ("clusters",)}
TEXTS["text"] = ("vectors", "clusters")


# -- systems and corpora ---------------------------------------------------------------------------


class System(NamedTuple):
    """What the name of a system says."""

    base: str
    changes: dict[str, Any]
    texts: tuple[str, ...]
    plain: str  # the name of the same system without plain text

    @classmethod
    def named(cls, name: str) -> "System":
        """Read a name, such as spectral:n_states=8/text@before."""
        found = re.fullmatch(r"([^:/@]+)(?::([^/@]+))?(?:/([^@]+))?(@.*)?", name)
        if found is None or found[1] not in SYSTEMS or (found[3] or "") not in TEXTS:
            raise SystemExit(f"{name!r} is no system: write, for example, spectral:n_states=8/text")
        pairs = (pair.partition("=") for pair in (found[2] or "").split(",") if pair)
        plain = found[1] + (f":{found[2]}" if found[2] else "") + (found[4] or "")
        changes = {key: _value(value) for key, _, value in pairs}
        return cls(found[1], changes, TEXTS[found[3] or ""], plain)

    def parser(self, models: dict[str, str]) -> Any:
        """The parser, not fitted."""
        texts = {name: et.load(models[name]) for name in self.texts}
        return SYSTEMS[self.base](**self.changes, **texts)


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return float(text) if text == "inf" else text


@cache
def penn() -> tuple[list[et.Tree], list[int]]:
    """All trees of the Penn sample, and the number of the file of each."""
    place = next(filter(os.path.exists, candidates(_named("penn-sample"))))
    trees, files = [], []
    for number, (name, content) in enumerate(sorted(_files(place, _PENN_FILE))):
        found = parse_trees(content.decode(), name)
        trees += [et.normalize_tree(tree) for tree in found]
        files += [number] * len(found)
    return trees, files


@cache
def gum() -> list[et.Tree]:
    """All trees of GUM."""
    return [et.normalize_tree(tree) for tree in et.load_dataset("gum", split="all")]


def split(corpus: str, fold: int) -> tuple[list[et.Tree], list[et.Tree]]:
    """The trees to learn from, and those to parse."""
    if corpus == "penn-gum":
        return penn()[0], gum()[::EVERY]
    if corpus == "gum-penn":
        return gum(), penn()[0]
    trees, files = penn() if corpus == "penn" else (gum(), None)
    is_test = folds(len(trees), N_FOLDS, files) == fold
    return (
        [tree for tree, test in zip(trees, is_test) if not test],
        [tree for tree, test in zip(trees, is_test) if test],
    )


def n_folds(corpus: str) -> int:
    """How many folds a corpus has: one, if another corpus is tested."""
    return 1 if "-" in corpus else N_FOLDS


# -- work ------------------------------------------------------------------------------------------


def one_fold(system: str, corpus: str, fold: int, models: dict[str, str]) -> dict[str, Any]:
    """Learn and parse: the trees as lines, CPU seconds, peak memory."""
    engine.use(engine.ThreadEngine(1))
    parser = System.named(system).parser(models)
    rest, right = split(corpus, fold)
    warm_fit(parser, rest)
    phases = Phases()
    with phases("fit"):
        parser.fit(rest)
    with phases("parse"):
        parses = list(parser.parses([tree.leaves() for tree in right], n_jobs=1))
    return {
        "system": system,
        "corpus": corpus,
        "fold": fold,
        "parser": repr(parser),
        "commit": _commit(),
        "fit": phases.found["fit"][1],
        "parse": phases.found["parse"][1],
        "MB": phases.found["fit"][2],
        "parse MB": phases.found["parse"][2],
        "fallbacks": sum(bool(one.fallback) for one in parses),
        "trees": [str(one.tree) for one in parses],
    }


def _commit() -> str:
    """The commit that last changed grammars; with "+", if there are changes after it."""

    def git(*arguments: str) -> str:
        command = ["git", *arguments, "--", "src/eigentext/grammars"]
        folder = Path(__file__).parents[1]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        return done.stdout.strip()

    return git("log", "-1", "--format=%h") + ("+" if git("status", "--porcelain") else "")


def work(asked: argparse.Namespace) -> None:
    """Do all folds that nobody has done or claimed."""
    models = {name: getattr(asked, name) for name in ("vectors", "clusters")}
    for system, corpus, fold in jobs(asked):
        path = place(asked, system, corpus, fold)
        path.parent.mkdir(parents=True, exist_ok=True)
        claim = path.with_suffix(".claim")
        if path.exists() or not _claimed(claim):
            continue
        try:
            print(f"{system}, {corpus}, fold {fold}", flush=True)
            found = in_a_process("one_fold", system=system, corpus=corpus, fold=fold, models=models)
            new = path.with_suffix(".new")
            new.write_text(json.dumps(found, ensure_ascii=False), encoding="utf-8")
            new.rename(path)
        finally:
            claim.unlink(missing_ok=True)


def jobs(asked: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """All that was asked for: fold by fold, so that systems can be compared early."""
    for corpus in asked.corpus:
        for fold in range(n_folds(corpus)):
            if asked.folds is None or fold in asked.folds or n_folds(corpus) == 1:
                for system in asked.systems:
                    yield system, corpus, fold


def place(asked: argparse.Namespace, system: str, corpus: str, fold: int) -> Path:
    """The file of a fold."""
    return Path(asked.cache, corpus, system.replace("/", "%"), f"{fold}.json")


def _claimed(claim: Path) -> bool:
    """Whether this process may do the work. A claim of a process that has ended is void."""
    try:
        with claim.open("x") as file:
            file.write(str(os.getpid()))
        return True
    except FileExistsError:
        try:
            os.kill(int(claim.read_text() or 0), 0)
        except (ValueError, FileNotFoundError):
            return False  # it is just being written or removed
        except ProcessLookupError:
            claim.unlink(missing_ok=True)
            return _claimed(claim)
        return False


# -- report ----------------------------------------------------------------------------------------


class Done(NamedTuple):
    """The folds of a system that are done, by number."""

    facts: dict[int, dict[str, Any]]
    scores: dict[int, BracketResult]

    def on(self, numbers: list[int]) -> BracketResult:
        """The scores of these folds together."""
        return BracketResult(tuple(x for number in numbers for x in self.scores[number].sentences))


def report(asked: argparse.Namespace) -> None:
    """Print and record the tables."""
    columns = (
        *(score("F1", digits=2), score("exact %", digits=1), fact("2 CBs %"), fact("fallbacks")),
        *map(fact, ("against", "difference", "from", "to", "p", "error removed %")),
        *("learn CPU s", "sentences/s", "learn MB", fact("folds")),
    )
    tables, commits = [], set[str]()
    for corpus in asked.corpus:
        done = {system: _read(asked, system, corpus) for system in asked.systems}
        done = {system: found for system, found in done.items() if found.facts}
        table = Table(corpus, TITLES[corpus], columns)
        for system, found in done.items():
            commits |= {one["commit"] for one in found.facts.values()}
            table.row(system, *_cells(system, done, asked.baseline or asked.systems[0]))
        tables.append(table)
    notes = [f"Grammars of commit {', '.join(sorted(commits))}."]
    record(asked.name, "Cross-validation of parsers", tables, about=ABOUT, notes=notes)


def _read(asked: argparse.Namespace, system: str, corpus: str) -> Done:
    facts, scores = {}, {}
    for fold in range(n_folds(corpus)):
        path = place(asked, system, corpus, fold)
        if path.exists() and (asked.folds is None or fold in asked.folds or n_folds(corpus) == 1):
            found = json.loads(path.read_text(encoding="utf-8"))
            facts[fold] = found
            scores[fold] = brackets(split(corpus, fold)[1], found.pop("trees"))
    return Done(facts, scores)


def _cells(system: str, done: dict[str, Done], baseline: str) -> list[Any]:
    facts, scores = done[system]
    result, all_facts = done[system].on([*scores]), [*facts.values()]
    n_parsed = result.n_sentences
    plain = System.named(system).plain
    other = plain if plain != system and plain in done else baseline
    both = [fold for fold in scores if other in done and fold in done[other].scores]
    against: list[Any] = [None] * 6
    if other != system and both:
        found = compare_results(done[other].on(both), done[system].on(both))
        percents = [100 * x for x in (found.difference, *found.interval)]
        removed = 100 * found.difference / (1 - found.a) if found.a < 1 else None
        against = [other, *(round(x, 2) for x in percents), found.p, removed and round(removed, 1)]
    return [
        *(100 * result.f1, 100 * result.exact, 100 * result.two_crossing),
        sum(one["fallbacks"] for one in all_facts),
        *against,
        mean(one["fit"] for one in all_facts),
        n_parsed / sum(one["parse"] for one in all_facts),
        mean(one["MB"] for one in all_facts),
        len(scores),
    ]


TITLES = {
    "penn": "Penn sample, ten folds of whole files",
    "gum": "GUM, ten folds of consecutive trees",
    "penn-gum": f"Learned from the Penn sample, tested on every {EVERY}th tree of GUM",
    "gum-penn": "Learned from GUM, tested on the Penn sample",
}
ABOUT = (
    'F1 of brackets in percent. The difference to the system of the column "against", its '
    "interval of 95 % and p come from the paired bootstrap over sentences. One thread; CPU "
    "seconds, sentences per CPU second and MB are means over folds. The machine was shared."
)


def main() -> None:
    options = argparse.ArgumentParser(description="Cross-validation of parsers.")
    option = options.add_argument
    option("--systems", nargs="+", default=["pcfg", "spectral", "spectral+em"], metavar="NAME")
    option("--corpus", nargs="+", choices=CORPORA, default=["penn", "gum"])
    option("--folds", nargs="+", type=int, help="only these, from 0 (default: all ten)")
    option("--baseline", metavar="NAME", help="default: the first system")
    option("--vectors", metavar="MODEL", help="word vectors (`words fit`), for /vectors and /text")
    option("--clusters", metavar="MODEL", help="word clusters, for /clusters and /text")
    option("--cache", default=str(NEW / "parsers_cv"), metavar="DIR", help="what was done")
    option("--name", default="parsers_cv", help="of the record")
    option("--report", action="store_true", help="only print what there is")
    asked = options.parse_args()
    for system in asked.systems:
        for needed in System.named(system).texts:
            if getattr(asked, needed) is None and not asked.report:
                options.error(f"{system} needs --{needed} MODEL")
    if not asked.report:
        work(asked)
    report(asked)


if __name__ == "__main__" and not serve(one_fold):
    main()
