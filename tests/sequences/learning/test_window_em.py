"""EM on counted windows: compared with plain NumPy, and laws that hold at every step."""

from itertools import pairwise

import numpy as np
import pytest

from eigentext import HMM, NgramMoments, engine
from eigentext.sequences.forms import HMMParameters
from eigentext.sequences.learning import window_em
from eigentext.sequences.learning.em import random_start
from eigentext.sequences.learning.recovery import recovered
from eigentext.sequences.learning.spectral import spectral_operators
from eigentext.sequences.learning.window_em import fitted_to_windows
from eigentext.sequences.learning.windows import Windows


def windows_of(sequences):
    return Windows.of(NgramMoments.from_corpus(sequences, order=3))


def triples_of(windows):
    """The counts of all windows as a dense array."""
    n = windows.n
    found = np.zeros((n, n, n))
    rows = windows.trigrams.toarray()
    for e, (x, y) in enumerate(zip(windows.firsts, windows.seconds)):
        if y < n:
            found[x, y] += rows[e, :n]
    return found


def twin(model, counts, prior=0.0):
    """Return the log-likelihood of windows, and the parameters after a step, path by path."""
    pi, T, E = model.initial, model.transition, model.emission
    p = np.einsum("a,xa,ab,yb,bc,zc->xyzabc", pi, E, T, E, T, E)
    total = p.sum(axis=(3, 4, 5))
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(counts > 0, counts * np.log(total), 0).sum()
    shares = p * (counts / np.where(total > 0, total, 1))[..., None, None, None]
    starts = shares.sum(axis=(0, 1, 2, 4, 5))
    moves = shares.sum(axis=(0, 1, 2, 5)) + shares.sum(axis=(0, 1, 2, 3))
    emitted = shares.sum(axis=(1, 2, 4, 5)) + shares.sum(axis=(0, 2, 3, 5))
    emitted += shares.sum(axis=(0, 1, 3, 4)) + prior
    return value, HMMParameters(
        starts / starts.sum(), moves / moves.sum(axis=1)[:, None], emitted / emitted.sum(axis=0)
    )


def assert_near(a, b, tolerance):
    for name in ("initial", "transition", "emission"):
        assert np.allclose(getattr(a, name), getattr(b, name), rtol=0, atol=tolerance), name


def begin(windows, m, seed=0):
    return random_start(windows.frequencies, m, np.random.default_rng(seed))


@pytest.mark.parametrize("prior", [None, 0.7])
def test_a_step_is_the_twin_s(random_hmm, prior):
    sequences = [[0, 2, 1, 4, 4], [3], [1, 1], *random_hmm(3, 5).sample(20, 7).tolist()]
    windows = windows_of(sequences)
    counts = triples_of(windows)
    assert counts.sum() == sum(max(0, len(s) - 2) for s in sequences)
    model = begin(windows, 3)
    added = None if prior is None else np.full(windows.n, prior)
    value, after = window_em._step(model, windows, window_em._blocks(windows), added)
    expected, plain = twin(model, counts, 0.0 if prior is None else prior)
    if prior is not None:
        expected += prior * np.log(model.emission).sum()
    assert np.isclose(value, expected, rtol=1e-12)
    assert_near(after, plain, 1e-12)


@pytest.mark.parametrize(("m", "n"), [(2, 6), (3, 9), (5, 12)])
def test_the_truth_is_a_fixed_point(random_hmm, m, n):
    truth = random_hmm(m, n)
    windows = Windows.of(truth.moments())
    _, after = window_em._step(truth._model, windows, window_em._blocks(windows), None)
    assert_near(after, truth._model, 1e-10)


def test_no_step_loses_likelihood(random_hmm):
    windows = windows_of(random_hmm(3, 6).sample(60, 9))
    for seed in range(3):
        _, history = fitted_to_windows(begin(windows, 3, seed), windows, n_iter=60, tol=0)
        assert (np.diff(history) > -1e-10).all()


def test_windows_are_nearer_to_the_truth_than_operators(clear_hmm):
    truth = clear_hmm(4, 16)
    everything = range(16)
    exact = np.array([truth.predict_next([x]) for x in everything])
    errors = []
    for seed in range(3):
        sample = truth.sample(800, 12, random_state=seed)
        windows = windows_of(sample)
        model, _, _ = spectral_operators(windows, 4)
        start, _ = recovered(model, windows, np.random.default_rng(0))
        found, _ = fitted_to_windows(start, windows)
        order = [int(word) for word in NgramMoments.from_corpus(sample).vocabulary.words]
        emission = np.zeros((16, 4))
        emission[order] = found.emission
        hmm = HMM.from_parameters(found.initial, found.transition, emission.T)
        operators = HMM(4).fit(sample)
        errors.append(
            [
                np.abs(np.array([h.predict_next([x]) for x in everything]) - exact).sum()
                for h in (operators, hmm)
            ]
        )
    spectral, windowed = np.mean(errors, axis=0)
    assert windowed < 0.8 * spectral


def test_sequences_give_the_initial_states():
    # All sequences begin with symbol 0, which only one state emits.
    truth = HMM.from_parameters([1, 0], [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1, 0], [0, 0.1, 0.9]])
    sample = [s for s in truth.sample(2000, 8).tolist() if s[0] == 0]
    windows = windows_of(sample)
    model, _, _ = spectral_operators(windows, 2)
    start, _ = recovered(model, windows, np.random.default_rng(0))
    found, _ = fitted_to_windows(start, windows)
    assert found.initial.max() > 0.95
    assert np.isclose(found.initial.sum(), 1)


def test_blocks_share_no_first_symbol(random_hmm):
    windows = windows_of(random_hmm(3, 30).sample(300, 9))
    blocks = window_em._blocks(windows)
    assert len(blocks) > 1
    assert (blocks[0][0], blocks[-1][1]) == (0, len(windows.firsts))
    for (_, a), (b, _) in pairwise(blocks):
        assert a == b
        assert windows.firsts[a - 1] < windows.firsts[b]


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_the_same_bits_on_any_number_of_threads(random_hmm, threads):
    windows = windows_of(random_hmm(4, 30).sample(300, 8))
    start = begin(windows, 5)
    reference, values = fitted_to_windows(start, windows, n_iter=9)
    with engine.use(engine.ThreadEngine(threads)):
        found, others = fitted_to_windows(start, windows, n_iter=9)
    assert values == others
    assert_near(found, reference, 0)
