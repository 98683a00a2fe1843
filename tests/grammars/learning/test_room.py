"""The memory that a fit needs."""

import pytest

import eigentext as et
from eigentext.errors import ParameterError
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.room import needed
from eigentext.parameters import Settings


def how(method, n_states, nodes_per_state=1):
    return Settings({"method": method, "n_states": n_states, "nodes_per_state": nodes_per_state})


def test_more_states_need_more(hand_trees):
    counted = CountedTrees(hand_trees, rare=0, beta=1.0, gamma=3.0)
    for method in ("spectral", "spectral+em", "em", "pivot"):
        sizes = [needed(counted, how(method, m)) for m in (1, 2, 4)]
        assert sizes == sorted(sizes)
        assert 0 < sizes[0] < sizes[-1]
    few = needed(counted, how("em", 4), n_states=2)
    assert few == needed(counted, how("em", 2))


def test_sparse_grammars_need_less_than_tensors(hand_trees):
    counted = CountedTrees(list(hand_trees) * 20, rare=0, beta=1.0, gamma=3.0)
    dense, sparse = (needed(counted, how(name, 20)) for name in ("pivot", "spectral+em"))
    assert sparse < dense


def test_a_fit_that_needs_more_is_refused(hand_trees):
    model = et.LatentPCFG(2, method="em", n_iter=1, n_smooth=1, nodes_per_state=1)
    with pytest.raises(ParameterError, match=r"needs about .* GB of memory.*allow more memory"):
        model.fit(hand_trees, memory=1_000_000)
    assert not hasattr(model, "symbols_")
    model.fit(hand_trees, memory=100_000_000_000)
