r"""Hidden Markov models by their parameters: filtering, the best path, and EM done well.

Baum and Welch's EM is run on scaled probabilities over blocks of sequences in parallel, and
accelerated by SQUAREM (Varadhan and Roland 2008): from :math:`\theta_0` and two EM steps
:math:`\theta_1, \theta_2`, with :math:`r = \theta_1 - \theta_0, v = \theta_2 - \theta_1 - r` and
:math:`\alpha = -|r|/|v|`, the next start is :math:`\theta_0 - 2\alpha r + \alpha^2 v`, in terms of
square roots of probabilities; a jump that loses likelihood is taken back. It reaches in 30 passes
over the data what plain EM does in 100.

Several starts race: all run some steps on a part of the sequences, the best few on all of them, and
the best one to its end.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import UNKNOWN
from eigentext.engine.spread import Spread
from eigentext.errors import ParameterError
from eigentext.storage.checkpoints import Iteration, State, fingerprint
from eigentext.trellis import k_best_paths

_TASKS = 16  # of a pass
_PIECE = 1000  # tokens into which a stream is cut: it has one start only
_SHORT = 20  # passes of a race
_WORTH = 1 << 26  # multiplications of a pass that a cluster may take
_LARGEST_JUMP = 256.0


@dataclass
class Sequences:
    """Ids of many sequences, and where each begins and ends."""

    ids: np.ndarray
    begins: np.ndarray
    ends: np.ndarray

    @classmethod
    def of(cls, ids: np.ndarray, *, stream: bool) -> "Sequences":
        """Find the sequences in ids with END after each; a stream is cut into pieces."""
        ends = np.flatnonzero(ids == END)
        begins = np.concatenate([[0], ends[:-1] + 1])
        if stream:
            cuts = [np.append(np.arange(a, z, _PIECE), z) for a, z in zip(begins, ends)]
            begins = np.concatenate([cut[:-1] for cut in cuts])
            ends = np.concatenate([cut[1:] for cut in cuts])
        some = ends > begins
        return cls(ids, begins[some], ends[some])

    @property
    def n_tokens(self) -> int:
        """Symbols in all of them."""
        return int((self.ends - self.begins).sum())

    @cached_property
    def problem(self) -> str:
        """A fingerprint, made once: races go over the same data again and again."""
        return fingerprint(self.ids, self.begins, self.ends)

    def part(self, one_in: int) -> "Sequences":
        """Every so manieth sequence."""
        if one_in == 1:
            return self
        begins, ends = self.begins[::one_in], self.ends[::one_in]
        lengths = ends - begins
        new = np.cumsum(lengths)
        ids = self.ids[np.repeat(ends - new, lengths) + np.arange(new[-1])]
        return Sequences(ids, new - lengths, new)

    @cached_property
    def blocks(self) -> Spread:
        """Sequences that are worked on together, as `Sequences` of their own."""
        size = np.concatenate([[0], np.cumsum(self.ends - self.begins)])
        parts = []
        for a, z in engine.even_blocks(size, max(1, int(size[-1]) // _TASKS)):
            first, last = self.begins[a], self.ends[z - 1]
            begins, ends = self.begins[a:z] - first, self.ends[a:z] - first
            parts.append(Sequences(self.ids[first:last], begins, ends))
        return Spread(_same, parts)


@dataclass
class Parameters:
    """A hidden Markov model: initial pi(h), transition t(h'|h) (rows h), emission o(x|h).

    The emission is kept as n x m, a row for each symbol.
    """

    initial: np.ndarray
    transition: np.ndarray
    emission: np.ndarray

    @classmethod
    def checked(cls, initial: Any, transition: Any, emission: Any) -> "Parameters":
        """Of what somebody gives, with a row of emissions for each state, if they are such."""
        try:
            initial, transition, emission = (
                np.array(part, np.float64) for part in (initial, transition, emission)
            )
        except (TypeError, ValueError) as error:
            raise ParameterError(f"parameters must be arrays of numbers: {error}") from error
        m = len(np.atleast_1d(initial))
        if initial.shape != (m,) or transition.shape != (m, m) or emission.shape[:-1] != (m,):
            raise ParameterError(
                "shapes must be (m,), (m, m) and (m, n) for m states and n symbols, not "
                f"{initial.shape}, {transition.shape} and {emission.shape}"
            )
        for name, rows in (
            ("initial", initial[None]),
            ("transition", transition),
            ("emission", emission),
        ):
            if not (rows >= 0).all() or not np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-6):
                raise ParameterError(f"{name}: every row must be of probabilities that sum to 1")
        return cls(initial, transition, np.ascontiguousarray(emission.T))

    def filtered(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, dict[str, int]]:
        """For each id log p(x_t | x_1 .. x_t-1) and p(h_t | x_1 .. x_t); and how many are unknown.

        Ids may be of many sequences, with END after each: there both are meaningless.
        """
        from eigentext.sequences._hmm_loops import filter_parameters

        logs, states = np.zeros(len(ids)), np.zeros((len(ids), len(self.initial)))
        filter_parameters(ids, self.initial, self.transition, self.emission, logs, states)
        unknown = int((ids == UNKNOWN).sum())
        return logs, states, {"tokens": int((ids != END).sum()), "unknown": unknown}

    def states(self, ids: np.ndarray) -> np.ndarray:
        """The states of :meth:`filtered` alone."""
        return self.filtered(ids)[1]

    def distribution(self, state: np.ndarray | None = None) -> np.ndarray:
        """p(x) after a filtered state; by default at the start."""
        return self.emission @ (self.initial if state is None else state @ self.transition)

    def operator(self, symbol: int) -> np.ndarray:
        """A_x, with a column for each state before."""
        return self.transition.T * self.emission[symbol]

    def best_path(self, ids: np.ndarray) -> tuple[np.ndarray, float]:
        """The most probable states, and the logarithm of their probability with the symbols."""
        from eigentext.sequences._hmm_loops import best_path

        if len(ids) == 0:
            return np.zeros(0, np.int64), 0.0
        with np.errstate(divide="ignore"):
            emission = np.log(self.emission)
            if (ids < 0).any():  # unknown: equally impossible in every state, so it tells nothing
                emission = np.vstack([emission, np.zeros(len(self.initial))])
                path, _ = best_path(
                    np.where(ids < 0, len(emission) - 1, ids),
                    np.log(self.initial),
                    np.log(self.transition),
                    emission,
                )
                return path, -np.inf
            path, value = best_path(ids, np.log(self.initial), np.log(self.transition), emission)
        return path, float(value)

    def best_paths(self, ids: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k most probable sequences of states, best first, and their log-probabilities."""
        with np.errstate(divide="ignore"):
            start, transition = np.log(self.initial), np.log(self.transition)
            local = np.log(self.emission[ids])
        local[ids < 0] = 0.0  # unknown: equally impossible in every state, so it tells nothing
        paths, scores = k_best_paths(start, transition, local, k)
        scores[:] = -np.inf if (ids < 0).any() else scores
        return paths, scores

    def sample(self, n_sequences: int, length: int, rng: np.random.Generator) -> np.ndarray:
        """Ids of sequences, drawn in step: for each state, those that are in it draw together."""
        ids = np.empty((n_sequences, length), np.int64)
        states = drawn(np.cumsum(self.initial), rng.random(n_sequences))
        moves, symbols = np.cumsum(self.transition, axis=1), np.cumsum(self.emission.T, axis=1)
        for t in range(length):
            u, v = rng.random((2, n_sequences))
            new = np.empty_like(states)
            for h in range(len(moves)):
                here = states == h
                ids[here, t] = drawn(symbols[h], u[here])
                new[here] = drawn(moves[h], v[here])
            states = new
        return ids

    def expected(self, data: Sequences) -> tuple[float, np.ndarray, np.ndarray]:
        """The log-likelihood; expected transitions and, last, starts; and emissions (n x m)."""
        from eigentext.sequences._row_loops import padded

        m = len(self.initial)
        initial = padded(self.initial[None])[0]
        transition, back, emission = (
            padded(np.ascontiguousarray(table))
            for table in (self.transition, self.transition.T, self.emission)
        )
        # A pass over little is done before a cluster has heard of it.
        is_worth = data.n_tokens * m * m >= _WORTH
        with engine.use(engine.workers() if is_worth else engine.current()):
            total, counts, emitted = data.blocks.reduce(
                _expect, _add, initial, transition, back, emission
            )
        counts = counts[:, :m]
        counts[:m] *= self.transition
        return total, counts, np.ascontiguousarray(emitted[:, :m])

    def begun_anywhere(self, data: Sequences) -> "Parameters":
        """The same, but that a sequence starts in the mean state of all tokens of the data."""
        states = self.expected(data)[2].sum(axis=0)
        initial = _rows_over_sum(states[None], self.initial[None])[0]
        return Parameters(initial, self.transition, self.emission)

    def maximised(self, counts: np.ndarray, emitted: np.ndarray) -> "Parameters":
        """The M step; a state that nothing is expected of keeps its parameters."""
        return Parameters(
            _rows_over_sum(counts[-1:], self.initial[None])[0],
            _rows_over_sum(counts[:-1], self.transition),
            np.ascontiguousarray(_rows_over_sum(emitted.T, self.emission.T).T),
        )


def _same(block: Sequences) -> Sequences:
    return block


def _expect(
    block: Sequences,
    initial: np.ndarray,
    transition: np.ndarray,
    back: np.ndarray,
    emission: np.ndarray,
) -> tuple[float, np.ndarray, np.ndarray]:
    """What a block adds to :meth:`Parameters.expected`, but for the factor of transitions."""
    from eigentext.sequences._hmm_loops import expect

    counts, emitted = np.zeros((len(transition) + 1, len(initial))), np.zeros_like(emission)
    where = block.ids, block.begins, block.ends, 0, len(block.begins)
    total = expect(*where, initial, transition, back, emission, counts, emitted)
    return total, counts, emitted


def _add(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x + y for x, y in zip(a, b))


def drawn(cumulative: np.ndarray, u: Any) -> Any:
    """Where u, from 0 to 1, falls among cumulative probabilities; never on one that is zero."""
    places = np.searchsorted(cumulative, np.asarray(u) * cumulative[-1], side="right")
    return places.clip(max=len(cumulative) - 1)


@dataclass
class Refined:
    """Where EM came to, its log-likelihood a token after each pair of passes, and the passes."""

    parameters: Parameters
    history: list[float]
    n_passes: int
    converged: bool


def refine(
    start: Parameters,
    data: Sequences,
    *,
    n_iter: int,
    tol: float = 1e-6,
    prior: np.ndarray | None = None,
    advance: Any = lambda tokens: None,
) -> Refined:
    """EM with SQUAREM from one start: at most `n_iter` passes over the data.

    It ends when a pair of passes gains less than `tol` a token. `prior` is added to the expected
    emissions of every state.
    """
    theta, longest = start, 4.0
    before_jump: tuple[float, Parameters] | None = None
    history: list[float] = []
    used = 0
    loop = Iteration("hmm-em", *vars(start).values(), lambda: data.problem, prior, n_iter, tol)
    if kept := loop.kept():
        arrays, about = kept
        theta, history = _taken(arrays, "theta."), arrays["history"].tolist()
        used, longest = about["used"], about["longest"]
        if "jump.initial" in arrays:
            before_jump = about["value"], _taken(arrays, "jump.")
        for _ in range(used):
            advance(data.n_tokens)
        if about["is_done"]:
            return Refined(theta, history, used, about["converged"])

    def state() -> State:
        arrays = {f"theta.{name}": part for name, part in vars(theta).items()}
        about = {"used": used, "longest": longest, "is_done": False}
        if before_jump is not None:
            arrays |= {f"jump.{name}": part for name, part in vars(before_jump[1]).items()}
            about["value"] = before_jump[0]
        return arrays | {"history": np.array(history)}, about

    def finished(run: Refined) -> Refined:
        arrays = {f"theta.{name}": part for name, part in vars(run.parameters).items()}
        about = {"used": run.n_passes, "longest": longest, "is_done": True}
        about["converged"] = run.converged
        arrays["history"] = np.array(run.history)
        loop.keep(lambda: (arrays, about), is_last=True)
        return run

    def step(parameters: Parameters) -> tuple[float, Parameters]:
        nonlocal used
        value, counts, emitted = parameters.expected(data)
        if prior is not None:
            emitted += prior[:, None]
            value += float(prior @ np.log(np.maximum(parameters.emission, 1e-300)).sum(axis=1))
        used += 1
        advance(data.n_tokens)
        return value / data.n_tokens, parameters.maximised(counts, emitted)

    while used < n_iter:
        loop.keep(state)
        value, one = step(theta)
        if before_jump and not value >= before_jump[0]:  # nan, too: the jump was too far
            theta, longest, before_jump = before_jump[1], max(1.0, longest / 2), None
            continue
        if used == n_iter:
            return finished(Refined(one, [*history, value], used, False))
        value, two = step(one)
        history.append(value)
        if len(history) > 1 and value - history[-2] < tol:
            return finished(Refined(two, history, used, True))
        theta, length = _jump(theta, one, two, longest)
        before_jump = (value, two)
        if length >= longest:
            longest = min(4 * longest, _LARGEST_JUMP)
    return finished(Refined(before_jump[1] if before_jump else theta, history, used, False))


def _taken(arrays: dict[str, Any], prefix: str) -> Parameters:
    return Parameters(*(arrays[prefix + name] for name in ("initial", "transition", "emission")))


def race(
    starts: list[Parameters],
    data: Sequences,
    frequencies: np.ndarray,
    *,
    prior: np.ndarray | None = None,
    advance: Any = lambda tokens: None,
) -> Parameters:
    """The most promising of several starts, some steps further."""
    # What does not occur in the part must not become impossible.
    some = frequencies / frequencies.sum() + (0.0 if prior is None else prior)
    for one_in, kept, added in ((4, 2, some), (1, 1, prior)):
        if len(starts) == 1:
            break
        part = data.part(one_in) if len(data.begins) >= 1000 else data
        runs = [refine(s, part, n_iter=_SHORT, prior=added, advance=advance) for s in starts]
        runs.sort(key=lambda run: -run.history[-1])
        starts = [run.parameters for run in runs[:kept]]
    return starts[0]


def random_start(frequencies: np.ndarray, m: int, rng: np.random.Generator) -> Parameters:
    """Parameters drawn uniformly from their simplexes; symbols never seen are impossible."""
    emission = rng.dirichlet(np.ones(len(frequencies)), m).T * (frequencies > 0)[:, None]
    return Parameters(
        rng.dirichlet(np.ones(m)),
        rng.dirichlet(np.ones(m), m),
        np.ascontiguousarray(emission / emission.sum(axis=0)),
    )


def _jump(
    zero: Parameters, one: Parameters, two: Parameters, longest: float
) -> tuple[Parameters, float]:
    """The extrapolated parameters, and how far that was (1 is `two` itself)."""
    parts = [
        [np.sqrt(getattr(theta, name)) for theta in (zero, one, two)]
        for name in ("initial", "transition", "emission")
    ]
    r = [b - a for a, b, _ in parts]
    v = [c - 2 * b + a for a, b, c in parts]
    bend = sum(float((x**2).sum()) for x in v)
    length = np.sqrt(sum(float((x**2).sum()) for x in r) / bend) if bend > 0 else 1.0
    length = min(float(length), longest)
    if length <= 1:
        return two, 1.0
    initial, transition, emission = (
        # A root keeps a tenth of its size at least: zero is for ever.
        np.maximum(a + 2 * length * x + length**2 * y, 0.1 * c) ** 2
        for (a, _, c), x, y in zip(parts, r, v)
    )
    emission /= emission.sum(axis=0)
    return (
        Parameters(
            initial / initial.sum(), transition / transition.sum(axis=1, keepdims=True), emission
        ),
        length,
    )


def _rows_over_sum(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    sums = counts.sum(axis=1, keepdims=True)
    return np.where(sums > 0, counts / np.where(sums > 0, sums, 1.0), otherwise)
