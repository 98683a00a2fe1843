"""A small model of every saved format, and how to use it: what the fuzz bench and its test share.

A specimen is called by its format and, where a format has several kinds of content, a variant:
``hmm/em``. `make` fits it from a few sentences, with the same bits each time; `uses` are the public
methods that read what was saved, each called with small input. Answers are compared with those of
the good model, so a use returns what can be looked at: numbers, arrays, lists.

A format new in ``storage.models._READERS`` needs one entry in `ZOO`.
"""

import os
import random
import tempfile
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import eigentext as et

Uses = dict[str, Callable[[Any], Any]]


class Specimen(NamedTuple):
    """How to make a model, and what to do with it."""

    make: Callable[[], Any]
    uses: Uses


SCRATCH = "/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir()

# Data.

NOUNS, VERBS = ("cat", "dog", "fern", "bird"), ("sees", "waters", "likes")
# Every word is asked for, so that no entry of an array goes unread.
LIKE_THE_SEEN = [
    "the",
    "cat",
    "sees",
    "a",
    "bird",
    "the",
    "dog",
    "likes",
    "a",
    "fern",
    "the",
    "cat",
    "waters",
    "a",
    "dog",
]
UNSEEN = ["the", "Otter", "sees", "1984", "near", "a", "dog"]
TREES = """
(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (DT a) (NN bird))) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (NP (NN birds)) (PP (IN with) (NP (DT a) (NN dog))))) (. .))
(S (NP (PRP she)) (VP (VBZ sees) (NP (NN birds)) (PP (IN with) (NP (DT a) (NN dog)))) (. .))
(S (NP (DT the) (JJ tall) (NN fern)) (VP (VBZ waits)))
(S (VP (VBZ waits)))
(NP (DT a) (JJ tall) (JJ old) (NN fern))
"""
PARSED = ["she", "sees", "a", "tall", "bird", "with", "a", "dog", "."]
ALSO_PARSED = ["the", "old", "cat", "waits", "birds", "fern"]
TREE = "(S (NP (DT the) (NN cat)) (VP (VBZ sees) (NP (NN birds))) (. .))"
TEXTS = ("cat dog bird cat dog", "bird cat dog dog bird", "sun rain snow sun", "rain snow sun rain")


def _sentences(n: int = 30) -> list[list[str]]:
    rng = random.Random(0)
    return [
        ["the", rng.choice(NOUNS), rng.choice(VERBS), rng.choice(["a", "the"]), rng.choice(NOUNS)]
        for _ in range(n)
    ]


def _tagged(n: int = 12) -> list[list[tuple[str, str]]]:
    tags = {**dict.fromkeys(NOUNS, "N"), **dict.fromkeys(VERBS, "V")}
    return [[(word, tags.get(word, "D")) for word in one] for one in _sentences(n)]


def _names() -> list[list[tuple[str, str]]]:
    return [
        [("the", "O"), ("dog", "B-A"), ("sees", "O"), ("Tom", "B-P"), ("Cat", "I-P")],
        [("a", "B-A"), ("cat", "I-A"), ("likes", "O")],
        [("Tom", "B-P"), ("likes", "O"), ("the", "B-A"), ("bird", "I-A")],
    ]


def _trees() -> list[Any]:
    return [et.Tree.parse(line) for line in TREES.strip().splitlines()]


def _documents() -> list[str]:
    rng = random.Random(0)
    return [" ".join(rng.choices(rng.choice(TEXTS).split(), k=8)) for _ in range(40)]


def _titles() -> list[str]:
    return ["an animal" if "cat" in text or "dog" in text else "others" for text in _documents()]


def _tree_lists(n: int = 6) -> tuple[list[Any], list[int]]:
    lists = []
    for noun, verb in list(product(NOUNS, VERBS))[:n]:
        high = f"(S (NP (DT the) (NN {noun})) (VP (VBZ {verb}) (PP (IN of) (NP (NN {noun})))))"
        low = f"(S (NP (DT the) (NN {noun})) (NP (VBZ {verb}) (PP (IN of) (NP (NN {noun})))))"
        lists.append([low, high])
    return lists, [1] * n


