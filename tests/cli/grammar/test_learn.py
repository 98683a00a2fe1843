"""`eigentext grammar fit`: from trees to a parser, by the options a user has."""

import inspect
import json
import re
from functools import partial
from itertools import chain

import pytest

import eigentext as et
from eigentext.cli.grammar.learn import fit as command

FEW = {"n_states": 2, "nodes_per_state": 1, "n_iter": 4, "n_smooth": 4}
FEW_STEPS = ("--states", 2, "--nodes-per-state", 1, "--iterations", 4, "--smooth-steps", 4)
FEW_CYCLES = ("--method", "split-merge", "--states", 2, "--iterations", 4)
SPECTRAL = ("--method", "spectral", "--states", 3, "--nodes-per-state", 1)


@pytest.fixture
def fit(fit_of):
    """Fit in this process; returns the model and what `--json` prints about it."""
    return partial(fit_of, "grammar")


def test_defaults_are_the_estimators():
    options = {n: p.default for n, p in inspect.signature(command).parameters.items()}
    latent, plain = et.LatentPCFG().get_params(), et.PCFG().get_params()
    assert latent.pop("n_jobs") is None  # --threads
    for name, default in latent.items():
        same = name not in plain or plain[name] == default
        # None is the estimator's own, where they differ.
        assert options[name] == (default if same else None), name
    assert options["horizontal"] is options["vertical"] is None


@pytest.mark.parametrize(
    ("method", "arguments", "expected"),
    [
        ("pcfg", (), et.PCFG()),
        ("em", FEW_STEPS, et.LatentPCFG(method="em", **FEW)),
        ("split-merge", FEW_CYCLES, et.LatentPCFG(2, method="split-merge", n_iter=4)),
        ("spectral", SPECTRAL, et.LatentPCFG(3, method="spectral", nodes_per_state=1)),
        ("spectral+em", FEW_STEPS, et.LatentPCFG(method="spectral+em", **FEW)),
        ("pivot", ("--states", 2), et.LatentPCFG(2, method="pivot")),
        ("pivot+em", FEW_STEPS, et.LatentPCFG(method="pivot+em", **FEW)),
    ],
)
def test_fit_is_the_estimator(fit, treebank, tmp_path, method, arguments, expected):
    model, told = fit(treebank, "--method", method, *arguments)
    trees = et.read_trees(treebank)
    expected.fit(trees).save(tmp_path / "expected")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "expected").read_bytes()
    assert model.get_params() == expected.get_params()
    assert (told["method"], told["n_trees"], told["n_tokens"]) == (method, 8, 54)
    for name in ("n_labels", "n_rules", "n_states", "most_states", "n_parameters"):
        assert told[name] == expected.diagnostics_[name]
    assert told["n_words"] == len({w for t in trees for w in et.normalize_tree(t).leaves()})
    histories = getattr(expected, "history_", [])
    if method == "spectral":
        assert told["spectra"] == histories
        histories = [{}]
    assert told["log_likelihoods"] == [[*chain(*steps.values())] for steps in histories]
    assert next(iter(told["phases"])) == "read trees"
    assert list(told["phases"])[-1] == "save"
    assert told["peak_memory"] > 10e6


def test_plain_text_is_given_to_the_estimator(fit, cli, treebank, tmp_path):
    trees = et.read_trees(treebank)
    words = sorted({w for tree in trees for w in et.normalize_tree(tree).leaves()})
    paths, known = tmp_path / "paths", {word: f"{x % 4:02b}" for x, word in enumerate(words)}
    paths.write_text("".join(f"{bits}\t{word}\t1\n" for word, bits in known.items()))
    model, told = fit(treebank, "--method", "pcfg", "--clusters", paths)
    assert told["coverage"] == model.provenance_["coverage"] == {"clusters": 1.0}
    sentence = ["she", "sells", "the", "unheard", "bread", "."]
    expected = et.PCFG(clusters=known).fit(trees)
    assert model.scores(sentence) == expected.scores(sentence)
    shown = cli(
        *("grammar", "fit", treebank, "-o", tmp_path / "again"),
        *("--method", "pcfg", "--clusters", paths),
    )
    assert "known tokens    100.0% by clusters" in shown.out


