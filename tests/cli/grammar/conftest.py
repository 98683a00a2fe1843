"""A small treebank, and grammars learned from it."""

from pathlib import Path

import pytest

from eigentext import load
from eigentext.cli import main

# As treebanks have them: roots without a label, function tags, traces, several lines.
TREES = """
( (S (NP-SBJ (DT the) (NN baker)) (VP (VBZ sells) (NP (JJ fresh) (NN bread))) (. .)) )
( (S (NP-SBJ (NNS children)) (VP (VBP eat) (NP (NN bread))
      (PP-LOC (IN in) (NP (DT the) (NN garden)))) (. .)) )
( (S (NP-SBJ (PRP she)) (VP (VBZ eats)
      (NP (NP (DT the) (NN bread)) (PP (IN of) (NP (DT the) (NN baker))))) (. .)) )
( (S (NP-SBJ-1 (DT the) (JJ old) (NN garden))
     (VP (VBZ needs) (S (NP-SBJ (-NONE- *-1)) (VP (TO to) (VP (VB rest))))) (. .)) )
( (S (NP-SBJ (PRP she)) (VP (VBZ rests)
      (PP-LOC (IN in) (NP (DT the) (NN shade)))) (. .)) )
( (S (NP-SBJ (DT the) (NNS children)) (VP (VBP rest) (PRN (-LRB- -LRB-)
      (PP (IN in) (NP (NN shade))) (-RRB- -RRB-))) (. .)) )
( (NP (DT the) (NN bread) (, ,) (DT the) (NN garden) (CC and) (DT the) (NN shade)) )
( (S (NP-SBJ (PRP she)) (VP (VBZ sells) (NP (NN bread))) (. .)) )
"""
SENTENCES = """she eats the bread of the baker in the shade of the garden .

the children rest ( in the shade ) .
of of of
the old baker sells bread .
"""
SEEN_TAGS = ("--beta", "0")  # words have only the tags that they were seen with
FEW_STEPS = ("--states", "2", "--nodes-per-state", "1", "--iterations", "3", "--smooth-steps", "3")


@pytest.fixture(scope="session")
def treebank(tmp_path_factory) -> Path:
    """Eight trees."""
    path = tmp_path_factory.mktemp("trees") / "trees.mrg"
    path.write_text(TREES)
    return path


@pytest.fixture(scope="session")
def sentences(tmp_path_factory) -> Path:
    """Lines of words: the second is empty, the fourth has no parse."""
    path = tmp_path_factory.mktemp("text") / "sentences.txt"
    path.write_text(SENTENCES)
    return path


@pytest.fixture(scope="session")
def learned(tmp_path_factory, treebank):
    """``learned(...)``: a model of the treebank by these options, to be read only."""

    def fit(name: str, *options: str) -> Path:
        path = tmp_path_factory.mktemp("model") / name
        with pytest.raises(SystemExit) as exit:
            main(["grammar", "fit", str(treebank), "-o", str(path), *options, "--quiet"])
        assert exit.value.code in (0, None)
        list(load(path).parses([["bread"]]))  # kernels are compiled here, not in some test
        return path

    return fit


@pytest.fixture(scope="session")
def pcfg(learned) -> Path:
    return learned("pcfg", "--method", "pcfg", "--horizontal", "0", "--vertical", "1", *SEEN_TAGS)


@pytest.fixture(scope="session")
def latent(learned) -> Path:
    return learned("latent", "--method", "em", *FEW_STEPS, *SEEN_TAGS)


@pytest.fixture(scope="session")
def penn_sample(tmp_path_factory, data_folder):
    """``penn_sample("train", 200)``: the file of the first trees of that part, as they are."""
    from eigentext import load_dataset, write_trees
    from eigentext.errors import CorpusError

    def write(split: str, n_trees: int) -> Path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EIGENTEXT_DATA", str(data_folder))
            try:
                trees = load_dataset("penn-sample", split=split)
            except CorpusError as error:
                pytest.skip(str(error))
        path = tmp_path_factory.mktemp("penn") / f"{split}.mrg.gz"
        write_trees(trees[:n_trees], path)
        return path

    return write
