"""The files that the field really has, given to the commands as a stranger would.

Other encodings, bad items, dialects of treebanks, columns and counts: each with a small file made
for it, and the command that a user types.
"""

import gzip
import json
import re
import warnings

import numpy as np
import pytest

import eigentext as et
from eigentext.explorer.models.grammars import ExploredGrammar
from eigentext.explorer.models.taggers import ExploredTagger

pytestmark = pytest.mark.filterwarnings("always")  # the command prints them
ENCODINGS = {
    "utf-8-sig": "utf-8",  # with a byte order mark
    "utf-16": "utf-16",
    "utf-16-le": "utf-16-le",
    "utf-16-be": "utf-16-be",
    "latin-1": "cp1252",  # what the guess is called
    "cp1252": "cp1252",
}
TEXT = "el niño comió jamón\nla niña comió té\nel señor comió jamón\nla niña vio té\n" * 30
TREES = "(S (NP (D el) (N niño)) (VP (V comió)))\n(S (NP (D la) (N niña)) (VP (V vio)))\n" * 10
COLUMNS = "el D O\nniño N B-X\ncomió V O\n\nla D O\nniña N B-X\nvio V O\n\n" * 10
QUESTIONS = "niño niña señor té\njamón té niño niña\n"
LISTS = "-1\t(S (D el) (N niño))\n-2\t(S (N el) (N niño))\n\n" * 10
COUNTS = "el niño comió\t30\nniño comió jamón\t30\n"
FITS = {
    "words": ("--dim", 2, "--min-count", 1),
    "hmm": ("--states", 2, "--min-count", 1),
    "kneser-ney": (),
    "bigram": ("--states", 2, "--min-count", 1),
    "class-bigram": ("--classes", 2, "--min-count", 1),
    "topics": ("-k", 2, "--min-df", 1),
}


@pytest.fixture
def file(tmp_path):
    """Write a file in an encoding."""

    def write(name, text, encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text.encode(encoding))
        return path

    return write


@pytest.fixture
def works(cli):
    """Run a command that must work; returns what it prints."""

    def run(*arguments):
        result = cli(*arguments)
        assert result.status == 0, result.err
        return result

    return run


# Encodings.


@pytest.fixture
def either_way(cli, works, standard_input):
    """Run a command on a file and on standard input: it works, or the error offers an encoding.

    The guess that the error offers must work.
    """

    def run(encoding, path, *arguments):
        guess = ENCODINGS[encoding]
        for given in (path, "-"):
            command = [given if one is path else one for one in arguments]
            standard_input(path)
            if guess == "utf-8":
                works(*command)
                continue
            assert f"(--encoding {guess})" in cli(*command).err
            standard_input(path)
            works(*command, "--encoding", guess)

    return run


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("group", FITS)
def test_text_in_any_encoding(file, either_way, tmp_path, group, encoding):
    path = file("text.txt", TEXT, encoding)
    output = tmp_path / "model"
    either_way(encoding, path, group, "fit", path, "-o", output, "-q", *FITS[group])
    assert "niño" in et.load(output).vocabulary_.words


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_trees_and_columns_in_any_encoding(file, either_way, works, tmp_path, encoding):
    trees, columns = file("a.mrg", TREES, encoding), file("a.conll", COLUMNS, encoding)
    parser, tagger = tmp_path / "parser", tmp_path / "tagger"
    either_way(encoding, trees, "grammar", "fit", trees, "-o", parser, "--states", 1, "-q")
    either_way(encoding, trees, "grammar", "evaluate", parser, trees)
    either_way(encoding, columns, "tagger", "fit", columns, "-o", tagger, "-q")
    either_way(encoding, columns, "tagger", "evaluate", tagger, columns, "-q")
    either_way(encoding, columns, "tagger", "tag", tagger, columns, "--labelled", "-q")
    text = file("text.txt", "el niño comió", encoding)
    either_way(encoding, text, "grammar", "parse", parser, text, "-q")
    words = ("el", "niño", "comió")
    assert et.load(parser).parse(" ".join(words)).leaves() == list(words)
    assert et.load(tagger).tag([[(word, "N") for word in words]])[0][1][0] == "niño"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_other_files_in_any_encoding(file, either_way, works, tmp_path, encoding):
    text, words = file("text.txt", TEXT), tmp_path / "words"
    works("words", "fit", text, "-o", words, "-q", *FITS["words"])
    questions = file("questions.txt", QUESTIONS, encoding)
    either_way(encoding, questions, "words", "evaluate", words, questions)
    lists, gold = file("lists.txt", LISTS, encoding), file("gold.mrg", TREES, encoding)
    gold = file("gold.mrg", "(S (D el) (N niño))\n" * 10, encoding)
    model = tmp_path / "reranker"
    either_way(encoding, lists, "rerank", "fit", lists, "--gold", gold, "-o", model, "-q")
    either_way(encoding, lists, "rerank", "apply", model, lists, "-q")
    counts = file("counts.tsv", COUNTS, encoding)
    either_way(encoding, counts, "kneser-ney", "fit", counts, "--counts", "-o", model, "-q")


