"""`eigentext grammar parse` and `nbest`: lines of words in, trees out."""

import json
import math
import os
import re
import threading
import time
from pathlib import Path

import pytest

import eigentext as et

FEW_STEPS = ("--states", "2", "--nodes-per-state", "1", "--iterations", "3", "--smooth-steps", "3")
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def parse(cli):
    """Parse in this process; returns the lines written, and what people are told at the end."""

    def run(*arguments):
        result = cli("grammar", "parse", *arguments)
        assert result.status == 0, result.err
        return result.out.split("\n")[:-1], result.err

    return run


def words_of(path: Path) -> list[list[str]]:
    lines = path.read_text().replace("(", "-LRB-").replace(")", "-RRB-").split("\n")
    return [words for line in lines if (words := line.split())]


# One line, one tree.


def test_a_tree_for_each_line(parse, pcfg, latent, sentences):
    for path in (pcfg, latent):
        lines, told = parse(path, sentences)
        expected = list(et.load(path).parses(words_of(sentences)))
        assert lines.pop(1) == ""
        assert lines == [str(parsed.tree) for parsed in expected]
        assert [parsed.fallback is None for parsed in expected] == [True, True, False, True]
        assert re.fullmatch(
            r"4 sentences in \d+\.\d s \(\d+\.\d/s\); 1 tree is a fallback, because the grammar "
            r"has no parse: line 4\n",
            told,
        )
    assert lines[-1] == (
        "(S (NP (DT the) (JJ old) (NN baker)) (VP (VBZ sells) (NP (NN bread))) (. .))"
    )


def test_brackets_are_words(parse, pcfg, sentences):
    tree = et.Tree.parse(parse(pcfg, sentences)[0][2])
    assert " ".join(tree.leaves()) == "the children rest -LRB- in the shade -RRB- ."
    assert ("-LRB-", "-LRB-") in tree.tags()  # as in the treebank


def test_lines_as_they_come_from_anywhere(parse, pcfg, standard_input):
    standard_input("\ufeffthe baker eats bread .\r\n\n \t\r\nthe\u00a0garden sleeps\n\n".encode())
    lines, told = parse(pcfg)
    assert [bool(line) for line in lines] == [True, False, False, True, False]
    leaves = [et.Tree.parse(line).leaves() for line in lines if line]
    assert leaves[0] == ["the", "baker", "eats", "bread", "."]
    assert leaves[1] == ["the", "garden", "sleeps"]
    standard_input("the\u00a0garden sleeps".encode())
    (line,), _ = parse(pcfg, "--tokenized")  # then only blanks of ASCII are borders
    assert et.Tree.parse(line).leaves() == ["the\u00a0garden", "sleeps"]
    assert told.startswith("2 sentences in ")
    standard_input(b"bread")  # no end of line
    assert len(parse(pcfg, "-")[0]) == 1


def test_json_lines(parse, pcfg, sentences):
    lines, _ = parse(pcfg, sentences, "--json")
    told = [json.loads(line) for line in lines]
    assert [list(one) for one in told] == [["tree", "log_probability", "fallback"]] * 5
    assert told.pop(1) == {"tree": None, "log_probability": None, "fallback": None}
    for one, parsed in zip(told, et.load(pcfg).parses(words_of(sentences)), strict=True):
        assert one["tree"] == str(parsed.tree)
        assert one["fallback"] == parsed.fallback
        finite = math.isfinite(parsed.log_probability)
        assert one["log_probability"] == (parsed.log_probability if finite else None)
    assert told[2]["fallback"] == "no parse of the whole sentence"


@pytest.mark.parametrize("ending", ["txt", "gz", "bz2", "xz", "zst"])
def test_into_files_of_all_kinds_and_back(parse, pcfg, sentences, tmp_path, ending):
    path = tmp_path / f"trees.{ending}"
    lines, told = parse(pcfg, sentences, "-o", path)
    assert lines == []
    assert told.startswith("4 sentences in ")
    expected = list(et.load(pcfg).parses(words_of(sentences)))
    assert et.read_trees(path) == [parsed.tree for parsed in expected]
    first = path.read_bytes()
    parse(pcfg, sentences, "-o", path, "--threads", 1, "--quiet")
    assert path.read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


