r"""EM for hidden Markov models (Baum and Welch), accelerated, from several starts.

The E step runs on scaled probabilities, over blocks of sequences in parallel, and
:mod:`eigentext.sequences.learning.squarem` accelerates the steps.

Several starts race: all run some steps on a part of the sequences, the best two run on all of them,
and the best one runs to the end.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus.encoded import END, EncodedCorpus
from eigentext.corpus.symbols import is_stream
from eigentext.engine.spread import Spread
from eigentext.moments import NgramMoments
from eigentext.monitor import Monitor
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.learning.squarem import climb
from eigentext.storage.checkpoints import fingerprint

_TASKS = 16  # the tasks of one pass
_PIECE = 1000  # the tokens of a piece: a stream has only one start, so it is cut
_SHORT = 20  # the passes of a race
_WORTH = 1 << 26  # multiplications of a pass that make Dask workers worthwhile
Advance = Callable[[int], object]


@dataclass
class Sequences:
    """The ids of many sequences, and where each sequence begins and ends."""

    ids: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, ids: np.ndarray, *, stream: bool) -> "Sequences":
        """Find the sequences in ids with END after each. Cut a stream into pieces."""
        ends = np.flatnonzero(ids == END)
        begins = np.concatenate([[0], ends[:-1] + 1])
        if stream:
            cuts = [np.append(np.arange(a, z, _PIECE), z) for a, z in zip(begins, ends)]
            begins = np.concatenate([cut[:-1] for cut in cuts])
            ends = np.concatenate([cut[1:] for cut in cuts])
        some = ends > begins
        return cls(ids, begins[some], ends[some])

    @classmethod
    def of_encoded(cls, encoded: EncodedCorpus, moments: NgramMoments) -> "Sequences":
        """Find the sequences of a text, with the symbols that its moments have."""
        places = moments.vocabulary.ids_of(encoded.words)
        places[places < 0] = moments.rare
        ids = np.append(places, np.int32(END))[encoded.tokens]
        return cls.of(ids, stream=is_stream(encoded.options))

    @property
    def n_tokens(self) -> int:
        """The number of symbols in all sequences."""
        return int((self.ends - self.begins).sum())

    @cached_property
    def problem(self) -> str:
        """A fingerprint. It is made once, because races use the same data many times."""
        return fingerprint(self.ids, self.begins, self.ends)

    def part(self, one_in: int) -> "Sequences":
        """Return every n-th sequence, for n = `one_in`."""
        if one_in == 1:
            return self
        begins, ends = self.begins[::one_in], self.ends[::one_in]
        lengths = ends - begins
        new = np.cumsum(lengths)
        ids = self.ids[np.repeat(ends - new, lengths) + np.arange(new[-1])]
        return Sequences(ids, new - lengths, new)

    @cached_property
    def blocks(self) -> Spread:
        """The sequences in blocks, each of which is one task."""
        size = np.concatenate([[0], np.cumsum(self.ends - self.begins)])
        parts = []
        for a, z in engine.even_blocks(size, max(1, int(size[-1]) // _TASKS)):
            first, last = self.begins[a], self.ends[z - 1]
            begins, ends = self.begins[a:z] - first, self.ends[a:z] - first
            parts.append(Sequences(self.ids[first:last], begins, ends))
        return Spread(_same, parts)


# The two steps.


class Expected(NamedTuple):
    """The result of the E step."""

    log_likelihood: float
    counts: np.ndarray  # expected transitions (m, m), and a last row with expected starts
    emitted: np.ndarray  # expected emissions, (n, m)


def expect(model: HMMParameters, data: Sequences) -> Expected:
    """Return the log-likelihood and the expected counts of the data: the E step."""
    from eigentext.sequences._row_loops import padded

    m = len(model.initial)
    initial = padded(model.initial[None])[0]
    transition, back, emission = (
        padded(np.ascontiguousarray(table))
        for table in (model.transition, model.transition.T, model.emission)
    )
    # A short pass would be over before Dask workers have received it.
    is_worth = data.n_tokens * m * m >= _WORTH
    with engine.use(engine.workers() if is_worth else engine.current()):
        total, counts, emitted = data.blocks.reduce(
            _expect_block, _add, initial, transition, back, emission
        )
    counts = counts[:, :m]
    counts[:m] *= model.transition
    return Expected(total, counts, np.ascontiguousarray(emitted[:, :m]))


def maximized(model: HMMParameters, expected: Expected) -> HMMParameters:
    """Return the parameters after the M step. A state without expected counts keeps its own."""
    _, counts, emitted = expected
    return HMMParameters(
        _rows_over_sum(counts[-1:], model.initial[None])[0],
        _rows_over_sum(counts[:-1], model.transition),
        np.ascontiguousarray(_rows_over_sum(emitted.T, model.emission.T).T),
    )


def begun_anywhere(model: HMMParameters, data: Sequences) -> HMMParameters:
    """Return the model with the mean state over all tokens of the data as its initial state."""
    states = expect(model, data).emitted.sum(axis=0)
    initial = _rows_over_sum(states[None], model.initial[None])[0]
    return HMMParameters(initial, model.transition, model.emission)


def _same(block: Sequences) -> Sequences:
    return block


def _expect_block(
    block: Sequences,
    initial: np.ndarray,
    transition: np.ndarray,
    back: np.ndarray,
    emission: np.ndarray,
) -> tuple[float, np.ndarray, np.ndarray]:
    """The part of one block in :func:`expect`, before transitions are multiplied by t(h'|h)."""
    from eigentext.sequences import _hmm_loops as loops

    counts, emitted = np.zeros((len(transition) + 1, len(initial))), np.zeros_like(emission)
    where = block.ids, block.begins, block.ends, 0, len(block.begins)
    total = loops.expect(*where, initial, transition, back, emission, counts, emitted)
    return total, counts, emitted


def _add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x + y for x, y in zip(a, b))


