"""Kept runs of benchmarks: their form, the comparison with new runs, the pages made from them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RUNS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))
SCRIPTS = [
    path
    for path in sorted((ROOT / "benchmarks").glob("[!_]*.py"))
    if path.stem not in ("compare", "fuzz")  # _fuzz_report.py records for fuzz.py
]


@pytest.fixture(scope="module")
def modules():
    """benchmarks/_record.py, benchmarks/compare.py, docs/_results.py and docs/_plots.py."""
    before = list(sys.path)
    sys.path.insert(0, str(ROOT / "benchmarks"))
    names = ("benchmarks/_record", "benchmarks/compare", "docs/_results", "docs/_plots")
    found = {}
    for name in names:
        known = name.partition("/")[2] if name.startswith("benchmarks") else name.replace("/", "")
        spec = importlib.util.spec_from_file_location(known, ROOT / f"{name}.py")
        found[name] = sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found[name])
    yield found
    sys.path[:] = before
    for name in ("_record", "compare", "docs_results", "docs_plots"):
        sys.modules.pop(name, None)


@pytest.fixture
def record(modules, tmp_path, monkeypatch):
    module = modules["benchmarks/_record"]
    monkeypatch.setattr(module, "RESULTS", tmp_path / "benchmarks" / "results")
    monkeypatch.setattr(module, "NEW", tmp_path / "benchmarks" / "results" / "new")
    return module


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.stem)
def test_kept_runs_have_the_form_that_is_documented(path, modules):
    run = json.loads(path.read_text())
    assert run["name"] == path.stem
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", run["date"])
    fields = {"name", "title", "about", "notes", "command", "date", "machine", "versions", "tables"}
    assert run.keys() == fields
    for table in run["tables"]:
        columns = modules["benchmarks/_record"].columns_of(table)
        names = [*table["labels"], *(column.name for column in columns)]
        assert len(set(names)) == len(names), table["name"]
        assert all(column.kind in modules["benchmarks/_record"].TOLERANCES for column in columns)
        assert all(column.better in ("higher", "lower", None) for column in columns)
        assert all(len(row) == len(names) for row in table["rows"])
        labels = [tuple(row[: len(table["labels"])]) for row in table["rows"]]
        assert len(set(labels)) == len(labels), table["name"]
    assert modules["benchmarks/_record"].dumped(run) == path.read_text()


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_every_benchmark_records_its_figures(path):
    text = path.read_text()
    records = "    record(" in text or "from _harness import main" in text
    assert records, f"{path.name} does not call record()"
    assert "/shared" not in text


def run_of(record, monkeypatch, rows, name="toy", **machine):
    """A run of a toy benchmark, as written to its file."""
    monkeypatch.setattr(sys, "argv", ["benchmarks/toy.py"])
    columns = ("CPU s", "peak MB", record.score("F1"), record.fact("states"))
    table = record.Table("systems", "Systems", columns)
    for row in rows:
        table.row(*row)
    path = record.record(name, "Toys", [table])
    run = record.read(path)
    run["machine"] |= machine
    return run


def test_a_run_is_written_and_read_again(record, monkeypatch, capsys):
    run = run_of(record, monkeypatch, [("ours", 1.234567, 100, 87.05, None)])
    assert run["command"].startswith("python benchmarks/toy.py")
    assert run["versions"].keys() >= {"python", "numpy", "scipy", "numba", "eigentext"}
    assert run["machine"]["cores"] > 0
    assert dict(record.rows_of(run["tables"][0])) == {
        ("ours",): {"CPU s": 1.2346, "peak MB": 100, "F1": 87.05, "states": None}
    }
    printed = capsys.readouterr().out
    assert "| ours | 1.23 | 100 | 87.05 |  |" in printed
    assert "compare.py toy [--keep]" in printed


def test_columns_know_their_kind_by_their_unit(record):
    assert record.column("train CPU s").better == "lower"
    assert record.column("sentences/s").better == "higher"
    assert record.column("99th percentile, ms").kind == "time"
    assert record.column("peak MB").kind == "memory"
    with pytest.raises(ValueError, match="no unit"):
        record.column("F1")


def test_the_comparison_names_what_got_worse(modules, record, monkeypatch):
    compare = modules["benchmarks/compare"]
    kept = run_of(record, monkeypatch, [("a", 10.0, 100, 80.0, 5), ("b", 10.0, 100, 80.0, 5)])
    same = [("a", 12.9, 114, 79.7, 50), ("b", 7.1, 86, 80.3, 1)]
    assert compare.changes(kept, run_of(record, monkeypatch, same)) == []
    worse = [("a", 13.5, 120, 79.5, 5), ("b", 6.0, 100, 81.0, 5)]
    found = compare.changes(kept, run_of(record, monkeypatch, worse))
    assert [(one.kind, one.where) for one in found] == [
        ("worse", "systems: a, CPU s"),
        ("worse", "systems: a, peak MB"),
        ("worse", "systems: a, F1"),
        ("better", "systems: b, CPU s"),
        ("better", "systems: b, F1"),
    ]
    assert found[0].what == "10, now 13.5 (+35.0%)"
    failed = run_of(record, monkeypatch, [("a", "failed", None, None, None), ("c", 1, 1, 1, 1)])
    found = compare.changes(kept, failed)
    assert [one.kind for one in found] == ["worse", "worse", "worse", "missing", "new"]


def test_times_of_other_machines_are_not_judged(modules, record, monkeypatch):
    compare = modules["benchmarks/compare"]
    kept = run_of(record, monkeypatch, [("a", 10.0, 100, 80.0, 5)], cpu="another")
    new = run_of(record, monkeypatch, [("a", 99.0, 200, 70.0, 5)])
    found = compare.changes(kept, new)
    assert [one.where for one in found] == ["systems: a, peak MB", "systems: a, F1"]


def test_a_new_run_is_kept_only_if_it_is_whole(modules, record, monkeypatch, capsys):
    compare = modules["benchmarks/compare"]
    monkeypatch.setattr(compare, "RESULTS", record.RESULTS)
    monkeypatch.setattr(compare, "NEW", record.NEW)
    whole = [("a", 10.0, 100, 80.0, 5), ("b", 10.0, 100, 80.0, 5)]
    run_of(record, monkeypatch, whole)
    assert compare.main(["toy", "--keep"]) == 0
    assert "no run is kept yet" in capsys.readouterr().out
    run_of(record, monkeypatch, [("a", 10.0, 100, 70.0, 5)])
    with pytest.raises(SystemExit, match="lacks rows"):
        compare.main(["toy", "--keep"])
    assert "worse    systems: a, F1: 80, now 70 (-12.5%)" in capsys.readouterr().out
    assert len(record.kept("toy")["tables"][0]["rows"]) == 2
    assert compare.main(["toy", "--keep", "--anyway"]) == 1
    assert len(record.kept("toy")["tables"][0]["rows"]) == 1


def test_pages_of_results_are_those_of_the_kept_runs(modules):
    results = modules["docs/_results"]
    assert results.unlisted() == set(), "name the run in PAGES of docs/_results.py"
    pages = results.pages()
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/_results.py"
    assert set(results.FOLDER.glob("*.md")) == pages.keys() - set(results.WITH_TABLES)


def test_tables_show_the_rows_and_columns_that_were_asked_for(modules):
    results = modules["docs/_results"]
    wish = "<!-- table hmm/brown | rows: tags / em; words / em\n| columns: perplexity -->\n"
    lines = results.filled(f"{wish}old <!-- end -->").splitlines()
    assert lines[3:5] == ["| data | system | perplexity |", "|---|---|---:|"]
    assert lines[5:7] == ["| tags | em | 20.1 |", "| words | em | 471 |"]
    with pytest.raises(ValueError, match="no row 'tags / nobody'"):
        results.filled("<!-- table hmm/brown | rows: tags / nobody -->\n<!-- end -->")


def test_plots_show_the_kept_runs(modules):
    plots = modules["docs/_plots"]
    for name in plots.PLOTS:
        path = ROOT / "docs" / name
        assert plots.drawn_from(path) == plots.digest(name), "run: python docs/_results.py"


# benchmarks/parsers_cv.py


@pytest.fixture(scope="module")
def parsers_cv(modules):
    spec = importlib.util.spec_from_file_location(
        "parsers_cv", ROOT / "benchmarks" / "parsers_cv.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_names_of_systems(parsers_cv):
    found = parsers_cv.System.named("spectral:n_states=8,kappa=inf,features=simple/text@before")
    assert found.changes == {"n_states": 8, "kappa": float("inf"), "features": "simple"}
    assert found.texts == ("vectors", "clusters")
    assert found.plain == "spectral:n_states=8,kappa=inf,features=simple@before"
    assert repr(parsers_cv.System.named("ensemble@x").parser({})) == (
        "LatentPCFG(method='spectral+em', n_grammars=4)"
    )
    for wrong in ("spectrum", "pcfg/images", ""):
        with pytest.raises(SystemExit, match="is no system: write"):
            parsers_cv.System.named(wrong)


def test_work_is_claimed_once(parsers_cv, tmp_path):
    claim = tmp_path / "0.claim"
    assert parsers_cv._claimed(claim)
    assert not parsers_cv._claimed(claim)  # this process has not ended
    done = subprocess.Popen(["true"])
    done.wait()
    claim.write_text(str(done.pid))
    assert parsers_cv._claimed(claim)
    assert claim.read_text() == str(os.getpid())


def test_the_report_compares_folds_that_both_have(parsers_cv, record, tmp_path, monkeypatch):
    right = "(S (NP (D the) (N dog)) (VP (V slept)))"
    wrong = "(S (NP (D the)) (VP (N dog) (V slept)))"
    monkeypatch.setattr(parsers_cv, "split", lambda corpus, fold: ([], [right] * 10))
    kept = []
    monkeypatch.setattr(parsers_cv, "record", lambda *given, **more: kept.append((given, more)))
    facts = {"fit": 2.0, "parse": 5.0, "MB": 100.0, "fallbacks": 1, "commit": "abc"}
    for system, folds in (("pcfg", (0, 1)), ("pcfg%text", (1, 2))):
        for fold in folds:
            path = tmp_path / "penn" / system / f"{fold}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            trees = [right] * 10 if "text" in system else [right] * 5 + [wrong] * 5
            path.write_text(json.dumps(facts | {"trees": trees}))
    command = ["--systems", "pcfg", "pcfg/text", "--corpus", "penn", "--report"]
    monkeypatch.setattr(sys, "argv", ["parsers_cv.py", *command, "--cache", str(tmp_path)])
    parsers_cv.main()
    (((_, _, (table,)), more),) = kept
    assert more["notes"] == ["Grammars of commit abc."]
    names = ["system", *(column.name for column in table.columns)]
    first, second = (dict(zip(names, row)) for row in table.rows)
    assert first["F1"] == pytest.approx(100 * 2 / 3, abs=1e-2)
    assert first["against"] is None
    assert (second["F1"], second["against"], second["folds"]) == (100, "pcfg", 2)
    assert second["difference"] == pytest.approx(33.33)
    assert (second["error removed %"], second["fallbacks"]) == (100, 2)
    assert (second["learn CPU s"], second["sentences/s"]) == (2, 2)
    assert second["from"] < 33.33 < second["to"]
