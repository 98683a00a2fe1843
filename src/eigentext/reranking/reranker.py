r"""Reranking: the best of a base model's candidates, by all fragments at once.

A base model (a parser, a tagger) proposes GEN(x), a list of candidates with log-probabilities L; a
kernel perceptron learns on other inputs which of them are right; and the answer is

.. math:: F(x) = \arg\max_{c \in GEN(x)} \; b L(c) + \sum_{s} \alpha_s K(s, c)

(seed 001, "Refinements of the kernels": the base model's own ranking is the default). While it
learns, b is small: a kernel that only ever hears of the base model's mistakes does not learn what
that gets right. And the right candidate y has to win by a margin, which others are given ahead:
the more, the less of y they have by the measure (Taskar, Guestrin and Koller, "Max-margin Markov
networks", 2003). Only differences of L within a list matter.

The weight b, the decay of fragments with their size, and whether the last weights, their mean or
their votes decide, are chosen on held-out lists. A decay takes one run of training; every b is then
tried on stored pairs of L and kernel score, with no kernel evaluated again.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, check_is_fitted, learned_with, learning
from eigentext.kernels.candidate import Candidate, is_tree
from eigentext.kernels.kernel import Kernel
from eigentext.kernels.saving import described, kernel_of
from eigentext.linear.dual import KernelPerceptron
from eigentext.linear.perceptron import FACTS
from eigentext.parameters import Choice, Given, Number
from eigentext.reranking import parameters
from eigentext.reranking._examples import CandidateLists, LabeledLists
from eigentext.reranking.folds import as_gold, jackknife, n_best, words_of
from eigentext.reranking.measures import MEASURES
from eigentext.reranking.parameters import BETAS, several
from eigentext.reranking.report import Report, compare
from eigentext.storage.models import Saved
from eigentext.storage.schema import Schema

DECAYS = (0.2, 0.3, 0.4, 0.5)


class RerankerTrial(NamedTuple):
    """Parameters, and the measure of their choices on the held-out lists."""

    decay: float | None
    beta: float
    average: str | None
    value: float


class Reranker(Estimator, Saved):
    """N-best lists of trees or taggings in, the best one out.

    Candidates are pairs of a structure and its log-probability, best first or in any order; without
    log-probabilities the order of a list is all that is known of the base model. One of -inf, as a
    parser gives to a tree from outside its grammar, counts as one less than the lowest finite one
    of its list. An input without candidates is left out of training, and has no answer later.

    Parameters
    ----------
    kernel : Kernel or None
        None is :class:`~eigentext.TreeKernel` or :class:`~eigentext.SequenceKernel`, by what the
        candidates are.
    decay : sequence of float, or None
        Values to choose from, each set on the kernel. None is (0.2, 0.3, 0.4, 0.5) if there is no
        `kernel`, else the kernel as it is.
    beta : sequence of float
        Weights b of the log-probability to choose from, rising.
    training_beta : float
        Its weight in training.
    margin : float
        By how much, in training, the right candidate must beat one that has nothing right, and
        others in proportion to what they lack; in units of the median K of right candidates with
        themselves.
    n_epochs : int
        Passes over the training lists.
    average : "mean", "vote", None, or several
        What decides: the mean of all weights passed through, their votes, or the last; of several,
        the best on the held-out lists. Voters share the b that is best for their mean.
    closest : bool
        Where the gold structure is not among the candidates, let the nearest by the measure take
        its place; else that is an error.
    dev_share : float
        Share of the inputs, drawn at random, that is held out if `fit` gets no `dev`.
    random_state : int

    Attributes
    ----------
    perceptron_ : KernelPerceptron
    decay_, beta_, average_
        What was chosen.
    measure_ : Measure
    base_ : the base model of :meth:`fit_base`; it is not saved with the reranker
    diagnostics_ : dict
        The trials with their measure on held-out lists, mistakes of each epoch, number of supports,
        how many inputs had no candidate or only one, how many gold structures were replaced.

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

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        decay: Sequence[float] | float | None = None,
        beta: Sequence[float] | float = BETAS,
        training_beta: float = 0.3,
        margin: float = 0.4,
        n_epochs: int = 5,
        average: Any = "mean",
        closest: bool = True,
        dev_share: float = 0.2,
        random_state: int = 0,
    ):
        self.kernel = kernel
        self.decay = decay
        self.beta = beta
        self.training_beta = training_beta
        self.margin = margin
        self.n_epochs = n_epochs
        self.average = average
        self.closest = closest
        self.dev_share = dev_share
        self.random_state = random_state

    # -- training ----------------------------------------------------------------------------------

    @learning
    def fit(self, candidates: Iterable[Any], gold: Iterable[Any], dev: Any = None) -> Self:
        """Learn from lists of candidates by a base model that has not seen the gold structures.

        Parameters
        ----------
        candidates
            A list for each input.
        gold
            The right structure for each input, or its place in the list.
        dev
            Candidates and gold of other inputs, to choose on. If None, a share of the inputs is
            held out, and what was chosen is then trained on all.
        """
        examples = LabeledLists(CandidateLists(candidates), gold, closest=self.closest)
        kernels = self._kernels(examples.gold[0])
        train, held_out = self._parts(examples, dev, len(kernels))
        models, trials = self._searched(kernels, train, held_out)
        best = _best_trial(trials)
        self.decay_, self.beta_, self.average_, value = best
        self.perceptron_, self.measure_ = models[best.decay], examples.measure
        if train is not examples:
            self._train_on_all(kernels[best.decay], examples)
        sizes = examples.lists.sizes
        self.diagnostics_ = {
            "decay": self.decay_,
            "beta": self.beta_,
            "average": self.average_,
            "dev": None if np.isnan(value) else value,
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
    def fit_base(self, base: Any, data: Iterable[Any], *, k: int = 20, n_folds: int = 10) -> Self:
        """Learn from trees or tagged sentences alone, with lists by jack-knife of a base model.

        The base model fitted on everything is kept as ``base_``; see :meth:`apply`.

        Parameters
        ----------
        base
            A callable without arguments that makes a model to be fitted, with ``fit(data)`` and
            ``k_best(words, k)``: ``PCFG``, ``HMMTagger``, ``lambda: LatentPCFG(8)``.
        data
            Trees, or lists of (word, tag).
        k
            Candidates for each sentence.
        n_folds
            See :func:`~eigentext.reranking.folds.jackknife`.
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

    # -- use ---------------------------------------------------------------------------------------

    def predict(self, candidates: Iterable[Any]) -> np.ndarray:
        """The place of the best candidate in each list; -1 if it is empty."""
        lists, scores = self._scored(candidates)
        return lists.best(scores)

    def best(self, candidates: Iterable[Any]) -> list[Any]:
        """The best structure of each list; None if it is empty."""
        lists, scores = self._scored(candidates)
        places = lists.best(scores)
        return [one[i].structure if one else None for one, i in zip(lists.lists, places)]

    def rerank(self, candidates: Iterable[Any]) -> list[list[Candidate]]:
        """The lists from best to worst, with the new scores in place of log-probabilities."""
        lists, scores = self._scored(candidates)
        return [
            [Candidate(one[i].structure, float(own[i])) for i in np.argsort(-own, kind="stable")]
            for one, own in zip(lists.lists, lists.split(scores))
        ]

    def apply(self, base: Any, sentences: Iterable[Any], *, k: int = 20) -> list[Any]:
        """The best of `k` structures of a fitted base model for each sentence, a list of words."""
        words = [one.split() if isinstance(one, str) else list(one) for one in sentences]
        return self.best(n_best(base, words, k))

    def score(self, candidates: Iterable[Any], gold: Iterable[Any]) -> float:
        """The measure of the choices, F1 or accuracy, from 0 to 1."""
        return self.evaluate(candidates, gold).reranked

    def evaluate(self, candidates: Iterable[Any], gold: Iterable[Any]) -> Report:
        """The measure of the base model's choices, of these, and of the best possible ones."""
        lists, scores = self._scored(candidates)
        return compare(LabeledLists(lists, gold, measure=self.measure_), lists.best(scores))

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
        def is_chosen(found: Any) -> bool:
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
        self.diagnostics_ = about["diagnostics"]
        return self

    # -- steps -------------------------------------------------------------------------------------

    def _kernels(self, structure: Any) -> dict[Any, Kernel]:
        """The kernel of each decay to try."""
        kernel, decays = self.kernel, self.decay
        if kernel is None:
            kernel, decays = _usual_kernel(structure), DECAYS if decays is None else decays
        given = kernel.get_params(deep=False)
        if decays is None:
            found = {given.get("decay"): kernel}
        elif "decay" in given:
            found = {d: type(kernel)(**given | {"decay": d}) for d in several(decays)}
        else:
            raise ParameterError(f"{kernel!r} has no decay to choose; leave `decay` None")
        return found

    def _parts(self, examples: LabeledLists, dev: Any, n_kernels: int) -> tuple[LabeledLists, Any]:
        """What to train on while choosing, and what to choose on, if there is a choice."""
        if dev is not None:
            candidates, gold = dev
            return examples, LabeledLists(
                CandidateLists(candidates), gold, measure=examples.measure
            )
        n_choices = n_kernels * len(several(self.average)) * len(several(self.beta))
        return self._split(examples) if n_choices > 1 else (examples, None)

    def _split(self, examples: LabeledLists) -> tuple[LabeledLists, LabeledLists]:
        """Examples to train on, and those held out, at random."""
        n, n_dev = len(examples.lists), round(self.dev_share * len(examples.lists))
        if not 0 < n_dev < n:
            raise ParameterError(
                f"{n} inputs are too few to hold out a share of {self.dev_share:g}; give dev, or "
                "only one value each of decay, beta and average"
            )
        order = np.random.default_rng(self.random_state).permutation(n)
        return examples[np.sort(order[n_dev:])], examples[np.sort(order[:n_dev])]

    def _searched(
        self, kernels: dict[Any, Kernel], train: LabeledLists, dev: LabeledLists | None
    ) -> tuple[dict[Any, KernelPerceptron], list[RerankerTrial]]:
        """A perceptron for each decay, and how each did; decays in parallel."""
        some = next(iter(kernels.values()))
        for part in (train, dev) if dev else (train,):
            part.lists.encoded(some)  # once, before threads ask for it

        def run(decay: Any) -> tuple[Any, KernelPerceptron, list[RerankerTrial]]:
            model = self._trained(kernels[decay], train)
            return decay, model, self._tried(decay, model, dev)

        models, trials = {}, []
        with engine.one_blas_thread(), engine.phase("rerank", len(kernels), "runs") as advance:
            for decay, model, tried in engine.current().map(run, kernels):
                models[decay] = model
                trials += tried
                advance(1)
        return models, trials

    def _trained(self, kernel: Kernel, examples: LabeledLists) -> KernelPerceptron:
        """A perceptron; where there is but one candidate it makes no mistakes."""
        lists, right = examples.lists, examples.right[examples.lists.sizes > 0]
        if not (lists.sizes > 1).any():
            raise ParameterError("no input has two candidates or more; there is nothing to learn")
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
        """What was chosen, from all examples.

        Kernel scores are sums over updates, of which there are more now: b grows with their number.
        """
        before = len(self.perceptron_.mistakes_)
        self.perceptron_ = self._trained(kernel, examples)
        if before:
            self.beta_ *= len(self.perceptron_.mistakes_) / before

    def _tried(
        self, decay: Any, model: KernelPerceptron, dev: LabeledLists | None
    ) -> list[RerankerTrial]:
        """Every average and b on held-out lists; the kernel is evaluated once for an average."""
        betas = [float(beta) for beta in several(self.beta)]
        if dev is None:
            return [RerankerTrial(decay, betas[0], several(self.average)[0], np.nan)]

        def value(scores: np.ndarray) -> float:
            return dev.measure.value(dev.counts_at(dev.lists.best(scores)).sum(axis=0))

        trials = []
        for average in several(self.average):
            # Voters take the b that is best for their mean, which has their scale.
            scores = _scores(model, dev.lists, average and "mean", 0.0)
            tried = [
                RerankerTrial(decay, beta, average, value(scores + beta * dev.lists.logs))
                for beta in betas
            ]
            if average == "vote":
                beta = _best_trial(tried).beta
                tried = [
                    RerankerTrial(
                        decay, beta, average, value(_scores(model, dev.lists, average, beta))
                    )
                ]
            trials += tried
        return trials

    def _scored(self, candidates: Iterable[Any]) -> tuple[CandidateLists, np.ndarray]:
        """Lists, and the scores of all their candidates."""
        check_is_fitted(self)
        lists = CandidateLists(candidates)
        return lists, _scores(self.perceptron_, lists, self.average_, self.beta_)


def _scores(
    model: KernelPerceptron, lists: CandidateLists, average: Any, beta: float
) -> np.ndarray:
    """Beta L + the perceptron's score of all candidates; of votes, their number."""
    if not lists.full:
        return np.empty(0)
    offsets, encoded = lists.weighted_logs(beta), lists.encoded(model.kernel_)
    return np.concatenate(
        model.scores(lists.full, average=average, offsets=offsets, encoded=encoded)
    )


def _best_trial(trials: list[RerankerTrial]) -> RerankerTrial:
    """The first of the best; where several weights b do as well, the middle one."""
    best = max(trials, key=lambda trial: trial.value)
    alike = [trial for trial in trials if trial._replace(beta=best.beta) == best]
    return alike[len(alike) // 2] if alike else best  # none if there was nothing to choose: nan


def _usual_kernel(structure: Any) -> Kernel:
    if is_tree(structure):
        from eigentext.kernels.trees import TreeKernel

        return TreeKernel()
    from eigentext.kernels.sequences import SequenceKernel

    return SequenceKernel()
