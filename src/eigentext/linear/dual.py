r"""The perceptron in dual form: a global linear model that never writes its features out.

As in [Collins 2003], the weights are a sum over training candidates,

.. math:: W = \sum_{i,z} \alpha_{i,z} \Phi(x_i, z), \qquad
          f(c) = \Phi(c) \cdot W = \sum_{i,z} \alpha_{i,z} K((x_i, z), c),

and all alphas start at zero. For t = 1 … T, i = 1 … n: if the candidate z with the highest score is
not the right one y, :math:`\alpha_{i,y}` grows by 1 and :math:`\alpha_{i,z}` falls by 1. These are
the steps of the primal form (:mod:`eigentext.linear.perceptron`).

[Collins 2003] counts :math:`O(n T^2 I N)` operations for T passes over N candidates, because the
algorithm there computes each score again at each step. Here every f(c) is kept, and a mistake adds
K(y, c) - K(z, c) to it. Candidates are in blocks. A block is updated only when the loop reaches it
again, with all mistakes since its last update together. Equal structures among these are merged,
and those whose alphas cancel are dropped. The kernel gets many structures in one call, and tree and
sequence kernels answer from one forest. A score that is not needed again is not computed.

One run gives three models. :math:`W_s` are the weights after step s = 1 … S of the run.

``None``
    The last weights, :math:`W_S`.
``"mean"``
    The average of all weights. An update made in step s counts (S - s + 1) / S.
``"vote"``
    Every :math:`W_s` votes for its best candidate, and the candidate with most votes wins
    (Freund and Schapire 1999; Collins and Duffy 2002).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

import numpy as np

from eigentext import engine
from eigentext.errors import ParameterError
from eigentext.estimators import Estimator, Finding, check_is_fitted, learned_with, learning
from eigentext.kernels.kernel import Encoded, Kernel
from eigentext.kernels.saving import described, kernel_of, structures_of, structures_to
from eigentext.linear import parameters
from eigentext.linear._findings import run_findings
from eigentext.linear._kept import KeptScores
from eigentext.linear.perceptron import FACTS, Bound, run_facts
from eigentext.monitor import Monitor
from eigentext.parameters import Count, is_whole
from eigentext.storage import Saved
from eigentext.storage.schema import Array, Schema, Strings, damage

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Average = Literal["vote", "mean"] | None
_CELLS = 1 << 22  # entries of the matrices of votes that are in memory at a time


class Updates(NamedTuple):
    """The updates of a run in their order: places in ``support_``, and the step, from 0."""

    gold: np.ndarray
    predicted: np.ndarray
    step: np.ndarray


class KernelPerceptron(Saved, Estimator):
    r"""Learns to choose among candidates with a kernel. The module explains the algorithm.

    Of equal scores the first wins, in learning and in prediction. A candidate that equals the right
    one is right too. Learning ends after a pass without mistakes.

    Parameters
    ----------
    kernel : Kernel
        For example ``TreeKernel(decay=0.4)``. Candidates are structures of this kernel.
    n_epochs : int
        The largest number T of passes over the examples.
    average : "mean", "vote" or None
        Which of the three models :meth:`predict` uses.
    baseline : float, optional
        The weight beta of the log-probability as one more component. The model then uses
        ``kernel.with_baseline(beta)``, and candidates must be ``Candidate(structure,
        log_probability)``.

    Attributes
    ----------
    support_ : list
        The structures of all updates, without repetitions.
    alpha_ : array, shape (n_support,)
        Their last weights. A structure whose updates cancelled has weight 0 and costs no time.
    averaged_alpha_ : array, shape (n_support,)
        The mean of their weights over all steps.
    updates_ : Updates
        For each update, the structure that was raised, the one that was lowered, and the step.
    n_steps_ : int
        The number of examples seen in all passes.
    mistakes_ : list of (epoch, example, predicted)
        All mistakes in order, with numbers from 0. The primal perceptron makes the same ones with
        the same Phi.
    n_mistakes_ : list of int
        The number of mistakes in each pass.
    separable_ : bool
        Whether the last pass had no mistakes.
    kernel_ : Kernel
        The kernel with its baseline.
    diagnostics_ : dict
        The numbers of examples, candidates, passes, mistakes and supports.

    Examples
    --------
    >>> from eigentext import KernelPerceptron, PolynomialKernel
    >>> candidates = [[(0, 0), (0, 1)], [(1, 1), (1, 0)], [(0, 0), (1, 0)]]  # xor
    >>> model = KernelPerceptron(PolynomialKernel(2), average=None).fit(candidates, [1, 1, 1])
    >>> model.predict(candidates).tolist(), model.separable_
    ([1, 1, 1], True)
    """

    _format = "eigentext.kernel-perceptron.v1"
    _table = parameters.KernelPerceptron

    def __init__(
        self,
        kernel: Kernel,
        *,
        n_epochs: int = 10,
        average: Average = "mean",
        baseline: float | None = None,
    ):
        self.kernel = kernel
        self.n_epochs = n_epochs
        self.average: Average = average
        self.baseline = baseline

    # Learning.

    @learning
    def fit(
        self,
        candidates: Iterable[Sequence[Any]],
        gold: Iterable[int],
        *,
        offsets: Iterable[Any] | None = None,
        encoded: Encoded | None = None,
    ) -> Self:
        """Learn from lists of candidates and the index of the right one in each.

        `offsets` are fixed numbers that are added to the scores of the candidates, one list for
        each list of candidates. For example, b times the log-probability makes the ranking of the
        base model the default, without learning b. `encoded` is what ``kernel.encode`` returned for
        all candidates, one list after another. It halves the time of a second fit with the same
        candidates.
        """
        structures, borders = _flattened(candidates)
        right = _checked_gold(gold, borders)
        kernel = self.kernel if self.baseline is None else self.kernel.with_baseline(self.baseline)
        with engine.one_blas_thread():
            encoded = _encoded(kernel, structures, encoded)
            kept = KeptScores(kernel, encoded, borders, _checked_offsets(offsets, borders))
            steps = self._run(kept, right, borders)
        self.kernel_ = kernel
        self._keep(structures, kept, steps, len(right))
        # For `bound`, which is computed on demand. The theorem does not cover offsets.
        is_plain = self.separable_ and offsets is None
        self._training = (encoded, kept, right, borders) if is_plain else None
        return self

    def _run(self, kept: KeptScores, right: np.ndarray, borders: np.ndarray) -> list[int]:
        """Run the algorithm. Its updates are in `kept`; return the steps at which they happened."""
        n, steps, mistakes, counts = len(right), [], [], []
        total = self.n_epochs * n
        loop = Monitor("perceptron", self.n_epochs, amount=0, total=total, unit="examples")
        with loop:
            while not loop.is_done:
                epoch = len(counts)
                for block in kept.blocks:
                    kept.catch_up(block)
                    for i in range(block.start, block.stop):
                        y = right[i]
                        z = borders[i] + kept.values[borders[i] : borders[i + 1]].argmax()
                        if kept.first[z] != kept.first[y]:
                            kept.update(block, y, z)
                            steps.append(epoch * n + i)
                            mistakes.append((epoch, i, int(z - borders[i])))
                    loop.advance(block.stop - block.start)
                counts.append(len(steps) - sum(counts))
                loop.record(counts[-1])
                if not counts[-1]:
                    loop.stop()
        self.mistakes_, self.n_mistakes_, self.separable_ = mistakes, counts, counts[-1] == 0
        return steps

    def _keep(self, structures: list, kept: KeptScores, steps: list[int], n: int) -> None:
        """Keep the result of a run: the structures of its updates, their weights, the updates."""
        self._support = self._bound = None
        self.n_steps_ = len(self.n_mistakes_) * n
        both = np.array([kept.raised, kept.lowered], np.int64).ravel(order="F")
        # Supports are numbered in the order of the updates, not in that of the candidates.
        which, seen, place = np.unique(both, return_index=True, return_inverse=True)
        order = np.argsort(seen)
        self.support_ = [structures[j] for j in which[order]]
        place = np.argsort(order)[place].reshape(-1, 2)
        self.updates_ = Updates(place[:, 0], place[:, 1], np.array(steps, np.int64))
        n_support = len(which)
        self.alpha_ = self._sum_of_updates(np.ones(len(steps)), n_support)
        # Sums of whole numbers, so that weights that cancel are exactly zero.
        lasted = self._sum_of_updates(self.n_steps_ - self.updates_.step, n_support)
        self.averaged_alpha_ = lasted / self.n_steps_
        self.diagnostics_ = {
            "n_examples": n,
            "n_candidates": len(structures),
            "n_distinct": len(np.unique(kept.first)),
            "n_epochs": len(self.n_mistakes_),
            "n_mistakes": len(steps),
            "n_support": n_support,
            "separable": self.separable_,
        }

    def _sum_of_updates(self, weights: np.ndarray, n_support: int) -> np.ndarray:
        gold, predicted, _ = self.updates_
        raised = np.bincount(gold, weights, n_support)
        change = raised - np.bincount(predicted, weights, n_support)
        return change.astype(np.float64)  # without updates, bincount gives integers

    def bound(self) -> Bound | None:
        """Return the quantities of the mistake bound, computed with the last weights.

        R is the largest distance of a wrong candidate from the right one, and delta is the smallest
        margin of W / ||W||. The best U has at least this margin. Return None if the weights do not
        separate the examples, or if there were offsets, which the theorem does not cover.
        """
        check_is_fitted(self)
        training = self._training
        if training is not None:
            self._bound = self._compute_bound(*training)
            self._training = None  # after the line above, because another thread may ask too
        return self._bound

    def _compute_bound(
        self, encoded: Encoded, kept: KeptScores, right: np.ndarray, borders: np.ndarray
    ) -> Bound:
        # After a pass without mistakes, all kept scores are up to date.
        gold = np.repeat(right, np.diff(borders))
        wrong = kept.first != kept.first[gold]
        margins = (kept.values[gold] - kept.values)[wrong]
        squared = np.sum(kept.values[kept.raised]) - np.sum(kept.values[kept.lowered])
        norm = np.sqrt(max(squared, 0.0))  # the square root of alpha' K alpha
        norms = self.kernel_.diagonal(encoded)
        squared_distances = norms[gold] + norms
        for y, start, stop in zip(right, borders[:-1], borders[1:]):
            span = slice(start, stop)
            squared_distances[span] -= 2 * self.kernel_.gram(encoded[[y]], encoded[span])[0]
        R = np.sqrt(max(squared_distances[wrong].max(initial=0.0), 0.0))
        delta = margins.min(initial=np.inf) / norm if norm else 0.0
        return Bound(len(self.mistakes_), float(R), float(delta))

    def _findings(self) -> Iterator[Finding]:
        found = self.diagnostics_
        cure = "choose a kernel that tells right and wrong candidates apart"
        n_epochs = self.parameters_.n_epochs
        yield from run_findings(self.n_mistakes_, found["n_examples"], n_epochs, cure)
        yield Finding(
            "note",
            f"{found['n_support']:,} of {found['n_candidates']:,} candidates are supports. A "
            "prediction compares each candidate with all of them.",
        )

    def plot(self, *, ax: "Axes | None" = None) -> "Axes":
        """Draw the number of mistakes in each pass with matplotlib; return the Axes."""
        from eigentext import plots

        check_is_fitted(self)
        return plots.curves({"mistakes": self.n_mistakes_}, xlabel="pass", ax=ax)

    # Using.

    def predict(
        self,
        candidates: Iterable[Sequence[Any]],
        *,
        average: Average | Literal["as fitted"] = "as fitted",
        offsets: Iterable[Any] | None = None,
    ) -> np.ndarray:
        """Return the index of the best candidate of each list. See :meth:`scores`."""
        scores = self.scores(candidates, average=average, offsets=offsets)
        return np.array([one.argmax() for one in scores], dtype=np.int64)

    def scores(
        self,
        candidates: Iterable[Sequence[Any]],
        *,
        average: Average | Literal["as fitted"] = "as fitted",
        offsets: Iterable[Any] | None = None,
        encoded: Encoded | None = None,
    ) -> list[np.ndarray]:
        """Return the scores of the candidates, an array for each list. With votes, count the votes.

        `average` selects one of the three models, in place of the one that the parameter names.
        `offsets` are added to the scores, or to the scores of each voter. `offsets` and `encoded`
        are as in :meth:`fit`.
        """
        check_is_fitted(self)
        if average == "as fitted":
            average = self.parameters_.average
        elif not self._table["average"].accepts(average):
            raise ParameterError(f"average must be 'vote', 'mean' or None, not {average!r}")
        structures, borders = _flattened(candidates)
        total = _checked_offsets(offsets, borders)
        with engine.one_blas_thread():
            encoded = _encoded(self.kernel_, structures, encoded)
            if average == "vote":
                total = self._votes(encoded, borders, total)
            else:
                alpha = self.alpha_ if average is None else self.averaged_alpha_
                support = np.flatnonzero(alpha)
                if len(support):
                    some = self._encoded_support()[support]
                    total += self.kernel_.scores(some, alpha[support], encoded)
        return np.split(total, borders[1:-1]) if len(borders) > 1 else []

    def score(self, candidates: Iterable[Sequence[Any]], gold: Iterable[int]) -> float:
        """Return the share of lists where the right candidate, or an equal one, is predicted."""
        check_is_fitted(self)
        lists = [list(one) for one in candidates]
        structures, borders = _flattened(lists)
        right, chosen = _checked_gold(gold, borders), borders[:-1] + self.predict(lists)
        identity = self.kernel_.encode(structures).identity
        return float(np.mean(identity[chosen] == identity[right]))

    def _votes(self, encoded: Encoded, borders: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Return for each candidate the number of steps after which it has the highest score."""
        gold, predicted, step = self.updates_
        # Zero weights last until the first update, and the last weights last until the end.
        lasted = np.diff(step, prepend=0, append=self.n_steps_)
        votes = np.zeros(len(encoded))

        def count(lists: tuple[int, int]) -> None:
            start, stop = borders[lists[0]], borders[lists[1]]
            scores = np.empty((len(step) + 1, stop - start))
            scores[0] = offsets[start:stop]
            gram = self.kernel_.gram(self._encoded_support(), encoded[start:stop])
            np.subtract(gram[gold], gram[predicted], out=scores[1:])
            np.cumsum(scores, axis=0, out=scores)
            for i in range(*lists):
                low, high = borders[i] - start, borders[i + 1] - start
                best = scores[:, low:high].argmax(axis=1)
                votes[borders[i] : borders[i + 1]] = np.bincount(best, lasted, high - low)

        self._encoded_support()  # computed once, before threads ask for it
        rows = len(self.support_) + 3 * len(step) + 1
        blocks = engine.even_blocks(borders, max(_CELLS // rows, 1))
        for _ in engine.current().map(count, blocks):
            pass
        return votes

    def _encoded_support(self) -> Encoded:
        # Encoded from the structures, so that a model from a file gives the same bits.
        if self._support is None:
            self._support = self.kernel_.encode(self.support_)
        return self._support

    # Saving.

    def _to_saved(self):
        check_is_fitted(self)
        gold, predicted, step = self.updates_
        arrays = {
            "support": structures_to(self.support_),
            "alpha": self.alpha_,
            "averaged_alpha": self.averaged_alpha_,
            "gold": gold,
            "predicted": predicted,
            "step": step,
            "mistakes": np.array(self.mistakes_, np.int64).reshape(-1, 3),
        }
        bound = self.bound()
        about = {
            "parameters": {**self.parameters_, "kernel": described(self.parameters_.kernel)},
            "kernel": described(self.kernel_),
            "n_steps": self.n_steps_,
            "n_mistakes": self.n_mistakes_,
            "separable": self.separable_,
            "bound": None if bound is None else list(bound),
            "diagnostics": self.diagnostics_,
        }
        return arrays, about

    @classmethod
    def _from_saved(cls, arrays, about):
        used = about["parameters"]
        self = learned_with(cls, {**used, "kernel": kernel_of(used["kernel"])})
        self._training = None
        self.kernel_ = kernel_of(about["kernel"])
        self.support_ = structures_of(arrays["support"])
        self.alpha_, self.averaged_alpha_ = (
            np.array(arrays[name], np.float64) for name in ("alpha", "averaged_alpha")
        )
        self.updates_ = Updates(*(np.array(arrays[name], np.int64) for name in Updates._fields))
        self.n_steps_ = int(about["n_steps"])
        self.mistakes_ = [tuple(one) for one in np.array(arrays["mistakes"]).tolist()]
        self.n_mistakes_, self.separable_ = about["n_mistakes"], bool(about["separable"])
        self.diagnostics_ = about["diagnostics"]
        self._bound = None if about["bound"] is None else Bound(*about["bound"])
        if (np.diff(self.updates_.step, prepend=0, append=self.n_steps_) < 0).any():
            raise damage("step", "is not in rising order")
        # Encode the supports now: the kernel raises an error if it cannot read one.
        self._support = self.kernel_.encode(self.support_)
        return self

    @classmethod
    def _schema(cls, about):
        place = Array("int64", ("updates",), least=0, below="supports")
        arrays = {
            "support": Strings("supports"),
            "alpha": Array("number", ("supports",)),  # integers in older files without mistakes
            "averaged_alpha": Array("number", ("supports",)),
            "gold": place,
            "predicted": place,
            "step": Array("int64", ("updates",), least=0),
            "mistakes": Array("int64", ("updates", 3), least=0),
        }
        facts = {"parameters": FACTS, "kernel": FACTS, "n_steps": Count(1, most=2**53)}
        return Schema(arrays, about=run_facts() | facts)

    def __getstate__(self) -> dict[str, Any]:
        # A copy has the model, without what was computed on demand.
        state = dict(vars(self))
        if "support_" in state:
            state |= {"_bound": self.bound(), "_training": None, "_support": None}
        return state


def _encoded(kernel: Kernel, structures: list[Any], given: Encoded | None) -> Encoded:
    encoded = kernel.encode(structures if given is None else given)
    if len(encoded) != len(structures):
        raise ParameterError(
            f"encoded has {len(encoded)} structures, but {len(structures)} candidates are given; "
            "encode all of them, one list after another"
        )
    return encoded


def _flattened(candidates: Iterable[Sequence[Any]]) -> tuple[list[Any], np.ndarray]:
    """Return all candidates one after the other, and where the lists begin and end."""
    if isinstance(candidates, str) or not isinstance(candidates, Iterable):
        raise ParameterError(f"{candidates!r:.60} is not a list of lists of candidates")
    lists = []
    for number, one in enumerate(candidates):
        if isinstance(one, str) or not isinstance(one, Iterable):
            raise ParameterError(
                f"example {number} is {one!r:.40}, not a list of candidates; give a list for each"
            )
        lists.append(list(one))
        if not lists[-1]:
            raise ParameterError(f"example {number} has no candidates; leave it out")
    borders = np.concatenate([[0], np.cumsum([len(one) for one in lists], dtype=np.int64)])
    return [candidate for one in lists for candidate in one], borders


def _checked_gold(gold: Iterable[int], borders: np.ndarray) -> np.ndarray:
    """Return the places of the right candidates among all candidates."""
    gold, sizes = list(gold), np.diff(borders)
    if len(gold) != len(sizes):
        raise ParameterError(
            f"{len(sizes)} lists of candidates but {len(gold)} gold indices; give one for each list"
        )
    if not gold:
        raise ParameterError("no examples; give lists of candidates, and the right index of each")
    for number, (index, size) in enumerate(zip(gold, sizes)):
        if not (is_whole(index) and 0 <= index < size):
            raise ParameterError(
                f"the gold of example {number} is {index!r:.40}, but its {size} candidates are "
                "numbered from 0; eigentext.reranking.measures.closest finds the candidate that is "
                "closest to a structure"
            )
    return borders[:-1] + np.array(gold, np.int64)


def _checked_offsets(offsets: Iterable[Any] | None, borders: np.ndarray) -> np.ndarray:
    """Return one number for each candidate. They are zeros by default."""
    if offsets is None:
        return np.zeros(borders[-1])
    arrays = [np.asarray(one, np.float64) for one in offsets]
    sizes = np.diff(borders)
    if len(arrays) != len(sizes):
        raise ParameterError(f"{len(sizes)} lists of candidates but {len(arrays)} of offsets")
    for number, (one, size) in enumerate(zip(arrays, sizes)):
        if one.shape != (size,) or not np.isfinite(one).all():
            raise ParameterError(
                f"the offsets of example {number} must be {size} finite numbers, one for each of "
                "its candidates"
            )
    return np.concatenate([np.empty(0), *arrays])