def test_options_of_the_parser(parse, learned, tmp_path):
    """On words in no good order, which have many poor trees because they may have any tag."""
    latent = learned("any-tags", "--method", "em", *FEW_STEPS)
    odd = tmp_path / "odd"
    odd.write_text("the to rest eat rest children bread the .\n")
    told = []
    for name, value in (("decoding", "max-rule"), ("tau", 5.0), ("prune", 0.3)):
        (line,), _ = parse(latent, odd, f"--{name}", value, "--json")
        told.append(json.loads(line))
        (expected,) = et.load(latent).parsing_with(**{name: value}).parses(words_of(odd))
        assert told[-1] == {**expected._asdict(), "tree": str(expected.tree)}
    best, flat, pruned = told
    assert best["log_probability"] == flat["log_probability"] > pruned["log_probability"]
    assert best["tree"].count("(") > flat["tree"].count("(")  # no bracket is worth having


def test_threads_change_nothing(parse, latent, sentences, tmp_path):
    many = tmp_path / "many.txt"
    many.write_text(sentences.read_text() * 30)
    outputs = [parse(latent, many, "--threads", n)[0] for n in (1, 2, 3)]
    assert outputs[0] == outputs[1] == outputs[2]
    assert len(outputs[0]) == 150


def test_places_of_fallbacks(parse, pcfg, sentences, standard_input, tmp_path):
    standard_input(b"of of of\n")
    _, told = parse(pcfg, sentences, "-")
    assert told.endswith(
        f"; 2 trees are a fallback, because the grammar has no parse: lines {sentences}:4, -:1\n"
    )
    (tmp_path / "odd").write_text("of of of\n" * 12)
    _, told = parse(pcfg, tmp_path / "odd")
    assert "; 12 trees are " in told
    assert told.endswith(": lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\n")
    (tmp_path / "good").write_text("the baker sells bread .\n")
    assert parse(pcfg, tmp_path / "good")[1].endswith("/s), all parsed by the grammar\n")
    assert parse(pcfg, tmp_path / "good", "-q")[1] == ""


def test_trees_given_as_words_are_noticed(parse, pcfg, treebank, tmp_path):
    lines, told = parse(pcfg, treebank, "--errors", "strict")
    assert len(lines) == len(treebank.read_text().splitlines())
    warning, _ = told.splitlines()
    assert warning.startswith(f"eigentext: warning: {treebank}, line 2: looks like a tree")
    (tmp_path / "brackets").write_text("( the ( old ) baker )\n(a (b) c)\n() ( (\n")
    assert "warning" not in parse(pcfg, tmp_path / "brackets")[1]


# The k best.


def test_the_k_best(cli, pcfg, sentences):
    result = cli("grammar", "nbest", pcfg, sentences, "-k", 3)
    assert result.status == 0
    assert result.err.endswith(": line 4\n")
    blocks = [block.split("\n") for block in result.out.removesuffix("\n").split("\n\n")]
    assert blocks[1][0] == ""  # of the empty line, before the third line's trees
    blocks[1] = blocks[1][1:]
    model = et.load(pcfg)
    for block, words in zip(blocks, words_of(sentences), strict=True):
        rows = [line.split("\t") for line in block if line]
        expected = model.k_best(words, 3)
        assert [row[0] for row in rows] == [str(rank + 1) for rank in range(len(expected))]
        assert [float(row[1]) for row in rows] == pytest.approx(
            [one.log_probability for one in expected], abs=1e-4
        )
        assert [row[2] for row in rows] == [str(one.tree) for one in expected]
    assert len(blocks[0]) == 3
    assert blocks[2][0].split("\t")[:2] == ["1", "-inf"]


def test_the_k_best_as_json_and_into_a_file(cli, latent, sentences, tmp_path):
    result = cli("grammar", "nbest", latent, sentences, "-k", 2, "--prune", 0, "--json", "-q")
    assert (result.status, result.err) == (0, "")
    told = [json.loads(line) for line in result.out.splitlines()]
    assert told.pop(1) == {"trees": [], "fallback": False}
    model = et.load(latent).parsing_with(prune=0.0)
    for one, words in zip(told, words_of(sentences), strict=True):
        expected = [
            {"tree": str(tree), "log_probability": log if math.isfinite(log) else None}
            for tree, log in model.k_best(words, 2)
        ]
        assert one["trees"] == expected
        assert one["fallback"] == (expected[0]["log_probability"] is None)
    shown = cli("grammar", "nbest", latent, sentences, "-o", tmp_path / "trees.xz")
    assert shown.out == ""
    same = cli("grammar", "nbest", latent, sentences, "--threads", 1, "-o", tmp_path / "again.xz")
    assert same.status == 0
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


