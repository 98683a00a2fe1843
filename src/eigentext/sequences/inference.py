r"""Inference in hidden Markov models: filtering, prediction, decoding and sampling.

The functions take a model in one of its two :mod:`~eigentext.sequences.forms` and the ids of
symbols. Ids may belong to many sequences, with END after each of them. UNKNOWN stands for a symbol
that the model does not know.

*Parameters.* With the filtered state :math:`\alpha_t = p(h_t | x_1 \dots x_t)`, the next symbol has
the probability :math:`o_x^\top T^\top \alpha_t`. The most probable states are found by Viterbi's
algorithm, and the k most probable ones by :func:`eigentext.trellis.k_best_paths`.

*Operators.* In a state b, the symbol x has the probability :math:`q_x^\top b`, and the next state
is :math:`B_x b / (b_\infty^\top B_x b)`. Sampling noise can make probabilities negative. They are
*repaired*: each symbol gets at least its floor, and all are divided by their sum. Where a symbol
that occurred gets no more than its floor, the past is forgotten and the state is :math:`a_x`.

*Plain operators.* Nothing is repaired: :math:`p(x_1 \dots x_T)` is the product of the operators,
and a conditional probability is the ratio of two of them. Negative ones have no logarithm. Their
places are marked.
"""

from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import UNKNOWN
from eigentext.sequences.forms import Form, HMMParameters, Operators, PlainOperators
from eigentext.trellis import k_best_paths

_BLOCK = 1 << 22  # the numbers in a block of predictions


class Filtered(NamedTuple):
    """The result of :func:`filtered`. Logarithms and states at END have no meaning."""

    logs: np.ndarray  # log p(x_t | x_1 .. x_t-1), (t,)
    states: np.ndarray  # the state after x_t, (t, m)
    repairs: dict[str, int]  # how many tokens there are, are unknown, and were repaired
    negative: np.ndarray | None = None  # where logs are those of the absolute value, (t,)


def filtered(model: Form, ids: np.ndarray) -> Filtered:
    """Return the log-probability of each symbol given those before it, and the state after it."""
    if isinstance(model, Operators):
        return _filtered_by_operators(model, ids)
    if isinstance(model, PlainOperators):
        return _filtered_plainly(model, ids)
    from eigentext.sequences._hmm_loops import filter_parameters

    logs, states = np.zeros(len(ids)), np.zeros((len(ids), len(model.initial)))
    filter_parameters(ids, model.initial, model.transition, model.emission, logs, states)
    return Filtered(logs, states, _counted(ids))


def filtered_states(model: Form, ids: np.ndarray) -> np.ndarray:
    """Return the states of :func:`filtered` alone. With operators, this is much faster."""
    if isinstance(model, Operators):
        return operator_states(model, ids)[1]
    return filtered(model, ids).states


def next_symbols(model: Form, state: np.ndarray | None = None) -> np.ndarray:
    """Return the probability of each symbol after a filtered state, or at the start."""
    if isinstance(model, HMMParameters):
        return model.emission @ (model.initial if state is None else state @ model.transition)
    p = model.rows @ (model.start if state is None else state)
    if isinstance(model, PlainOperators):
        return p
    p = np.maximum(p, model.floors)
    total = p.sum()
    return p / total if total > 0 else np.full(len(p), 1 / len(p))


