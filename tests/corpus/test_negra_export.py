"""The export format: versions 3 and 4, tables and comments; mistakes by line."""

import pytest

from eigentext import normalize_tree, read_trees
from eigentext.errors import BadItemsWarning, CorpusError

CAKE = """%% invented
#FORMAT 3
#BOT EDGETAG
0 -- no label
#EOT EDGETAG
#BOS 1 1 0 0 %% a comment
Den\tART\tMasc\tNK\t500
Kuchen\tNN\tMasc\tNK\t500
hat\tVAFIN\t3\tHD\t502
die\tART\t--\tNK\t503
Katze\tNN\t--\tNK\t503
gefressen\tVVPP\t--\tHD\t501\tSB\t503\t%% a secondary edge
.\t$.\t--\t--\t0
#500\tNP\t--\tOA\t501
#501\tVP\t--\tOC\t502
#502\tS\t--\t--\t0
#503\tNP\t--\tSB\t502
#EOS 1
"""
RAIN = """#BOS 1
Es\tes\tPPER\t--\tSB\t500
regnet\tregnen\tVVFIN\t--\tHD\t500
#1\t--\tCARD\t--\tMO\t500
.\t--\t$.\t--\t--\t0
#500\t--\tS\t--\t--\t0
#EOS 1
"""
RAIN_TREE = "(S (PPER Es) (VVFIN regnet) (CARD #1) ($. .))"


def test_versions(tmp_path):
    path = tmp_path / "trees.export"
    path.write_text(CAKE)
    trees = read_trees(path)
    assert [str(tree) for tree in trees] == [
        "(ROOT (S (NP-OA (ART Den) (NN Kuchen)) (VAFIN hat) (NP-SB (ART die) (NN Katze)) "
        "(VP-OC (VVPP gefressen)) ($. .)))"
    ]
    about = trees.about
    assert (about.dialect, about.n_discontinuous, about.n_raised, about.n_punctuation) == (
        "export",
        1,
        1,
        1,
    )
    assert trees == read_trees(path, dialect="export")
    for text in (RAIN, f"#FORMAT 4\n{RAIN}", RAIN.replace("\n", "\r\n").replace("\t", "  ")):
        path.write_text(text)
        assert [str(normalize_tree(tree)) for tree in read_trees(path)] == [RAIN_TREE]


def test_latin_1(tmp_path):
    path = tmp_path / "trees.export"
    path.write_bytes(CAKE.replace("gefressen", "geprüft").encode("latin-1"))
    with pytest.raises(CorpusError, match=r"line 12: byte 0xfc .*--encoding cp1252"):
        read_trees(path)
    assert "geprüft" in read_trees(path, encoding="latin-1")[0].leaves()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("VVFIN\t--\tHD\t500", "VVFIN", r"line 3: 'regnet .*' is no line of the export format"),
        ("#500\t--\tS\t--\t--\t0", "", "line 1: there is no node 500"),
        ("#EOS 1", "", r"line 1: the sentence has no #EOS"),
        ("#500\t", "#500\t--\tS\t--\t--\t0\n#500\t", "line 7: a second node #500"),
        ("--\t--\t0\n#EOS", "--\t--\t500\n#EOS", "line 1: node 500 is above itself"),
    ],
)
def test_mistakes(tmp_path, old, new, message):
    path = tmp_path / "trees.export"
    bad = RAIN.replace(old, new)
    assert bad != RAIN
    path.write_text(bad)
    with pytest.raises(CorpusError, match=message):
        read_trees(path)
    path.write_text(bad + RAIN * 20)
    with pytest.warns(BadItemsWarning, match=r"skipped 1 of 2[01] trees: .*line \d"):
        assert len(read_trees(path, errors="skip")) == 20


def test_another_format_than_named(tmp_path):
    path = tmp_path / "trees"
    path.write_text("\n(S (N x))")
    with pytest.raises(CorpusError, match=r"line 2: '\(S \(N x\)\)' is not the export .* brackets"):
        read_trees(path, dialect="export")
    path.write_text(RAIN)
    for dialect in ("penn", "ppche", "tiger-xml"):
        with pytest.raises(CorpusError, match=r"line 1: '#BOS 1' is not .*--dialect export"):
            read_trees(path, dialect=dialect)