def test_every_option_reaches_the_estimator(fit, treebank):
    binarization = ("--binarize", "right", "--horizontal", "all", "--vertical", 2)
    words = ("--rare", 3, "--beta", 0.5, "--gamma", 2)
    parsing = ("--prune", 1e-4, "--tau", 0.3)
    common = {
        "binarize": "right", "horizontal": None, "vertical": 2,
        "rare": 3, "beta": 0.5, "gamma": 2.0,
        "prune": 1e-4, "decoding": "mbr", "tau": 0.3,
    }  # fmt: skip
    model, _ = fit(treebank, "--method", "pcfg", *binarization, *words, *parsing)
    assert model.get_params() == et.PCFG().get_params() | common
    learning = ("-m", 3, "--grammars", 2, "--smoothing", 0.5, "--seed", 5)
    given = (*binarization, *words, *parsing, *learning, "--validation", treebank)
    latent = common | {
        "n_states": 3, "n_grammars": 2, "smoothing": 0.5, "random_state": 5, "n_jobs": None,
    }  # fmt: skip
    defaults = et.LatentPCFG().get_params()
    cycles = ("--method", "split-merge", "--iterations", 2, "--merge", 0.25)
    model, told = fit(treebank, *given, *cycles, "--early-stopping", "f1")
    chosen = {"method": "split-merge", "n_iter": 2, "merge": 0.25, "early_stopping": "f1"}
    assert model.get_params() == defaults | latent | chosen
    assert len(told["log_likelihoods"]) == len(told["validation"]) == 2
    features = ("--features", "simple", "--kappa", 2, "--noise", 0.1, "--nodes-per-state", 2)
    averages = ("--method", "spectral", "--tolerance", 0.1, "--negative", "clip", "--rank", 2)
    shared = {"features": "simple", "kappa": 2.0, "noise": 0.1, "nodes_per_state": 2}
    model, told = fit(treebank, *given, *features, *averages)
    chosen = {"method": "spectral", "tolerance": 0.1, "negative": "clip", "rank": 2}
    assert model.get_params() == defaults | latent | shared | chosen
    assert [one.keys() for one in told["ranks"]] == 2 * [{"rank_error", "rank_share"}]
    steps = ("--method", "pivot+em", "--iterations", 1, "--smooth-steps", 2)
    model, told = fit(treebank, *given, *features, *steps)
    chosen = {"method": "pivot+em", "n_iter": 1, "n_smooth": 2}
    assert model.get_params() == defaults | latent | shared | chosen
    model, _ = fit(treebank, "--method", "pcfg", "--horizontal", 1, "--decoding", "max-rule")
    assert (model.horizontal, model.vertical, model.decoding) == (1, 2, "max-rule")


@pytest.mark.parametrize("measure", ["likelihood", "f1"])
def test_validation_trees(fit, treebank, tmp_path, measure):
    held_out = [tmp_path / "a", tmp_path / "b"]
    trees = et.read_trees(treebank)
    et.write_trees(trees[:3], held_out[0])
    et.write_trees([odd := et.Tree.parse("(X (IN of) (IN of) (IN of))")], held_out[1])
    given = (arg for path in held_out for arg in ("--validation", path))
    steps = (*FEW_STEPS[:-1], 10)
    model, told = fit(treebank, "--method", "em", *steps, *given, "--early-stopping", measure)
    expected = et.LatentPCFG(method="em", **FEW | {"n_smooth": 10}, early_stopping=measure)
    expected.fit(trees, validation=[*trees[:3], odd])  # the last has no parse
    assert told["validation"] == [expected.history_[0]["validation"]]
    assert len(told["validation"][0]) >= 1
    assert model.log_probability(trees[0]) == expected.log_probability(trees[0])


def test_files_of_all_kinds(fit, treebank, tmp_path, standard_input):
    trees = et.read_trees(treebank)
    for number, ending in enumerate(("gz", "bz2", "xz", "zst")):
        et.write_trees(trees[2 * number : 2 * number + 2], tmp_path / f"{number}.mrg.{ending}")
    fit(treebank, "--method", "pcfg", name="one")
    fit(tmp_path / "?.mrg.*", "--method", "pcfg", name="many")
    standard_input(treebank.read_bytes())
    fit("-", "--method", "pcfg", name="stream")
    assert len({(tmp_path / name).read_bytes() for name in ("one", "many", "stream")}) == 1


def test_threads_change_no_byte(cli, treebank, tmp_path):
    files = []
    for threads in (1, 2):
        files.append(tmp_path / str(threads))
        options = (*FEW_CYCLES, "--grammars", 2, "--threads", threads, "--quiet")
        result = cli("grammar", "fit", treebank, "-o", files[-1], *options)
        assert (result.status, result.out, result.err) == (0, "", "")
    assert len({path.read_bytes() for path in files}) == 1