def _tagging_lists(n: int = 6) -> tuple[list[Any], list[int]]:
    lists = [[[(w, "X") for w, _ in one], one] for one in _tagged(n)]
    return lists, [1] * n


VECTOR_LISTS = [[[0, 0, 1], [1, 0, 1]], [[1, 1, 0], [0, 1, 1]], [[0, 2, 0.5], [2, 0, 0.5]]]
FEATURE_LISTS = [[{"a": 1, "b": 2}, {"b": 1}], [{"a": 2}, {"c": 1, "a": 1}], [{"b": 1}, {"c": 3}]]


def _views() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    h = rng.integers(0, 2, 60)
    return rng.normal(size=(60, 8)) + 2 * h[:, None], h


# Makers that need more than a line.


def _from_arpa(model: Any) -> Any:
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        model.to_arpa(Path(folder, "model.arpa"))
        return et.KneserNey.from_arpa(Path(folder, "model.arpa"))


def _mapped(model: Any, **settings: Any) -> Any:
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        model.save(Path(folder, "model"), mapped=True, **settings)
        return et.load(Path(folder, "model"))


def _reranker(lists: Callable[[], Any], kernel: Any = None, decay: Any = 0.4) -> Any:
    candidates, gold = lists()
    scored = [[(one, -20.0 - k / 2) for k, one in enumerate(some)] for some in candidates]
    right = [some[place] for some, place in zip(candidates, gold)]
    if isinstance(right[0], str):
        right = [et.Tree.parse(one) for one in right]
    return et.Reranker(kernel, decay=decay, beta=[0.1, 1.0], n_epochs=2).fit(scored, right)


def _tree_reranker(**settings: Any) -> Any:
    candidates, _ = _tree_lists()
    scored = [[(one, -20.0 - k / 2) for k, one in enumerate(some)] for some in candidates]
    return et.TreeReranker(min_count=1, **settings).fit(scored, [1] * len(scored))


def _hmm(**settings: Any) -> Any:
    return et.HMM(2, random_state=0, **settings).fit(_sentences())


def _drawn() -> list[str]:
    """A stream in which any word follows any other: plain operators give nothing negative."""
    return random.Random(0).choices(sorted({word for line in _sentences() for word in line}), k=800)


def _eigenwords(**settings: Any) -> Any:
    return et.Eigenwords(2, window=2, min_count=1, **settings).fit(_sentences())


def _tagger(tagged: Any, **settings: Any) -> Any:
    return et.Tagger(n_epochs=2, n_iter=5, **settings).fit(tagged)


def _two_view(kind: Any, target: Any, **settings: Any) -> Any:
    X, h = _views()
    return kind(2, n_first=4, **settings).fit(X, target(X, h))


# Uses.