def best_path(model: HMMParameters, ids: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the most probable states, and the log-probability of states and symbols together.

    The log-probability is -inf if a symbol is unknown.
    """
    from eigentext.sequences._hmm_loops import best_path as viterbi

    if len(ids) == 0:
        return np.zeros(0, np.int64), 0.0
    has_unknown = bool((ids < 0).any())
    start, transition, emission = _logs(model)
    path, value = viterbi(_with_unknown(ids, model), start, transition, emission)
    return path, -np.inf if has_unknown else float(value)


def best_path_of_each(model: HMMParameters, sequences: list[np.ndarray]) -> list[np.ndarray]:
    """Return the most probable states of each of many sequences of ids, as :func:`best_path`."""
    from eigentext.sequences._hmm_loops import best_path as viterbi

    start, transition, emission = _logs(model)
    return [
        viterbi(_with_unknown(ids, model), start, transition, emission)[0]
        if len(ids)
        else np.zeros(0, np.int64)
        for ids in sequences
    ]


def _logs(model: HMMParameters) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logarithms. The emission has a last row of zeros, for unknown symbols."""
    with np.errstate(divide="ignore"):
        start, transition = np.log(model.initial), np.log(model.transition)
        emission = np.log(model.emission)
    return start, transition, np.vstack([emission, np.zeros(len(model.initial))])


def _with_unknown(ids: np.ndarray, model: HMMParameters) -> np.ndarray:
    """An unknown symbol says nothing about its state: it gets the last row of emissions."""
    return np.where(ids < 0, len(model.emission), ids)


def best_paths(model: HMMParameters, ids: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the k most probable sequences of states, best first, and their log-probabilities."""
    with np.errstate(divide="ignore"):
        start, transition = np.log(model.initial), np.log(model.transition)
        local = np.log(model.emission[ids])
    local[ids < 0] = 0.0  # an unknown symbol says nothing about its state
    paths, scores = k_best_paths(start, transition, local, k)
    scores[:] = -np.inf if (ids < 0).any() else scores
    return paths, scores


def sample(model: Form, n_sequences: int, length: int, rng: np.random.Generator) -> np.ndarray:
    """Draw sequences of one length, as an array of ids with a row for each sequence."""
    if isinstance(model, HMMParameters):
        return _sample_by_parameters(model, n_sequences, length, rng)
    return _sample_by_operators(model, n_sequences, length, rng)


def _sample_by_parameters(
    model: HMMParameters, n_sequences: int, length: int, rng: np.random.Generator
) -> np.ndarray:
    """All sequences advance together. Those in the same state draw together."""
    ids = np.empty((n_sequences, length), np.int64)
    states = _drawn(np.cumsum(model.initial), rng.random(n_sequences))
    moves, symbols = np.cumsum(model.transition, axis=1), np.cumsum(model.emission.T, axis=1)
    for t in range(length):
        u, v = rng.random((2, n_sequences))
        new = np.empty_like(states)
        for h in range(len(moves)):
            here = states == h
            ids[here, t] = _drawn(symbols[h], u[here])
            new[here] = _drawn(moves[h], v[here])
        states = new
    return ids


def _sample_by_operators(
    model: Operators | PlainOperators, n_sequences: int, length: int, rng: np.random.Generator
) -> np.ndarray:
    """All sequences advance together. Symbols are drawn from the repaired distributions.

    Plain operators are repaired here only: negative probabilities count as zero.
    """
    ids = np.empty((n_sequences, length), np.int64)
    u = rng.random((n_sequences, length))
    size = max(1, _BLOCK // len(model.rows))
    for first in range(0, n_sequences, size):
        rows = slice(first, min(first + size, n_sequences))
        states = np.tile(model.start, (rows.stop - first, 1))
        for t in range(length):
            chances = states @ model.rows.T
            if isinstance(model, Operators):
                chances = np.maximum(chances, model.floors)
            sums = np.cumsum(np.maximum(chances, 0.0), axis=1)
            sums[sums[:, -1] <= 0] = np.arange(1, len(model.rows) + 1)  # all are alike
            drawn = (sums <= (u[rows, t] * sums[:, -1])[:, None]).sum(axis=1)
            ids[rows, t] = drawn = drawn.clip(max=len(model.rows) - 1)
            states = _moved(model, states, drawn)
    return ids


def _moved(model: Operators | PlainOperators, states: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """The states after one symbol more, a row for each sequence."""
    new = np.empty_like(states)
    for x in np.unique(drawn).tolist():
        here = drawn == x
        if isinstance(model, PlainOperators):
            after = states[here] @ model.operator(x).T if x < len(model.operators) else states[here]
            z = after @ model.end
            new[here] = after / np.where(z == 0, 1.0, z)[:, None]
            continue
        new[here] = model.after[x]
        if model.places[x] < 0:
            continue
        after, floor = states[here] @ model.operator(x).T, model.floors[x]
        z = after @ model.end
        sound = (z > floor) & (states[here] @ model.rows[x] > floor)
        after /= np.where(sound, z, 1.0)[:, None]
        sound &= (np.abs(after) < 1e50).all(axis=1)
        new[np.flatnonzero(here)[sound]] = after[sound]
    return new


def _drawn(cumulative: np.ndarray, u: np.ndarray) -> np.ndarray:
    """The places of u, from 0 to 1, among cumulative probabilities. A zero is never drawn."""
    places = np.searchsorted(cumulative, u * cumulative[-1], side="right")
    return places.clip(max=len(cumulative) - 1)


def _counted(ids: np.ndarray) -> dict[str, int]:
    return {"tokens": int((ids != END).sum()), "unknown": int((ids == UNKNOWN).sum())}


def _filtered_by_operators(model: Operators, ids: np.ndarray) -> Filtered:
    before, states, given = operator_states(model, ids)
    known = ids >= 0
    seen, given = ids[known], given[known]
    logs = np.full(len(ids), -np.inf)
    probabilities, sums = np.maximum(given, model.floors[seen]), _sums(model, before[known])
    np.divide(probabilities, sums, out=probabilities, where=sums > 0)
    with np.errstate(divide="ignore"):
        logs[known] = np.log(probabilities)
    repairs = {
        "negative": int((given <= 0).sum()),
        "floored": int((given <= model.floors[seen]).sum()),
    }
    return Filtered(logs, states, _counted(ids) | repairs)


def _filtered_plainly(model: PlainOperators, ids: np.ndarray) -> Filtered:
    from eigentext.sequences._hmm_loops import filter_plain

    ratios, states = np.zeros(len(ids)), np.zeros((len(ids), len(model.start)))
    known = model.start, model.end, model.operators, model.stop, model.mean
    filter_plain(ids, *known, ratios, states)
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(ratios))
    negative = ratios < 0
    return Filtered(logs, states, _counted(ids) | {"negative": int(negative.sum())}, negative)


def operator_states(
    model: Operators, ids: np.ndarray, state: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the state before and after each id, and the value q_x b that the one before gives it.

    The first state is `state`, or the model's start.
    """
    from eigentext.sequences._hmm_loops import filter_operators

    before, states = np.zeros((2, len(ids), len(model.start)))
    given = np.zeros(len(ids))
    filter_operators(
        ids,
        model.start if state is None else state,
        model.end,
        model.rows,
        model.after,
        model.places,
        model.operators,
        model.mean,
        model.floors,
        before,
        states,
        given,
    )
    return before, states, given


def _sums(model: Operators, states: np.ndarray) -> np.ndarray:
    """The sum of the repaired probabilities in each state, before they are divided by it."""
    size = max(1, _BLOCK // len(model.rows))
    blocks = [states[p : p + size] for p in range(0, len(states), size)]

    def sums(block: np.ndarray) -> np.ndarray:
        return np.maximum(block @ model.rows.T, model.floors).sum(axis=1)

    return np.concatenate([*engine.current().map(sums, blocks), np.zeros(0)])
