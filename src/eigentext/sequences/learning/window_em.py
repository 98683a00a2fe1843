r"""The likelihood of counted windows: EM for hidden Markov models that needs no sequences.

With a state distribution :math:`\nu` for the first symbol of a window, a window of three symbols
has the probability

.. math::
    p(x, y, z) = \sum_h F_{xh}\, o(y|h)\, B_{zh}, \quad
    F_{xh} = \sum_g \nu(g)\,o(x|g)\,t(h|g), \quad B_{zh} = \sum_k t(k|h)\,o(z|k),

a sum over the states h of the symbol in the middle. So one step of EM takes O(m) for each different
window, and :math:`O(m^2)` only for each symbol. A pass over the sequences takes :math:`O(m^2)` for
each token, which is ten times as long on text with 20 states.

The sum over all counted windows of :math:`\log p` is a composite likelihood (Lindsay 1988). Its
maximum is consistent, and it weighs all moments of the windows by their precision. The spectral
algorithm does not: it gives all entries of :math:`P_{3,x,1}` the same weight. So the spectral
answer is a good start here, and the result is near the maximum likelihood estimate.
"""

import numpy as np

from eigentext import engine
from eigentext.monitor import Monitor
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.learning.em import Expected, maximized
from eigentext.sequences.learning.recovery import mixture_weights
from eigentext.sequences.learning.squarem import climb
from eigentext.sequences.learning.windows import Windows

_TASKS = 4  # the tasks of one step
_LEAST = 0.01  # the share of the uniform distribution in the initial states: EM cannot leave a zero


def fitted_to_windows(
    start: HMMParameters,
    windows: Windows,
    *,
    n_iter: int = 60,
    tol: float = 1e-6,
    prior: np.ndarray | None = None,
) -> tuple[HMMParameters, list[float]]:
    """Raise the likelihood of all windows of three. Return the parameters and its history.

    The history is for each token of a window. The first symbols of sequences give the initial
    states. `prior` is added to the expected emissions of every state.
    """
    N = 3 * float(windows.pairs.sum())
    blocks = _blocks(windows)

    def step(model: HMMParameters) -> tuple[float, HMMParameters]:
        value, after = _step(model, windows, blocks, prior)
        return value / N, after

    begun = HMMParameters(_usual_states(start, windows), start.transition, start.emission)
    problem = *vars(begun).values(), windows.trigrams.data, windows.firsts, windows.seconds, prior
    monitor = Monitor(
        "hmm-windows", n_iter, problem=problem, tol=tol, amount=0, title="windows", total=n_iter
    )
    with engine.one_blas_thread():
        found = climb(begun, step, monitor, n_iter=n_iter, amount=1).best
    initial = mixture_weights(windows.start, found.emission, found.initial)
    initial = (1 - _LEAST) * initial + _LEAST / len(initial)
    return HMMParameters(initial, found.transition, found.emission), monitor.history


def _usual_states(model: HMMParameters, windows: Windows) -> np.ndarray:
    """The share of each state in the first symbols of windows, roughly."""
    return mixture_weights(
        np.asarray(windows.pairs.sum(axis=1)),
        model.emission,
        np.full(len(model.initial), 1 / len(model.initial)),
    )


def _blocks(windows: Windows) -> list[tuple[int, int]]:
    """Ranges of bigrams with about the same number of windows. A first symbol is in one of them."""
    edges = np.searchsorted(windows.firsts, np.arange(windows.n + 1))
    work = windows.trigrams.indptr[edges]
    found = engine.even_blocks(work, max(1, -(-int(work[-1]) // _TASKS)))
    return [(int(edges[a]), int(edges[z])) for a, z in found]


def _step(
    model: HMMParameters, windows: Windows, blocks: list[tuple[int, int]], prior: np.ndarray | None
) -> tuple[float, HMMParameters]:
    """The log-likelihood of the windows, and the parameters after a step of EM."""
    from eigentext.sequences._hmm_loops import expect_windows
    from eigentext.sequences._row_loops import padded

    T, m = model.transition, len(model.initial)
    O = model.emission  # noqa: E741 - the letter of the paper
    counted = windows.trigrams
    table = counted.indptr, counted.indices, counted.data, windows.firsts, windows.seconds
    begun = O * model.initial
    factors = [padded(part) for part in (begun @ T, O, O @ T.T)]

    front = np.zeros_like(factors[0])  # every row of it belongs to one block

    def work(block: tuple[int, int]) -> tuple[float, np.ndarray]:
        slopes = np.zeros((2, *front.shape))
        return expect_windows(*table, *block, *factors, front, *slopes), slopes

    value, slopes = engine.current().reduce(work, _add, blocks)
    dF, dO, dB = (part[:, :m] for part in (front, *slopes))
    starts = begun * (dF @ T.T)
    emitted = starts + O * (dO + dB @ T)
    if prior is not None:
        emitted += prior[:, None]
        value += float(prior @ np.log(np.maximum(O, 1e-300)).sum(axis=1))
    counts = np.vstack([T * (begun.T @ dF + dB.T @ O), starts.sum(axis=0)])
    return value, maximized(model, Expected(value, counts, emitted))


def _add(a: tuple[float, np.ndarray], b: tuple[float, np.ndarray]) -> tuple[float, np.ndarray]:
    return a[0] + b[0], a[1] + b[1]