def test_stop_words_are_utf8_or_like_the_documents(file, works, cli, tmp_path):
    """A list in UTF-8 is common, also for documents that are not."""
    text = file("text.txt", TEXT, "latin-1")
    for encoding in ("utf-8", "latin-1"):
        listed = file("stop.txt", "el\nla\ncomió\n", encoding)
        fit = ("topics", "fit", text, "-o", tmp_path / "m", "--stop-words", listed, "-q")
        works(*fit, "--encoding", "latin-1", *FITS["topics"])
        assert "comió" not in et.load(tmp_path / "m").vocabulary_.words


# Bad items.


def test_bad_trees_are_skipped_and_told(file, cli, works, tmp_path):
    fit = ("grammar", "fit", "-o", tmp_path / "m", "--states", 1, "-q")
    path = file("a.mrg", f"{TREES}(S (NP (D el)\n(S (NP (D la) (N niña)) (VP (V vio)))\n")
    assert "a.mrg, line 21" in cli(*fit, path).mistake
    told = works(*fit, path, "--skip-bad").err
    assert "skipped 1 of 22 trees" in told
    assert "a.mrg, line 21" in told
    two = "".join(TREES.splitlines(keepends=True)[:2])
    path = file("b.mrg", f"{two}(S (NP (D el)\n{two}")
    assert "1 of 5 trees are bad, more than a tenth" in cli(*fit, path, "--skip-bad").mistake


def test_bad_json_lines_are_skipped_and_told(file, cli, works, tmp_path):
    lines = [json.dumps({"text": line}) for line in TEXT.splitlines()]
    path = file("a.jsonl", "\n".join([*lines[:50], '{"text": ', *lines[50:], ""]))
    fit = ("hmm", "fit", path, "--column", "text", "-o", tmp_path / "m", "-q", *FITS["hmm"])
    assert "a.jsonl, line 51" in cli(*fit).mistake
    told = works(*fit, "--skip-bad").err
    assert "skipped 1 of 121" in told
    assert "a.jsonl, line 51" in told
    path.write_text("\n".join([*lines[:5], "{", ""]))
    assert "more than a tenth" in cli(*fit, "--skip-bad").mistake


# Dialects of treebanks.

ICELANDIC = """( (CODE <text_01>) (ID 1150.A,.1))

( (IP-MAT (PP (P Í-í) (NP (N-D upphafi-upphaf))) (VBDI skapaði-skapa) (NP-SBJ (N-N guð-guð))
  (NP-OB1 (N-A himin-himinn)) (. .-.)) (ID 1150.A,.2))

( (META (CODE x)) (IP-MAT (NP-SBJ *con*) (CONJ og-og) (VBDI sagði-segja) (CP-THT (C 0)
  (IP-SUB (NP-SBJ *exp*) (VBDI kom-koma) (NP-OB1 *T*-1) (ADVP (ADV þá-þá)))) (. .-.)) (ID A,.3))

( (IP-MAT (NP-SBJ *pro*)) (ID A,.4))
"""
EXPORT = """#FORMAT 3
#BOS 1 0 1 0
Das	ART	--	NK	500
Buch	NN	--	NK	500
habe	VAFIN	--	HD	502
ich	PPER	--	SB	502
gelesen	VVPP	--	HD	501
.	$.	--	--	0
#500	NP	--	OA	501
#501	VP	--	OC	502
#502	S	--	--	0
#EOS 1
"""


@pytest.fixture
def fit_trees(works, cli, tmp_path):
    """Fit a grammar; returns the facts about the treebank, the parser, and the warnings."""

    def run(path, *options):
        output = tmp_path / "parser"
        fit = ("grammar", "fit", path, "-o", output, "--states", 1, "--json", *options)
        result = works(*fit)
        return json.loads(result.out)["treebank"], et.load(output), result.err

    return run


@pytest.mark.parametrize("has_ids", [True, False])
def test_a_historical_treebank(file, fit_trees, has_ids):
    """It once trained, without a word, a parser whose tags were CODE and whose words were Í-í."""
    text = ICELANDIC if has_ids else re.sub(r"\(ID [\w.,]*\)", "", ICELANDIC)
    path = file("ice.psd", text * 10)
    found, parser, told = fit_trees(path)
    assert "dialect" not in told
    assert found["dialect"] == "ppche"
    assert (found["n_trees"], found["n_empty"], found["n_lemmas"]) == (20, 20, 110)
    assert found["n_traces"] == 40
    tree = parser.parse("Í upphafi skapaði guð himin.")
    assert tree.leaves() == ["Í", "upphafi", "skapaði", "guð", "himin", "."]
    assert not {node.label for node in tree.subtrees()} & {"CODE", "ID", "META"}


