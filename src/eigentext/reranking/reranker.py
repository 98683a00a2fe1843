r"""Reranking: choose the best of a base model's candidates by all of their fragments.

A base model (a parser or a tagger) proposes GEN(x), a list of candidates with log-probabilities L.
A kernel perceptron learns from other inputs which candidates are right. The answer is

.. math:: F(x) = \arg\max_{c \in GEN(x)} \; b L(c) + \sum_{s} \alpha_s K(s, c)

([Collins 2003], "Refinements of the kernels"), so that the ranking of the base model is the
default. During training b is small. With a large b the perceptron would see only the mistakes of
the base model, and would not learn what the base model gets right. The right candidate y must win
by a margin: other candidates get a head start, which is larger the worse they are by the measure
(Taskar, Guestrin and Koller 2003, "Max-margin Markov networks"). Only differences of L within a
list matter.

Three choices are made on held-out lists: the weight b, the decay of fragments with their size, and
whether the last weights, their mean or their votes decide. Each decay needs one training run. Every
b is then tried with stored values of L and of the kernel scores, so that no kernel is computed
again.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.kernels.candidate import Candidate, is_tree
from eigentext.kernels.kernel import Kernel
from eigentext.kernels.saving import described, kernel_of
from eigentext.linear.dual import Average, KernelPerceptron
from eigentext.linear.perceptron import FACTS
from eigentext.parameters import Choice, Given, Number, takes_old_names
from eigentext.reranking import parameters
from eigentext.reranking._examples import CandidateLists, LabeledLists
from eigentext.reranking._findings import reranker_findings
from eigentext.reranking.folds import BaseModel, as_gold, jackknife, n_best, words_of
from eigentext.reranking.measures import MEASURES
from eigentext.reranking.parameters import BETAS, several
from eigentext.reranking.report import Report, compare
from eigentext.storage.models import Saved
from eigentext.storage.schema import Schema

DECAYS = (0.2, 0.3, 0.4, 0.5)
Validation = tuple[Iterable[Any], Iterable[Any]]  # lists of candidates, and gold


class RerankerTrial(NamedTuple):
    """The values of three parameters, and the measure of their choices on the held-out lists."""

    decay: float | None
    beta: float
    average: Average
    value: float


class Reranker(Estimator, Saved):
    """Chooses the best tree or tagging from each n-best list.

    A candidate is a pair of a structure and its log-probability. The order within a list does not
    matter, except if there are no log-probabilities: then it is the ranking of the base model. A
    log-probability of -inf, which a parser gives to a tree outside its grammar, counts as one less
    than the lowest finite one of its list. An input without candidates is left out of training, and
    gets no answer in prediction.

    Parameters
    ----------
    kernel : Kernel or None
        None is :class:`~eigentext.TreeKernel` for trees and :class:`~eigentext.SequenceKernel` for
        tagged sequences.
    decay : sequence of float, or None
        Values to choose from, which are set on the kernel. None is (0.2, 0.3, 0.4, 0.5) if there is
        no `kernel`; with a `kernel`, None leaves its decay unchanged.
    beta : sequence of float
        Weights b of the log-probability to choose from, in rising order.
    training_beta : float
        The weight of the log-probability in training.
    margin : float
        By how much, in training, the right candidate must beat a candidate that has nothing right.
        The margin over other candidates is in proportion to what they lack. The unit is the median
        of K of a right candidate with itself.
    n_epochs : int
        Passes over the training lists.
    average : "mean", "vote", None, or several of them
        What decides: the mean of the weights after each step, their votes, or the last weights. Of
        several values, the best on the held-out lists is used. Votes use the b that is best for the
        mean.
    closest : bool
        What to do if the gold structure is not among the candidates. If True, the candidate that is
        closest to it by the measure takes its place. If False, `fit` raises ParameterError.
    validation_share : float
        The share of the inputs, drawn at random, that is held out if `fit` gets no `validation`.
    random_state : int

    Attributes
    ----------
    perceptron_ : KernelPerceptron
    decay_, beta_, average_
        The values that were chosen.
    measure_ : Measure
    base_ : the base model of :meth:`fit_base`. It is not saved with the reranker.
    diagnostics_ : dict
        The trials with their measure on the held-out lists (the best one is ``validation``), the
        mistakes of each epoch, the number of supports, the number of inputs with no candidate or
        only one, and the number of gold structures that were replaced.

    Examples
    --------
    >>> from eigentext import Reranker
    >>> right, wrong = [("time", "N"), ("flies", "V")], [("time", "N"), ("flies", "N")]
    >>> lists = [[(wrong, -1.0), (right, -1.5)]] * 4
    >>> reranker = Reranker(decay=[0.5]).fit(lists, [right] * 4)
    >>> reranker.best([[(wrong, -2.0), (right, -2.1)]])
    [[('time', 'N'), ('flies', 'V')]]
    """

    _format = "eigentext.reranker.v1"
    _table = parameters.Reranker

    @takes_old_names(**parameters.Reranker.renamed)
    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        decay: Sequence[float] | float | None = None,
        beta: Sequence[float] | float = BETAS,
        training_beta: float = 0.3,
        margin: float = 0.4,
        n_epochs: int = 5,
        average: Average | Sequence[Average] = "mean",
        closest: bool = True,
        validation_share: float = 0.2,
        random_state: int = 0,
    ):
        self.kernel = kernel
        self.decay = decay
        self.beta = beta
        self.training_beta = training_beta
        self.margin = margin
        self.n_epochs = n_epochs
        self.average: Average | Sequence[Average] = average
        self.closest = closest
        self.validation_share = validation_share
        self.random_state = random_state

    # Learning.

    @takes_old_names(dev="validation")
    @learning
    def fit(
        self,
        candidates: Iterable[Any],
        gold: Iterable[Any],
        validation: Validation | None = None,
    ) -> Self:
        """Learn from the lists of a base model that has not seen the gold structures.

        Parameters
        ----------
        candidates
            A list for each input.
        gold
            The right structure for each input, or its place in the list.
        validation
            A pair of candidates and gold of other inputs, to choose parameters on. If None, a share
            of the inputs is held out, and the model with the chosen parameters is then trained on
            all inputs.
        """
        examples = LabeledLists(CandidateLists(candidates), gold, closest=self.closest)
        kernels = self._kernels(examples.gold[0])
        train, held_out = self._parts(examples, validation, len(kernels))
        models, trials = self._searched(kernels, train, held_out)
        best = _best_trial(trials)
        self.decay_, self.beta_, value = best.decay, best.beta, best.value
        self.average_: Average = best.average
        self.perceptron_, self.measure_ = models[best.decay], examples.measure
        if train is not examples:
            self._train_on_all(kernels[best.decay], examples)
        sizes = examples.lists.sizes
        self.diagnostics_ = {
            "decay": self.decay_,
            "beta": self.beta_,
            "average": self.average_,
            "validation": None if np.isnan(value) else value,
            "measure": self.measure_.name,
            "n_inputs": len(sizes),
            "n_candidates": int(sizes.sum()),
            "n_empty": int((sizes == 0).sum()),
            "n_single": int((sizes == 1).sum()),
            "n_replaced": int(examples.replaced.sum()),
            "n_mistakes": self.perceptron_.n_mistakes_,
            "n_support": len(self.perceptron_.support_),
            "trials": [trial._asdict() for trial in trials if held_out is not None],
        }
        return self

    @learning
    def fit_base(
        self,
        base: Callable[[], BaseModel],
        data: Iterable[Any],
        *,
        k: int = 20,
        n_folds: int = 10,
    ) -> Self:
        """Learn from trees or tagged sentences, with the lists of a base model by jack-knife.

        The base model is also fitted on all data and kept as ``base_``. See :meth:`apply`.

        Parameters
        ----------
        base
            A callable without arguments that returns a new model with ``fit(data)`` and
            ``k_best(words, k)``, for example ``PCFG``, ``HMMTagger`` or ``lambda: LatentPCFG(8)``.
        data
            Trees, or lists of (word, tag).
        k
            The number of candidates for each sentence.
        n_folds
            The number of folds. See :func:`~eigentext.reranking.folds.jackknife`.
        """
        gold = [as_gold(one) for one in data]
        lists = jackknife(
            lambda part: base().fit(part),
            lambda model, part: n_best(model, [words_of(one) for one in part], k),
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
        return lists.best(scores)

    def best(self, candidates: Iterable[Any]) -> list[Any]:
        """Return the best structure of each list, or None for an empty list."""
        lists, scores = self._scored(candidates)
        places = lists.best(scores)
        return [one[i].structure if one else None for one, i in zip(lists.lists, places)]

    def rerank(self, candidates: Iterable[Any]) -> list[list[Candidate]]:
        """Return the lists from best to worst. New scores replace the log-probabilities."""
        lists, scores = self._scored(candidates)
        return [
            [Candidate(one[i].structure, float(own[i])) for i in np.argsort(-own, kind="stable")]
            for one, own in zip(lists.lists, lists.split(scores))
        ]

    def apply(
        self, base: BaseModel, sentences: Iterable[str | Sequence[str]], *, k: int = 20
    ) -> list[Any]:
        """Return the best of the `k` best structures of a fitted base model for each sentence."""
        words = [one.split() if isinstance(one, str) else list(one) for one in sentences]
        return self.best(n_best(base, words, k))

    def score(self, candidates: Iterable[Any], gold: Iterable[Any]) -> float:
        """Return the measure of the choices, F1 or accuracy, from 0 to 1."""
        return self.evaluate(candidates, gold).reranked

    def evaluate(self, candidates: Iterable[Any], gold: Iterable[Any]) -> Report:
        """Compare the choices of the base model, of this reranker, and the best possible ones."""
        lists, scores = self._scored(candidates)
        return compare(LabeledLists(lists, gold, measure=self.measure_), lists.best(scores))

    def _findings(self) -> Iterator[Finding]:
        return reranker_findings(self.diagnostics_)

    # The file format.

    def _to_saved(self):
        check_is_fitted(self)
        arrays, about = self.perceptron_._to_saved()
        used = dict(self.parameters_)
        kernel = used.pop("kernel")
        return arrays, {
            "parameters": used,
            "kernel": None if kernel is None else described(kernel),
            "chosen": {"decay": self.decay_, "beta": self.beta_, "average": self.average_},
            "measure": self.measure_.name,
            "diagnostics": self.diagnostics_,
            "perceptron": about,
        }

    @classmethod
    def _schema(cls, about):
        def is_chosen(found: object) -> bool:
            return (
                isinstance(found, dict)
                and Number(None).accepts(found.get("decay"))
                and Number(0.0, least=0).accepts(found.get("beta"))
                and KernelPerceptron._table["average"].accepts(found.get("average"))
            )

        return Schema(
            about={
                "parameters": FACTS,
                "kernel": Given(None, what="a kernel", test=lambda one: isinstance(one, dict)),
                "chosen": Given({}, what="a decay, a beta and an average", test=is_chosen),
                "measure": Choice("", of=tuple(MEASURES)),
                "diagnostics": FACTS,
                "perceptron": FACTS,
            }
        )

    @classmethod
    def _from_saved(cls, arrays, about):
        kernel = None if about["kernel"] is None else kernel_of(about["kernel"])
        self = learned_with(cls, {**about["parameters"], "kernel": kernel})
        KernelPerceptron._schema(about["perceptron"]).check(arrays, about["perceptron"])
        self.perceptron_ = KernelPerceptron._from_saved(arrays, about["perceptron"])
        chosen = about["chosen"]
        self.decay_, self.beta_, self.average_ = (chosen[x] for x in ("decay", "beta", "average"))
        self.measure_ = MEASURES[about["measure"]]
        names = {"dev": "validation"}  # older files have the first name
        found = about["diagnostics"].items()
        self.diagnostics_ = {names.get(name, name): value for name, value in found}
        return self

    # Private steps.

    def _kernels(self, structure: Any) -> dict[float | None, Kernel]:
        """Return the kernel of each decay to try."""
        kernel, decays = self.kernel, self.decay
        if kernel is None:
            kernel, decays = _usual_kernel(structure), DECAYS if decays is None else decays
        given = kernel.get_params(deep=False)
        if decays is None:
            found = {given.get("decay"): kernel}
        elif "decay" in given:
            found = {d: type(kernel)(**given | {"decay": d}) for d in several(decays)}
        else:
            raise ParameterError(f"{kernel!r} has no decay to choose; leave decay=None")
        return found

    def _parts(
        self, examples: LabeledLists, validation: Validation | None, n_kernels: int
    ) -> tuple[LabeledLists, LabeledLists | None]:
        """Return what to train on while choosing, and what to choose on, if there is a choice."""
        if validation is not None:
            candidates, gold = validation
            lists = CandidateLists(candidates)
            return examples, LabeledLists(lists, gold, measure=examples.measure)
        n_choices = n_kernels * len(several(self.average)) * len(several(self.beta))
        return self._split(examples) if n_choices > 1 else (examples, None)

    def _split(self, examples: LabeledLists) -> tuple[LabeledLists, LabeledLists]:
        """Split examples at random into those to train on and those that are held out."""
        n, share = len(examples.lists), self.validation_share
        n_held = round(share * n)
        if not 0 < n_held < n:
            raise ParameterError(
                f"{n} inputs are too few to hold out a share of {share:g}; give validation, or "
                "only one value each of decay, beta and average"
            )
        order = np.random.default_rng(self.random_state).permutation(n)
        return examples[np.sort(order[n_held:])], examples[np.sort(order[:n_held])]

    def _searched(
        self, kernels: dict[Any, Kernel], train: LabeledLists, held_out: LabeledLists | None
    ) -> tuple[dict[Any, KernelPerceptron], list[RerankerTrial]]:
        """Train a perceptron for each decay, in parallel, and try it on the held-out lists."""
        some = next(iter(kernels.values()))
        for part in (train, held_out) if held_out else (train,):
            part.lists.encoded(some)  # computed once, before threads ask for it

        def run(decay: float | None) -> tuple[Any, KernelPerceptron, list[RerankerTrial]]:
            model = self._trained(kernels[decay], train)
            return decay, model, self._tried(decay, model, held_out)

        models, trials = {}, []
        with engine.one_blas_thread(), engine.phase("rerank", len(kernels), "runs") as advance:
            for decay, model, tried in engine.current().map(run, kernels):
                models[decay] = model
                trials += tried
                advance(1)
        return models, trials

    def _trained(self, kernel: Kernel, examples: LabeledLists) -> KernelPerceptron:
        """Train a perceptron on all lists that are not empty."""
        lists, right = examples.lists, examples.right[examples.lists.sizes > 0]
        if not (lists.sizes > 1).any():
            raise ParameterError(
                "no input has two or more candidates, so that there is nothing to learn; give "
                "longer lists"
            )
        structures = [[one.structure for one in candidates] for candidates in lists.full]
        offsets = lists.weighted_logs(self.training_beta)
        encoded = lists.encoded(kernel)
        if self.margin:
            places = lists.borders[:-1][lists.sizes > 0] + right
            margin = self.margin * np.median(kernel.diagonal(encoded[places]))
            for own, values in zip(offsets, examples.values(), strict=True):
                own += margin * (values.max() - values)
        model = KernelPerceptron(kernel, n_epochs=self.n_epochs)
        return model.fit(structures, right, offsets=offsets, encoded=encoded)

    def _train_on_all(self, kernel: Kernel, examples: LabeledLists) -> None:
        """Train the chosen model on all examples.

        Kernel scores are sums over updates. More examples give more updates, so that b grows with
        the number of updates.
        """
        before = len(self.perceptron_.mistakes_)
        self.perceptron_ = self._trained(kernel, examples)
        if before:
            self.beta_ *= len(self.perceptron_.mistakes_) / before

    def _tried(
        self, decay: float | None, model: KernelPerceptron, held_out: LabeledLists | None
    ) -> list[RerankerTrial]:
        """Try every average and b on the held-out lists, with one kernel evaluation per average."""
        betas = [float(beta) for beta in several(self.beta)]
        if held_out is None:
            return [RerankerTrial(decay, betas[0], several(self.average)[0], np.nan)]
        lists = held_out.lists

        def tried(beta: float, average: Average, scores: np.ndarray) -> RerankerTrial:
            counts = held_out.counts_at(lists.best(scores)).sum(axis=0)
            return RerankerTrial(decay, beta, average, held_out.measure.value(counts))

        trials = []
        for average in several(self.average):
            # Votes use the b that is best for their mean, because both have the same scale.
            scores = _scores(model, lists, "mean" if average else None, 0.0)
            some = [tried(beta, average, scores + beta * lists.logs) for beta in betas]
            if average == "vote":
                beta = _best_trial(some).beta
                some = [tried(beta, average, _scores(model, lists, average, beta))]
            trials += some
        return trials

    def _scored(self, candidates: Iterable[Any]) -> tuple[CandidateLists, np.ndarray]:
        """Return the lists, and the scores of all their candidates."""
        check_is_fitted(self)
        lists = CandidateLists(candidates)
        return lists, _scores(self.perceptron_, lists, self.average_, self.beta_)


def _scores(
    model: KernelPerceptron, lists: CandidateLists, average: Average, beta: float
) -> np.ndarray:
    """Return beta L + the score of the perceptron for all candidates, or the number of votes."""
    if not lists.full:
        return np.empty(0)
    offsets, encoded = lists.weighted_logs(beta), lists.encoded(model.kernel_)
    return np.concatenate(
        model.scores(lists.full, average=average, offsets=offsets, encoded=encoded)
    )


def _best_trial(trials: list[RerankerTrial]) -> RerankerTrial:
    """Return the first of the best trials; if several b are equally good, the middle one."""
    best = max(trials, key=lambda trial: trial.value)
    alike = [trial for trial in trials if trial._replace(beta=best.beta) == best]
    return alike[len(alike) // 2] if alike else best  # there is none if the value is nan


def _usual_kernel(structure: Any) -> Kernel:
    if is_tree(structure):
        from eigentext.kernels.trees import TreeKernel

        return TreeKernel()
    from eigentext.kernels.sequences import SequenceKernel

    return SequenceKernel()
