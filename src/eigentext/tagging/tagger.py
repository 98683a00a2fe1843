r"""A tagger that profits from plain text: a linear model of tag sequences, with dense features.

With tags y and a sentence x, a global linear model over tag bigrams (seed 001),

.. math:: F(x) = \arg\max_{y} \sum_t w_{y_t} \cdot \phi(x, t) + T_{y_{t-1}, y_t}

where :math:`\phi(x, t)` has ones for what feature templates find around t, and the coordinates of
vectors learned without labels (seed 000, "Semi-supervised learning using CCA": "use supervised
learning to predict label from hidden state, and from hidden state of neighboring words"; seed 002,
section 7.2). Those are eigenwords of the words nearby, eigentokens, which project the token's own
context, and an HMM's filtered state; word clusters come in as bit strings.

w and T are learned by an averaged perceptron (Collins 2002, "Discriminative training methods for
hidden Markov models", EMNLP) or, as a conditional random field, by CRFsuite.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, Literal, Self

import numpy as np

from eigentext import engine
from eigentext.corpus import schemes
from eigentext.engine import even_blocks
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learning
from eigentext.storage import Saved
from eigentext.tagging import parameters
from eigentext.tagging.choices import (
    Scheme,
    check_coverage,
    choose_columns,
    choose_scheme,
    choose_templates,
    lone_tags,
)
from eigentext.tagging.decoding import best_tags, best_temperature, local_scores, posteriors
from eigentext.tagging.features import EncodedSentences, FeatureExtractor, Sentence
from eigentext.tagging.perceptron import Epoch, Watch, Weights, mean_of_runs, train
from eigentext.tagging.saving import restored_tagger, saved_tagger, tagger_schema
from eigentext.tagging.sources import given_sources
from eigentext.tagging.templates import parse_templates
from eigentext.tagging.tokens import (
    Tagged,
    joined,
    numbered_tags,
    plain_sentence,
    tagged_sentences,
)
from eigentext.trellis import ScoredTagging, check_k, k_best_paths

_TOKENS = 1 << 13  # of a thread's task
_HELD, _TWIN = 500, 2000  # sentences to choose a temperature on, and to learn from before


# What is said of a sentence without tokens.
_NOTHING: dict[str, Callable[[], Any]] = {
    "_tag": list,
    "_confidences": lambda: np.zeros(0),
    "_k_best": lambda: [ScoredTagging([], 0.0)],
}


class Tagger(Saved, Estimator):
    """A tagger learned from tagged sentences and from what plain text taught.

    Parameters
    ----------
    model : "perceptron" or "crf"
        How weights are learned: in seconds, or as a probabilistic model (``pip install
        eigentext[crf]``), which takes longer.
    features : "auto", "chunk", "ner", "pos" or list of str
        Templates, as :mod:`~eigentext.tagging.templates` explains them; "auto" takes "pos" unless
        the tags are of chunks, and then "chunk" for tokens with parts of speech, else "ner".
    vectors : Eigenwords, gensim's KeyedVectors, or (words, matrix), optional
        Vectors of words.
    clusters : WordClusters, or a dictionary of words and bit strings, optional
    eigentokens, states : fitted models with ``transform(sentences)``, optional
        Vectors of tokens in context: :class:`Eigentokens`, and an :class:`HMM`, whose filtered
        states they are; any model will do.
    columns : list of str, optional
        What the parts of a token are, before its tag; ("word",) or ("word", "pos") by default.
    scheme : "auto", "bio", "bilou" or None
        Which taggings are valid: no other is ever returned. "bilou" learns tags of the first, the
        last and the only token of a chunk from BIO, and gives BIO back. "auto" is "bio" if the tags
        are B-X, I-X and O, else None.
    scale : float
        The root mean square of vectors' coordinates. Ones of features are 1.
    min_count : int
        Features seen less often are left out.
    n_epochs : int
        The perceptron's passes.
    n_runs : int
        Perceptrons learned with sentences in other orders, at once on the engine's workers; their
        mean is a little better than any. With `dev`, all take the passes that are best for the
        first.
    margin : float
        What the right tagging must be ahead of another by, for each wrong tag in it, or the
        perceptron learns from it.
    c1, c2 : float
        The CRF's penalties, of absolute values and of squares.
    n_iter : int
        Most iterations of the CRF.
    random_state : int
        Seed of the order of sentences. Equal seeds give equal bits.

    Attributes
    ----------
    tags_ : list of str
    columns_, templates_ : lists of str
    temperature_ : float
        What scores are divided by to be logarithms of probabilities. Chosen by :meth:`calibrate`,
        on `dev` or sentences of one's own; else 1 for a CRF, and for a perceptron what suits one
        that learned from a part of the sentences, on another part.
    diagnostics_ : dict
        How many sentences, tokens, tags, features; mistakes in each pass; which part of the tokens
        have vectors.

    Examples
    --------
    >>> from eigentext import Tagger
    >>> tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]] * 3
    >>> tagger = Tagger().fit(tagged)
    >>> tagger.tag([["cats", "bark"], "dogs sleep"])
    [[('cats', 'N'), ('bark', 'V')], [('dogs', 'N'), ('sleep', 'V')]]
    """

    _format = "eigentext.tagger.v1"
    _table = parameters.Tagger

    def __init__(
        self,
        *,
        model: Literal["perceptron", "crf"] = "perceptron",
        features: str | Sequence[str] = "auto",
        vectors: Any = None,
        clusters: Any = None,
        eigentokens: Any = None,
        states: Any = None,
        columns: Sequence[str] | None = None,
        scheme: Scheme = "auto",
        scale: float = 0.3,
        min_count: int = 1,
        n_epochs: int = 10,
        n_runs: int = 1,
        margin: float = 0.0,
        c1: float = 0.0,
        c2: float = 1.0,
        n_iter: int = 100,
        random_state: int = 0,
    ):
        self.model: Literal["perceptron", "crf"] = model
        self.features: Any = features
        self.vectors = vectors
        self.clusters = clusters
        self.eigentokens = eigentokens
        self.states = states
        self.columns = columns
        self.scheme: Scheme = scheme
        self.scale = scale
        self.min_count = min_count
        self.n_epochs = n_epochs
        self.n_runs = n_runs
        self.margin = margin
        self.c1 = c1
        self.c2 = c2
        self.n_iter = n_iter
        self.random_state = random_state

    # Learning.

    @learning
    def fit(
        self,
        tagged: Iterable[Sequence[tuple[str, ...]]],
        y: None = None,
        *,
        dev: Iterable[Sequence[tuple[str, ...]]] | None = None,
    ) -> Self:
        """Learn from sentences: lists of (word, tag), (word, part of speech, tag), …

        With other sentences, `dev`, the number of the perceptron's passes that is best for them is
        taken, up to `n_epochs`, and confidences are calibrated on them.
        """
        self._fit(tagged_sentences(tagged), None if dev is None else tagged_sentences(dev))
        return self

    def calibrate(self, tagged: Iterable[Sequence[tuple[str, ...]]]) -> Self:
        """Choose the temperature that makes these sentences' tags most probable.

        Take sentences that were not learned from. It changes confidences, never a tagging.
        """
        check_is_fitted(self)
        sentences, tags = self._known(tagged)
        places = {tag: place for place, tag in enumerate(self._tags)}
        gold = np.array([places.get(tag, -1) for tag in self._internal(tags)], np.int32)
        data = self._features.encode(sentences)
        self.temperature_ = best_temperature(data, self._features, self._weights, gold)
        return self

    # Using.

    def tag(self, sentences: Iterable[Any]) -> list[list[tuple[str, ...]]]:
        """The best tags of each sentence, behind the parts of its tokens: (word, …, tag).

        A sentence is a list of words, or of tuples where the tagger has more columns, or a string
        of words with blanks between. One without words has no tags: [].
        """
        return self._map("_tag", sentences)

    def confidences(self, sentences: Iterable[Any]) -> list[np.ndarray]:
        """For each token, the probability of the tag that `tag` gives it: p(y_t | sentence)."""
        return self._map("_confidences", sentences)

    def marginals(self, sentence: Any) -> np.ndarray:
        """p(tag at t | sentence), a row for each token, a column for each of `tags_`."""
        check_is_fitted(self)
        (tokens,) = self._checked([sentence])
        if not tokens:
            return np.zeros((0, len(self.tags_)))
        return self._marginals(self._features.encode([tokens]))

    def k_best(self, sentence: Any, k: int) -> list[ScoredTagging]:
        """The k best taggings of a sentence, exactly, best first; fewer if there are.

        As pairs of a token and its tag, for rerankers; a token with several columns is written as
        in "dog|NN".
        """
        return self.k_best_many([sentence], k)[0]

    def k_best_many(self, sentences: Iterable[Any], k: int) -> list[list[ScoredTagging]]:
        """The k best taggings of each sentence, on the engine's threads or its cluster."""
        check_k(k)
        return self._map("_k_best", sentences, k)

    def evaluate(self, tagged: Iterable[Sequence[tuple[str, ...]]]) -> Any:
        """Scores of this tagger on tagged sentences: of chunks, by conlleval's rules, or of tags.

        Returns
        -------
        Chunks or Tags
            See :func:`eigentext.evaluate.chunks` and :func:`eigentext.evaluate.tags`.
        """
        from eigentext import evaluate

        check_is_fitted(self)
        sentences, tags = self._known(tagged)
        found = [[token[-1] for token in one] for one in self.tag(sentences)]
        of_chunks = schemes.is_chunk_tags(chain(self.tags_, *tags))
        return (evaluate.chunks if of_chunks else evaluate.tags)(tags, found)

    def score(self, tagged: Iterable[Sequence[tuple[str, ...]]], y: None = None) -> float:
        """The F1 of chunks, or the accuracy of tags, from 0 to 1: see :meth:`evaluate`."""
        return float(np.nan_to_num(self.evaluate(tagged).f1))

    def top_features(self, tag: str, topn: int = 10) -> list[tuple[str, float]]:
        """The features that speak most for a tag, and their weights.

        Examples
        --------
        >>> tagged = [[("a", "D"), ("dog", "N")], [("the", "D"), ("cat", "N")]]
        >>> Tagger(features=["word[0]", "word[-1]"]).fit(tagged).top_features("N", 1)[0][0]
        'word[0]=dog'
        """
        check_is_fitted(self)
        if tag not in self.tags_:
            raise ParameterError(f"no tag {tag!r}; there are {', '.join(self.tags_)}")
        columns = self._meaning == self.tags_.index(tag)
        weights = self._weights.W[:, columns].sum(axis=1, dtype=np.float64)
        best = np.argsort(-weights, kind="stable")[: max(topn, 0)]
        return [(self._features.name(f), float(weights[f])) for f in best.tolist()]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw wrong tags by pass of the perceptron, or a CRF's loss by step; returns the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        told = self.diagnostics_
        if "loss" in told:
            return plots.curves({"loss": told["loss"]}, xlabel="step", ax=ax)
        return plots.curves({"wrong tags": told["wrong_tags"]}, xlabel="pass", ax=ax)

    # Private steps.

    def __sklearn_clone__(self) -> Self:
        """Sources are shared, not copied, and stay fitted."""
        return type(self)(**self.get_params(deep=False))

    def _fit(self, tagged: Tagged, dev: Tagged | None) -> None:
        sentences, tags = tagged
        self._scheme, self._converts = choose_scheme(self.scheme, tags)
        learned = self._internal(tags)
        self._tags, gold = numbered_tags(learned, also=lone_tags(learned, self._scheme))
        self.tags_ = sorted(set(self._shown_tags()))
        columns = choose_columns(self.columns, len(sentences[0][0]))
        clusters, sources = given_sources(self)
        given = [*sources, *(["cluster"] if clusters else [])]
        templates = choose_templates(self.features, columns, self._tags, given)
        self._features = FeatureExtractor(parse_templates(templates), columns, clusters, sources)
        coverage = self._features.coverage(sentences)
        check_coverage(coverage)
        self.columns_, self.templates_ = list(columns), templates
        self.diagnostics_ = {
            "n_sentences": len(sentences),
            "n_tokens": len(gold),
            "n_tags": len(self.tags_),
            "coverage": coverage,
        }
        self.temperature_ = 1.0
        held_out = None if dev is None else joined(self._checked(dev[0]), dev[1])
        data = self._features.learn(sentences, self.min_count, self.scale)
        self._learn(data, gold, held_out)
        if held_out is not None:
            self.calibrate(held_out)
        elif self.model == "perceptron":
            self._calibrate_by_twin(data, gold)
        self._forget_unused()

    def _internal(self, tags: list[list[str]]) -> list[str]:
        """The tags of sentences as they are learned, one after the other."""
        if not self._converts:
            return list(chain.from_iterable(tags))
        found: list[str] = []
        for number, one in enumerate(tags, 1):
            try:
                found += schemes.to_bilou(one)
            except CorpusError as error:
                raise CorpusError(f"sentence {number}, {error}") from error
        return found

    def _learn(self, data: EncodedSentences, gold: np.ndarray, held_out: list[Any] | None) -> None:
        from eigentext.tagging import crf

        if self.model == "crf":
            known = self._problem(data, gold)
            self._weights, losses = crf.train(*known, c1=self.c1, c2=self.c2, n_iter=self.n_iter)
            self.diagnostics_["loss"] = losses
            return
        watch = None if held_out is None else Watch(lambda weights: self._score(weights, held_out))
        rng = np.random.default_rng(self.random_state)
        rngs = [rng, *rng.spawn(self.n_runs - 1)]
        self._weights, epochs = self._perceptron(data, gold, rngs[0], watch)
        n_epochs = self.n_epochs
        if watch is not None and watch.best is not None:
            self._weights = watch.best
            self.diagnostics_["dev"] = watch.scores
            n_epochs = int(np.argmax(watch.scores)) + 1
        if self.n_runs > 1:
            known = self._weights, rngs[1:], self._problem(data, gold)
            self._weights = mean_of_runs(*known, n_epochs=n_epochs, margin=self.margin)
        self.diagnostics_["wrong_sentences"] = [epoch.n_wrong for epoch in epochs]
        self.diagnostics_["wrong_tags"] = [epoch.n_wrong_tags for epoch in epochs]

    def _perceptron(
        self,
        data: EncodedSentences,
        gold: np.ndarray,
        rng: np.random.Generator,
        watch: Watch | None = None,
    ) -> tuple[Weights, list[Epoch]]:
        known = self._problem(data, gold)
        how = {"n_epochs": self.n_epochs, "margin": self.margin}
        return train(*known, **how, rng=rng, watch=watch)

    def _score(self, weights: Weights, tagged: list[Any]) -> float:
        """The F1 that weights have on tagged sentences."""
        self._weights = weights
        # On threads: to a cluster the weights would have to go after each pass.
        with engine.report_to(None), engine.use(engine.current()):
            return self.score(tagged)

    def _problem(self, data: EncodedSentences, gold: np.ndarray) -> Any:
        features = self._features
        return data, features.places, features.widths, gold, self._no_weights()

    def _no_weights(self) -> Weights:
        """Zero, but for what the scheme forbids."""
        m, features = len(self._tags), self._features
        start, transition, end = schemes.allowed(self._tags, self._scheme)
        return Weights(
            np.zeros((len(features.keys), m), np.float32),
            np.zeros((features.n_dense, m), np.float32),
            np.where(np.vstack([transition, start]), 0, -np.inf).astype(np.float32),
            np.where(end, 0, -np.inf).astype(np.float32),
        )

    def _forget_unused(self) -> None:
        """Features without a weight change nothing, and need no room."""
        used = np.flatnonzero(self._weights.W.any(axis=1))
        self.diagnostics_ |= {"n_features": len(self._weights.W), "n_weighted": len(used)}
        self._features.keep(used)
        self._weights = self._weights._replace(W=self._weights.W[used])

    def _calibrate_by_twin(self, data: EncodedSentences, gold: np.ndarray) -> None:
        """The temperature of a perceptron learned from some sentences, on others.

        Its own would be far too low: what was learned from is known all too well. That of a few
        sentences is a little lower than that of many: 7.5 for 2,000 of CoNLL-2000, 8.8 for 8,000.
        """
        n = len(data.borders) - 1
        n_held = min(n // 5, _HELD)
        if n_held == 0:
            return
        few = data._replace(borders=data.borders[n_held : n_held + _TWIN + 1])
        others = data._replace(borders=data.borders[: n_held + 1])
        with engine.report_to(None):
            twin, _ = self._perceptron(few, gold, np.random.default_rng(self.random_state))
        self.temperature_ = best_temperature(others, self._features, twin, gold)

    def _shown_tags(self) -> list[str]:
        """Each tag that is learned, as it is shown: U-X is B-X, and L-X is I-X."""
        letters = {"U": "B", "L": "I"} if self._converts else {}
        return [letters.get(tag[0], tag[0]) + tag[1:] for tag in self._tags]

    @property
    def _meaning(self) -> np.ndarray:
        """The place in `tags_` of each tag that is learned."""
        return np.array([self.tags_.index(tag) for tag in self._shown_tags()])

    def _known(self, tagged: Any) -> tuple[list[Sentence], list[list[str]]]:
        """Tagged sentences with the columns that this tagger knows."""
        sentences, tags = tagged_sentences(tagged)
        return self._checked(sentences), tags

    def _checked(self, sentences: Any) -> list[Sentence]:
        """Sentences as lists of tuples."""
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise CorpusError("give a list of sentences, each a list of words")
        return [
            plain_sentence(one, self.columns_, number) for number, one in enumerate(sentences, 1)
        ]

    def _map(self, method: str, sentences: Any, *known: Any) -> Any:
        """What a method makes of each sentence, block by block, on the engine's workers."""
        check_is_fitted(self)
        given = self._checked(sentences)
        checked = [one for one in given if one]
        work = np.cumsum([0, *map(len, checked)])
        found: list[Any] = []
        with engine.phase("tag", int(work[-1]), "tokens") as advance:
            blocks = even_blocks(work, _TOKENS) if checked else []
            # One block is not worth a tagger's way to a cluster.
            workers = engine.workers() if len(blocks) > 1 else engine.current()
            some = (checked[slice(*block)] for block in blocks)
            for block, results in zip(blocks, workers.map(_run, some, self, method, *known)):
                found += results
                advance(int(work[block[1]] - work[block[0]]))
        # Every sentence has its answer in its place, one without tokens too.
        answers = iter(found)
        return [next(answers) if one else _NOTHING[method]() for one in given]

    def _best(self, data: EncodedSentences) -> np.ndarray:
        """The place in `tags_` of each token's tag."""
        return self._meaning[best_tags(data, self._features, self._weights)]

    def _tag(self, block: list[Sentence], data: EncodedSentences) -> list[list[tuple[str, ...]]]:
        tags = iter(np.array(self.tags_, object)[self._best(data)].tolist())
        return [[(*token, next(tags)) for token in sentence] for sentence in block]

    def _confidences(self, block: list[Sentence], data: EncodedSentences) -> list[np.ndarray]:
        p = self._marginals(data)
        return np.split(p[np.arange(len(p)), self._best(data)], data.borders[1:-1])

    def _marginals(self, data: EncodedSentences) -> np.ndarray:
        scores = local_scores(data, self._features, self._weights)
        p, _ = posteriors(data, scores, self._weights, self.temperature_)
        return p @ (self._meaning[:, None] == np.arange(len(self.tags_)))

    def _k_best(
        self, block: list[Sentence], data: EncodedSentences, k: int
    ) -> list[list[ScoredTagging]]:
        scores = local_scores(data, self._features, self._weights).astype(np.float64)
        _, totals = posteriors(data, scores, self._weights, self.temperature_)
        T, names = self._weights.T.astype(np.float64), np.array(self.tags_, object)[self._meaning]
        found = []
        for s, (first, last) in enumerate(pairwise(data.borders.tolist())):
            scores[last - 1] += self._weights.end
            paths, values = k_best_paths(T[-1], T[:-1], scores[first:last], k)
            words = ["|".join(token) for token in block[s]]
            logs = np.minimum(values / self.temperature_ - totals[s], 0)  # up to rounding
            found.append(
                [
                    ScoredTagging(list(zip(words, tags)), log)
                    for tags, log in zip(names[paths].tolist(), logs.tolist())
                ]
            )
        return found

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        return saved_tagger(self)

    @classmethod
    def _schema(cls, about):
        return tagger_schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        return restored_tagger(cls, arrays, about)


def _run(sentences: list[Sentence], tagger: Tagger, method: str, *known: Any) -> list[Any]:
    return getattr(tagger, method)(sentences, tagger._features.encode(sentences), *known)
