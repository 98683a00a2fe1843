"""`eigentext grammar evaluate` and `score`: by EVALB's rules, on the words of trees."""

import json

import pytest

import eigentext as et
from eigentext.evaluate import brackets


@pytest.fixture
def told(cli):
    """Run a command with `--json`; what it tells."""

    def run(*arguments):
        result = cli("grammar", *arguments, "--json")
        assert (result.status, result.err) == (0, ""), result.err
        return json.loads(result.out)

    return run


@pytest.fixture
def gold(treebank, tmp_path):
    """The treebank, and a sentence without a parse."""
    path = tmp_path / "gold.mrg"
    path.write_text(f"{treebank.read_text()}(TOP (X (IN of) (IN of) (IN of)))\n")
    return path


def scores_of(path, gold):
    trees = [et.normalize_tree(tree) for tree in et.read_trees(gold)]
    parses = list(et.load(path).parses([tree.leaves() for tree in trees]))
    return brackets(trees, [parsed.tree for parsed in parses]), parses


# With a model.


def test_evaluate_parses_and_scores(told, pcfg, latent, gold):
    for path in (pcfg, latent):
        result, parses = scores_of(path, gold)
        found = told("evaluate", path, gold)
        for name, value in result.to_dict().items():
            assert found[name] == value, name
        assert found["n_sentences"] == 9
        assert found["n_failed"] == 0
        assert found["fallbacks"] == [{"tree": 9, "why": parses[8].fallback}]
        assert found["model"] == str(path)
        rate = found["n_sentences"] / found["sentences_per_second"]
        assert rate == pytest.approx(found["seconds"], abs=1e-3)
        assert found["f1"] > 0.8


def test_what_people_read(cli, process, pcfg, gold):
    shown = process("grammar", "evaluate", pcfg, gold)
    *table, last = shown.out.splitlines()
    assert "\n".join(table) == str(scores_of(pcfg, gold)[0])
    assert last.startswith("9 sentences in ")
    assert last.endswith("; 1 tree is a fallback, because the grammar has no parse: tree 9")
    assert "parse: " in shown.err
    assert "sentences/s" in shown.err
    quiet = cli("grammar", "evaluate", pcfg, gold, "-q")
    assert (quiet.out, quiet.err) == ("\n".join([*table, ""]), "")


def test_options_of_evaluate(told, cli, latent, gold, standard_input):
    options = {"decoding": "viterbi", "prune": 0.2}
    given = [x for name, value in options.items() for x in (f"--{name}", value)]
    trees = [et.normalize_tree(tree) for tree in et.read_trees(gold)]
    short = [tree for tree in trees if len(tree.leaves()) <= 6]
    model = et.load(latent).parsing_with(**options)
    parses = list(model.parses([tree.leaves() for tree in short]))
    standard_input(gold.read_bytes())
    found = told("evaluate", latent, "-", "--max-length", 6, "--threads", 1, *given)
    expected = brackets(short, [parsed.tree for parsed in parses]).to_dict()
    assert found["n_sentences"] == len(short) == 4
    assert {name: found[name] for name in expected} == expected
    line = cli("grammar", "evaluate", latent, gold, "--max-length", 2, "-q").mistake
    found = told("evaluate", latent, gold, "--max-length", 4)
    assert [one["tree"] for one in found["fallbacks"]] == [9]  # of the file, not of the two kept
    assert line == f"{gold}: all trees have more than 2 words; raise --max-length"


# Without one.

RIGHT = """( (S (NP-SBJ (PRP she)) (VP (VBD saw) (NP (NNS stars)) (PP (IN at) (NP (NN night)))))
)
(S (NP (NP (NNS cats))) (VP (VBP sleep)) (. .))
(S (NP (NNP Ann) (-LRB- -LRB-)) (VP (VBZ waits)))
"""
FOUND = (
    "(TOP (S (NP (PRP she)) (VP (VBD saw) (NP (NNS stars) (PP (IN at) (NN night))))))",
    "(S (NP (NP (NNS cats))) (VP (VBP sleep)) (. .))",
    "(S (NP (NNP Ann) (NN -LRB-)) (VP (VBZ waits)))",
)


@pytest.fixture
def files(tmp_path):
    """``files(predicted)``: the paths of the right trees and of these."""

    def write(predicted: str, right: str = RIGHT):
        (tmp_path / "gold").write_text(right)
        (tmp_path / "found").write_text(predicted)
        return tmp_path / "gold", tmp_path / "found"

    return write