def test_what_people_read(cli, process, treebank, tmp_path):
    output = tmp_path / "model"
    options = (*FEW_STEPS, "--grammars", 2, "--validation", treebank, "--method", "em")
    with treebank.open() as trees:
        result = process("grammar", "fit", "-", "-o", output, *options, stdin=trees)
    assert result.status == 0, result.err
    first, read, *steps, finding, seconds = result.out.splitlines()
    assert read == "  read            dialect penn; traces dropped: 1; functions cut: 10"
    assert finding.startswith("  warning: The grammar was learned from 8 trees only")
    found, histories = et.load(output).diagnostics_, et.load(output).history_
    assert first.startswith(
        f"{output}: {found['n_labels']} labels, {found['n_rules']} rules, {found['n_states']} "
        "states from 8 trees, 54 tokens; "
    )
    assert len(steps) == len(histories) == 2
    for line, history in zip(steps, histories):
        first, last = history["em"][0], history["smoothed"][-1]
        assert f"log-likelihood  {first:,.1f} to {last:,.1f} in 8 steps" in line
    for phase in ("read trees", "treebank", "em", "smoothed em", "save"):
        assert f" {phase} " in seconds
        assert f"{phase}: " in result.err
    plain = cli("grammar", "fit", treebank, "-o", output, "--method", "pcfg", "--threads", 1)
    assert " rules from 8 trees, 54 tokens; " in plain.out
    assert "log-likelihood" not in plain.out
    averages = cli("grammar", "fit", treebank, "-o", output, *SPECTRAL, "--validation", treebank)
    first, _, best, spectrum, below, *_, seconds = averages.out.splitlines()
    assert " states from 8 trees, 54 tokens; " in first
    (found,) = et.load(output).history_
    assert best == f"  best f1 on validation {max(found['validation']):.4f}"
    assert (
        spectrum == f"  largest singular value / smallest one kept: {found['condition_number']:.3g}"
    )
    assert re.fullmatch(r"  below zero      [0-9.]+% of marginals, [0-9.]+% of sentences", below)
    for phase in ("features", "projections", "averages"):
        assert f" {phase} " in seconds
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_info_tells_all(cli, latent):
    shown = cli("info", latent)
    assert shown.status == 0
    assert "eigentext.latent-pcfg.v3, written by" in shown.out
    for line in ("n_states                 2", "n_trees                  8", "history"):
        assert line in shown.out
    assert max(map(len, shown.out.splitlines())) < 250
    told = json.loads(cli("info", latent, "--json").out)
    model = et.load(latent)
    assert told["parameters"] == model.get_params()
    assert told["diagnostics"] == model.diagnostics_


def test_info_of_a_spectral_model(cli, learned):
    options = ("--method", "spectral", "--states", "3", "--nodes-per-state", "1")
    model = learned("spectral", *options)
    shown = cli("info", model)
    assert shown.status == 0
    for line in ("method                   spectral", "kappa                    5", "tolerance"):
        assert line in shown.out
    told = json.loads(cli("info", model, "--json").out)["diagnostics"]
    for name in ("negative_marginals", "negative_sentences"):
        assert f"  {name:24} {told[name]:.4g}\n" in shown.out
        assert 0 <= told[name] <= 1


# Choosing parameters.


