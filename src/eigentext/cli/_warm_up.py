"""Small models of every kind, learned and used once, so that all of their loops are compiled.

A loop is compiled for the types of its arguments. Arrays of a loaded model are read-only, which is
another type. So each model is also saved, loaded and used again.
"""

import random
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from eigentext.corpus.toy_treebank import sampled_trees
from eigentext.corpus.trees import Tree
from eigentext.errors import EigentextError

_SENTENCE = "the farmer saw the cat of the child"
_CHAINS = (  # "she slept" needs a chain that neither of them has
    "(S (NP (D the) (N dog)) (VP (V slept)))",
    "(S (NP (P she)) (VP (V saw) (NP (D the) (N dog))))",
)


def _lines() -> list[list[str]]:
    rng = random.Random(0)
    words = [a + b + c for a in "bdfgklmnpr" for b in "aeiou" for c in "lmnprstx"]
    weights = [1 / (1 + n) for n in range(len(words))]
    return [rng.choices(words, weights, k=12) for _ in range(600)]


def _both(model: Any, use: Callable[[Any], Any]) -> None:
    """Use a model as it was learned, and as it was saved."""
    from eigentext.storage import load

    use(model)
    with TemporaryDirectory(prefix="eigentext-") as folder:
        path = Path(folder, "model")
        model.save(path)
        use(load(path))


def _words() -> None:
    from eigentext.evaluate import analogies
    from eigentext.moments import CooccurrenceMoments
    from eigentext.words import Eigentokens, Eigenwords, WordClusters

    lines = _lines()

    def use(words: Any) -> None:
        for _ in range(6):  # the first few queries need no loop
            words.most_similar("bal")
        words.most_similar("bal", 3)
        words.analogy("bal", "bam", "ban")
        for method in ("mul", "add"):
            analogies(words, [("bal", "bam", "ban", "bap")], method=method)

    ways: list[dict[str, Any]] = [
        {},
        {"context": "list", "window": 2},
        {"weighting": "flat"},
        {"scaling": "ppmi"},
        {"max_size": 50, "keep_moments": "cut", "keep_pairs": 2},
    ]
    for how in ways:
        _both(Eigenwords(20, **how).fit(lines), use)
    words = Eigenwords(20, oov="characters", keep_moments="whole").fit(lines)
    _both(words, lambda words: (words.partial_fit(lines), words["unseen"]))
    moments = CooccurrenceMoments.from_corpus(lines, n_shards=3)
    _both(moments, lambda found: found + moments)
    _both(WordClusters(20).fit(words), lambda clusters: clusters["bal"])
    _both(Eigentokens(20).fit(lines), lambda tokens: tokens.transform(lines[:2]))


def _topics() -> None:
    from eigentext.topics import TopicModel

    texts = [" ".join(line) for line in _lines()]
    ways: list[dict[str, Any]] = [
        {},
        {"alpha0": 0.0},
        {"method": "anchors"},
        {"method": "gradient"},
        {"alpha0": "auto"},
    ]
    for how in ways:
        _both(
            TopicModel(4, **how).fit(texts),
            lambda topics: (topics.transform(texts[:3]), topics.perplexity(texts[:9])),
        )