# Streams.


def test_each_line_is_answered_before_the_next(start, pcfg):
    with start("grammar", "parse", pcfg, "--threads", 1) as process:
        for words in ("the baker sells bread .", "she rests ."):
            process.stdin.write(f"{words}\n")
            process.stdin.flush()
            assert et.Tree.parse(process.stdout.readline()).leaves() == words.split()
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert err.startswith("2 sentences in ")


def test_compiled_kernels_are_not_compiled_again(pcfg, sentences, cli, process):
    cli("grammar", "parse", pcfg, sentences)
    assert "compiling" not in process("grammar", "parse", pcfg, sentences).err


def test_a_closed_pipe_is_no_mistake(start, pcfg, sentences, tmp_path):
    many = tmp_path / "many.txt"
    many.write_text(sentences.read_text() * 2000)
    with start("grammar", "parse", pcfg, many) as process:
        assert process.stdout.readline().startswith("(S ")
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 0


def test_ctrl_c_leaves_nothing_behind(interrupted, pcfg, tmp_path):
    out = tmp_path / "out"
    with interrupted("grammar", "parse", pcfg, "-o", out / "trees", "--threads", 1) as process:
        process.stdin.write("the baker sells bread .\n" * 1000)
        process.stdin.flush()
        while not any(path.stat().st_size for path in out.iterdir()):
            time.sleep(0.05)  # until the first trees are in the temporary file


def test_bars_do_not_mix_with_trees(start, pcfg, sentences, tmp_path):
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    many = tmp_path / "many.txt"
    many.write_text(sentences.read_text() * 20)
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "100"}
    shown = []

    def read_terminal():
        """While it works: a terminal that nobody reads is soon full, and then it waits."""
        with open(ours, "rb", buffering=0) as terminal:  # noqa: PTH123 - a descriptor
            try:
                while piece := terminal.read(65536):
                    shown.append(piece)
            except OSError:  # Linux says so when the other side is closed
                pass

    with start("grammar", "parse", pcfg, many, stderr=theirs, env=environment) as process:
        os.close(theirs)
        reader = threading.Thread(target=read_terminal)
        reader.start()
        out, _ = process.communicate()
        reader.join()
    assert process.returncode == 0
    trees = [et.Tree.parse(line) for line in out.splitlines() if line]
    assert [tree.leaves() for tree in trees] == words_of(many)
    lines = CODES.sub("", b"".join(shown).decode()).replace("\r", "\n").splitlines()
    assert any(re.search(r"parse .* \d+\.\d sentences/s", line) for line in lines)
    assert any(line.startswith("80 sentences in ") for line in lines)


def test_the_penn_sample(cli, penn_sample, tmp_path):
    """Real sentences from standard input to a file, and their scores, which agree."""
    train, test = penn_sample("train", 200), penn_sample("test", 12)
    model, text, trees = tmp_path / "model", tmp_path / "words", tmp_path / "trees.gz"
    assert cli("grammar", "fit", train, "-o", model, "--method", "pcfg", "-q").status == 0
    gold = [et.normalize_tree(tree) for tree in et.read_trees(test)]
    text.write_text("".join(" ".join(tree.leaves()) + "\n" for tree in gold))
    assert cli("grammar", "parse", model, text, "-o", trees, "-q").status == 0
    assert [tree.leaves() for tree in et.read_trees(trees)] == [tree.leaves() for tree in gold]
    scored = json.loads(cli("grammar", "score", test, trees, "--json").out)
    evaluated = json.loads(cli("grammar", "evaluate", model, test, "--json").out)
    assert 0.4 < scored["f1"] == evaluated["f1"] < 1
    assert scored["by_length"] == evaluated["by_length"]


# Mistakes.