@pytest.mark.parametrize("dialect", ["penn", "cess", "lemma"])
def test_another_dialect_than_named_is_told(file, fit_trees, dialect):
    path = file("ice.psd", ICELANDIC * 10)
    _, _, told = fit_trees(path, "--dialect", dialect)
    assert "--dialect ppche" in told


@pytest.mark.parametrize("dialect", ["export", "tiger-xml"])
def test_another_format_than_named_is_refused(file, cli, tmp_path, dialect):
    path = file("ice.psd", ICELANDIC)
    fit = ("grammar", "fit", path, "-o", tmp_path / "m", "--dialect", dialect)
    assert "it looks like brackets: read it with dialect='auto'" in cli(*fit).mistake
    path = file("a.export", EXPORT)
    fit = ("grammar", "fit", path, "-o", tmp_path / "m", "--dialect", "penn")
    assert "--dialect export" in cli(*fit).mistake


def test_discontinuous_nodes_are_raised_and_counted(file, fit_trees, works, tmp_path):
    found, parser, _ = fit_trees(file("a.export", EXPORT * 10))
    assert (found["dialect"], found["n_discontinuous"], found["n_raised"]) == ("export", 10, 10)
    tree = parser.parse("Das Buch habe ich gelesen.")
    assert str(tree) == (
        "(S (NP (ART Das) (NN Buch)) (VAFIN habe) (PPER ich) (VP (VVPP gelesen)) ($. .))"
    )
    printed = works("grammar", "fit", tmp_path / "a.export", "-o", tmp_path / "m", "--states", 1)
    assert "dialect export" in printed.out
    assert "discontinuous nodes: 10; parts of them raised: 10" in printed.out


def test_what_stays_in_labels(file, fit_trees):
    path = file("a.mrg", "(S (NP-SBJ-1 (D the) (N dog)) (VP (V saw) (NP-OBJ (N cats))))\n" * 10)
    for keep, labels in (("none", {"NP"}), ("functions", {"NP.SBJ", "NP.OBJ"})):
        _, parser, _ = fit_trees(path, "--keep", keep)
        tree = parser.parse("the dog saw cats")
        assert {node.label for node in tree.subtrees() if node.label[:2] == "NP"} == labels


# Columns.

CONLL_U = """# text = vamos a el mar
1\tvamos\tir\tVERB\tV\t_\t0\troot\t_\t_
2-3\tal\t_\t_\t_\t_\t_\t_\t_\t_
2\ta\ta\tADP\tE\t_\t4\tcase\t_\t_
3\tel\tel\tDET\tD\t_\t4\tdet\t_\t_
4\tmar\tmar\tNOUN\tN\t_\t1\tobl\t_\t_
4.1\tvamos\tir\tVERB\t_\t_\t_\t_\t_\t_

"""


def test_conll_u_is_tagged_and_scored_by_its_columns(file, cli, works, standard_input, tmp_path):
    path, model = file("a.conllu", CONLL_U * 10), tmp_path / "m"
    works("tagger", "fit", path, "--columns", "word,xpos", "-o", model, "-q")
    scores = json.loads(works("tagger", "evaluate", model, path, "--json").out)
    assert (scores["accuracy"], scores["n_tokens"]) == (1, 40)
    tagged = works("tagger", "tag", model, path, "-q").out
    assert tagged.startswith("vamos\tV\na\tE\nel\tD\nmar\tN\n\n")
    standard_input(path)
    assert "looks like a token of CoNLL-U" in cli("tagger", "tag", model, "-q").err
    standard_input(path)
    assert works("tagger", "tag", model, "--input", "conll", "-q").out == tagged
    empty = file("b.conllu", CONLL_U.replace("\tV\t", "\t_\t").replace("\tE\t", "\t_\t"))
    empty.write_text(empty.read_text().replace("\tD\t", "\t_\t").replace("\tN\t", "\t_\t"))
    fit = ("tagger", "fit", empty, "--columns", "word,upos", "-o", model, "-q")
    works(*fit)


