r"""Reranking of trees by features of their brackets.

The parse of a grammar has the most expected brackets: it has the largest :math:`E(c) = \sum_{b \in
c} (\mu(b) - \tau)` plus its expected tags (:mod:`eigentext.reranking.brackets`). The grammar cannot
see what is to the left and right of a phrase, which words head it and its parts, or how long it is.
A log-linear model corrects :math:`\mu(b)` by such features to :math:`p(b)`
(:mod:`eigentext.reranking.bracket_model`), and the answer is

.. math:: F(x) = \arg\max_{c \in GEN(x)} \; E(c) + \sum_{b \in c} (p(b) - \mu(b)),

the candidate with the most expected brackets by the corrected probabilities. Without anything
learned, this is the parse of the grammar. A model that prefers the most probable *tree* loses what
counting expected brackets gains. The features are those of
:mod:`eigentext.reranking.tree_features`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from eigentext import engine
from eigentext.corpus.trees import Tree, as_tree
from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.evaluate.vectors import words_and_bit_strings
from eigentext.kernels.candidate import Candidate, is_tree
from eigentext.linear.perceptron import FACTS
from eigentext.parameters import Choice, Number, is_whole
from eigentext.reranking import parameters
from eigentext.reranking._examples import LabeledLists, resolved
from eigentext.reranking._findings import tree_reranker_findings
from eigentext.reranking.bracket_model import fit_logistic, fit_perceptron, sigmoid
from eigentext.reranking.brackets import BracketLists
from eigentext.reranking.extraction import Extractor
from eigentext.reranking.folds import BaseModel, as_gold, jackknife, proposed, words_of
from eigentext.reranking.forest import best_tree, corrector
from eigentext.reranking.head_vectors import HeadVectors
from eigentext.reranking.measures import tree_f1
from eigentext.reranking.parameters import MODELS, several
from eigentext.reranking.pieces import pieces
from eigentext.reranking.report import Report, compare
from eigentext.storage.models import Saved
from eigentext.storage.schema import Array, Schema, Strings, damage

Validation = tuple[Iterable[Any], Iterable[Any]]  # lists of candidates, and gold
_LARGEST = 1e9  # of weights in a file


class TreeReranker(Estimator, Saved):
    """Chooses the best tree from each list of candidates, by features of their brackets.

    Lists come from ``parser.candidates``, whose trees carry the probability of each bracket. Other
    lists of trees with log-probabilities will do too.

    Parameters
    ----------
    model : "log-linear" or "perceptron"
        What learns: a log-linear model of brackets, or an averaged perceptron of whole trees.
    features : sequence of str
        Families of features (:mod:`eigentext.reranking.tree_features`).
    clusters : WordClusters, or a dictionary of words and bit strings, optional
        Clusters of words from plain text, for features of head words.
    vectors : Eigenwords, gensim's KeyedVectors, or (words, matrix), optional
        Word vectors from plain text, for features of head words.
    penalty : sequence of float
        Penalties for squared weights to choose from, for the log-linear model.
    n_iter : int
        The largest number of steps of L-BFGS.
    beta, margin : float
        For the perceptron: the weight of the base model's score, and by how much the right tree
        must win over one that has nothing right.
    n_epochs : int
        For the perceptron: passes over the lists.
    min_count : int
        Features of fewer brackets are left out.
    validation_share : float
        The share of the inputs, drawn at random, that is held out to choose the penalty on, if
        `fit` gets no `validation`.
    random_state : int

    Attributes
    ----------
    features_ : list of str
        The names of the features.
    weights_ : array, shape (n_features,)
    penalty_ : float
        The penalty that was chosen; 0 for the perceptron, which has none.
    measure_ : Measure
        F1 of labeled brackets.
    base_ : the base model of :meth:`fit_base`. It is not saved with the reranker.
    diagnostics_ : dict

    Examples
    --------
    >>> from eigentext import TreeReranker
    >>> high = "(S (NP (PRP I)) (VP (VBD ate) (NP (NN pie)) (PP (IN with) (NP (NN joy)))))"
    >>> low = "(S (NP (PRP I)) (VP (VBD ate) (NP (NP (NN pie)) (PP (IN with) (NP (NN joy))))))"
    >>> lists = [[(low, -1.0), (high, -1.2)]] * 8
    >>> reranker = TreeReranker(penalty=0.1, min_count=1).fit(lists, [high] * 8)
    >>> reranker.predict([[(low, -1.0), (high, -1.2)]])
    array([1])
    """

    _format = "eigentext.tree-reranker.v1"
    _table = parameters.TreeReranker

    def __init__(
        self,
        model: str = "log-linear",
        *,
        features: Sequence[str] = parameters.FAMILIES,
        clusters: Any = None,
        vectors: Any = None,
        penalty: Sequence[float] | float = (10.0, 20.0, 40.0),
        n_iter: int = 40,
        beta: float = 20.0,
        margin: float = 50.0,
        n_epochs: int = 5,
        min_count: int = 5,
        validation_share: float = 0.2,
        random_state: int = 0,
    ):
        self.model = model
        self.features = features
        self.clusters = clusters
        self.vectors = vectors
        self.penalty = penalty
        self.n_iter = n_iter
        self.beta = beta
        self.margin = margin
        self.n_epochs = n_epochs
        self.min_count = min_count
        self.validation_share = validation_share
        self.random_state = random_state

    # Learning.

    @learning
    def fit(
        self,
        candidates: Iterable[Any],
        gold: Iterable[Any],
        validation: Validation | None = None,
    ) -> Self:
        """Learn from the lists of a base model that has not seen the gold trees.

        Parameters
        ----------
        candidates
            A list for each input, best from ``parser.candidates``.
        gold
            The right tree for each input, or its place in the list.
        validation
            A pair of candidates and gold of other inputs, to choose the penalty on. If None and
            there are several penalties, a share of the inputs is held out, and the model with the
            chosen penalty is then trained on all inputs.
        """
        self._extractor = self._made_extractor(grows=True)
        lists = BracketLists.of(candidates, self._extractor.sentence)
        right = _gold_trees(lists, gold)
        if not (lists.lists.sizes > 1).any():
            raise ParameterError(
                "no input has two or more candidates, so that there is nothing to learn; give "
                "longer lists"
            )
        with engine.phase("features"):
            X = lists.features(self._extractor)
        kept = np.flatnonzero(np.bincount(X.indices, minlength=X.shape[1]) >= self.min_count)
        names = list(self._extractor.index)
        self.features_ = [names[column] for column in kept.tolist()]
        self._extractor = replace(
            self._extractor,
            index={name: column for column, name in enumerate(self.features_)},
            grows=False,
        )
        X = X[:, kept].tocsr()
        sizes = lists.lists.sizes
        self.measure_ = tree_f1
        self.diagnostics_: dict[str, Any] = {
            "n_inputs": len(sizes),
            "n_candidates": int(sizes.sum()),
            "n_brackets": len(lists.pieces),
            "n_features": len(self.features_),
            "n_empty": int((sizes == 0).sum()),
            "n_single": int((sizes == 1).sum()),
            "measure": tree_f1.name,
        }
        with engine.one_blas_thread(), engine.phase("rerank"):
            if self.model == "perceptron":
                self._learn_trees(lists, X, right)
            else:
                self._learn_brackets(lists, X, right, validation)
        return self

    @learning
    def fit_base(
        self,
        base: Callable[[], BaseModel],
        data: Iterable[Any],
        *,
        k: int = 25,
        n_folds: int = 5,
    ) -> Self:
        """Learn from trees, with the candidates of a base model by jack-knife.

        The base model is also fitted on all trees and kept as ``base_``. See :meth:`apply`.

        Parameters
        ----------
        base
            A callable without arguments that returns a new parser: ``lambda: LatentPCFG(16)``.
        data
            Trees.
        k
            The number of candidates of each kind for each sentence (``parser.candidates``).
        n_folds
            The number of folds. See :func:`~eigentext.reranking.folds.jackknife`.
        """
        gold = [as_gold(one) for one in data]
        lists = jackknife(
            lambda part: base().fit(part),
            lambda model, part: proposed(model, [words_of(one) for one in part], k),
            gold,
            n_folds,
        )
        self.fit(lists, gold)
        self.base_ = base().fit(gold)
        return self

    # Using.

    def predict(self, candidates: Iterable[Any]) -> np.ndarray:
        """Return the place of the best candidate in each list, or -1 for an empty list."""
        lists, scores = self._scored(candidates)
        return lists.lists.best(scores)

    def best(self, candidates: Iterable[Any]) -> list[Any]:
        """Return the best tree of each list, or None for an empty list."""
        lists, scores = self._scored(candidates)
        places = lists.lists.best(scores)
        return [one[i].structure if one else None for one, i in zip(lists.lists.lists, places)]

    def rerank(self, candidates: Iterable[Any]) -> list[list[Candidate]]:
        """Return the lists from best to worst. New scores replace the log-probabilities."""
        lists, scores = self._scored(candidates)
        return [
            [Candidate(one[i].structure, float(own[i])) for i in np.argsort(-own, kind="stable")]
            for one, own in zip(lists.lists.lists, lists.lists.split(scores))
        ]

    def apply(
        self,
        base: BaseModel,
        sentences: Iterable[str | Sequence[str]],
        *,
        k: int = 25,
        beam: int | None = None,
    ) -> list[Any]:
        """Return the best of the trees of a fitted parser for each sentence.

        Parameters
        ----------
        base
            The parser.
        sentences
            Sentences, or lists of their words.
        k
            The number of candidates of each kind (``parser.candidates``).
        beam
            If a number, all trees in the packed forest of the parser (``parser.forest``) are
            candidates, and the search keeps that many for each label over a span
            (:mod:`eigentext.reranking.forest`). A beam of 5 takes about twice as long as 25
            candidates of each kind.
        """
        words = [one.split() if isinstance(one, str) else list(one) for one in sentences]
        if beam is None:
            return self.best(proposed(base, words, k))
        check_is_fitted(self)
        if not is_whole(beam) or beam < 1:
            raise ParameterError(f"beam must be a whole number, 1 or more, not {beam!r}")
        if not hasattr(base, "forest"):
            raise ParameterError(f"{type(base).__name__} has no packed forest; leave out beam")
        return [self._searched(base, one, int(beam)) if one else None for one in words]

    def score(self, candidates: Iterable[Any], gold: Iterable[Any]) -> float:
        """Return the F1 of labeled brackets of the choices, from 0 to 1."""
        lists, scores = self._scored(candidates)
        return _value(lists, _gold_trees(lists, gold), scores)

    def evaluate(self, candidates: Iterable[Any], gold: Iterable[Any]) -> Report:
        """Compare the choices of the base model, of this reranker, and the best possible ones."""
        lists, scores = self._scored(candidates)
        examples = LabeledLists(lists.lists, gold, measure=tree_f1)
        return compare(examples, lists.lists.best(scores), lists.lists.best(lists.expected))

    def top_features(self, n: int = 20) -> list[tuple[str, float]]:
        """Return the features with the largest weights, positive or negative."""
        check_is_fitted(self)
        order = np.argsort(-np.abs(self.weights_), kind="stable")[:n]
        return [(self.features_[i], float(self.weights_[i])) for i in order]

    def _findings(self) -> Iterator[Finding]:
        return tree_reranker_findings(self.diagnostics_)

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        used = dict(self.parameters_)
        clusters, vectors = _paths(used.pop("clusters")), self._extractor.vectors
        del used["vectors"]
        arrays: dict[str, Any] = {"features": list(self.features_), "weights": self.weights_}
        if clusters is not None:
            arrays["clusters.words"] = list(clusters)
            arrays["clusters.paths"] = list(clusters.values())
        if vectors is not None:
            arrays["vectors.words"] = list(vectors.rows)
            arrays["vectors.coordinates"] = vectors.coordinates[:-1]
        return arrays, {
            "parameters": used,
            "model": self.parameters_.model,
            "penalty": self.penalty_,
            "diagnostics": self.diagnostics_,
        }

    @classmethod
    def _schema(cls, about):
        return Schema(
            arrays={
                "features": Strings("features", unique=True, filled=True),
                "weights": Array("float64", ("features",), largest=_LARGEST),
                "clusters.words": Strings("clustered", optional=True),
                "clusters.paths": Strings("clustered", optional=True),
                "vectors.words": Strings("vectors", unique=True, optional=True),
                "vectors.coordinates": Array(
                    "float32", ("vectors", "axes"), largest=_LARGEST, optional=True
                ),
            },
            about={
                "parameters": FACTS,
                "model": Choice("", of=MODELS),
                "penalty": Number(0.0, least=0),
                "diagnostics": FACTS,
            },
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        clusters = None
        if "clusters.words" in arrays:
            if "clusters.paths" not in arrays:
                raise damage("clusters.paths", "is missing")
            clusters = dict(zip(arrays["clusters.words"], arrays["clusters.paths"]))
        vectors = None
        if "vectors.words" in arrays:
            if "vectors.coordinates" not in arrays:
                raise damage("vectors.coordinates", "is missing")
            words, coordinates = arrays["vectors.words"], arrays["vectors.coordinates"]
            vectors = HeadVectors.known(list(words), np.array(coordinates))
        given = {"clusters": clusters, "vectors": vectors}
        self = learned_with(cls, {**about["parameters"], **given})
        if self.parameters_.model != about["model"]:
            raise damage("model", "is not that of the parameters")
        self.features_, self.weights_ = arrays["features"], np.array(arrays["weights"])
        self._extractor = self._made_extractor(self.features_)
        self.penalty_, self.diagnostics_ = float(about["penalty"]), about["diagnostics"]
        self.measure_ = tree_f1
        return self

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy. Vectors and clusters are shared, and stay fitted."""
        return type(self)(**self.get_params(deep=False))

    # Private steps.

    def _learn_brackets(
        self, lists: BracketLists, X: Any, gold: list[Tree], validation: Validation | None
    ) -> None:
        """Fit the log-linear model, after choosing its penalty."""
        y, odds = lists.right(gold), lists.odds
        penalties = [float(one) for one in several(self.penalty)]
        trials: list[dict[str, float]] = []
        if len(penalties) > 1 or validation is not None:
            is_held, tried, right, Z = np.zeros(len(gold), bool), lists, gold, X
            if validation is None:
                is_held = counted = self._held_out(len(gold))
            else:
                tried = BracketLists.of(validation[0], self._extractor.sentence)
                right, Z = _gold_trees(tried, validation[1]), tried.features(self._extractor)
                counted = np.ones(len(right), bool)
            learned = np.flatnonzero(~is_held[lists.owner])
            for penalty in penalties:
                w, _ = fit_logistic(X[learned], y[learned], odds[learned], penalty, self.n_iter)
                scores = tried.scores(sigmoid(tried.odds + Z @ w))
                trials.append({"penalty": penalty, "value": _value(tried, right, scores, counted)})
            best = max(trials, key=lambda trial: trial["value"])
            self.penalty_ = best["penalty"]
        else:
            self.penalty_ = penalties[0]
        self.weights_, n_steps = fit_logistic(X, y, odds, self.penalty_, self.n_iter)
        self.diagnostics_ |= {
            "penalty": self.penalty_,
            "n_steps": n_steps,
            "validation": max((trial["value"] for trial in trials), default=None),
            "trials": trials,
            "n_right": int(y.sum()),
        }

    def _learn_trees(self, lists: BracketLists, X: Any, gold: list[Tree]) -> None:
        """Fit the perceptron of whole trees."""
        y, borders = lists.right(gold), lists.lists.borders
        found = lists.contains.sum(axis=1)
        owner = np.repeat(np.arange(len(gold)), lists.lists.sizes)
        wanted = np.array([len(pieces(one)) for one in gold])[owner]
        f1 = 2 * (lists.contains @ y) / np.maximum(found + wanted, 1)
        weights, mistakes = fit_perceptron(
            (lists.contains @ X).tocsr(),
            self.beta * lists.expected,
            lists.lists.split(f1),
            borders,
            margin=self.margin,
            n_epochs=self.n_epochs,
        )
        self.weights_, self.penalty_ = weights, 0.0
        self.diagnostics_ |= {"n_mistakes": mistakes, "validation": None}

    def _made_extractor(self, names: Sequence[str] = (), *, grows: bool = False) -> Extractor:
        """Return what finds the features with these names, or all if it grows."""
        used = self.parameters_ if "parameters_" in vars(self) else self
        without = {"clusters": used.clusters is None, "vectors": used.vectors is None}
        return Extractor(
            [name for name in several(used.features) if not without.get(name)],
            _paths(used.clusters),
            None if used.vectors is None else HeadVectors.of(used.vectors),
            {name: column for column, name in enumerate(names)},
            grows,
        )

    def _searched(self, parser: Any, words: list[str], beam: int) -> Tree:
        """Return the best tree of the packed forest of a sentence."""
        used, forest = self.parameters_, parser.forest(words)
        of_trees = used.model == "perceptron"
        correct = corrector(forest, self._extractor, self.weights_, of_trees=of_trees)
        return best_tree(forest, correct, weight=used.beta if of_trees else 1.0, beam=beam)

    def _held_out(self, n: int) -> np.ndarray:
        n_held = round(self.validation_share * n)
        if not 0 < n_held < n:
            raise ParameterError(
                f"{n} inputs are too few to hold out a share of {self.validation_share:g}; give "
                "validation, or only one penalty"
            )
        is_held = np.zeros(n, bool)
        is_held[np.random.default_rng(self.random_state).permutation(n)[:n_held]] = True
        return is_held

    def _scored(self, candidates: Iterable[Any]) -> tuple[BracketLists, np.ndarray]:
        """Return the lists, and the scores of all their candidates."""
        check_is_fitted(self)
        used = self.parameters_
        lists = BracketLists.of(candidates, self._extractor.sentence)
        corrections = lists.features(self._extractor) @ self.weights_
        if used.model == "perceptron":
            return lists, used.beta * lists.expected + lists.contains @ corrections
        return lists, lists.scores(sigmoid(lists.odds + corrections))


def _gold_trees(lists: BracketLists, gold: Iterable[Any]) -> list[Tree]:
    """Return the gold tree of each list."""
    found = resolved(lists.lists, list(gold))
    for number, one in enumerate(found):
        if not is_tree(one):
            raise ParameterError(
                f"the gold of input {number} is no tree; use Reranker for tagged sequences"
            )
    return [as_tree(one) for one in found]


def _value(
    lists: BracketLists, gold: list[Any], scores: np.ndarray, counted: np.ndarray | None = None
) -> float:
    """Return the F1 of the candidates with the best scores, of the lists that are counted."""
    places = lists.lists.best(scores)
    total = np.zeros(3, np.int64)
    for number, (one, place) in enumerate(zip(lists.lists.lists, places)):
        if counted is None or counted[number]:
            total += tree_f1.counts(gold[number], one[place].structure if one else None)
    return tree_f1.value(total)


def _paths(clusters: Any) -> Mapping[str, str] | None:
    """Return the bit string of each word."""
    return None if clusters is None else dict(zip(*words_and_bit_strings(clusters)))