@pytest.mark.parametrize("command", ["parse", "nbest"])
def test_mistakes_are_one_line(cli, pcfg, model, sentences, standard_input, tmp_path, command):
    own, trees = tmp_path / "own.txt", tmp_path / "trees"
    own.write_bytes(sentences.read_bytes())
    (tmp_path / "empty").touch()
    (tmp_path / "blank").write_text("\n \n\n")
    (tmp_path / "bytes").write_bytes(b"ham\n\nb\xffd\n")
    (tmp_path / "nul").write_bytes(b"h\0m\n")
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08\x00")
    standard_input(b"")
    for arguments, reason in (
        ((), "Missing argument"),
        ((tmp_path / "none", own), "none: cannot be read (No such file or directory)"),
        ((model, own), "not a grammar"),
        ((own, own), "not an eigentext file"),
        ((pcfg, tmp_path / "missing"), "missing: no such file; check the name"),
        ((pcfg, tmp_path), "is a folder; name its files"),
        ((pcfg, tmp_path / "empty"), "empty: contains no words; is the file empty?"),
        ((pcfg, tmp_path / "blank"), "blank: contains no words"),
        ((pcfg, tmp_path / "bytes", "-o", trees), "bytes, line 3: byte 0xff is not UTF-8; it look"),
        ((pcfg, tmp_path / "nul"), "nul, line 1: a NUL byte"),
        ((pcfg, tmp_path / "cut.gz"), "cut.gz: not a complete .gz file"),
        ((pcfg, "-", "-"), "standard input (-) can be read only once"),
        ((pcfg, own, "-o", own), "would be written over what is read"),
        ((pcfg, own, "-o", pcfg), "would be written over what is read"),
        ((pcfg, own, "-o", tmp_path), "is a folder"),
        ((pcfg, own, "-o", tmp_path / "no" / "trees"), "cannot be written"),
        ((pcfg, own, "--prune", -1), "--prune"),
        ((pcfg, own, "--prune", 2), "prune must be a number, 0 or more and less than 1"),
        ((pcfg, own, "--errors", "ignore"), f"see eigentext grammar {command} --help"),
        ((pcfg,), "-: contains no words"),
    ):
        assert reason in cli("grammar", command, *arguments).mistake
    assert own.read_bytes() == sentences.read_bytes()
    assert not trees.exists()
    replaced = cli("grammar", command, pcfg, tmp_path / "bytes", "--errors", "replace")
    assert replaced.status == 0
    assert "b\ufffdd" in replaced.out
    replaced = cli("grammar", command, pcfg, tmp_path / "nul", "--errors", "replace")
    assert "h\ufffdm" in replaced.out
    assert "-k" in cli("grammar", "nbest", pcfg, own, "-k", 0).mistake
    assert "--tau" in cli("grammar", "parse", pcfg, own, "--tau", "high").mistake


# Raw text and tokens.


def test_raw_lines_are_split_like_the_treebank(parse, pcfg, standard_input):
    standard_input(b"the baker eats bread.\nthe children rest (in the shade).\n")
    raw, _ = parse(pcfg)
    standard_input(b"the baker eats bread .\nthe children rest -LRB- in the shade -RRB- .\n")
    assert parse(pcfg, "--tokenized")[0] == raw
    standard_input("the baker eats bread.\n".encode("utf-16"))
    assert parse(pcfg, "--encoding", "utf-16")[0] == raw[:1]


@pytest.mark.filterwarnings("default::eigentext.corpus.raw_text.RawTextWarning")
@pytest.mark.parametrize("command", ["parse", "nbest"])
def test_tokens_that_look_raw_are_told_once(cli, pcfg, standard_input, command):
    standard_input(b"the baker eats bread.\nthe garden sleeps.\nthe baker eats .\n")
    result = cli("grammar", command, pcfg, "--tokenized", "-q")
    (warning,) = result.err.splitlines()
    assert warning.startswith("eigentext: warning: 2 of 3 sentences end in a word with a sign att")
    assert warning.endswith("(on the command line, leave out --tokenized)")
    assert "bread." in result.out


def test_unary_chains_recombine(cli, parse, tmp_path, standard_input):
    """Every production was seen, but no tree of the treebank has them together."""
    (tmp_path / "trees").write_text(
        "(S (NP (D the) (N dog)) (VP (V slept)))\n"
        "(S (NP (P she)) (VP (V saw) (NP (D the) (N dog))))\n"
    )
    for method in ("pcfg", "spectral", "em"):
        model = tmp_path / method
        fitted = cli("grammar", "fit", tmp_path / "trees", "-o", model, "--method", method, "-q")
        assert fitted.status == 0
        standard_input(b"she slept\n")
        (line,), _ = parse(model, "--json", "-q")
        told = json.loads(line)
        assert told["tree"] == "(S (NP (P she)) (VP (V slept)))"
        assert told["fallback"] is None
        name = "log_score" if method == "spectral" else "log_probability"
        assert told[name] is not None