_LM: Uses = {
    "log_probabilities": lambda m: m.log_probabilities(_known(m)),
    "log_probabilities, unseen": lambda m: m.log_probabilities(UNSEEN),
    "perplexity": lambda m: m.perplexity([LIKE_THE_SEEN, ["a", "cat"]]),
}
_BIGRAM: Uses = {
    **_LM,
    "distribution": lambda m: m.distribution("the"),
    "distribution, start": lambda m: m.distribution(),
    "probability": lambda m: [m.probability("cat", given="the"), m.probability("a", given="sees")],
    "states": lambda m: m.states("the"),
}
_CLASS_BIGRAM: Uses = {
    **_LM,
    "distribution": lambda m: m.distribution("the"),
    "distribution, start": lambda m: m.distribution(),
    "probability": lambda m: [m.probability("cat", given="the"), m.probability("a", given="sees")],
    "class": lambda m: [m.class_of("cat"), m.words(0)],
    "transitions": lambda m: m.transition_matrix(),
    "hmm": lambda m: m.to_hmm().probability(["the", "cat"]),
}
_KNESER_NEY: Uses = {
    **_LM,
    "distribution": lambda m: m.distribution(["the"]),
    "distribution, start": lambda m: m.distribution(start=True),
    "probability": lambda m: [m.probability("cat", ["the"]), m.probability("a", ["cat", "sees"])],
}
_HMM: Uses = {
    "log_probability": lambda m: m.log_probability(LIKE_THE_SEEN),
    "log score_samples": lambda m: m.score_samples([LIKE_THE_SEEN, ["a"], UNSEEN[2:3]]),
    "log_probabilities": lambda m: m.log_probabilities(_known(m)),
    "perplexity": lambda m: m.perplexity([LIKE_THE_SEEN]),
    "probability": lambda m: m.probability(["the", "cat"]),
    "predict_next": lambda m: m.predict_next(["the"]),
    "predict_next, start": lambda m: m.predict_next(),
    "filter": lambda m: m.filter(LIKE_THE_SEEN),
    "transform": lambda m: m.transform([LIKE_THE_SEEN, UNSEEN]),
    "operator": lambda m: m.operator("cat"),
    "sample": lambda m: m.sample(2, 4),
}
_EM_HMM: Uses = {
    **_HMM,
    "log viterbi": lambda m: m.viterbi(LIKE_THE_SEEN),
    "tag": lambda m: m.tag([LIKE_THE_SEEN, []]),
    "log k_best": lambda m: m.k_best(LIKE_THE_SEEN, 3),
    "parameters": lambda m: [m.initial_, m.transition_, m.emission_],
    "moments": lambda m: [*m.moments().levels],
}
_HMM_TAGGER: Uses = {
    "tag": lambda m: m.tag(LIKE_THE_SEEN),
    "tag, unseen": lambda m: m.tag(UNSEEN),
    "log k_best": lambda m: m.k_best(LIKE_THE_SEEN, 3),
    "log_probability": lambda m: m.log_probability([("the", "D"), ("cat", "N")]),
}
_REFINEMENT_HMM: Uses = {
    "tag": lambda m: m.tag(LIKE_THE_SEEN),
    "tag, unseen": lambda m: m.tag(UNSEEN),
    "marginals": lambda m: m.marginals(UNSEEN),
    "log_probability": lambda m: m.log_probability([("the", "D"), ("cat", "N")]),
    "transform": lambda m: m.transform([LIKE_THE_SEEN]),
}
_PARSER: Uses = {
    "parse": lambda m: str(m.parse(PARSED)),
    "parse, others": lambda m: [str(one) for one in m.parse_many([ALSO_PARSED, UNSEEN])],
    "log k_best": lambda m: m.k_best(PARSED, 3),
    "marginals": lambda m: m.marginals(PARSED),
    "log_probability": lambda m: m.log_probability(TREE),
}
_TAGGER: Uses = {
    "tag": lambda m: m.tag([LIKE_THE_SEEN, UNSEEN]),
    "confidences": lambda m: m.confidences([LIKE_THE_SEEN]),
    "log k_best": lambda m: m.k_best(UNSEEN, 3),
    "marginals": lambda m: m.marginals(LIKE_THE_SEEN),
    "top_features": lambda m: [m.top_features(tag, 3) for tag in m.tags_],
}
_TEXT_VECTORS: Uses = {
    "transform": lambda m: m.transform([LIKE_THE_SEEN, UNSEEN, []]),
    "get_feature_names_out": lambda m: list(m.get_feature_names_out()),
}
_TOPICS: Uses = {
    "transform": lambda m: m.transform(["cat dog bird", "snow"]),
    "perplexity": lambda m: m.perplexity(["cat dog", "snow sun"]),
    "log score": lambda m: m.score(["cat dog", "snow sun"]),
    "top_words": lambda m: m.top_words(3),
    "get_feature_names_out": lambda m: list(m.get_feature_names_out()),
    "report": lambda m: len(m.report()),
}
_TWO_VIEW: Uses = {
    "predict": lambda m: m.predict(_views()[0][:5]),
    "transform": lambda m: m.transform(_views()[0][:5]),
    "get_feature_names_out": lambda m: list(m.get_feature_names_out()),
}
_CLASSIFIER: Uses = {
    **_TWO_VIEW,
    "predict_proba": lambda m: m.predict_proba(_views()[0][:5]),
    "decision_function": lambda m: m.decision_function(_views()[0][:5]),
}
_WORDS: Uses = {
    "vector": lambda m: m["cat"],
    "most_similar": lambda m: m.most_similar("cat", 3),
    "most_similar, unseen": lambda m: m.most_similar("cats", 3) if "cats" in m else None,
    "similarity": lambda m: m.similarity("cat", "dog"),
    "analogy": lambda m: m.analogy("cat", "dog", "fern", 2),
    "export": lambda m: [
        _written(m.export, form) for form in ("word2vec", "word2vec-binary", "glove")
    ],
    "transform": lambda m: m.transform([LIKE_THE_SEEN, UNSEEN, []]),
    "partial_fit": lambda m: m.partial_fit([["a", "cat"]]).vectors_ if m.moments_ else None,
}
_CLUSTERS: Uses = {
    "bit strings": lambda m: [m.labels_, m.bit_strings_],
    "most_frequent": lambda m: m.most_frequent(0, 3),
    "most_frequent, by path": lambda m: m.most_frequent(max(m.bit_strings_), 3),
    "prefixes": lambda m: m.prefixes("dog"),
    "words": lambda m: m.words("0"),
    "to_tsv": lambda m: _written(m.to_tsv),
}
_PHRASES: Uses = {
    "transform": lambda m: m.transform([["the", "cat", "sees", "a", "dog"]]),
    "join": lambda m: m.join(_sentences()).words,
}
_TWO_WINDOWS: Uses = {
    "sum": lambda m: (m + m).n_tokens,
    "cut": lambda m: m.restrict(max_size=4).narrow.counts().sum(),
}
_EIGENTOKENS: Uses = {
    "transform": lambda m: m.transform([LIKE_THE_SEEN, UNSEEN, ["a"]]),
}
_COOCCURRENCE: Uses = {
    "counts": lambda m: m.counts(),
    "totals": lambda m: m.totals(),
    "numbers": lambda m: [m.n_pairs, m.n_tokens, m.unit],
    "restrict": lambda m: m.restrict(["cat", "dog", "the"]).counts(),
    "sum": lambda m: (m + m).totals(),
    "thresholded": lambda m: m.thresholded(2).n_pairs if m.min_pairs < 2 else None,
    "fit_moments": lambda m: _eigenwords_of(m),
}
_DOCUMENTS: Uses = {
    "counts": lambda m: m.counts,
    "numbers": lambda m: [m.n_documents, m.n_short, m.n_tokens, m.lengths, m.document_frequencies],
    "restrict": lambda m: m.restrict(["cat", "sun", "rain"]).counts,
    "sum": lambda m: (m + m).counts,
    "fit_moments": lambda m: et.TopicModel(2, refine=0).fit_moments(m).components_,
}
_TWO_VIEW_TOPICS: Uses = {
    "transform": lambda m: m.transform(_documents()[:5]),
    "top_words": lambda m: [m.top_words(3), m.to_arrow("topics").num_rows],
    "second": lambda m: (
        m.transform(None, ["an animal", "others"])
        if m.second_kind_ == "words"
        else [m.transform(None, np.ones((2, len(m.covariance_)))), m.second_means_]
    ),
    "perplexity": lambda m: m.perplexity(_documents()[:5]),
    "report": lambda m: m.report(_documents()[:5]),
}
_NGRAMS: Uses = {
    "count": lambda m: [m.count([0, 1]), m.count([2])],
    "numbers": lambda m: [m.edge, m.n_tokens, m.n_units, m.order, m.rare, m.rare_count],
    "levels": lambda m: list(m.levels),
    "restrict": lambda m: m.restrict(["cat", "the"]).levels,
    "sum": lambda m: (m + m).levels,
    "fit_moments": lambda m: et.KneserNey(2).fit_moments(m).discounts_,
    "fit_moments, HMM": lambda m: et.HMM(2).fit_moments(m).predict_next(["the"]),
}


