"""TIGER-XML: graphs of sentences; files that define things are refused."""

import pytest

from eigentext import read_trees
from eigentext.errors import BadItemsWarning, CorpusError

SENTENCE = """<s id="s1"><graph root="s1_VROOT" discontinuous="true">
<terminals>
<t id="s1_1" word="Gern" lemma="gern" pos="ADV" morph="--"/>
<t id="s1_2" word="hat" pos="VAFIN"/>
<t id="s1_3" word="er" pos="PPER"/>
<t id="s1_4" word="gelügt" pos="VVPP"><secedge label="SB" idref="s1_500"/></t>
<t id="s1_5" word="&quot;" pos="$("/>
</terminals>
<nonterminals>
<nt id="s1_500" cat="VP"><edge label="MO" idref="s1_1"/><edge label="HD" idref="s1_4"/></nt>
<nt id="s1_501" cat="S"><edge label="OC" idref="s1_500"/><edge label="HD" idref="s1_2"/>
<edge label="SB" idref="s1_3"/></nt>
<nt id="s1_VROOT" cat="VROOT"><edge label="--" idref="s1_501"/><edge label="--" idref="s1_5"/></nt>
</nonterminals></graph></s>
"""
TREE = '(ROOT (S (ADV Gern) (VAFIN hat) (PPER er) (VP-OC (VVPP gelügt)) ($*LRB* ")))'


def corpus(*sentences, head='<?xml version="1.0" encoding="ISO-8859-1"?>\n'):
    return f'{head}<corpus id="c"><head/><body>\n{"".join(sentences)}</body></corpus>'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trees.xml"


def test_the_file_names_its_encoding(path):
    for encoding in ("iso-8859-1", "utf-8", "utf-16"):
        path.write_bytes(corpus(SENTENCE).replace("ISO-8859-1", encoding).encode(encoding))
        trees = read_trees(path, **({"encoding": "utf-16"} if encoding == "utf-16" else {}))
        assert [str(tree) for tree in trees] == [TREE]
        assert (trees.about.dialect, trees.about.n_discontinuous) == ("tiger-xml", 1)
    path.write_bytes(corpus(SENTENCE).encode("cp1250"))  # what is named counts, not what it says
    assert [str(tree) for tree in read_trees(path, encoding="cp1250")] == [TREE]
    path.write_bytes(corpus(SENTENCE, head="").encode())
    assert [str(tree) for tree in read_trees(path, dialect="tiger-xml")] == [TREE]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('idref="s1_3"', 'idref="s1_9"', "line 3: an edge leads to 's1_9', which is not there"),
        ('idref="s1_3"', 'idref="s1_4"', "line 3: 's1_4' has two parents"),
        ('id="s1_3"', 'id="s1_2"', "line 3: two nodes have the same id"),
        (' word="er"', "", "line 3: a word is empty"),
        ('<edge label="--" idref="s1_501"/>', "", ""),
    ],
)
def test_bad_sentences(path, old, new, message):
    bad = SENTENCE.replace(old, new)
    assert bad != SENTENCE
    path.write_text(corpus(bad), encoding="latin-1")
    if not message:  # what no edge leads to hangs on the root
        assert [str(tree) for tree in read_trees(path)] == [TREE]
        return
    with pytest.raises(CorpusError, match=message):
        read_trees(path)
    path.write_text(corpus(bad, *[SENTENCE] * 20), encoding="latin-1")
    with pytest.warns(BadItemsWarning, match=f"skipped 1 of 21 trees: .*{message}"):
        assert len(read_trees(path, errors="skip")) == 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<!DOCTYPE x [<!ENTITY a "aaa">]><corpus>&a;</corpus>', "line 1: the file has a document"),
        ('<?xml version="1.0"?>\n<!DOCTYPE c SYSTEM "c.dtd">\n<c/>', "line 2: the file has a docu"),
        ("<corpus>\n<s>", "line 2: not well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><corpus/>', "not well-formed XML"),
        ("<a>" * 101, "line 1: more than 100 elements in each other"),
        ("<corpus></corpus>", "has no sentences"),
    ],
)
def test_files_that_are_refused(path, text, message):
    path.write_text(text)
    with pytest.raises(CorpusError, match=f"trees.xml.*{message}"):
        read_trees(path, errors="skip")