def test_score_of_known_answers(told, cli, files):
    paths = files("\n".join(FOUND) + "\n")
    found = told("score", *paths)
    assert (found["matched"], found["gold"], found["predicted"]) == (10, 12, 11)
    assert found["exact"] == 2 / 3
    assert found["tagging"] == 9 / 10
    assert (found["n_failed"], found["failed"]) == (0, [])
    assert (found["gold_file"], found["predicted_file"]) == tuple(map(str, paths))
    # EVALB counts NP over NP twice.
    found = told("score", *paths, "--keep-repeats")
    assert (found["matched"], found["gold"], found["predicted"]) == (11, 13, 12)
    shown = cli("grammar", "score", *paths)
    trees = (
        [et.normalize_tree(tree) for tree in part] for part in (et.read_trees(paths[0]), FOUND)
    )
    assert shown.out == f"{brackets(*trees)}\n"
    assert shown.err == ""
    assert told("score", *paths, "--max-length", 3)["n_sentences"] == 2


@pytest.mark.parametrize("none", ["", " ", "(())", "( )", "(TOP (-NONE- *))"])
def test_sentences_without_a_tree_count(told, files, none):
    found = told("score", *files("\n".join((FOUND[0], none, FOUND[2]))))
    assert (found["matched"], found["gold"], found["predicted"]) == (7, 12, 8)
    assert (found["n_failed"], found["failed"]) == (1, [2])
    other_words = FOUND[1].replace("cats", "dogs")
    found = told("score", *files("\n".join((none, other_words, FOUND[2]))))
    assert found["failed"] == [1, 2]
    found = told("score", *files(f"{FOUND[0]}\n{FOUND[1]}\n{none}\n"), "--max-length", 3)
    assert found["failed"] == [3]


def test_trees_over_many_lines(told, files):
    spread = "\n".join(FOUND).replace(" (", "\n  (")
    assert told("score", *files(spread))["matched"] == 10
    assert told("score", *files(RIGHT))["f1"] == 1.0  # with a bracket alone on a line
    # As many lines as trees, but not one on each.
    assert told("score", *files(f"{FOUND[0]} {FOUND[1]}\n\n{FOUND[2]}\n"))["matched"] == 10


def test_score_from_streams_and_packed_files(told, cli, files, standard_input, tmp_path):
    gold, found = files("\n".join(FOUND))
    et.write_trees(FOUND, tmp_path / "found.xz")
    standard_input(gold.read_bytes())
    assert told("score", "-", tmp_path / "found.xz")["matched"] == 10
    standard_input(found.read_bytes())
    assert told("score", gold, "-")["matched"] == 10
    assert "standard input (-) can be read only once" in cli("grammar", "score", "-", "-").mistake


# Mistakes.


def test_mistakes_are_one_line(cli, pcfg, model, files, gold, standard_input, tmp_path):
    right, found = files("\n".join(FOUND[:2]))
    (tmp_path / "empty").touch()
    (tmp_path / "open").write_text(f"{FOUND[0]}\n\n(S (NP (NN x))\n")
    (tmp_path / "bytes").write_bytes(b"(NN x)\n(NN \xff)\n")
    (tmp_path / "silent").write_text("(S (NP (-NONE- *)))")
    missing, several = tmp_path / "missing", tmp_path / "*"
    standard_input(b"(S")
    for arguments, reason in (
        (("evaluate", pcfg), "Missing argument"),
        (("evaluate", model, gold), "not a grammar"),
        (("evaluate", gold, gold), "not an eigentext file"),
        (("evaluate", pcfg, missing), "missing: no such file"),
        (("evaluate", pcfg, tmp_path / "empty"), "empty: contains no trees"),
        (("evaluate", pcfg, tmp_path / "open"), "open, line 3: the tree '(S (NP (NN x))' is never"),
        (("evaluate", pcfg, tmp_path / "silent"), "silent, tree 1: '(S (NP (-NONE- *)))' has no"),
        (("evaluate", pcfg, "-"), "standard input, line 1: the tree '(S' is never closed"),
        (("evaluate", pcfg, gold, "--max-length", 0), "see eigentext grammar evaluate --help"),
        (("evaluate", pcfg, gold, "--decoding", "best"), "see eigentext grammar evaluate --help"),
        (
            ("evaluate", pcfg, gold, "--prune", 3),
            "prune must be a number, 0 or more and less than 1",
        ),
        (("score", right), "Missing argument"),
        (("score", right, missing), "missing: no such file"),
        (("score", missing, right), "missing: no such file"),
        (("score", right, several), "files; give one with all predicted trees"),
        (("score", right, found), "3 trees, but "),
        (("score", right, found), "found: 2; give one for each, and an empty line for a sentence"),
        (("score", right, tmp_path / "open"), "open, line 3: the tree '(S (NP (NN x))' is never"),
        (
            ("score", right, tmp_path / "bytes"),
            "line 2: byte 0xff is not UTF-8; it looks like cp1252",
        ),
        (("score", right, tmp_path / "empty"), "empty: contains no trees"),
        (("score", right, right, "--max-length", 1), "all trees have more than 1 word"),
    ):
        quiet = ("-q",) if arguments[0] == "evaluate" else ()
        assert reason in cli("grammar", *arguments, *quiet).mistake
