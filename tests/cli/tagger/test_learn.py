"""`eigentext tagger fit`: from tagged sentences to a tagger, and what it says about it."""

import json
import lzma
import re
import warnings

import pytest

import eigentext as et


@pytest.fixture
def fit(cli, tmp_path):
    """Run a fit; the tagger and what is told about it."""

    def run(*arguments):
        path = tmp_path / "tagger"
        result = cli("tagger", "fit", *arguments, "-o", path, "--json")
        assert (result.status, result.err) == (0, ""), result.err
        return et.load(path), json.loads(result.out)

    return run


@pytest.fixture
def refused(cli, tmp_path):
    """Run a fit that must fail: the line it prints; nothing is written."""

    def run(*arguments) -> str:
        line = cli("tagger", "fit", *arguments, "-o", tmp_path / "tagger", "-q").mistake
        assert not (tmp_path / "tagger").exists()
        return line

    return run


def test_the_model_is_that_of_the_library(fit, train, dev, tagged):
    model, told = fit(train, "--validation", dev, "--epochs", 4)
    plain, held_out = tagged
    expected = et.Tagger(n_epochs=4).fit(et.read_conll(train), validation=held_out)
    assert model.tag(plain) == expected.tag(plain)
    assert model.temperature_ == expected.temperature_
    assert {name: told[name] for name in expected.diagnostics_} == expected.diagnostics_
    assert told["dev_report"] == expected.evaluate(held_out).to_dict()
    assert told["dev_report"]["f1"] == max(told["dev"]) > 0.8
    assert (told["columns"], told["templates"]) == (["word", "pos"], expected.templates_)
    assert (told["n_sentences"], told["n_tags"]) == (40, 4)
    assert set(told["phases"]) >= {"read sentences", "features", "train", "save"}
    assert told["seconds"] > 0
    assert told["peak_memory"] > 1e6


def test_options_reach_the_tagger(fit, train, model):
    options = ("--scale", 0.5, "--min-count", 2, "--epochs", 3, "--margin", 1, "--seed", 7)
    templates = ("--template", "word[-1]|word[0]", "--template", "pos[-1..1]")
    tagger, told = fit(train, *options, *templates, "--scheme", "bilou", "--vectors", model)
    wanted = {
        "scale": 0.5,
        "min_count": 2,
        "n_epochs": 3,
        "margin": 1.0,
        "random_state": 7,
        "features": ["word[-1]|word[0]", "pos[-1..1]"],
        "scheme": "bilou",
        "columns": ["word", "pos"],
    }
    assert tagger.get_params() | wanted == tagger.get_params()
    assert told["templates"] == ["word[-1]|word[0]", "pos[-1..1]", "vector[-1..1]"]
    assert len(told["wrong_tags"]) <= 3
    assert (told["dev"], told["dev_report"]) == (None, None)
    tagger, _ = fit(train, "--features", "ner", "--scheme", "none")
    assert (tagger.features, tagger.scheme) == ("ner", None)


def test_a_crf(fit, train, tagged):
    pytest.importorskip("pycrfsuite")
    options = ("--c1", 0.1, "--c2", 0.2, "--iterations", 5)
    model, told = fit(train, "--model", "crf", *options)
    assert (model.c1, model.c2, model.n_iter) == (0.1, 0.2, 5)
    assert len(told["loss"]) == 5
    expected = et.Tagger(model="crf", c1=0.1, c2=0.2, n_iter=5).fit(et.read_conll(train))
    assert model.tag(tagged[0]) == expected.tag(tagged[0])


# Files.


def test_columns_are_guessed_or_named(fit, words, train, tmp_path, standard_input):
    model, _ = fit(words)
    assert (model.columns_, model.tags_) == (["word"], [".", "DT", "JJ", "NN", "VBZ"])
    lines = train.read_text().splitlines()
    (tmp_path / "four").write_text(
        "\ufeff-DOCSTART- -X- O O\n\n"
        + "".join(f"{i} {line}\r\n" if line else "\r\n" for i, line in enumerate(lines))
    )
    expected = et.Tagger().fit(et.read_conll(train))
    same, told = fit(tmp_path / "four", "--columns", "_,word, pos,chunk")
    assert told["n_sentences"] == 40
    sentence = [("the", "DT"), ("unseen", "NN")]
    assert same.k_best(sentence, 3) == expected.k_best(sentence, 3)
    model, _ = fit(tmp_path / "four", "--columns", "_,word,pos,_")
    assert model.tags_ == [".", "DT", "JJ", "NN", "VBZ"]
    model, _ = fit(tmp_path / "four", "--columns", "_,word,gender,label", "--template", "gender[0]")
    assert model.columns_ == ["word", "gender"]
    standard_input(train.read_bytes().replace(b"\n\n", b"\n\n\n"))
    same, told = fit("-")
    assert same.k_best(sentence, 3) == expected.k_best(sentence, 3)
    _, told = fit(train, train, "--epochs", 1)
    assert told["n_sentences"] == 80