def _rows_over_sum(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    sums = counts.sum(axis=1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), otherwise)


# EM from one start.


@dataclass
class EMRun:
    """The result of :func:`refine`."""

    parameters: HMMParameters
    history: list[float]  # the log-likelihood per token, after each pair of passes
    n_passes: int
    converged: bool


def refine(
    start: HMMParameters,
    data: Sequences,
    *,
    n_iter: int,
    tol: float = 1e-6,
    prior: np.ndarray | None = None,
    advance: Advance = lambda tokens: None,
) -> EMRun:
    """Run EM with SQUAREM from one start, with at most `n_iter` passes over the data.

    It stops when a pair of passes gains less than `tol` per token. `prior` is added to the expected
    emissions of every state. `advance` is called with the tokens of each pass.
    """
    problem = *vars(start).values(), lambda: data.problem, prior
    monitor = Monitor("hmm-em", n_iter, problem=problem, tol=tol, amount=0, progress=advance)

    def step(model: HMMParameters) -> tuple[float, HMMParameters]:
        value, counts, emitted = expect(model, data)
        if prior is not None:
            emitted += prior[:, None]
            value += float(prior @ np.log(np.maximum(model.emission, 1e-300)).sum(axis=1))
        return value / data.n_tokens, maximized(model, Expected(value, counts, emitted))

    search = climb(start, step, monitor, n_iter=n_iter, amount=data.n_tokens)
    return EMRun(search.best, monitor.history, search.n_passes, monitor.has_converged)


# Several starts.


def random_start(frequencies: np.ndarray, m: int, rng: np.random.Generator) -> HMMParameters:
    """Draw parameters uniformly from their simplexes. Symbols with frequency 0 are impossible."""
    emission = rng.dirichlet(np.ones(len(frequencies)), m).T * (frequencies > 0)[:, None]
    return HMMParameters(
        rng.dirichlet(np.ones(m)),
        rng.dirichlet(np.ones(m), m),
        np.ascontiguousarray(emission / emission.sum(axis=0)),
    )


def race(
    starts: list[HMMParameters],
    data: Sequences,
    frequencies: np.ndarray,
    *,
    prior: np.ndarray | None = None,
    advance: Advance = lambda tokens: None,
) -> HMMParameters:
    """Return the most promising of several starts, after some steps of EM."""
    # A symbol that does not occur in the part must not become impossible.
    some = frequencies / frequencies.sum() + (0.0 if prior is None else prior)
    for one_in, kept, added in ((4, 2, some), (1, 1, prior)):
        if len(starts) == 1:
            break
        part = data.part(one_in) if len(data.begins) >= 1000 else data
        runs = [refine(s, part, n_iter=_SHORT, prior=added, advance=advance) for s in starts]
        runs.sort(key=lambda run: -run.history[-1])
        starts = [run.parameters for run in runs[:kept]]
    return starts[0]