def _sequences() -> None:
    from eigentext.moments import NgramMoments
    from eigentext.sequences import (
        HMM,
        BigramModel,
        ClassBigram,
        HMMTagger,
        KneserNey,
        RefinementHMM,
        WeightedAutomaton,
    )

    lines = _lines()

    def use(model: Any) -> None:
        model.score(lines[:9])

    def ask(hmm: Any) -> None:
        use(hmm)
        hmm.predict_next(lines[0])
        with suppress(EigentextError):  # a spectral model may have no parameters to decode with
            hmm.viterbi(lines[0])

    for method in ("spectral", "em", "spectral+em"):
        few: dict[str, Any] = {} if method == "spectral" else {"n_iter": 3}
        _both(HMM(3, method=method, **few).fit(lines), ask)
    _both(WeightedAutomaton(3, basis=30).fit(lines), use)
    for method in ("pivot", "em", "pivot+em"):
        _both(
            BigramModel(3, method=method).fit(lines),
            lambda model: (use(model), model.probability("bal", given="bam")),
        )
    for init in ("cca", "brown"):
        _both(ClassBigram(n_classes=3, init=init).fit(lines), use)
    for order in (2, 3):
        _both(KneserNey(order=order).fit(lines), use)
    moments = NgramMoments.from_corpus(lines, order=3)
    _both(moments, lambda found: (found + moments).restrict(min_count=3))
    for order in (1, 2):
        tagger = HMMTagger(order=order).fit(_tagged(lines))
        _both(tagger, lambda tagger: (tagger.tag(lines[0]), tagger.k_best(lines[0], 3)))
    for method, decoding in (("spectral", "pairs"), ("em", "viterbi"), ("em", "marginals")):
        states = RefinementHMM(2, n_iter=2).set_params(method=method, decoding=decoding)
        _both(states.fit(_tagged(lines)), lambda tagger: tagger.tag(lines[0]))


def _tagged(lines: Iterable[list[str]]) -> list[list[tuple[str, str]]]:
    return [[(word, word[0]) for word in line] for line in lines]


def _taggers() -> None:
    from eigentext.tagging import Tagger
    from eigentext.words import Eigenwords, WordClusters

    lines = _lines()
    tagged = _tagged(lines[:100])
    words = Eigenwords(10).fit(lines)
    sources: dict[str, Any] = {"vectors": words, "clusters": WordClusters(10).fit(words)}
    _both(Tagger().fit([[("Ann", "B-P"), ("Lee", "I-P")]]), lambda tagger: tagger.spans("Ann Lee"))
    for how in ({}, sources):
        _both(
            Tagger(**how).fit(tagged),
            lambda tagger: (
                tagger.tag(lines[:3]),
                tagger.evaluate(tagged[:9]),
                tagger.confidences(lines[:3]),
                tagger.k_best(lines[0], 3),
            ),
        )


def _grammars() -> None:
    from eigentext.grammars import PCFG, LatentPCFG

    trees = sampled_trees(120)

    def use(parser: Any) -> None:
        parser.parse(_SENTENCE)
        parser.marginals(_SENTENCE)
        parser.k_best(_SENTENCE, 3)
        parser.log_probability(trees[0])
        parser.log_probability("(S (NP (NN cat)) (VP (VB saw)))")  # by the back-off
        parser.parse(["cat", "the", "saw", "of"])  # without a parse

    _both(PCFG().fit(trees), use)
    for method in ("spectral", "em", "spectral+em", "pivot", "pivot+em", "split-merge"):
        few: dict[str, Any] = {} if method in ("spectral", "pivot") else {"n_iter": 4}
        _both(LatentPCFG(4, method=method, **few).fit(trees), use)
    chains = [Tree.parse(tree) for tree in _CHAINS]
    _both(LatentPCFG(2).fit(chains * 9), lambda parser: parser.parse(["she", "slept"]))


def _kernels() -> None:
    from eigentext.kernels import SequenceKernel, TreeKernel

    trees, tagged = sampled_trees(30), _tagged(_lines()[:30])
    for kernel, structures in ((TreeKernel(0.5), trees), (SequenceKernel(0.5), tagged)):
        kernel.gram(structures)
        kernel.gram(structures[:3], structures)
        kernel(structures[0], structures[1])


def _rerankers() -> None:
    from eigentext.grammars import PCFG
    from eigentext.reranking import Reranker

    trees = sampled_trees(60)
    base = PCFG().fit(trees)
    _both(
        Reranker().fit_base(PCFG, trees), lambda reranker: reranker.apply(base, [_SENTENCE.split()])
    )


TASKS: dict[str, Callable[[], None]] = {
    "words": _words,
    "topics": _topics,
    "sequences": _sequences,
    "taggers": _taggers,
    "grammars": _grammars,
    "kernels": _kernels,
    "rerankers": _rerankers,
}


def warm_up(what: str) -> None:
    """Compile the loops of one kind of models."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so little text
        TASKS[what]()