def test_errors_name_the_file_and_the_line(refused, train, tmp_path, standard_input):
    bad, good = tmp_path / "bad", train
    for text, reason in (
        (
            "a DT B-NP\nb NN\n",
            "line 2: 'b NN' has 2 columns, not 3; correct it, or name the columns",
        ),
        ("a DT O\n\nb\t\tO\n", "line 3: 'b\\t\\tO' has an empty column; fill it"),
        ("-DOCSTART-\n\na\0 DT O\n", "line 3: a NUL byte"),
        ("\n \n", "contains no sentences; is the file empty?"),
        ("", "contains no sentences; is the file empty?"),
    ):
        bad.write_text(text)
        for files in ((bad,), (good, bad)):
            line = refused(*files)
            assert line.startswith(f"{bad}{',' if reason.startswith('line') else ':'} {reason}")
    bad.write_bytes(b"a DT O\nb\xff NN O\n")
    assert refused(bad).startswith(f"{bad}, line 2: byte 0xff is not UTF-8; it looks like cp1252")
    bad.write_bytes(b"a\xff\n")
    assert refused(bad).startswith(f"{bad}, line 1: byte 0xff is not UTF-8; it looks like cp1252")
    bad.write_text("a DT O\n")
    assert refused(train, "--validation", bad, "--columns", "word,label").startswith(
        f"{good}, line 1"
    )
    assert refused(bad, "--scheme", "bilou", "--columns", "word,label,_").startswith(
        f"{bad}, line 1: 'DT' is not a tag of the scheme 'bio'"
    )
    standard_input(b"a DT O\nb NN\n")
    assert refused("-").startswith("standard input, line 2: 'b NN' has 2 columns")


@pytest.fixture
def four(train, tmp_path):
    """The sentences of `train` as in CoNLL-2003: IOB1, Latin-1, documents, four columns."""
    blocks = train.read_text().strip().split("\n\n")
    tokens = [[line.split() for line in block.splitlines()] for block in blocks]
    lines = ["-DOCSTART- -X- O O", ""]
    for sentence in tokens:
        lines += [f"{w} {p} B-X {y.replace('B-', 'I-')}" for w, p, y in sentence]
        lines.append("")
    text = "\n".join([*lines, ""]).replace("cat", "ça")
    (tmp_path / "four").write_text(text, encoding="latin-1")
    (tmp_path / "three").write_text(train.read_text().replace("cat", "ça"))
    return tmp_path / "four"


def test_other_formats_are_recognized(cli, four, train, tmp_path):
    """CoNLL-2003 with IOB1 in another encoding, and CoNLL-U, as they are."""
    path, three = tmp_path / "tagger", tmp_path / "three"
    fit = ("tagger", "fit", four, "-o", path)
    assert "byte 0xe7 is not UTF-8; it looks like cp1252" in cli(*fit).err
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        told = cli(*fit, "--encoding", "latin-1")
    assert told.status == 0
    assert (
        f"{four}: CoNLL-2003, with the columns word, pos, chunk, ner; read as word, pos, ner."
        in (told.err)
    )
    n = three.read_text().count("B-")
    assert f"warning: read {n} tags of the scheme IOB1 as BIO" in told.err
    expected = et.Tagger().fit(et.read_conll(three))
    assert et.load(path).k_best([("the", "DT"), ("ça", "NN")], 3) == expected.k_best(
        [("the", "DT"), ("ça", "NN")], 3
    )
    scores = [
        json.loads(cli("tagger", "evaluate", path, *one, "--json").out)
        for one in ((three,), (four, "--encoding", "latin-1"))
    ]
    for name in ("f1", "accuracy", "unseen_labels", "n_sentences"):
        assert scores[0][name] == scores[1][name]
    tagged = cli("tagger", "tag", path, four, "--encoding", "latin-1", "-q").out
    assert tagged == cli("tagger", "tag", path, three, "--labelled", "-q").out.replace(
        "the", "-DOCSTART- -X- O O\n\nthe", 1
    )


