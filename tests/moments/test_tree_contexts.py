"""Contexts of words in trees: counts by hand, sums, cuts, files, and bad input."""

from itertools import islice

import numpy as np
import pytest

import eigentext as et
from eigentext import CooccurrenceMoments, Eigentokens, Eigenwords
from eigentext.corpus import as_tree
from eigentext.corpus.heads import HeadFinder
from eigentext.errors import CorpusError, MomentsError, ParameterError
from eigentext.moments import tree_contexts

TREES = [
    "(S (NP (PRP she)) (VP (VBZ sees) (NP (NNS birds))))",
    "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ sees) (NP (PRP her)) (NP (-NONE- *)))))",
    "(S (NP (PRP she)) (VP (VBZ sleeps)))",
    "(UH hello)",
]


def pairs(moments, place):
    """The pairs of words at a place, with their counts."""
    n = moments.forward.shape[0]
    words = [*moments.vocabulary.words, *([] if moments.whole else ["<rare>"])]
    block = moments.forward[:, place * n : (place + 1) * n].tocoo()
    return {(words[w], words[c]): int(x) for w, c, x in zip(*block.coords, block.data)}


def test_counts_by_hand():
    moments = CooccurrenceMoments.from_trees(TREES, contexts=["head", "sibling", "grandparent"])
    assert moments.n_tokens == 10
    assert moments.vocabulary.words[:2] == ["sees", "she"]
    assert pairs(moments, 0) == {
        ("she", "sees"): 1, ("birds", "sees"): 1, ("the", "dog"): 1, ("dog", "sees"): 1,
        ("her", "sees"): 1, ("she", "sleeps"): 1,
    }  # fmt: skip
    assert pairs(moments, 1) == {
        ("sees", "birds"): 1, ("she", "sees"): 1, ("the", "dog"): 1, ("sees", "her"): 1,
        ("dog", "sees"): 1, ("she", "sleeps"): 1,
    }  # fmt: skip
    assert pairs(moments, 2) == {("the", "sees"): 1}
    assert (moments.window, moments.context, moments.weighting) == (3, "list", "flat")
    assert moments.whole
    assert moments.forward.dtype == np.int64


def test_labels_make_contexts_differ():
    moments = CooccurrenceMoments.from_trees(TREES, contexts=["head"], labels=["VP", "S"])
    assert moments.window == 3
    assert pairs(moments, 0) == {("birds", "sees"): 1, ("her", "sees"): 1}
    assert pairs(moments, 1) == {("she", "sees"): 1, ("dog", "sees"): 1, ("she", "sleeps"): 1}
    assert pairs(moments, 2) == {("the", "dog"): 1}
    both = CooccurrenceMoments.from_trees(TREES, labels=["VP", "S"])
    assert both.window == 6
    assert pairs(both, 3) == {("sees", "birds"): 1, ("sees", "her"): 1}


def test_both_directions():
    moments = CooccurrenceMoments.from_trees(TREES, contexts=["head"])
    counts, n = moments.counts().toarray(), len(moments.vocabulary)
    place = moments.vocabulary.words.index
    assert counts[place("birds"), n + place("sees")] == 1  # is governed by
    assert counts[place("sees"), place("birds")] == 1  # governs
    assert counts.sum() == 2 * moments.forward.sum()


@pytest.fixture(scope="module")
def sentences():
    """Random trees, with several words for each tag."""
    rng = np.random.default_rng(0)
    words = {tag: [f"{tag}{k}" for k in range(20)] for tag in ("dt", "nn", "vb", "in")}

    def word(tag):
        return f"({tag.upper()} {rng.choice(words[tag])})"

    def phrase(depth=0):
        noun = f"(NP {word('dt')} {word('nn')})"
        if depth < 3 and rng.random() < 0.4:
            return f"(NP {noun} (PP {word('in')} {phrase(depth + 1)}))"
        return noun

    return [f"(S {phrase()} (VP {word('vb')} {phrase()}))" for _ in range(300)]


