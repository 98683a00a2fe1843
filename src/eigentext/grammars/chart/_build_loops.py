"""Compiled loops that build the packed forest of a sentence over what survived in its chart.

Cells are numbered as in ``_chart_loops``.
"""

import numpy as np

from eigentext.engine.compiled import njit


@njit(cache=True, nogil=True)
def cell_of(i, j):
    """The number of the cell from i to j."""
    return j * (j - 1) // 2 + j - 1 - i


@njit(cache=True, nogil=True)
def build(grammar, survivors, alive, n_coarse, offsets, labels, scores, most):
    """Equivalent to all items that survive and have a derivation, with their groups and edges.

    ``alive[survivors[cell]:survivors[cell + 1]]`` are the coarse labels that survive in a cell.
    Everything is returned in the order in which it is found: the labels of items bottom-up, where
    ``items[cell]`` is the first of a cell; groups, as an item and a rule; edges, as a group and two
    items. The loop ends early, with ``items[-1] < 0``, if there may be more than `most` edges.

    When an item (c, k, j) is found, it begins to wait for every b of a rule a -> b c that ends in
    k. There is a list of waiting items for each k and b, so that only pairs with a rule are tried.
    """
    n, n_labels = len(offsets) - 1, len(grammar.coarse)
    items, label = np.zeros(n * (n + 1) // 2 + 1, np.int64), np.empty(64, np.int32)
    groups, edges = np.empty((64, 2), np.int32), np.empty((64, 3), np.int32)
    n_items = n_groups = n_edges = 0
    cell_with = np.full(n_coarse, -1)  # the last cell in which each coarse label survived
    latest = (
        np.full(n_labels, -1),
        np.full(len(grammar.parent), -1),
    )  # the last item and group of each kind
    # At k * n_labels + b: whether b ends in k, and the last item that waits for it there.
    ends, waiting = np.zeros((n + 1) * n_labels, np.bool_), np.full(n * n_labels, -1, np.int32)
    waits = np.empty((64, 5), np.int32)
    for j in range(1, n + 1):
        n_waits = 0
        for i in range(j - 1, -1, -1):
            cell, first = cell_of(i, j), n_items
            for s in range(survivors[cell], survivors[cell + 1]):
                cell_with[alive[s]] = cell
            if n_items + n_labels > len(label):
                label = _grown(label, n_items + n_labels)
            if i == j - 1:
                for t in range(offsets[i], offsets[j]):
                    if scores[t] > 0.0 and cell_with[grammar.coarse[labels[t]]] == cell:
                        label[n_items] = labels[t]
                        n_items += 1
            elif survivors[cell] < survivors[cell + 1]:
                more = _most_edges(i, j, items, label, n_labels, waiting, waits)
                if n_edges + more > most:
                    items[-1] = -1
                    return items, label[:0], groups[:0], edges[:0]
                if n_edges + more > len(edges):
                    edges = _grown_rows(edges, n_edges + more)
                if n_groups + more > len(groups):
                    groups = _grown_rows(groups, n_groups + more)
                n_items, n_groups, n_edges = _join(
                    grammar, i, j, cell_with, latest, waiting, waits,
                    items, label, groups, edges, n_items, n_groups, n_edges,
                )  # fmt: skip
            items[cell + 1] = n_items
            more = 0
            for y in range(first, n_items):
                ends[j * n_labels + label[y]] = True
                more += grammar.lefts[label[y] + 1] - grammar.lefts[label[y]]
            if n_waits + more > len(waits):
                waits = _grown_rows(waits, n_waits + more)
            n_waits = _wait(grammar, i, first, n_items, label, ends, waiting, waits, n_waits)
        for w in range(n_waits):
            waiting[waits[w, _FOR]] = -1
    return items, label[:n_items], groups[:n_groups], edges[:n_edges]


# The columns of `waits`: the item that waits, its pair of children, what it waits for, the one
# before it in the list, and the number of rules of the list up to here.
_ITEM, _PAIR, _FOR, _BEFORE, _TOTAL = range(5)


@njit(cache=True, nogil=True)
def _wait(grammar, i, first, last, label, ends, waiting, waits, n_waits):
    """Let the items from `first` to `last` wait for labels to their left that end in i."""
    for y in range(first, last):
        for q in range(grammar.lefts[label[y]], grammar.lefts[label[y] + 1]):
            b, pair = i * len(grammar.coarse) + grammar.left[q], grammar.pair[q]
            if ends[b]:
                before, total = waiting[b], grammar.pairs[pair + 1] - grammar.pairs[pair]
                waits[n_waits, _ITEM], waits[n_waits, _PAIR] = y, pair
                waits[n_waits, _FOR], waits[n_waits, _BEFORE] = b, before
                waits[n_waits, _TOTAL] = total + (waits[before, _TOTAL] if before >= 0 else 0)
                waiting[b] = n_waits
                n_waits += 1
    return n_waits


@njit(cache=True, nogil=True)
def _most_edges(i, j, items, label, n_labels, waiting, waits):
    """The number of edges of a cell if all parents survive."""
    total = 0
    for k in range(i + 1, j):
        for x in range(items[cell_of(i, k)], items[cell_of(i, k) + 1]):
            w = waiting[k * n_labels + label[x]]
            if w >= 0:
                total += waits[w, _TOTAL]
    return total


@njit(cache=True, nogil=True)
def _join(
    grammar, i, j, cell_with, latest, waiting, waits,
    items, label, groups, edges, n_items, n_groups, n_edges,
):  # fmt: skip
    """Add the items of cell (i, j), with their groups and edges; return the new numbers of each."""
    cell, first_item, first_group = cell_of(i, j), n_items, n_groups
    item_of, group_of = latest
    for k in range(i + 1, j):
        for x in range(items[cell_of(i, k)], items[cell_of(i, k) + 1]):
            w = waiting[k * len(grammar.coarse) + label[x]]
            while w >= 0:
                pair, y = waits[w, _PAIR], waits[w, _ITEM]
                for rule in range(grammar.pairs[pair], grammar.pairs[pair + 1]):
                    a = grammar.parent[rule]
                    if cell_with[grammar.coarse[a]] != cell:
                        continue
                    if item_of[a] < first_item:
                        item_of[a], label[n_items] = n_items, a
                        n_items += 1
                    if group_of[rule] < first_group:
                        group_of[rule] = n_groups
                        groups[n_groups, 0], groups[n_groups, 1] = item_of[a], rule
                        n_groups += 1
                    edges[n_edges, 0], edges[n_edges, 1], edges[n_edges, 2] = group_of[rule], x, y
                    n_edges += 1
                w = waits[w, _BEFORE]
    return n_items, n_groups, n_edges


@njit(cache=True, nogil=True)
def collect(items, label, groups, edges, roots):
    """Equivalent to the part of the result of `build` that is below the roots, sorted as a forest.

    Returns the arrays of a forest except for its roots, and the new number of each old item.
    """
    number = np.full(len(label), -1, np.int32)
    for x in roots:
        number[x] = 0
    for e in range(len(edges) - 1, -1, -1):
        if number[groups[edges[e, 0], 0]] == 0:
            number[edges[e, 1]] = number[edges[e, 2]] = 0
    n_items = 0
    for x in range(len(label)):
        if number[x] == 0:
            number[x] = n_items
            n_items += 1
    labels, starts, ends = np.empty((3, n_items), np.int32)
    i, j = 0, 1
    for cell in range(len(items) - 1):
        for x in range(items[cell], items[cell + 1]):
            if number[x] >= 0:
                labels[number[x]], starts[number[x]], ends[number[x]] = label[x], i, j
        i -= 1
        if i < 0:
            i, j = j, j + 1
    owner = np.empty(len(groups), np.int32)
    for g in range(len(groups)):
        owner[g] = number[groups[g, 0]]
    group_offsets, group_place = _sorted_by(owner, n_items)
    rules = np.empty(group_offsets[-1], np.int32)
    for g in range(len(groups)):
        if group_place[g] >= 0:
            rules[group_place[g]] = groups[g, 1]
    owner = np.empty(len(edges), np.int32)
    for e in range(len(edges)):
        owner[e] = group_place[edges[e, 0]]
    edge_offsets, edge_place = _sorted_by(owner, len(rules))
    left, right = np.empty(edge_offsets[-1], np.int32), np.empty(edge_offsets[-1], np.int32)
    for e in range(len(edges)):
        x = edge_place[e]
        if x >= 0:
            left[x], right[x] = number[edges[e, 1]], number[edges[e, 2]]
    return labels, starts, ends, group_offsets, rules, edge_offsets, left, right, number


@njit(cache=True, nogil=True)
def _sorted_by(owner, n):
    """Where the things of each owner begin, and the place of each; -1 for those without one."""
    offsets, place = np.zeros(n + 1, np.int64), np.full(len(owner), -1, np.int32)
    for x in range(len(owner)):
        if owner[x] >= 0:
            offsets[owner[x] + 1] += 1
    for a in range(n):
        offsets[a + 1] += offsets[a]
    following = offsets.copy()
    for x in range(len(owner)):
        if owner[x] >= 0:
            place[x] = following[owner[x]]
            following[owner[x]] += 1
    return offsets, place


@njit(cache=True, nogil=True)
def _grown(x, size):
    """A copy with room for `size` entries, and at least twice the old room."""
    y = np.empty(max(size, 2 * len(x)), x.dtype)
    for i in range(len(x)):
        y[i] = x[i]
    return y


@njit(cache=True, nogil=True)
def _grown_rows(x, size):
    """The same for rows."""
    y = np.empty((max(size, 2 * len(x)), x.shape[1]), x.dtype)
    for i in range(len(x)):
        for k in range(x.shape[1]):
            y[i, k] = x[i, k]
    return y