def test_conll_u(fit, cli, train, tmp_path, standard_input):
    lines = ["# global = yes"]
    for sentence in et.read_conll(train):
        lines += ["# text", "1-2\tno\t_\t_\t_\t_\t_\t_\t_\t_"]
        lines += [
            f"{i}\t{word}\t_\t{pos}\t{pos.lower()}\t_\t0\t{label}\t_\t_"
            for i, (word, pos, label) in enumerate(sentence, 1)
        ]
        lines += ["8.1\tno\t_\t_\t_\t_\t_\t_\t_\t_", ""]
    path = tmp_path / "a.conllu"
    path.write_text("\n".join([*lines, ""]))
    model, told = fit(path)
    assert (model.columns_, model.tags_) == (["word"], [".", "DT", "JJ", "NN", "VBZ"])
    assert told["n_tokens"] == sum(map(len, et.read_conll(train)))
    evaluated = json.loads(cli("tagger", "evaluate", tmp_path / "tagger", path, "--json").out)
    assert evaluated["n_tokens"] == told["n_tokens"]
    assert evaluated["unseen_labels"] == {}
    model, _ = fit(path, "--columns", "form,xpos")
    assert model.tags_ == [".", "dt", "jj", "nn", "vbz"]
    model, _ = fit(path, "--columns", "word,pos,deprel")
    assert (model.columns_, model.tags_) == (["word", "pos"], ["B-NP", "B-VP", "I-NP", "O"])
    standard_input(path)
    sentences = [[token[:-1] for token in one] for one in et.read_conll(train)]
    shown = cli("tagger", "tag", tmp_path / "tagger", "-q").out
    expected = ["\n".join(map("\t".join, one)) for one in model.tag(sentences)]
    assert shown == "\n\n".join([*expected, ""])
    # The label is the column with the tags of the model, here deprel.
    scores = json.loads(cli("tagger", "evaluate", tmp_path / "tagger", path, "--json").out)
    assert (scores["unseen_labels"], scores["n_tokens"]) == ({}, told["n_tokens"])
    assert scores["f1"] > 0.9


def test_bad_sentences_are_skipped(cli, train, tmp_path):
    bad, path = tmp_path / "bad", tmp_path / "tagger"
    bad.write_text(train.read_text() + "x\ny\nz NN O\n\na NN O\n")
    assert "bad, line 323: 'x' has 1 column" in cli("tagger", "fit", bad, "-o", path).err
    for command in (("fit", bad, "-o", path), ("evaluate", path, bad)):
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            told = cli("tagger", *command, "--skip-bad", "-q")
        assert told.status == 0
        (line,) = told.err.splitlines()
        assert line.startswith(f"eigentext: warning: skipped 1 of 42 sentences: {bad}, line 323: ")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        told = cli("tagger", "tag", path, bad, "--labelled", "--skip-bad", "-q")
    assert "skipped 1 of 42 sentences" in told.err
    assert told.out.count("\n\n") == 40  # and the end of the file after the last
    bad.write_text("x\n\na NN O\n\n" * 3)
    assert (
        "3 of 6 sentences are bad, more than a tenth"
        in cli("tagger", "fit", bad, "-o", path, "--skip-bad", "-q").mistake
    )


# What plain text taught.


@pytest.fixture(scope="session")
def sources(tmp_path_factory, text, model):
    """Models of the text that the words of the sentences are from."""
    folder = tmp_path_factory.mktemp("sources")
    clusters = et.WordClusters(4).fit(et.load(model))
    clusters.save(folder / "clusters")
    clusters.to_tsv(folder / "paths")
    corpus = et.TextCorpus(text)
    et.Eigentokens(3, min_count=1).fit(corpus).save(folder / "eigentokens")
    et.HMM(3, method="em", n_init=1, n_iter=3).fit(corpus).save(folder / "states")
    trees = ["(S (NP (DT the) (NN cat)) (VP (VBZ sleeps)))", "(S (NP (NNP Ann)) (VP (VBZ sees)))"]
    et.LatentPCFG(2, method="em", nodes_per_state=1).fit(trees).save(folder / "parser")
    return folder


