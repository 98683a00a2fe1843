"""Dialects of brackets: what is recognized, what is undone, and what is doubted."""

import warnings

import pytest

import eigentext as et
from eigentext import normalize_tree, read_trees
from eigentext.corpus.dialects import DialectWarning, without_lemma
from eigentext.errors import ParameterError

LEMMAS = """( (CODE <P_1>))

( (IP-MAT (CONJ Og-og)
\t(NP-SBJ (D-N þessi-þessi) (N-N bóndi-bóndi))
\t(VBDI gekk-ganga)
\t(PP (P Í-í) (NP (N-D dalnum-dalur)))
\t(. .-.))
  (ID 1888.DALUR,.1))
( (CODE <heading>))
( (IP-MAT (NP-SBJ *con*)
\t(MDDI vildi-vilja) (VB sjá-sjá)
\t(NP-OB1 (NS-A hesta-hestur)
\t\t(CP-REL (WNP-1 0) (C er-er)
\t\t\t(IP-SUB (NP-OB1 *T*-1) (NP-SBJ (PRO-N hann-hann)) (VBDI átti-eiga))))
\t(CODE {COM:torn}) (. .-.))
  (ID 1888.DALUR,.2))
"""
OLD_ENGLISH = """/*
what a search program writes
*/
( (METADATA (AUTHOR nobody) (YEAR 1600)))
( (IP-MAT (NP-SBJ (PRO He)) (VBD sayd)
   (CP-THT (C 0) (IP-SUB (NP-SBJ (PRO they)) (VBD stayed) (NP-MSR (NUM 0) (NS dayes)))) (. .))
  (ID OLD,1.1))
( (IP-MAT (NP-SBJ *exp*) (VBD rained) (ADVP-TMP (ADV (ORTHO to-day) (META (LEMMA today)))))
  (ID OLD,1.2))
"""
CESS = """(S
  (sn-SUJ (espec.ms (da0ms0 El el)) (grup.nom.ms (ncms000 panadero panadero)))
  (gv (vmip3s0 vende vender))
  (sn-CD (grup.nom.mp (ncmp000 panes pan) (s.a.mp (aq0mp0 ricos rico))))
  (Fp . .))
(S* (sn.e-SUJ *0*) (gv (vmip3p0 comen comer)) (Fpa -Fpa- -Fpa-)
  (sp-CC (prep (sps00 en en)) (sn.co (grup.nom.fs (ncfs000 plaza plaza)))) (Fpt -Fpt- -Fpt-))
"""


