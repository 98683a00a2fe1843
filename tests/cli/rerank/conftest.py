"""N-best lists of a base model that is wrong in a way that fragments show."""

import itertools
from pathlib import Path

import pytest

from eigentext import Tree
from eigentext.cli import main
from eigentext.reranking import write_candidates
from eigentext.reranking.candidates import structure_line

NOUNS = ("time", "fruit", "paper", "water")
VERBS = ("flies", "falls", "waits")


def tagged(noun: str, verb: str, tags: str) -> list[tuple[str, str]]:
    return list(zip(("the", noun, verb), tags.split()))


def taggings(n: int, start: int = 0):
    """Lists, and the right ones: a verb follows a noun, which the base model does not know."""
    pairs = list(itertools.product(NOUNS, VERBS)) * 4
    lists, gold = [], []
    for noun, verb in pairs[start : start + n]:
        right = tagged(noun, verb, "D N V")
        others = tagged(noun, verb, "D N N"), tagged(noun, verb, "D V V")
        lists.append([(others[0], -1.0), (right, -1.25), (others[1], -3.0)])
        gold.append(right)
    return lists, gold


def trees(n: int):
    """The same of trees; the base model attaches low, and has no name for some words."""
    lists, gold = [], []
    for noun, verb in list(itertools.product(NOUNS, VERBS))[:n]:
        high = f"(S (NP (DT the) (NN {noun})) (VP (VBZ {verb}) (PP (IN of) (NP (NN {noun})))))"
        low = f"(S (NP (DT the) (NN {noun})) (NP (VBZ {verb}) (PP (IN of) (NP (NN {noun})))))"
        flat = f"(X (DT the) (NN {noun}) (VBZ {verb}) (IN of) (NN {noun}))"
        lists.append([(low, -20.5), (high, -21.0), (flat, float("-inf"))])
        gold.append(Tree.parse(high))
    return lists, gold


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """``written(lists, gold)``: their files."""

    def write(lists, gold) -> tuple[Path, Path]:
        folder = tmp_path_factory.mktemp("lists")
        write_candidates(lists, folder / "best.gz")
        (folder / "gold").write_text("".join(f"{structure_line(one)}\n" for one in gold))
        return folder / "best.gz", folder / "gold"

    return write


@pytest.fixture(scope="session")
def tagged_files(written):
    return written(*taggings(12))


@pytest.fixture(scope="session")
def dev_files(written):
    return written(*taggings(8, 12))


@pytest.fixture(scope="session")
def tree_files(written):
    return written(*trees(10))


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    """``learned(files, ...)``: a reranker of these, to be read only."""

    def fit(files, *options: str) -> Path:
        path = tmp_path_factory.mktemp("model") / "reranker"
        best, gold = map(str, files)
        with pytest.raises(SystemExit) as exit:
            main(["rerank", "fit", best, "--gold", gold, "-o", str(path), *options, "--quiet"])
        assert exit.value.code in (0, None)
        return path

    return fit


@pytest.fixture(scope="session")
def tagging_model(learned, tagged_files, dev_files) -> Path:
    best, gold = map(str, dev_files)
    return learned(tagged_files, "--validation", best, "--validation-gold", gold)


@pytest.fixture(scope="session")
def tree_model(learned, tree_files) -> Path:
    return learned(tree_files, "--decay", "0.4", "--beta", "0.5")