def test_sources(fit, cli, sources, model, train, tagged, tmp_path):
    given = {"vectors": model} | {
        name: sources / name for name in ("clusters", "eigentokens", "states", "parser")
    }
    for name, path in given.items():
        options = ("--template", "word[0]", f"--{name}", path)
        found, told = fit(train, *options)
        expected = et.Tagger(features=["word[0]"], **{name: et.load(path)})
        expected.fit(et.read_conll(train))
        assert found.tag(tagged[0]) == expected.tag(tagged[0])
        assert told["coverage"] == expected.diagnostics_["coverage"]
        assert told["templates"] == expected.templates_ != ["word[0]"]
    (tmp_path / "packed.xz").write_bytes(lzma.compress((sources / "paths").read_bytes()))
    by_model, _ = fit(train, "--clusters", sources / "clusters")
    for path in (sources / "paths", tmp_path / "packed.xz"):
        by_paths, told = fit(train, "--clusters", path)
        assert by_paths.k_best(tagged[0][0], 3) == by_model.k_best(tagged[0][0], 3)
        assert told["coverage"]["cluster"] == 1.0
    shown = cli(
        *("tagger", "fit", train, "-o", tmp_path / "tagger"),
        *("--vectors", model, "--clusters", sources / "paths"),
    ).out
    assert "\n  known tokens    100.0% by vectors, 100.0% by clusters\n" in shown
    assert "load clusters" in shown


def test_sources_of_another_kind(refused, sources, model, train, text, tmp_path):
    for name, path, reason in (
        ("vectors", sources / "states", r"holds HMM\(.*\), but --vectors wants word vectors"),
        ("clusters", model, r"holds Eigenwords\(.*\), but --clusters wants clusters"),
        ("parser", model, r"holds Eigenwords\(.*\), but --parser wants a grammar"),
        ("eigentokens", model, r"holds Eigenwords\(.*\), but --eigentokens wants eigentokens"),
        ("states", model, r"holds Eigenwords\(.*\), but --states wants a hidden Markov model"),
        ("vectors", text, "not an eigentext file; give a"),
        ("vectors", tmp_path / "none", "no such file"),
        ("clusters", tmp_path / "none", "no such file"),
    ):
        assert re.match(f"{path}: {reason}", refused(train, f"--{name}", path))
    line = refused(train, "--clusters", text)
    assert line.startswith(f"{text}, line 1: not a bit string, a word and a count")


def test_sources_of_another_vocabulary(refused, cli, tmp_path, model, sources):
    foreign = tmp_path / "foreign"
    foreign.write_text("le O\nchat O\n\nle O\nchien O\n")
    line = refused(foreign, "--vectors", model)
    assert line.startswith(f"{model}: no word of the training sentences is among those of vectors")
    line = refused(foreign, "--clusters", sources / "paths")
    assert line.startswith(f"{sources / 'paths'}: no word of the training sentences")
    foreign.write_text("le O\nchat O\n\nle O\ncat O\n")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        told = cli("tagger", "fit", foreign, "-o", tmp_path / "tagger", "--vectors", model, "-q")
    assert told.status == 0
    line = next(one for one in told.err.splitlines() if "only 25%" in one)
    assert line.startswith(
        "eigentext: warning: only 25% of the training tokens are among the words"
    )


# What is told.


def test_what_people_read(cli, train, dev, tagged, tmp_path):
    path = tmp_path / "tagger"
    shown = cli("tagger", "fit", train, "-o", path, "--validation", dev, "--epochs", 3)
    assert shown.status == 0, shown.err
    first, columns, mistakes, best, *rest = shown.out.splitlines()
    assert re.fullmatch(
        rf"{path}: 4 tags, \d+ of [\d,]+ features from 40 sentences, [\d]+ tokens; \d+\.\d s, "
        r"[\d,]+ MB at most",
        first,
    )
    assert columns == "  columns         word, pos"
    assert re.fullmatch(r"  wrong tags      \d+(, \d+)* in the passes", mistakes)
    assert re.fullmatch(r"  best validation after pass \d of \d", best)
    report = str(et.load(path).evaluate(tagged[1]))
    assert [line[2:] for line in rest[:-1]] == report.splitlines()
    assert rest[-1].startswith("  seconds         read sentences ")
    assert "read sentences: " in shown.err
    quiet = cli("tagger", "fit", train, "-o", path, "--quiet")
    assert (quiet.status, quiet.out, quiet.err) == (0, "", "")


def test_what_people_read_of_a_crf(cli, train, tmp_path):
    pytest.importorskip("pycrfsuite")
    options = ("--model", "crf", "--iterations", 3)
    shown = cli("tagger", "fit", train, "-o", tmp_path / "tagger", *options)
    assert re.search(r"\n  loss            [\d,.]+ to [\d,.]+ in 3 iterations\n", shown.out)