def test_sums_are_exact(sentences):
    whole = CooccurrenceMoments.from_trees(sentences, labels=["VP"])
    for cuts in ([100], [1, 7, 200], [299]):
        parts = np.split(np.array(sentences, object), cuts)
        some = [CooccurrenceMoments.from_trees(list(part), labels=["VP"]) for part in parts]
        total = some[0]
        for part in some[1:]:
            total = total + part
        assert total == whole


def test_blocks_change_no_bits(sentences, monkeypatch):
    whole = CooccurrenceMoments.from_trees(sentences)
    monkeypatch.setattr(tree_contexts, "_BLOCK", 7)
    again = CooccurrenceMoments.from_trees(iter(sentences))
    assert again == whole
    assert again.sources == whole.sources
    assert len(whole.sources) == 1
    other = CooccurrenceMoments.from_trees(sentences[1:])
    assert other.sources != whole.sources


def test_all_ways_to_give_trees(sentences):
    expected = CooccurrenceMoments.from_trees(sentences[:20])
    assert CooccurrenceMoments.from_trees(map(as_tree, sentences[:20])) == expected
    nltk = pytest.importorskip("nltk")
    assert CooccurrenceMoments.from_trees(map(nltk.Tree.fromstring, sentences[:20])) == expected


def test_vocabularies(sentences):
    whole = CooccurrenceMoments.from_trees(sentences)
    few = ["vb1", "nn1", "nn2", "unheard"]
    given = CooccurrenceMoments.from_trees(sentences, vocabulary=few)
    assert given == whole.restrict(few)
    assert given.vocabulary.words == few
    assert not given.whole
    assert given.n_tokens == whole.n_tokens
    counted = CooccurrenceMoments.from_trees(sentences, min_count=15, max_size=30)
    assert counted == whole.restrict(min_count=15, max_size=30)
    assert len(counted.vocabulary) == 30


def test_saved(sentences, tmp_path):
    moments = CooccurrenceMoments.from_trees(sentences, labels=["VP"])
    moments.save(tmp_path / "moments")
    again = et.load(tmp_path / "moments")
    assert again == moments
    assert again.options["contexts"] == ["head", "sibling"]
    assert again.sources == moments.sources
    assert again + again == moments + moments


def test_other_heads(sentences):
    right = {"NP": [("left", "DT")]}
    moments = CooccurrenceMoments.from_trees(sentences, heads=right, contexts=["head"])
    usual = CooccurrenceMoments.from_trees(sentences, contexts=["head"])
    assert moments != usual
    with pytest.raises(MomentsError, match="text read with heads"):
        moments + usual
    finder = HeadFinder(right)
    first = finder.dependencies(as_tree(sentences[0]))
    assert all(first.governor[w] >= 0 for w, x in enumerate(first.words) if x.startswith("nn"))


def test_moments_of_other_contexts_do_not_add_up(sentences):
    one = CooccurrenceMoments.from_trees(sentences, contexts=["head", "sibling"])
    two = CooccurrenceMoments.from_trees(sentences, contexts=["sibling", "head"])
    with pytest.raises(MomentsError, match="text read with contexts"):
        one + two
    text = CooccurrenceMoments.from_corpus(
        [as_tree(tree).leaves() for tree in sentences],
        window=2, context="list", weighting="flat",
    )  # fmt: skip
    with pytest.raises(MomentsError, match="contexts"):
        one + text


def test_words_that_govern_the_same_are_similar(sentences):
    moments = CooccurrenceMoments.from_trees(sentences)
    model = Eigenwords(4, window=2, context="list", weighting="flat", min_count=1)
    model.fit_moments(moments)
    for word in ("nn3", "vb5", "in2", "dt7"):
        near = [other for other, _ in model.most_similar(word, topn=10)]
        assert sum(other[:2] == word[:2] for other in near) >= 9
    assert model.transform([["nn3", "vb5"]]).shape == (1, 4)