def _kernel_perceptron(lists: Any) -> Uses:
    few = lists()[:2]
    return {
        "predict": lambda m: m.predict(few),
        "bound": lambda m: m.bound(),
        **{
            f"scores, {average}": lambda m, average=average: m.scores(few, average=average)
            for average in ("vote", "mean", None)
        },
    }


def _reranking(lists: Any) -> Uses:
    scored = [[(one, -1.0 - k) for k, one in enumerate(some)] for some in lists()[:2]]
    return {
        "predict": lambda m: m.predict(scored),
        "rerank": lambda m: [[one.log_probability for one in some] for some in m.rerank(scored)],
    }


def _known(model: Any) -> list[str]:
    """Words without a probability have none, NaN, and that is no fault."""
    return [word for word in LIKE_THE_SEEN if word in model.vocabulary_]


def _maybe_negative(uses: Uses) -> Uses:
    """Operators may give negative probabilities, whose logarithms are NaN: that is no fault."""
    return {
        name: (lambda m, use=use: [np.nan, use(m)]) if _is_logarithm(name) else use
        for name, use in uses.items()
    }


def _is_logarithm(name: str) -> bool:
    return name.startswith(("log", "perplexity"))


def _written(write: Callable[..., None], *options: Any) -> None:
    path = Path(SCRATCH, f"eigentext-zoo-{os.getpid()}")
    try:
        write(path, *options)
    finally:
        path.unlink(missing_ok=True)