def test_tune(cli, fit, treebank, tmp_path):
    """What is given is kept, the rest is searched; the best model is what a fit would give."""
    options = (*SPECTRAL, "--rare", 1, "--horizontal", 0)
    model, told = fit(treebank, *options, "--tune", "--validation", treebank)
    trees = et.read_trees(treebank)
    grid = {"n_states": [3], "markovization": [(0, 1), (0, 2)]}
    expected = et.grammars.tune(trees, trees, **grid, nodes_per_state=1, rare=1)
    assert len(told["trials"]) == len(expected.trials) >= 5
    for row, trial in zip(told["trials"], expected.trials):
        assert row.pop("seconds") > 0
        assert row == trial.parameters | {"f1": trial.f1, "n_fallbacks": trial.n_fallbacks}
    assert model.get_params() == expected.model.get_params()
    assert model.provenance_["tuned"]["n_trials"] == len(told["trials"])
    assert {"charts", "prune", "projections", "trials"} <= told["phases"].keys()
    for tree in trees:
        found, value = (x.log_probability(tree) for x in (model, expected.model))
        assert found == pytest.approx(value)
    # What people read: the table, then the model.
    output = tmp_path / "again"
    shown = cli("grammar", "fit", treebank, "-o", output, *options, "--tune", "--kappa", 1)
    assert shown.mistake == "--tune needs trees to measure on: --validation FILE"
    fitted = ("grammar", "fit", treebank, "-o", output, *options, "--tune", "--kappa", "inf")
    shown = cli(*fitted, "--validation", treebank)
    assert shown.status == 0
    first, *rows = shown.out.splitlines()
    place = next(n for n, row in enumerate(rows) if row.startswith(f"{output}: "))
    summary, rows = rows[place], rows[:place]
    assert first.split()[:6] == ["F1", "states", "smoothing", "kappa", "horizontal", "vertical"]
    assert len(rows) == 4  # three values of smoothing, two of --vertical
    assert {(row.split()[1], row.split()[3], row.split()[4]) for row in rows} == {("3", "inf", "0")}
    scores = [float(row.split()[0]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    assert summary.startswith(f"{output}: ")
    assert et.load(output).kappa == float("inf")
    json_too = json.loads(cli(*fitted, "--validation", treebank, "--json").out)
    assert [row["kappa"] for row in json_too["trials"]] == [None] * 4


def test_tune_other_methods(fit, treebank):
    options = ("--method", "em", *FEW_STEPS, "--smoothing", 1, "--horizontal", "all")
    model, told = fit(treebank, *options, "--tune", "--validation", treebank)
    assert [row["horizontal"] for row in told["trials"]] == [None, None]
    assert sorted(row["vertical"] for row in told["trials"]) == [1, 2]
    assert model.method == "em"
    assert len(told["log_likelihoods"][0]) == 8


def test_the_penn_sample(fit, penn_sample):
    train = penn_sample("train", 150)
    model, told = fit(train, "--method", "em", "-m", 2, "--iterations", 5, "--smooth-steps", 3)
    assert told["n_trees"] == 150
    assert told["n_states"] > told["n_labels"]
    (steps,) = told["log_likelihoods"]
    assert len(steps) == 8
    assert steps[:5] == sorted(steps[:5])
    tree = model.parse("The company said it will sell the shares .")
    assert tree.label == "S"


# Mistakes.


@pytest.mark.filterwarnings("always")
def test_options_without_effect_are_told(cli, treebank, tmp_path):
    """Each on a line of its own, and the model is what it would be without them."""

    def fit(*arguments):
        result = cli("grammar", "fit", treebank, "-o", tmp_path / "model", "-q", *arguments)
        assert result.status == 0
        model = et.load(tmp_path / "model")
        # The treebank is small, and a fit says so too.
        size = ("different labels in", "No label has more than")
        told = [line for line in result.err.splitlines() if not any(map(line.count, size))]
        return told, model.marginals("the children eat")

    told, found = fit("--method", "pcfg", "--states", 16, "--smooth-steps", 3, "--seed", 1)
    for line, name in zip(told, ("n_states (--states): 16", "n_smooth (--smooth-", "random_state")):
        assert line.startswith(f"eigentext: warning: PCFG does not use {name}")
    assert len(told) == 3
    assert ([], found) == fit("--method", "pcfg")
    for method, option, value, label, others in (
        ("em", "--kappa", 2, "kappa", "'spectral', 'spectral+em', 'pivot' or 'pivot+em'"),
        ("em", "--merge", 0.1, "merge", "'split-merge'"),
        ("split-merge", "--smooth-steps", 3, "n_smooth (--smooth-steps)", "'spectral+em', 'piv"),
        ("spectral", "--iterations", 3, "n_iter (--iterations)", "'spectral+em', 'pivot+em', 'e"),
        ("spectral+em", "--tolerance", 0.1, "tolerance", "'spectral', 'pivot' or 'pivot+em'"),
    ):
        few = ("--method", method, "-m", 2)
        (line,), found = fit(*few, option, value)
        start = f"LatentPCFG with method={method!r} does not use {label}: {value}"
        assert line.startswith(f"eigentext: warning: {start}")
        assert f" has no effect; it is for method {others}" in line
        assert ([], found) == fit(*few)
    (line,), _ = fit("-m", 2, "--noise", 0.1)
    assert line.endswith("noise makes grammars differ: let several of them vote (n_grammars)")
    (line,), _ = fit("-m", 2, "--method", "em", "--early-stopping", "f1")
    assert "early_stopping needs trees to measure on" in line


def test_options_that_cannot_be(cli, treebank, tmp_path):
    fit = ("grammar", "fit", treebank, "-o", tmp_path / "model")
    for option in (("--validation", treebank), ("--tune",)):
        line = cli(*fit, "--method", "pcfg", *option).mistake
        assert line.startswith(
            f"{option[0]} is for grammars with hidden states, and --method pcfg has none"
        )
    line = cli(*fit, "--method", "em", "--tune").mistake
    assert line == "--tune needs trees to measure on: --validation FILE"
    both = ("--method", "em", "--tune", "--early-stopping", "f1")
    line = cli(*fit, *both, "--validation", treebank).mistake
    assert line == "--tune measures F1; leave --early-stopping out"
    assert list(tmp_path.iterdir()) == []


def test_mistakes_are_one_line(cli, treebank, pcfg, tmp_path):
    output, own = tmp_path / "model", tmp_path / "own.mrg"
    own.write_bytes(treebank.read_bytes())
    written = {
        "empty": b"",
        "blank": b" \n\n",
        "open": b"(S (NP (NN bread)))\n(S (NP (NN bread))\n",
        "closed": b"(S (NP (NN bread))))\n",
        "prose": b"once upon a time\n",
        "hole": b"(S (NP (NN bread)) (VP))\n",
        "silent": b"(S (NP (NN bread)))\n(S (NP (-NONE- *)))\n",
        "bytes": b"(NN ham)\n(NN \xff)\n",
        "cut.gz": b"\x1f\x8b\x08\x00",
    }
    for name, data in written.items():
        (tmp_path / name).write_bytes(data)
    for arguments, reason in (
        ((), "Missing argument"),
        ((tmp_path / "missing", "-o", output), "missing: no such file; check the name"),
        ((tmp_path, "-o", output), "is a folder; name its files"),
        ((tmp_path / "empty", "-o", output), "empty: contains no trees; a tree looks like (S "),
        ((tmp_path / "blank", "-o", output), "blank: contains no trees"),
        ((tmp_path / "open", "-o", output), "open, line 2: the tree '(S (NP (NN bread))' is never"),
        ((tmp_path / "closed", "-o", output), "closed, line 1: ')' closes nothing"),
        ((tmp_path / "prose", "-o", output), "prose, line 1: 'once' is outside all brackets"),
        ((tmp_path / "hole", "-o", output), "hole, line 1: '(VP)' has neither words nor trees"),
        ((tmp_path / "silent", "-o", output), "silent, tree 2: '(S (NP (-NONE- *)))' has no words"),
        ((tmp_path / "bytes", "-o", output), "bytes, line 2: byte 0xff is not UTF-8"),
        ((tmp_path / "cut.gz", "-o", output), "cut.gz: not a complete .gz file"),
        ((pcfg, "-o", output), f"{pcfg}, line 1: "),  # a model is no text
        ((treebank, "-o", output, "--validation", tmp_path / "empty"), "empty: contains no trees"),
        ((own, "-o", own), "would be written over what is read"),
        ((treebank, "-o", own, "--validation", own), "would be written over what is read"),
        ((treebank, "-o", "-"), "a model is a file, not a stream; name one with -o"),
        ((treebank, "-o", tmp_path), "is a folder"),
        ((treebank, "-o", tmp_path / "no" / "model"), "cannot be written"),
        ((treebank, "-o", output, "--method", "magic"), "see eigentext grammar fit --help"),
        (
            (treebank, "-o", output, *SPECTRAL, "--tolerance", 1),
            "tolerance must be a number",
        ),
        ((treebank, "-o", output, *SPECTRAL, "--kappa=-1"), "kappa must be a number, 0 or"),
        ((treebank, "-o", output, *SPECTRAL, "--features", "all"), "features must be 'full', 'si"),
        ((treebank, "-o", output, "--states", 0), "--states"),
        ((treebank, "-o", output, "--horizontal", "some"), "'some' is not a number of siblings"),
        ((treebank, "-o", output, "--horizontal=-1"), "'-1' is not a number of siblings"),
        ((treebank, "-o", output, "--vertical", 0), "vertical must be a whole number, 1 or more"),
        ((treebank, "-o", output, *FEW_CYCLES, "--merge", 1), "merge must be"),
        ((treebank, "-o", output, "--beta", "nan"), "beta must be a number, 0 or more, not nan"),
        ((treebank, "-o", output, "--gamma", "inf"), "gamma must be a number, 0 or more"),
        ((treebank, "-o", output, "--decoding", "best"), "see eigentext grammar fit --help"),
    ):
        assert reason in cli("grammar", "fit", *arguments, "--quiet").mistake
    assert not output.exists()
    assert own.read_bytes() == treebank.read_bytes()


def test_ctrl_c_leaves_nothing_behind(interrupted, treebank, tmp_path):
    options = ("--iterations", 10**6, "-m", 2, "--method", "split-merge")
    output = tmp_path / "out" / "model"
    with interrupted("grammar", "fit", treebank, "-o", output, *options) as process:
        assert any(line.startswith("pruning em") for line in process.stderr)  # the one before