@pytest.mark.parametrize(
    "lines, told, tags",
    [
        ("EU NNP I-NP I-ORG\nsays V I-VP O\n", "IOB1 as BIO", {"B-ORG", "O"}),
        ("EU NNP S-ORG\nsays V O\n", "", {"S-ORG", "O"}),
        ("EU B-ORG\nsays O\n", "", {"B-ORG", "O"}),
        ("-DOCSTART- -X- O\n\nEU NNP B-ORG\nof P I-ORG\nsays V O\n", "", {"B-ORG", "I-ORG", "O"}),
    ],
)
def test_columns_and_schemes_are_found_by_looking(file, works, tmp_path, lines, told, tags):
    path, model = file("a.txt", f"{lines}\n" * 10), tmp_path / "m"
    result = works("tagger", "fit", path, "-o", model, "-q")
    assert told in result.err
    assert set(et.load(model).tags_) == tags
    scores = json.loads(works("tagger", "evaluate", model, path, "--json").out)
    assert scores["f1"] == 1


def test_the_label_is_found_by_the_tags_of_the_model(file, works, tmp_path):
    path, model = file("a.txt", "EU NNP I-NP I-ORG\nsays V I-VP O\n\n" * 10), tmp_path / "m"
    works("tagger", "fit", path, "--columns", "word,chunk", "-o", model, "-q")
    scores = json.loads(works("tagger", "evaluate", model, path, "--json").out)
    assert scores["f1"] == 1


def test_stray_tags_are_repaired_and_counted(file, works, tmp_path):
    good = "EU NNP B-ORG\nof P I-ORG\nsays V O\nBonn N B-LOC\n\n"
    path = file("a.txt", good.replace("B-LOC", "I-LOC") + good * 9)
    told = works("tagger", "fit", path, "-o", tmp_path / "m", "-q").err
    assert "read 1 tag that broke the scheme BIO" in told
    assert f"the first is in {path}, line 4\n" in told


# Counts of n-grams.


def test_counts_in_packed_files_of_several_formats(file, works, cli, tmp_path):
    lines = ["<s> I ate\t2", "I ate ham\t2", "ate ham </s>\t2", "<s> you ate\t1"]
    lines += ["you ate ham\t1", "ate ham </s>\t1"]
    plain = file("a.tsv", "\n".join([*lines, ""]))
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    google = file("google.tsv", "".join(f"{line.replace(chr(9), chr(9) + '1999' + chr(9))}\t1\n"
                                        for line in lines))  # fmt: skip
    models = []
    for path in (plain, packed, google):
        works("kneser-ney", "fit", path, "--counts", "-o", tmp_path / "m", "-q")
        models.append(et.load(tmp_path / "m"))
    texts = et.TextCorpus(["I ate ham", "you ate ham"], kind="texts")
    first, *others = (model.log_probabilities(texts) for model in models)
    assert all(np.array_equal(first, one) for one in others)
    bad = file("bad.tsv", "\n".join([*lines, "ate ham", ""]))
    fit = ("kneser-ney", "fit", bad, "--counts", "-o", tmp_path / "m", "-q")
    assert "bad.tsv, line 7: 'ate ham' is no n-gram with its count" in cli(*fit).mistake


def test_python_readers_say_the_same(file):
    path = file("ice.psd", ICELANDIC * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert et.read_trees(path).about.dialect == "ppche"
    with pytest.warns(UserWarning, match="read them with dialect='ppche'"):
        et.read_trees(path, dialect="penn")


# Raw text and tokens.


def test_the_same_tokens_everywhere(file, works, tmp_path):
    """In Python, by `grammar parse`, by `tagger tag`, and in the explorer."""
    tree = (
        "(S (NP (PRP He)) (VP (VBZ does) (RB n't) (VP (VB know)))"
        " (PRN (-LRB- -LRB-) (RB yet) (-RRB- -RRB-)) (. .))\n"
    )
    leaves = et.Tree.parse(tree).leaves()
    parser, tagger = tmp_path / "parser", tmp_path / "tagger"
    works("grammar", "fit", file("a.mrg", tree * 10), "-o", parser, "--states", 1, "-q")
    tagged = "".join(f"{leaf} T\n" for leaf in leaves)
    works("tagger", "fit", file("a.conll", f"{tagged}\n" * 10), "-o", tagger, "-q")
    text = "He doesn't know (yet)."
    raw = file("raw.txt", f"{text}\n")
    found = [
        et.load(parser).parse(text).leaves(),
        [word for word, _ in et.load(tagger).tag([text])[0]],
        et.Tree.parse(works("grammar", "parse", parser, raw, "-q").out).leaves(),
        works("tagger", "tag", tagger, raw, "-q").out.split()[::2],
        ExploredGrammar(et.load(parser), "parser").parse({"text": text})["tokens"],
        [x["word"] for x in ExploredTagger(et.load(tagger), "t").tag({"text": text})["tokens"]],
    ]
    assert found == [leaves] * len(found)
    result = works("tagger", "tag", tagger, raw, "--tokenized")
    assert result.out.split()[::2] == text.split()
    assert "for raw text give strings" in result.err