@pytest.fixture
def write(tmp_path):
    """``write(text)``: the path of a file with this text."""

    def write(text, name="trees.psd"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def plain(trees):
    return [str(normalize_tree(tree)) for tree in trees]


@pytest.mark.parametrize("dialect", ["auto", "ppche"])
def test_historical_corpora_with_lemmas(write, dialect):
    trees = read_trees(write(LEMMAS), dialect=dialect)
    assert plain(trees) == [
        "(IP (CONJ Og) (NP (D þessi) (N bóndi)) (VBDI gekk) (PP (P Í) (NP (N dalnum))) (. .))",
        "(IP (MDDI vildi) (VB sjá) (NP (NS hesta) (CP (C er) (IP (NP (PRO hann)) (VBDI átti)))) "
        "(. .))",
    ]
    found = trees.about.facts(trees)
    assert found["dialect"] == "ppche"
    assert (found["n_trees"], found["n_empty"], found["n_code"]) == (2, 2, 5)
    assert (found["n_traces"], found["n_lemmas"]) == (3, 14)
    assert trees[1].tags()[0] == ("*con*", "-NONE-")
    assert str(trees[1]).startswith("( (IP-MAT (NP-SBJ (-NONE- *con*)) ")


def test_historical_corpora_without_lemmas(write):
    """Hyphens of words stay, and so does the number 0."""
    trees = read_trees(write(OLD_ENGLISH))
    assert plain(trees) == [
        "(IP (NP (PRO He)) (VBD sayd) (CP (IP (NP (PRO they)) (VBD stayed) "
        "(NP (NUM 0) (NS dayes)))) (. .))",
        "(IP (VBD rained) (ADVP (ADV to-day)))",
    ]
    assert trees.about.n_lemmas == 0


def test_features_of_labels(write):
    path = write(CESS)
    assert plain(read_trees(path)) == [
        "(S (sn (espec (da El)) (grup.nom (nc panadero))) (gv (vmi vende)) "
        "(sn (grup.nom (nc panes) (s.a (aq ricos)))) (Fp .))",
        "(S (gv (vmi comen)) (Fpa -LRB-) (sp (prep (sp en)) (sn (grup.nom (nc plaza)))) "
        "(Fpt -RRB-))",
    ]
    assert read_trees(path).about.dialect == "cess"
    kept = plain(read_trees(path, keep="features"))
    assert kept[0].startswith("(S (sn (espec.ms (da0ms0 El)) (grup.nom.ms (ncms000 panadero)))")
    assert kept[1].startswith("(S* (gv (vmip3p0 comen))")
    functions = plain(read_trees(path, keep="functions"))
    assert functions[0].startswith("(S (sn.SUJ (espec (da El))")
    assert plain(read_trees(path, keep="all"))[0].startswith("(S (sn.SUJ (espec.ms (da0ms0 El))")


def test_functions_are_kept_if_wanted(write):
    path = write("(S (NP-SBJ-1 (NNS cats)) (VP (VBP run) (NP=2 (-NONE- *-1))) (-LRB- -LRB-))")
    (tree,) = read_trees(path, keep="functions")
    assert str(normalize_tree(tree)) == "(S (NP.SBJ (NNS cats)) (VP (VBP run)) (-LRB- -LRB-))"


def test_leaves_with_lemmas(write):
    text = "(NP (DET the the) (N cats cat))\n" * 12
    assert plain(read_trees(write(text))) == ["(NP (DET the) (N cats))"] * 12
    few = "(NP (DET the the) (N cats cat))\n" * 3 + "(X (Y z))"  # too few to be sure
    with pytest.warns(DialectWarning, match=r"leaves look like \(tag word lemma\), as \(DET the"):
        assert read_trees(write(few))[0].leaves() == ["the", "the", "cats", "cat"]
    assert read_trees(write(few), dialect="lemma")[0].leaves() == ["the", "cats"]


def test_lines_between_trees(write):
    text = (
        "**** SENTENCE 1 ****\n( (S (NP-SBJ (NOU~CS sole)) (VP (VMA~RE splende))))\n\n*** 2\n(A b)"
    )
    trees = read_trees(write(text))
    assert plain(trees)[0] == "(S (NP (NOU~CS sole)) (VP (VMA~RE splende)))"
    assert trees == read_trees(write(text), dialect="tut")


def test_brackets_and_marks_as_words(write):
    path = write("(S (N f) (PU () (N x) (PU ))\n (,))\n(A (B -LRB-))")
    first, second = read_trees(path)
    assert first.tags() == [("f", "N"), ("-LRB-", "PU"), ("x", "N"), ("-RRB-", "PU"), (",", ",")]
    assert second.leaves() == ["-LRB-"]


@pytest.mark.parametrize(
    ("word", "plain"), [("Í-í", "Í"), ("to-day-to-day", "to-day"), ("---", "-"), ("cat", "cat")]
)
def test_lemmas_after_hyphens(word, plain):
    assert without_lemma(word) == plain


@pytest.mark.parametrize(
    ("text", "dialect", "doubt"),
    [
        (
            LEMMAS,
            "penn",
            "look like traces, as .*code, not text, as .*word-lemma, as Og-og; ",
        ),
        (OLD_ENGLISH, "cess", "do not look like cess .*dialect='ppche'"),
        ("(S (NP (NNS cats)) (VP (VBP run)))", "ppche", "do not look like ppche .*dialect='penn'"),
        ("(S (NP (NNS cats)) (VP (VBP run)))", "cess", "do not look like cess .*dialect='penn'"),
        (CESS, "penn", r"\(tag word lemma\), as \(da0ms0 El el\); read them with dialect='cess'"),
        ("(S (NP *T*-1) (NP *con*) (V a))\n(S (NP *T*-1) (V b))", "auto", "look like traces"),
        ("(S (N cats-cat) (V run-run))\n" * 3, "auto", "look like word-lemma"),
    ],
)
def test_doubts(write, text, dialect, doubt):
    with pytest.warns(DialectWarning, match=f"trees.psd: .*{doubt}"):
        read_trees(write(text), dialect=dialect)


def test_penn_is_not_changed(write):
    text = (
        "( (S (NP-SBJ-1 (DT the) (JJ well-known) (CD 0) (SYM *)) (VP (VBZ is) "
        "(NP (-NONE- *T*-1)) (X a b))) )\n(TOP (CODE x))\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dialect in ("auto", "penn"):
            trees = read_trees(write(text), dialect=dialect)
            assert trees == [et.Tree.parse(one) for one in text.splitlines()]
    assert trees.about.dialect == "penn"


@pytest.mark.parametrize("name", ["penn-sample", "gum"])
def test_the_real_ones_raise_no_doubt(data_folder, name):
    places = {"penn-sample": "nltk_data/corpora/treebank.zip", "gum": "treebanks/gum/dev.ptb.xz"}
    if not (data_folder / places[name]).exists():
        pytest.skip(f"no {name} in the data folder")
    from eigentext.corpus.dialects import doubts, look, recognized

    evidence = look(et.load_dataset(name, split="dev"))
    assert recognized(evidence).name == "penn"
    assert not list(doubts(evidence, recognized(evidence), is_named=True))


def test_unknown_names(write):
    with pytest.raises(ParameterError, match=r"dialect must be one of auto, penn, .*not 'klingon'"):
        read_trees(write("(A b)"), dialect="klingon")
    with pytest.raises(ParameterError, match=r"keep must be one of none, features, .*not 'x'"):
        read_trees(write("(A b)"), keep="x")


def test_placeholders_of_brackets_are_no_traces(tmp_path):
    path = tmp_path / "a.psd"
    path.write_text("( (IP (NP *con*) (VB go) (PUNC *LRB*) (N now) (PUNC *RRB*)) (ID 1))\n" * 5)
    (tree, *_) = et.read_trees(path)
    assert et.normalize_tree(tree).leaves() == ["go", "-LRB-", "now", "-RRB-"]
    path.write_text("(S (N dogs) (PUNC *LRB*) (V bark) (PUNC *RRB*))\n" * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert et.read_trees(path).about.dialect == "penn"


def test_trees_of_traces_alone_are_left_out(tmp_path):
    path = tmp_path / "a.psd"
    path.write_text("( (IP (NP *con*) (VB *)) (ID 1))\n( (IP (NP *con*) (VB go)) (ID 2))\n")
    trees = et.read_trees(path)
    assert (len(trees), trees.about.n_empty) == (1, 1)


def test_two_signs_are_enough_without_wrappers(tmp_path):
    path = tmp_path / "a.psd"
    path.write_text("(IP (CODE <x>) (NP *con*) (VB go) (NP (N home)))\n" * 5)
    trees = et.read_trees(path)
    assert (trees.about.dialect, trees.about.n_code) == ("ppche", 5)
