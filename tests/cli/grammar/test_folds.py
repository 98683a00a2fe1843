"""`eigentext grammar evaluate --cv`: the library's cross-validation, and what is compared."""

import json

import pytest

import eigentext as et
from eigentext import PCFG, LatentPCFG
from eigentext.evaluate import cross_validate


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Six files of ten trees."""
    folder = tmp_path_factory.mktemp("toys")
    trees = et.load_dataset("toy-treebank")[:60]
    for k in range(6):
        et.write_trees(trees[10 * k : 10 * k + 10], folder / f"{k}.mrg")
    return sorted(folder.iterdir())


@pytest.fixture
def told(cli):
    """Run a command with `--json`; what it tells."""

    def run(*arguments):
        result = cli("grammar", "evaluate", *arguments, "--json")
        assert (result.status, result.err) == (0, ""), result.err
        return json.loads(result.out)

    return run


def without_seconds(facts):
    plain = {name: value for name, value in facts.items() if name not in ("learning", "parsing")}
    return plain | {"folds": [without_seconds(fold) for fold in plain.get("folds", ())]}


def expected(parser, files, n_folds, groups=None):
    trees = et.read_trees(files)
    return cross_validate(parser, trees, n_folds, groups=groups)


def test_it_is_the_librarys(told, files):
    groups = [k for k in range(6) for _ in range(10)]
    found = told("--cv", 4, "--method", "pcfg", "--vertical", 1, *files)
    (grammar,) = found["grammars"]
    right = expected(PCFG(vertical=1), files, 4, groups)
    assert grammar["name"] == "method=pcfg,vertical=1"
    assert grammar["parser"] == "PCFG(vertical=1)"
    assert {n: without_seconds(grammar)[n] for n in right.to_dict() if "ing" not in n} == {
        n: x for n, x in without_seconds(right.to_dict()).items() if "ing" not in n
    }
    assert (found["n_folds"], found["n_files"], found["by_file"]) == (4, 6, True)
    assert [fold["n_parsed"] for fold in grammar["folds"]] == [10, 20, 10, 20]
    assert found["comparisons"] == []


def test_folds_of_few_files_are_runs_of_trees(told, files):
    found = told("--cv", 7, "--method", "pcfg", *files)
    assert not found["by_file"]
    sizes = [fold["n_parsed"] for fold in found["grammars"][0]["folds"]]
    assert (sum(sizes), max(sizes)) == (60, 9)


def test_two_grammars(told, files):
    options = ("--method", "spectral+em", "-m", 2, "--smooth-steps", 1, "--nodes-per-state", 1)
    against = ("--against", "method=spectral", "--against", "method=pcfg,horizontal=0")
    found = told("--cv", 2, *options, *against, *files)
    parsers = [grammar["parser"] for grammar in found["grammars"]]
    assert parsers == [
        repr(LatentPCFG(2, method="spectral+em", n_smooth=1, nodes_per_state=1)),
        repr(LatentPCFG(2, nodes_per_state=1)),
        repr(PCFG(horizontal=0)),
    ]
    f1 = [grammar["f1"] for grammar in found["grammars"]]
    for comparison, name, score in zip(
        found["comparisons"], ("method=spectral", "method=pcfg,horizontal=0"), f1[1:]
    ):
        assert comparison["against"] == name
        assert (comparison["a"], comparison["b"]) == (score, f1[0])
        assert comparison["difference"] == pytest.approx(f1[0] - score)
        assert comparison["n_sentences"] == 60
        assert 0 < comparison["p"] <= 1


def test_plain_text_can_be_left_out(told, files, tmp_path):
    words = sorted({word for tree in et.read_trees(files) for word in tree.leaves()})
    paths = tmp_path / "paths"
    paths.write_text("".join(f"{x % 4:02b}\t{word}\t1\n" for x, word in enumerate(words)))
    found = told(
        *("--cv", 2, "--method", "pcfg", "--clusters", paths),
        *("--against", "clusters=none", "--against", "clusters=none,vertical=1", *files),
    )
    first, plain, other = found["grammars"]
    assert first["name"] == f"method=pcfg,clusters={paths}"
    assert plain["parser"] == "PCFG()" and other["parser"] == "PCFG(vertical=1)"
    assert plain["f1"] == pytest.approx(expected(PCFG(), files, 2).f1)
    assert "WordClusters" in first["parser"]


def test_what_people_read(cli, files):
    arguments = ("--cv", 3, "--method", "pcfg", "--against", "vertical=1", *files)
    result = cli("grammar", "evaluate", *arguments, "--max-length", 8)
    assert result.status == 0
    table, grammars, comparison = result.out.split("\n\n")
    assert table.startswith("words  sentences  precision")
    assert [line.split()[-1] for line in grammars.splitlines()] == [
        "grammar",
        "method=pcfg",
        "vertical=1",
    ]
    assert comparison.startswith("against vertical=1: F1 ")
    assert ", p = " in comparison
    assert comparison.rstrip().endswith("trees in 3 folds of whole files (6)")
    quiet = cli("grammar", "evaluate", *arguments, "--max-length", 8, "-q")
    assert quiet.err == ""
    assert "folds of" not in quiet.out


def test_mistakes_are_one_line(cli, pcfg, files):
    gold = files[0]
    for arguments, part in (
        (("--cv", 1, gold), "--cv"),
        (("--cv", 11, gold), "10 trees cannot make 11 folds; lower n_folds"),
        (("--cv", 2, gold, "--max-length", 1), "all trees have more than 1 words"),
        (("--cv", 2, gold, "--against", "em"), "'em': write changes of options, as in method=em"),
        (("--cv", 2, gold, "--against", "method=pfcg"), "'pfcg' is not one of"),
        (("--cv", 2, gold, "--against", "mothed=em"), "No such option: --mothed"),
        (("--cv", 2, gold, "--against", "threads=2"), "threads does not describe a model"),
        (("--cv", 2, gold, "--against", "method=spectral"), "this is the same grammar"),
        ((pcfg, gold, "--against", "method=em"), "--against compares what is learned in folds"),
        ((pcfg, gold, "--states", 4), "n_states (--states) is for grammars that are learned in"),
        ((pcfg, gold, "--clusters", gold), "clusters is for grammars that are learned in"),
        ((pcfg,), "Missing argument FILE: give a model and trees to parse, or --cv 10 and trees"),
    ):
        assert part in cli("grammar", "evaluate", *arguments, "-q").mistake, arguments
