r"""A tagger that profits from plain text: a linear model of tag sequences, with dense features.

With tags y and a sentence x, it is a global linear model over tag bigrams [Collins 2003],

.. math:: F(x) = \arg\max_{y} \sum_t w_{y_t} \cdot \phi(x, t) + T_{y_{t-1}, y_t}

The features :math:`\phi(x, t)` are ones for what feature templates find around t, and the
coordinates of vectors that were learned without labels. The vectors are eigenwords of the words
nearby, eigentokens, which project the context of the token itself, and the filtered states of an
HMM. Word clusters are features as bit strings. See [Cohen et al. 2013], "Semi-supervised learning
using CCA": "use supervised learning to predict label from hidden state, and from hidden state of
neighboring words", and [Stratos et al. 2015], section 7.2.

An averaged perceptron learns w and T (Collins 2002, "Discriminative training methods for hidden
Markov models", EMNLP). CRFsuite can learn them too, as a conditional random field.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from eigentext import engine
from eigentext.corpus import schemes
from eigentext.corpus.items import without_columns
from eigentext.corpus.nltk_adapters import NltkTagging
from eigentext.corpus.origins import origin_in, origin_of_tagged
from eigentext.corpus.policy import KEY, TokenPolicy, check_policy
from eigentext.corpus.raw_text import RawCheck
from eigentext.corpus.table_output import as_pandas
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.parameters import takes_old_names
from eigentext.storage import Saved
from eigentext.tagging import parameters
from eigentext.tagging._findings import tagger_findings, tagger_size_findings, word_facts
from eigentext.tagging.choices import (
    ARGUMENTS,
    Scheme,
    check_coverage,
    choose_columns,
    choose_templates,
)
from eigentext.tagging.decoding import Decoder, best_temperature, evaluated
from eigentext.tagging.features import EncodedSentences, FeatureExtractor, Sentence
from eigentext.tagging.learning import (
    PerceptronSettings,
    Trained,
    temperature_by_twin,
    train_crf,
    train_perceptrons,
)
from eigentext.tagging.saving import TaggerContent, restored_tagger, saved_tagger, tagger_schema
from eigentext.tagging.sources import TokenModel, given_sources
from eigentext.tagging.spans import Span, lines_of, list_of_texts
from eigentext.tagging.tables import token_schema, token_table
from eigentext.tagging.tagset import TagSet
from eigentext.tagging.templates import parse_templates
from eigentext.tagging.tokens import (
    PlainSentence,
    Tagged,
    TaggedSentence,
    plain_sentence,
    tagged_sentences,
)
from eigentext.tagging.weights import TrainingProblem, Weights
from eigentext.trellis import ScoredTagging, check_k

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.axes import Axes

    from eigentext.evaluate import Chunks, Tags


class Tagger(Saved, Estimator, NltkTagging):
    """A tagger that learns from tagged sentences, and from models of plain text.

    Parameters
    ----------
    model : "perceptron" or "crf"
        How weights are learned. A perceptron learns in seconds. A CRF is a probabilistic model that
        takes longer (``pip install eigentext[crf]``).
    features : "auto", "chunk", "ner", "pos" or list of str
        Templates; :mod:`~eigentext.tagging.templates` explains them. "auto" is "pos" if the tags
        are not tags of chunks. If they are, it is "chunk" for tokens with parts of speech, unless
        chunks are rare, as names are (more than 60% of the tokens outside), else "ner".
    vectors : Eigenwords, gensim's KeyedVectors, or (words, matrix), optional
        Vectors of words.
    clusters : WordClusters, or a dictionary of words and bit strings, optional
        Clusters of words.
    eigentokens, states, parser : fitted models with ``transform(sentences)``, optional
        Vectors of tokens in context: :class:`Eigentokens`, an :class:`HMM`, which gives its
        filtered states, and a :class:`PCFG` or :class:`LatentPCFG`, which gives the states of the
        token's node. Other models with this method can be used, too.
    columns : list of str, optional
        The names of the parts of a token before its tag. The default is ("word",) or ("word",
        "pos").
    scheme : "auto", "bio", "bilou" or None
        The scheme that every returned tagging follows. "bilou" learns special tags for the first,
        the last and the only token of a chunk from BIO tags, and returns BIO tags. "auto" is the
        scheme of the tags: "bio", "bilou" or IOBES, or None if they are not tags of chunks. IOB1 is
        read as "bio". So are tags that break the scheme, by the rules of conlleval, and a warning
        counts them.
    scale : float
        The root mean square of the coordinates of vectors. Other features are 1.
    min_count : int
        Features that occur less often are left out.
    n_epochs : int
        The number of passes of the perceptron.
    n_runs : int
        The number of perceptrons. Each sees the sentences in another order, and they run in
        parallel on the workers of the engine. Their mean is a little better than each of them. With
        `validation`, all make the number of passes that is best for the first.
    margin : float
        How far the right tagging must be ahead of another, for each wrong tag in that. If it is
        not, the perceptron learns from the sentence.
    c1, c2 : float
        The penalties of the CRF for absolute values and for squares of weights.
    n_iter : int
        The largest number of iterations of the CRF.
    random_state : int
        The seed of the order of sentences. The same seed gives the same bits.

    Attributes
    ----------
    tags_ : list of str
    columns_, templates_ : lists of str
    policy_ : TokenPolicy
        How raw text becomes tokens like those of the training sentences.
    temperature_ : float
        Scores divided by it are logarithms of probabilities. :meth:`calibrate` chooses it on
        sentences that you give, and `fit` on `validation`. Without `validation` it is 1 for a CRF.
        For a perceptron it is then chosen for another perceptron, which learns from a part of the
        sentences, on another part.
    diagnostics_ : dict
        The numbers of sentences, tokens, tags and features, the mistakes of each pass, the shares
        of the tokens that have vectors, and the scores of each pass on ``validation``.
    provenance_ : dict
        What it was learned from: the numbers of sentences, tokens and words, a fingerprint of the
        tagged sentences (`sources`), and the provenance of vectors and other models (`given`).

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
        eigentokens: TokenModel | None = None,
        states: TokenModel | None = None,
        parser: TokenModel | None = None,
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
        self.parser = parser
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

    @takes_old_names(dev="validation")
    @learning
    def fit(
        self,
        tagged: Iterable[TaggedSentence],
        y: None = None,
        *,
        validation: Iterable[TaggedSentence] | None = None,
    ) -> Self:
        """Learn from sentences: lists of (word, tag), (word, part of speech, tag), …

        If other sentences are given as `validation`, the tagger uses the number of passes, up to
        `n_epochs`, that is best for them, and calibrates its confidences on them.
        """
        sentences, tags = tagged_sentences(tagged)
        held_out = None if validation is None else tagged_sentences(validation)
        given = {one: getattr(self, one) for one in ARGUMENTS.values()}
        self.provenance_ = origin_of_tagged(sentences, tags, given)
        self._tagset, tags, n_changed = TagSet.of(self.scheme, tags)
        self.tags_ = self._tagset.names
        n_outside = sum(one.count(schemes.OUTSIDE) for one in tags)
        self._prepare(sentences, n_outside / sum(map(len, tags)))
        self.diagnostics_ = {
            "n_sentences": len(sentences),
            "n_tokens": sum(map(len, sentences)),
            "n_tags": len(self.tags_),
            **word_facts(sentences),
            "coverage": self._features.coverage(sentences),
        }
        if n_changed:
            self.diagnostics_["n_changed_tags"] = n_changed
        check_coverage(self.diagnostics_["coverage"])
        if held_out is not None:
            held_out = self._checked(held_out[0]), held_out[1]
        data = self._features.learn(sentences, self.min_count, self.scale)
        self._learn(self._problem(data, self._tagset.numbers(tags)), held_out)
        self._forget_unused()
        return self

    def calibrate(self, tagged: Iterable[TaggedSentence]) -> Self:
        """Choose the temperature that makes the tags of these sentences most probable.

        Give sentences that the tagger has not learned from. Calibration changes confidences, and
        never a tagging.
        """
        check_is_fitted(self)
        self.temperature_ = self._temperature(*self._known(tagged))
        return self

    # Using.

    def tag(self, sentences: Iterable[PlainSentence]) -> list[list[tuple[str, ...]]]:
        """Return each sentence with the best tags, after the parts of its tokens: (word, …, tag).

        A sentence is a list of words, a list of tuples if the tagger has more columns, or a string
        of raw text, which is split like the training sentences (`policy_`). A sentence without
        words is returned as [].
        """
        return self._decoder.tags(self._checked(sentences))

    def confidences(self, sentences: Iterable[PlainSentence]) -> list[np.ndarray]:
        """Return for each token the probability of its tag in `tag`: p(y_t | sentence)."""
        return self._decoder.confidences(self._checked(sentences))

    def spans(self, text: str) -> list[Span]:
        """Return the chunks of raw text as (start, end, label, confidence): ``text[start:end]``.

        Each line is a sentence, split like the training sentences (`policy_`). The confidence is
        the probability of the whole chunk: that it begins here, has these tags, and ends there. If
        the tags are not tags of chunks, each token is a span.

        Examples
        --------
        >>> tagged = [[("Ann", "B-PER"), ("Lee", "I-PER"), ("left", "O"), (".", "O")]] * 3
        >>> [span[:3] for span in Tagger().fit(tagged).spans("Ann Lee left.")]
        [(0, 7, 'PER')]
        """
        return self.spans_many([text])[0]

    def spans_many(self, texts: Iterable[str]) -> list[list[Span]]:
        """Return the spans of each text; see :meth:`spans`. Faster than text by text."""
        decoder, texts = self._decoder, list_of_texts(texts)
        lines = [lines_of(x, n, self.columns_, self.policy_) for n, x in enumerate(texts, 1)]
        found = iter(decoder.spans([line.tokens for some in lines for line in some]))
        return [[span for line in some for span in line.placed(next(found))] for some in lines]

    def to_arrow(
        self, sentences: Iterable[PlainSentence], *, confidence: bool = False
    ) -> "pa.Table":
        """Tag sentences, and return a table of Arrow with a row for each token.

        The columns are sentence and token (numbers from 1), those of the tagger (word, …), tag,
        and with `confidence` its probability.
        """
        checked = self._checked(sentences)
        found = self._decoder.confidences(checked) if confidence else None
        schema = token_schema(self.columns_, confidence=confidence)
        return token_table(schema, self._decoder.tags(checked), found)

    def to_pandas(
        self, sentences: Iterable[PlainSentence], *, confidence: bool = False
    ) -> "pd.DataFrame":
        """Tag sentences, and return a data frame of pandas; see :meth:`to_arrow`."""
        return as_pandas(self.to_arrow(sentences, confidence=confidence))

    def marginals(self, sentence: PlainSentence) -> np.ndarray:
        """Return p(tag at t | sentence), a row for each token and a column for each of `tags_`."""
        decoder = self._decoder
        (tokens,) = self._checked([sentence])
        return decoder.marginals(tokens)

    def k_best(self, sentence: PlainSentence, k: int) -> list[ScoredTagging]:
        """Return the k best taggings of a sentence, best first, or all if there are fewer.

        The search is exact. Taggings are pairs of a token and its tag, as rerankers need them. A
        token with several columns is written as in "dog|NN".
        """
        return self.k_best_many([sentence], k)[0]

    def k_best_many(self, sentences: Iterable[PlainSentence], k: int) -> list[list[ScoredTagging]]:
        """Return the k best taggings of each sentence. The workers of the engine share the work."""
        check_k(k)
        return self._decoder.k_best(self._checked(sentences), k)

    def evaluate(self, tagged: Iterable[TaggedSentence]) -> "Chunks | Tags":
        """Compare with tagged sentences: chunks, by the rules of conlleval, or single tags.

        Returns
        -------
        Chunks or Tags
            See :func:`eigentext.evaluate.chunks` and :func:`eigentext.evaluate.tags`.
        """
        decoder = self._decoder
        return evaluated(decoder, *self._known(tagged))

    def score(self, tagged: Iterable[TaggedSentence], y: None = None) -> float:
        """Return the F1 of chunks, or the accuracy of tags, from 0 to 1. See :meth:`evaluate`."""
        return float(np.nan_to_num(self.evaluate(tagged).f1))

    def top_features(self, tag: str, topn: int = 10) -> list[tuple[str, float]]:
        """Return the features with the largest weights for a tag, and these weights.

        Examples
        --------
        >>> tagged = [[("a", "D"), ("dog", "N")], [("the", "D"), ("cat", "N")]]
        >>> Tagger(features=["word[0]", "word[-1]"]).fit(tagged).top_features("N", 1)[0][0]
        'word[0]=dog'
        """
        check_is_fitted(self)
        if tag not in self.tags_:
            raise ParameterError(f"unknown tag {tag!r}; the tags are {', '.join(self.tags_)}")
        columns = self._tagset.meaning == self.tags_.index(tag)
        weights = self._weights.W[:, columns].sum(axis=1, dtype=np.float64)
        best = np.argsort(-weights, kind="stable")[: max(topn, 0)]
        return [(self._features.name(f), float(weights[f])) for f in best.tolist()]

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the wrong tags of each pass, or the loss of each CRF step; return the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        found = self.diagnostics_
        if "loss" in found:
            return plots.curves({"loss": found["loss"]}, xlabel="step", ax=ax)
        return plots.curves({"wrong tags": found["wrong_tags"]}, xlabel="pass", ax=ax)

    def _findings(self) -> Iterator[Finding]:
        used = self.parameters_
        return tagger_findings(
            self.diagnostics_,
            n_epochs=used.n_epochs,
            n_iter=used.n_iter,
            temperature=self.temperature_,
        )

    def _size_findings(self) -> Iterator[Finding]:
        return tagger_size_findings(self.diagnostics_)

    # Private steps.

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy. Sources are shared, not copied, and stay fitted."""
        return type(self)(**self.get_params(deep=False))

    @property
    def _decoder(self) -> Decoder:
        check_is_fitted(self)
        return Decoder(self._features, self._weights, self._tagset, self.temperature_)

    def _prepare(self, sentences: list[Sentence], outside: float) -> None:
        """Choose the columns and the templates, and make the features of them.

        `outside` is the share of the tokens that are outside of all chunks.
        """
        columns = choose_columns(self.columns, len(sentences[0][0]))
        every = self.vectors, self.clusters, self.eigentokens, self.states, self.parser
        clusters, sources = given_sources(*every)
        given = [*sources, *(["cluster"] if clusters else [])]
        learned = self._tagset.learned
        templates = choose_templates(self.features, columns, learned, given, outside)
        self._features = FeatureExtractor(parse_templates(templates), columns, clusters, sources)
        self.columns_, self.templates_ = list(columns), templates
        self.policy_ = TokenPolicy.of(Counter(token[0] for one in sentences for token in one))

    def _problem(self, data: EncodedSentences, gold: np.ndarray) -> TrainingProblem:
        features = self._features
        start = Weights.zeros(features, self._tagset)
        return TrainingProblem(data, features.places, features.widths, gold, start)

    def _learn(self, problem: TrainingProblem, held_out: Tagged | None) -> None:
        """Learn the weights and the temperature."""
        settings = PerceptronSettings(self.n_epochs, self.n_runs, self.margin, self.random_state)
        if self.model == "crf":
            found = train_crf(problem, c1=self.c1, c2=self.c2, n_iter=self.n_iter)
        else:
            found = self._perceptrons(problem, settings, held_out)
        self._weights = found.weights
        self.diagnostics_ |= found.diagnostics
        if held_out is not None:
            self.temperature_ = self._temperature(*held_out)
        elif self.model == "perceptron":
            self.temperature_ = temperature_by_twin(problem, self._features, settings)
        else:
            self.temperature_ = 1.0

    def _perceptrons(
        self, problem: TrainingProblem, settings: PerceptronSettings, held_out: Tagged | None
    ) -> Trained:
        if held_out is None:
            return train_perceptrons(problem, settings, None)

        def score(weights: Weights) -> float:
            # On threads: to send the weights to Dask workers after each pass would take too long.
            with engine.report_to(None), engine.use(engine.current()):
                decoder = Decoder(self._features, weights, self._tagset)
                return float(np.nan_to_num(evaluated(decoder, *held_out).f1))

        return train_perceptrons(problem, settings, score)

    def _temperature(self, sentences: list[Sentence], tags: list[list[str]]) -> float:
        gold, data = self._tagset.numbers(tags), self._features.encode(sentences)
        return best_temperature(data, self._features, self._weights, gold)

    def _forget_unused(self) -> None:
        """Drop the features without a weight. They have no effect."""
        used = np.flatnonzero(self._weights.W.any(axis=1))
        self.diagnostics_ |= {"n_features": len(self._weights.W), "n_weighted": len(used)}
        self._features.keep(used)
        self._weights = self._weights._replace(W=self._weights.W[used])

    def _known(self, tagged: Iterable[TaggedSentence]) -> Tagged:
        """Check tagged sentences, which must have the columns of this tagger."""
        sentences, tags = tagged_sentences(tagged)
        return self._checked(sentences), tags

    def _checked(self, sentences: Iterable[PlainSentence]) -> list[Sentence]:
        """Return sentences as lists of tuples."""
        check_is_fitted(self)
        sentences = without_columns(sentences)
        if isinstance(sentences, str) or not isinstance(sentences, Iterable):
            raise CorpusError(
                "give a list of sentences, each a string of raw text or a list of words"
            )
        found, check = [], RawCheck(self.policy_)
        for number, one in enumerate(sentences, 1):
            given = self.policy_.split(one) if isinstance(one, str) else one
            found.append(plain_sentence(given, self.columns_, number))
            if given is one:
                check.see([token[0] for token in found[-1][-1:]])
        check.warn(stacklevel=3)
        return found

    # The file format.

    def _to_saved(self):
        decoder, used = self._decoder, dict(self.parameters_)
        content = TaggerContent(used, decoder, self.templates_, self.diagnostics_)
        arrays, about = saved_tagger(content)
        return arrays, about | {KEY: self.policy_.to_saved(), "provenance": self.provenance_}

    @classmethod
    def _schema(cls, about):
        check_policy(about)
        return tagger_schema(about)

    @classmethod
    def _from_saved(cls, arrays, about):
        content = restored_tagger(arrays, about)
        self = learned_with(cls, content.parameters)
        decoder = content.decoder
        self._features, self._weights = decoder.features, decoder.weights
        self._tagset, self.temperature_ = decoder.tagset, decoder.temperature
        self.tags_, self.columns_ = decoder.tagset.names, list(decoder.features.columns)
        self.templates_, self.diagnostics_ = content.templates, content.diagnostics
        self.provenance_ = origin_in(about)
        words = arrays.get("symbols.word") or arrays.get("symbols.lower") or []
        self.policy_ = TokenPolicy.of_file(about, lambda: TokenPolicy.of_words(words))
        return self
