"""The compiled loops of decoding, against plain Python on random hypergraphs with a top."""

from heapq import merge
from itertools import islice

import numpy as np
import pytest

from eigentext.grammars.chart._decoding_loops import (
    EDGE,
    ITEM,
    LEFT,
    NEXT,
    RIGHT,
    best_edges,
    next_best,
    unfold,
)


def hypergraph(seed: int, n_items: int, n_edges: int):
    """Leaves first; then items, each with edges to any two before it; the last one is the top."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(n_items, np.int64)
    inner = np.arange(4, n_items)
    counts[inner] = 1 + rng.multinomial(n_edges, np.full(len(inner), 1 / len(inner)))
    parent = np.repeat(np.arange(n_items), counts)
    left, right = (rng.integers(0, parent) for _ in range(2))
    pairs = np.unique(np.stack((parent, left, right)), axis=1)  # no edge comes twice
    bounds = np.searchsorted(pairs[0], np.arange(n_items + 1))
    scores = rng.integers(-3, 4, n_items) / 1, rng.integers(-3, 4, pairs.shape[1]) / 1
    return bounds, pairs[1].copy(), pairs[2].copy(), *scores


def ranked(graph):
    """The scores of all derivations of each item, best first: sorted sums of sorted lists."""
    bounds, left, right, item_scores, edge_scores = graph
    lists = []
    for i, score in enumerate(item_scores):
        sums = [
            sorted(
                (score + edge_scores[e] + b + c for b in lists[left[e]] for c in lists[right[e]]),
                reverse=True,
            )
            for e in range(bounds[i], bounds[i + 1])
        ]
        lists.append(list(islice(merge(*sums, reverse=True), 300)) if sums else [score])
    return lists


@pytest.mark.parametrize("seed", range(5))
def test_best_edges_are_the_first_of_the_best(seed):
    graph = bounds, left, right, item_scores, edge_scores = hypergraph(seed, 30, 200)
    records, scores = best_edges(*graph)
    for i in range(30):
        sums = [
            item_scores[i] + edge_scores[e] + scores[left[e]] + scores[right[e]]
            for e in range(bounds[i], bounds[i + 1])
        ]
        e = records[i, EDGE]
        assert records[i, ITEM] == i
        if not sums:
            assert e == -1 and scores[i] == item_scores[i]
        else:
            assert scores[i] == max(sums) and e == bounds[i] + np.argmax(sums)
            assert (records[i, LEFT], records[i, RIGHT]) == (left[e], right[e])


@pytest.mark.parametrize("seed", range(5))
def test_next_best_are_in_order_and_differ(seed):
    # Many items share children and the lists are long, so that the arrays of records grow, and the
    # next derivation of an item is needed in many places.
    graph = hypergraph(seed, 12, 30)
    first = best_edges(*graph)
    records, scores, found = next_best(*graph, *first, 300)
    expected = ranked(graph)[-1]
    assert found == min(300, len(expected))
    d, seen, top = 11, [], []
    for _ in range(found):
        top.append(scores[d])
        seen.append(tuple(records[d, [EDGE, LEFT, RIGHT]].tolist()))
        d = records[d, NEXT]
    assert top == expected[:found]
    assert len(set(seen)) == found


def test_all_derivations_are_found_when_k_is_beyond_them():
    # Items 0 and 1 are words, 2 and 3 two readings of both; the top has either.
    bounds, left, right = (
        np.array([0, 0, 0, 1, 2, 4]),
        np.array([0, 0, 2, 3]),
        np.array([1, 1, 0, 0]),
    )
    graph = bounds, left, right, np.zeros(5), np.array([0.0, -1.0, 0.0, 3.0])
    records, scores, found = next_best(*graph, *best_edges(*graph), 10**12)
    assert found == 2
    last = records[4, NEXT]
    assert (scores[4], scores[last]) == (2.0, 0.0)
    assert records[last, NEXT] == -1


def test_unfolded_nodes_are_in_post_order():
    # ((a b) (c d)): items 0 to 3 are words, 4 and 5 pairs, 6 all.
    edges = [-1, -1, -1, -1, 0, 1, 2]
    left, right = [-1, -1, -1, -1, 0, 2, 4], [-1, -1, -1, -1, 1, 3, 5]
    records = np.array([edges, left, right, range(7)]).T.copy()
    nodes = np.empty((4, 7), np.int32)
    unfold(records, 6, np.array([1, 1, 1, 1, 2, 2, 4]), *nodes)
    assert nodes.tolist() == [
        [0, 1, 4, 2, 3, 5, 6],
        [-1, -1, 0, -1, -1, 1, 2],
        [-1, -1, 0, -1, -1, 3, 2],
        [-1, -1, 1, -1, -1, 4, 5],
    ]
