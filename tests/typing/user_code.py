"""Code as README.md and docs/start.md show it. The type checker must know the types of its answers.

`make lint` checks this file with basedpyright, and nothing runs it. `assert_type` is an error if
the type differs. A line with `pyright: ignore` has a mistake that the checker must find: the
setting below makes it an error if the checker finds no mistake there.
"""

# pyright: reportUnnecessaryTypeIgnoreComment=error

from collections.abc import Iterable
from pathlib import Path
from typing import Any, assert_type

import numpy as np
from matplotlib.axes import Axes

import eigentext as et

Array = np.ndarray


def words() -> None:
    corpus = et.TextCorpus("my-text/*.txt.gz", tokenizer="simple", lowercase=True)
    words = et.Eigenwords(n_components=300, min_count=5).fit(corpus)
    assert_type(words, et.Eigenwords)
    assert_type(words.most_similar("matrix"), list[tuple[str, float]])
    assert_type(words.most_similar("matrix", 3), list[tuple[str, float]])
    assert_type(words.most_similar(["matrix", "tensor"]), list[list[tuple[str, float]]])
    assert_type(words.most_similar(positive=["matrix"], negative="x"), list[tuple[str, float]])
    assert_type(et.Eigenwords.from_file("vectors.txt"), et.Eigenwords)
    assert_type(len(words), int)
    assert_type(et.TextVectors(words).fit(["a text"]), et.TextVectors)
    assert_type(et.hub.save(words, "folder", license="mit"), Path)
    assert_type(words.vectors_, Array)
    assert_type(words.transform(["a text"]), Array)
    assert_type(et.WordClusters(1000).fit(words), et.WordClusters)
    assert_type(words.plot("spectrum"), Axes)
    words.save("my-words")
    words.save(Path("my-words"))
    words.export("vectors.txt")
    et.Eigenwords(300).fit(["a list", "of texts"])
    et.Eigenwords(300).fit(Path("text.txt"))

    assert_type(et.evaluate.similarity(words, "pairs.txt").rho, float)
    assert_type(
        et.evaluate.analogies((words.vocabulary_.words, words.vectors_), []).missing, list[str]
    )
    et.evaluate.similarity(3, "pairs.txt")  # pyright: ignore[reportArgumentType]

    et.Eigenwords(dimensions=300)  # pyright: ignore[reportCallIssue]
    et.Eigenwords(context="tree")  # pyright: ignore[reportArgumentType]
    words.most_similar(3)  # pyright: ignore[reportCallIssue, reportArgumentType]
    words.most_simular("matrix")  # pyright: ignore[reportAttributeAccessIssue]


def topics(texts: list[str]) -> None:
    topics = et.TopicModel(20, max_df=0.2).fit(texts)
    assert_type(topics, et.TopicModel)
    lists: list[list[str]] = topics.top_words(8)
    assert_type(lists[0][0], str)
    assert_type(topics.top_words(8, rank="frex").forms, dict[str, list[str]])
    assert_type(topics.top_phrases(texts), list[list[str]])
    topics.top_words(8, rank="lift")  # pyright: ignore[reportArgumentType]
    assert_type(topics.transform(["a new text"]), Array)
    assert_type(topics.plot("curve"), Axes)
    assert_type(topics.plot(), Array)

    et.TopicModel("20")  # pyright: ignore[reportArgumentType]


def sequences(corpus: et.TextCorpus) -> None:
    assert_type(et.HMM(20).fit(corpus), et.HMM)
    assert_type(et.HMM(20).fit(corpus).score(corpus), float)
    assert_type(et.WeightedAutomaton(20).fit(corpus), et.WeightedAutomaton)
    assert_type(et.WeightedAutomaton(20).fit(corpus).log_probability(["a"], end=False), float)
    assert_type(et.BigramModel(128).fit(corpus), et.BigramModel)
    assert_type(et.KneserNey().fit(corpus).perplexity(corpus), float)
    assert_type(et.ClassBigram(n_classes=100).fit(corpus), et.ClassBigram)
    assert_type(et.ClassBigram(n_classes=100).fit(corpus).to_hmm(), et.HMM)


def grammars(gold: list[et.Tree], sentences: list[str]) -> None:
    trees = et.read_trees("trees.mrg")
    assert_type(trees[0], et.Tree)
    assert_type(trees.about.n_trees, int)  # a list that knows how it was read
    parser = et.LatentPCFG().fit(trees)
    assert_type(parser, et.LatentPCFG)
    assert_type(parser.parse("the dog saw him ."), et.Tree)
    parser = et.LatentPCFG(method="spectral+em", n_grammars=4).fit(trees)
    assert_type(et.evaluate.brackets(gold, parser.parse_many(sentences)).f1, float)
    et.write_trees(gold, "parsed.mrg")

    et.LatentPCFG(n_states="8")  # pyright: ignore[reportArgumentType]
    parser.parse(3)  # pyright: ignore[reportArgumentType]


def reranking(trees: list[et.Tree], sentences: list[str]) -> None:
    reranker = et.Reranker().fit_base(et.PCFG, trees)
    assert_type(reranker, et.Reranker)
    reranker.apply(reranker.base_, sentences)
    assert_type(et.TreeKernel(decay=0.4).gram(trees), Array)


def tagging(tagged: list[list[tuple[str, str]]], held_out: list[list[tuple[str, str]]]) -> None:
    words = et.Eigenwords(50, window=1, context="list", weighting="flat").fit("plain-text.txt")
    tagger = et.Tagger(vectors=words, clusters=et.WordClusters(1000).fit(words)).fit(tagged)
    assert_type(tagger, et.Tagger)
    assert_type(tagger.tag(["with Anna in London tonight"]), list[list[tuple[str, ...]]])
    assert_type(tagger.evaluate(held_out).f1, float)
    assert_type(et.evaluate.tags(held_out, tagger.tag(["a b"])).accuracy, float)


def files_and_settings(texts: Iterable[str]) -> None:
    words = et.load("my-words")
    assert_type(words, Any)  # the file decides which model it is
    words.plot("map", words=40).figure.savefig("map.svg")
    model = et.Eigenwords(50)
    assert_type(model.get_params(), dict[str, Any])
    assert_type(model.set_params(window=3), et.Eigenwords)
    with et.checkpointing("kept"):
        model.fit(texts)
    try:
        model.fit([])
    except et.EigentextError as error:
        print(error)