def _eigenwords_of(moments: Any) -> Any:
    settings = {n: getattr(moments, n) for n in ("window", "context", "weighting")}
    return et.Eigenwords(2, min_count=1, **settings).fit_moments(moments).vectors_


def _trees_only() -> Any:
    return _tree_lists()[0]


def _taggings_only() -> Any:
    return _tagging_lists()[0]


def _vectors_only() -> Any:
    return VECTOR_LISTS


def _features_only() -> Any:
    return FEATURE_LISTS


def _kernelled(kernel: Any, lists: Any, **settings: Any) -> Callable[[], Any]:
    return lambda: et.KernelPerceptron(kernel(), n_epochs=2, **settings).fit(
        lists(), [1] * len(lists())
    )


def _latent(**settings: Any) -> Callable[[], Any]:
    return lambda: et.LatentPCFG(2, nodes_per_state=1, **settings).fit(_trees())


ZOO: dict[str, Specimen] = {
    "bigram": Specimen(lambda: et.BigramModel(2, n_iter=5).fit(_sentences()), _BIGRAM),
    "class-bigram": Specimen(lambda: et.ClassBigram(n_classes=3).fit(_sentences()), _CLASS_BIGRAM),
    "class-bigram/unsmoothed": Specimen(
        lambda: et.ClassBigram(n_classes=3, smoothing="none").fit(_sentences()), _CLASS_BIGRAM
    ),
    "clusters": Specimen(lambda: et.WordClusters(3).fit(_eigenwords()), _CLUSTERS),
    "clusters/kmeans": Specimen(
        lambda: et.WordClusters(3, method="kmeans").fit(_eigenwords()), _CLUSTERS
    ),
    "cooccurrence": Specimen(
        lambda: et.CooccurrenceMoments.from_corpus(_sentences(), window=2), _COOCCURRENCE
    ),
    "cooccurrence/list": Specimen(
        lambda: et.CooccurrenceMoments.from_corpus(
            _sentences(), window=2, context="list", weighting="flat"
        ).restrict(max_size=6),
        _COOCCURRENCE,
    ),
    "documents": Specimen(lambda: et.DocumentMoments.from_corpus(_documents()), _DOCUMENTS),
    "documents/fractions": Specimen(
        lambda: et.DocumentMoments.from_matrix(
            np.random.default_rng(0).poisson(1.0, (12, 6)) / 2 + 0.5,
            ["cat", "dog", "sun", "rain", "snow", "bird"],
        ),
        _DOCUMENTS,
    ),
    "eigentokens": Specimen(
        lambda: et.Eigentokens(2, window=2, min_count=1).fit(_sentences()), _EIGENTOKENS
    ),
    "eigentokens/bag": Specimen(
        lambda: et.Eigentokens(
            2, window=2, min_count=2, side="left", context="bag", combine=True
        ).fit(_sentences()),
        _EIGENTOKENS,
    ),
    "automaton": Specimen(
        lambda: et.WeightedAutomaton(4, basis=30).fit(_sentences()),
        {**_HMM, "log beginning": lambda m: m.log_probability(["the"], end=False)},
    ),
    "automaton/rare": Specimen(
        lambda: et.WeightedAutomaton(3, basis=30, statistics="prefix", max_size=6).fit(
            _sentences()
        ),
        _HMM,
    ),
    "automaton/plain": Specimen(
        lambda: et.WeightedAutomaton(1, basis=9, repair="none").fit(_drawn()),
        _maybe_negative(_HMM),
    ),
    "hmm-tagger": Specimen(lambda: et.HMMTagger().fit(_tagged()), _HMM_TAGGER),
    "hmm-tagger/first-order": Specimen(
        lambda: et.HMMTagger(1, classes=None, joint=False, rare=1).fit(_tagged()), _HMM_TAGGER
    ),
    "hmm-tagger/bio": Specimen(
        lambda: et.HMMTagger(scheme="bio", joint=True).fit(_names()), _HMM_TAGGER
    ),
    "refinement-hmm": Specimen(
        lambda: et.RefinementHMM(2, n_iter=3).fit(_tagged()), _REFINEMENT_HMM
    ),
    "refinement-hmm/spectral": Specimen(
        lambda: et.RefinementHMM(2, method="spectral", classes=None).fit(_tagged()),
        _maybe_negative(_REFINEMENT_HMM),
    ),
    "refinement-hmm/bio": Specimen(
        lambda: et.RefinementHMM(2, method="em", scheme="bio", joint=True, n_iter=3).fit(_names()),
        _REFINEMENT_HMM,
    ),
    "hmm/spectral": Specimen(lambda: _hmm(), _HMM),
    "hmm/rare": Specimen(lambda: _hmm(max_size=6, rank=2), _HMM),
    "hmm/plain": Specimen(
        lambda: et.HMM(1, repair="none").fit(_drawn()),
        _maybe_negative(_HMM),
    ),
    "hmm/anchor": Specimen(lambda: _hmm(method="anchor", n_iter=2), _EM_HMM),
    "hmm/em": Specimen(lambda: _hmm(method="em", n_init=1, n_iter=5), _EM_HMM),
    "kernel-perceptron/tree": Specimen(
        _kernelled(lambda: et.TreeKernel(0.5), _trees_only), _kernel_perceptron(_trees_only)
    ),
    "kernel-perceptron/sequence": Specimen(
        _kernelled(lambda: et.SequenceKernel(0.5, match="capitalization"), _taggings_only),
        _kernel_perceptron(_taggings_only),
    ),
    "kernel-perceptron/polynomial": Specimen(
        _kernelled(lambda: et.PolynomialKernel(2), _vectors_only, average="vote"),
        _kernel_perceptron(_vectors_only),
    ),
    "kernel-perceptron/composed": Specimen(
        _kernelled(
            lambda: et.PolynomialKernel(2).normalized() + 0.5 * et.PolynomialKernel(1),
            _features_only,
        ),
        _kernel_perceptron(_features_only),
    ),
    "kneser-ney": Specimen(lambda: et.KneserNey(3).fit(_sentences()), _KNESER_NEY),
    "kneser-ney/arpa": Specimen(lambda: _from_arpa(et.KneserNey(3).fit(_sentences())), _KNESER_NEY),
    "kneser-ney/pruned": Specimen(
        lambda: et.KneserNey(3, prune=(0, 0, 1)).fit(_sentences()), _KNESER_NEY
    ),
    "kneser-ney/mapped": Specimen(lambda: _mapped(et.KneserNey(3).fit(_sentences())), _KNESER_NEY),
    "kneser-ney/quantized": Specimen(
        lambda: _mapped(et.KneserNey(3).fit(_sentences()), quantize=4), _KNESER_NEY
    ),
    "kneser-ney/stream": Specimen(
        lambda: et.KneserNey(2, min_count=3).fit([w for one in _sentences() for w in one]),
        _KNESER_NEY,
    ),
    "latent-pcfg/spectral": Specimen(_latent(method="spectral"), _PARSER),
    "latent-pcfg/em": Specimen(_latent(method="em", n_iter=2, n_smooth=1), _PARSER),
    "latent-pcfg/several": Specimen(
        _latent(method="em", n_grammars=2, n_iter=2, n_smooth=1), _PARSER
    ),
    "latent-pcfg/split-merge": Specimen(
        _latent(method="split-merge", n_iter=2, horizontal=1, rare=1), _PARSER
    ),
    "latent-pcfg/sparse": Specimen(_latent(method="spectral+em"), _PARSER),
    "latent-pcfg/pivot": Specimen(_latent(method="pivot+em"), _PARSER),
    "ngrams": Specimen(lambda: et.NgramMoments.from_corpus(_sentences(), order=3), _NGRAMS),
    "pcfg": Specimen(lambda: et.PCFG().fit(_trees()), _PARSER),
    "pcfg/viterbi": Specimen(
        lambda: et.PCFG(
            binarize="right", horizontal=None, vertical=1, rare=1, decoding="viterbi"
        ).fit(_trees()),
        _PARSER,
    ),
    "perceptron": Specimen(
        lambda: et.Perceptron(n_epochs=2).fit(FEATURE_LISTS, [1, 1, 0]),
        {
            "predict": lambda m: m.predict(FEATURE_LISTS),
            "scores": lambda m: m.scores(FEATURE_LISTS),
            "score": lambda m: m.score(FEATURE_LISTS, [1, 1, 0]),
            "bound": lambda m: m.bound(),
            "top_features": lambda m: m.top_features(3),
        },
    ),
    "phrases": Specimen(
        lambda: et.Phrases(2, threshold=0.1, n_passes=2).fit(_sentences()), _PHRASES
    ),
    "reranker": Specimen(lambda: _reranker(_tree_lists), _reranking(_trees_only)),
    "reranker/taggings": Specimen(
        lambda: _reranker(_tagging_lists, et.SequenceKernel(0.5), None), _reranking(_taggings_only)
    ),
    "tree-reranker": Specimen(
        lambda: _tree_reranker(penalty=0.1, clusters=dict(zip(NOUNS, ["00", "010", "011", "1"]))),
        _reranking(_trees_only),
    ),
    "tree-reranker/perceptron": Specimen(
        lambda: _tree_reranker(model="perceptron", n_epochs=2), _reranking(_trees_only)
    ),
    "tagger": Specimen(lambda: _tagger(_tagged()), _TAGGER),
    "tagger/names": Specimen(
        lambda: _tagger(
            _names(),
            scheme="bilou",
            vectors=(list(NOUNS), np.random.default_rng(0).normal(size=(4, 2))),
            clusters=dict(zip(NOUNS, ["00", "010", "011", "1"])),
        ),
        _TAGGER,
    ),
    "tagger/crf": Specimen(lambda: _tagger(_tagged(), model="crf"), _TAGGER),
    "tagger/eigentokens": Specimen(
        lambda: _tagger(
            _tagged(), eigentokens=et.Eigentokens(2, window=1, min_count=1).fit(_sentences())
        ),
        _TAGGER,
    ),
    "tagger/parser": Specimen(lambda: _tagger(_tagged(), parser=et.PCFG().fit(_trees())), _TAGGER),
    "tagger/states": Specimen(lambda: _tagger(_tagged(), states=_hmm(rank=2)), _TAGGER),
    "tagger/em-states": Specimen(
        lambda: _tagger(_tagged(), states=_hmm(method="em", n_init=1, n_iter=5)), _TAGGER
    ),
    "text-vectors": Specimen(
        lambda: et.TextVectors(_eigenwords()).fit(_sentences()), _TEXT_VECTORS
    ),
    "topics": Specimen(lambda: et.TopicModel(2, refine=2).fit(_documents()), _TOPICS),
    "topics/lda": Specimen(
        lambda: et.TopicModel(2, alpha0=1.0, refine=2).fit(_documents()), _TOPICS
    ),
    "topics/vectors": Specimen(
        lambda: et.TopicModel(2, vectors=_eigenwords(), background=3, refine=2).fit(_documents()),
        _TOPICS,
    ),
    "topics/gradient": Specimen(
        lambda: et.TopicModel(2, method="gradient", refine=2).fit(_documents()), _TOPICS
    ),
    "topics/anchors": Specimen(
        lambda: et.TopicModel(2, method="anchors", refine=0).fit(_documents()), _TOPICS
    ),
    "topics/chosen": Specimen(
        lambda: et.TopicModel(
            "auto",
            alpha0="moments",
            set_apart=True,
            anchors={"sky": ["sun"]},
            refine=2,
        ).fit([*_documents() * 3, "sun hat beach sand sea boat holiday"] * 2),
        _TOPICS,
    ),
    "topics/moments": Specimen(
        lambda: et.TopicModel(2, keep_moments="whole", refine=2).fit(_documents()), _TOPICS
    ),
    "two-windows": Specimen(
        lambda: et.moments.TwoWindowMoments.from_corpus(_sentences(), window=3), _TWO_WINDOWS
    ),
    "two-view-topics": Specimen(
        lambda: et.TwoViewTopics(2, refine=3).fit(_documents(), _titles()), _TWO_VIEW_TOPICS
    ),
    "two-view-topics/numbers": Specimen(
        lambda: et.TwoViewTopics(2, refine=3).fit(
            _documents(), [[len(set(text)), text.count("a"), 1] for text in _documents()]
        ),
        _TWO_VIEW_TOPICS,
    ),
    "two-view-classifier": Specimen(
        lambda: _two_view(et.TwoViewClassifier, lambda X, h: np.array(["é", "b"])[h]),
        _CLASSIFIER,
    ),
    "two-view-classifier/three": Specimen(
        lambda: _two_view(et.TwoViewClassifier, lambda X, h: h + (X[:, 0] > 1), use="first"),
        _CLASSIFIER,
    ),
    "two-view-regressor": Specimen(
        lambda: _two_view(et.TwoViewRegressor, lambda X, h: X[:, :2].sum(1)), _TWO_VIEW
    ),
    "two-view-regressor/two": Specimen(
        lambda: _two_view(et.TwoViewRegressor, lambda X, h: X[:, :2]), _TWO_VIEW
    ),
    "words": Specimen(lambda: _eigenwords(), _WORDS),
    "words/moments": Specimen(lambda: _eigenwords(keep_moments="whole"), _WORDS),
    "words/narrow": Specimen(
        lambda: _eigenwords(narrow=1, phrases=True, keep_moments="cut"), _WORDS
    ),
    "words/spelling": Specimen(lambda: _eigenwords(oov="characters"), _WORDS),
    "words/two-step": Specimen(lambda: _eigenwords(context="list", method="two-step"), _WORDS),
    "words/imported": Specimen(
        lambda: et.Eigenwords.from_vectors(NOUNS, np.random.default_rng(0).normal(size=(4, 3))),
        _WORDS,
    ),
}


def save_all(folder: Path, names: Any = ZOO) -> None:
    """Make the named specimens and save each at `file_of`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so little data is enough to be asked about
        for name in names:
            file_of(folder, name).parent.mkdir(parents=True, exist_ok=True)
            ZOO[name].make().save(file_of(folder, name))


def file_of(folder: Path, name: str) -> Path:
    """Where a specimen is saved."""
    return folder / name.replace("/", "-")