def test_info(cli, chunker, learned, train, model):
    about = json.loads(cli("info", chunker, "--json").out)
    assert about["format"] == "eigentext.tagger.v1"
    assert about["columns"] == ["word", "pos"]
    shown = cli("info", learned(train, "--vectors", str(model))).out
    assert "n_sentences              40" in shown
    assert max(map(len, shown.splitlines())) < 400  # no vectors


def test_threads_change_nothing(fit, train, tmp_path):
    written = set()
    for threads in (1, 2):
        fit(train, "--threads", threads)
        written.add((tmp_path / "tagger").read_bytes())
    assert len(written) == 1


# Mistakes.


@pytest.mark.filterwarnings("default")
def test_options_without_effect_are_told(cli, train, tmp_path):
    for arguments, reason in (
        (("--c1", 1), "does not use c1: 1.0 has no effect; it is for model 'crf'"),
        (("--model", "crf", "--epochs", 3), "does not use n_epochs (--epochs): 3 has no effect"),
    ):
        told = cli("tagger", "fit", train, *arguments, "-o", tmp_path / "model", "-q")
        assert told.status == 0
        assert reason in told.err


def test_mistakes_are_one_line(refused, cli, train, dev, tmp_path, standard_input):
    (tmp_path / "four").write_text("a DT X O\n")
    (tmp_path / "one").write_text("a\n")
    standard_input(b"")
    for arguments, reason in (
        ((), "FILE"),
        ((tmp_path / "none",), "none: no such file; check the name"),
        ((tmp_path,), "is a folder; name its files"),
        (("-",), "standard input: contains no sentences; is the file empty?"),
        (("-", "--validation", "-"), "standard input (-) can be read only once"),
        ((train, "--validation", tmp_path / "none"), "none: no such file"),
        ((train, "--validation", tmp_path / "one"), "one, line 1: 'a' has 1 column, not 3"),
        (
            (tmp_path / "four",),
            "'a DT X O' has 4 columns (1. a; 2. DT; 3. X; 4. O); name them",
        ),
        ((tmp_path / "four",), "(--columns word,pos,_,label)"),
        ((tmp_path / "one",), "one, line 1: 'a' has no label; give a word and its label"),
        ((train, "--columns", "word,label"), "'the DT B-NP' has 3 columns, not 2; correct it, or"),
        (
            (train, "--columns", "word,pos,pos"),
            "--columns word,pos,pos: give each column a different name",
        ),
        ((train, "--columns", "word,,pos"), "give each column a different name"),
        (
            (train, "--columns", "pos,word,label"),
            "the first column must be called word, and the label",
        ),
        ((train, "--columns", "word,_,_"), "the first column must be called word, and the label"),
        ((train, "--features", "pos", "--template", "word[0]"), "give only one of the two"),
        ((train, "--template", "word"), "'word' is not a feature template; write one as in"),
        ((train, "--template", "gender[0]"), "no attribute 'gender': use the columns word"),
        ((train, "--template", "vector[0]"), "a template looks at 'vector'; give --vectors too"),
        (
            (train, "--scale", 1),
            "--scale is for --vectors, --eigentokens, --states or --parser; give one",
        ),
        ((train, "--epochs", 0), "n_epochs (--epochs) must be a whole number, 1 or more, not 0"),
        ((train, "--features", "all"), "features must be 'auto', 'chunk', 'ner', 'pos' or a list"),
        ((train, "--scheme", "iob1"), "see eigentext tagger fit --help"),
    ):
        assert reason in refused(*arguments)
    assert "is a file, not a stream" in cli("tagger", "fit", train, "-o", "-").mistake
    before = train.read_bytes(), dev.read_bytes()
    for own in (train, dev):
        line = cli("tagger", "fit", train, "--validation", dev, "-o", own, "-q").mistake
        assert "would be written over what is read" in line
    assert (train.read_bytes(), dev.read_bytes()) == before


def test_ctrl_c_leaves_nothing_behind(interrupted, train, tmp_path):
    (tmp_path / "long").write_text(train.read_text() * 200)
    arguments = ("tagger", "fit", tmp_path / "long", "-o", tmp_path / "out" / "tagger")
    with interrupted(*arguments, "--margin", "1e9", "--epochs", 1000) as process:
        assert any(line.startswith("features") for line in process.stderr)
