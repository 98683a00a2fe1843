"""Saved models for pipelines of spaCy."""

import random

import pytest

from eigentext import PCFG, Tagger, Tree

NAMES = ["Ann", "Bo", "Lee", "Kim"]
PLACES = [["Paris"], ["New", "York"], ["Rome"]]


@pytest.fixture(scope="session")
def chunker(tmp_path_factory):
    """Persons and places."""
    rng, tagged = random.Random(0), []
    for _ in range(60):
        place = rng.choice(PLACES)
        tags = ["B-LOC", "I-LOC"][: len(place)]
        tagged.append([(rng.choice(NAMES), "B-PER"), ("saw", "O"), *zip(place, tags), (".", "O")])
    path = tmp_path_factory.mktemp("models") / "names"
    Tagger().fit(tagged).save(path)
    return path


@pytest.fixture(scope="session")
def tagger(tmp_path_factory):
    """Parts of speech, with hyphens inside words and clitics apart."""
    tagged = [
        [("The", "DT"), ("well-known", "JJ"), ("dog", "NN"), ("does", "VBZ"), ("n't", "RB"),
         ("bark", "VB"), (".", ".")],
        [("A", "DT"), ("cat", "NN"), ("sleeps", "VBZ"), (",", ","), ("-LRB-", "-LRB-"),
         ("x", "NN"), ("-RRB-", "-RRB-"), (".", ".")],
    ] * 5  # fmt: skip
    path = tmp_path_factory.mktemp("models") / "tags"
    Tagger().fit(tagged).save(path)
    return path


@pytest.fixture(scope="session")
def grammar(tmp_path_factory):
    trees = [
        "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat))) (. .))",
        "(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)) (. .))",
        "(S (NP (DT the) (NN cat) (-LRB- -LRB-) (NN x) (-RRB- -RRB-)) (VP (VBZ sleeps)) (. .))",
    ]
    path = tmp_path_factory.mktemp("models") / "grammar"
    PCFG().fit([Tree.parse(tree) for tree in trees * 5]).save(path)
    return path