def test_a_context_that_only_trees_show():
    """The verb of a far object: a window of one word never sees it."""
    trees = [
        f"(S (NP (PRP she)) (VP (VBZ {verb}) (NP (DT a) (JJ very) (JJ old) (NN {noun}))))"
        for verb, nouns in (("eats", "ham jam"), ("drives", "cab car"))
        for noun in nouns.split()
    ] * 5
    settings = {"context": "list", "weighting": "flat", "min_count": 1}
    moments = CooccurrenceMoments.from_trees(trees, contexts=["head"])
    by_tree = Eigenwords(6, window=1, **settings).fit_moments(moments)
    by_text = Eigenwords(3, window=1, **settings).fit([as_tree(t).leaves() for t in trees])
    assert by_tree.similarity("ham", "jam") > 0.99 > 0.9 > by_tree.similarity("ham", "car")
    assert by_text.similarity("ham", "car") > 0.99


def test_models_of_text_refuse_them(sentences):
    moments = CooccurrenceMoments.from_trees(sentences)
    with pytest.raises(MomentsError, match="window=10, but the moments were counted with 2"):
        Eigenwords(3).fit_moments(moments)
    with pytest.raises(MomentsError, match="counted in trees"):
        Eigentokens(3, window=2).fit_moments(moments)


def test_trees_of_a_parser(sentences):
    parser = et.PCFG().fit(sentences[:100])
    found = parser.parse_many([as_tree(tree).leaves() for tree in sentences[100:130]])
    moments = CooccurrenceMoments.from_trees(found)
    assert moments.n_tokens == sum(len(tree.leaves()) for tree in found)


@pytest.mark.parametrize(
    ("trees", "settings", "error", "reason"),
    [
        ([], {}, CorpusError, "no trees to count"),
        (["(UH hello)"], {}, CorpusError, "no two words share a tree"),
        ("(S (A a) (B b))", {}, CorpusError, "give a list of trees"),
        (as_tree("(S (A a) (B b))"), {}, CorpusError, "give a list of trees"),
        (7, {}, CorpusError, "give a list of trees"),
        ([TREES[0], None], {}, CorpusError, "tree 2 is None.*leave it out"),
        ([TREES[0], "(S (A"], {}, CorpusError, "tree 2: "),
        ([TREES[0], 3], {}, ParameterError, "tree 2: "),
        (TREES, {"contexts": []}, ParameterError, "contexts is empty; give some of head, sib"),
        (TREES, {"contexts": "head"}, ParameterError, "contexts must be a list of strings"),
        (TREES, {"contexts": ["parent"]}, ParameterError, "contexts has 'parent'; the contexts"),
        (TREES, {"contexts": ["head", "head"]}, ParameterError, "contexts has a name twice"),
        (TREES, {"labels": [3]}, ParameterError, "labels must be a list of strings"),
        (TREES, {"labels": list(map(str, range(400)))}, ParameterError, "give 300 at most"),
        (TREES, {"min_count": 0}, ParameterError, "min_count"),
        (TREES, {"heads": {"S": [("up", "VP")]}}, ParameterError, "'left' or 'right', not 'up'"),
    ],
)
def test_bad_input(trees, settings, error, reason):
    with pytest.raises(error, match=reason):
        CooccurrenceMoments.from_trees(trees, **settings)


def test_half_characters():
    with pytest.raises(CorpusError, match="not valid Unicode"):
        CooccurrenceMoments.from_trees(
            [et.Tree("S", [et.Tree("A", ["\ud800"]), et.Tree("B", ["b"])])]
        )


def test_a_treebank(data_folder):
    path = data_folder / "treebanks/gum/dev.ptb.xz"
    if not path.exists():
        pytest.skip(f"no {path}")
    trees = list(islice(et.read_trees(path), 300))
    moments = CooccurrenceMoments.from_trees(trees, contexts=["head"])
    normalized = [et.normalize_tree(tree) for tree in trees]
    n_words = sum(len(tree.leaves()) for tree in normalized)
    assert moments.n_tokens == n_words
    assert moments.forward.sum() == n_words - len(trees)  # all but the head of each tree
