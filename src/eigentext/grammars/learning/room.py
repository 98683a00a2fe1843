"""How much memory a fit needs, estimated before it begins.

The large things are known from the counts of a treebank: a label a has n_a nodes and at most m_a
states. A fit holds, at the same time,

* features of nodes, and their projections: two vectors of m numbers for each node;
* the tensors of rules, m_b m_c m_a numbers each: five times in a step of EM, twice for "spectral".
  After clusters (``clusters.py``) there are only sparse counts and (m_b + m_c) m_a numbers;
* two vectors of m_a numbers for each node of a shard of trees;
* the posteriors of the states of all leaves, from which words are learned.
"""

from typing import TYPE_CHECKING

import numpy as np

from eigentext.errors import ParameterError
from eigentext.grammars import parameters as tables
from eigentext.grammars.grammar import tensor_sizes
from eigentext.grammars.learning.protocol import WITHOUT_FEATURES
from eigentext.grammars.learning.training import NODES
from eigentext.matrices import budget
from eigentext.parameters import Settings

if TYPE_CHECKING:
    from eigentext.grammars.learning.counts import CountedTrees

# Bytes, measured on GUM with 16 and 32 states.
_FEATURES = 400  # of a node: codes, and sparse matrices for the largest label
_DIRECTION = 16  # of a node and a direction: two projections
_VECTOR = 16  # of a node and a state
_LEAF = 25  # of a leaf and a state
_ENTRY = {"spectral+em": 0.5, "spectral": 10.0}  # of an entry of a tensor, if not _DENSE
_DENSE = 40.0
_SIDE = 30  # of a number for the state of a child and of a parent, in a sparse grammar


def needed(counted: "CountedTrees", settings: Settings, n_states: int | None = None) -> float:
    """About how many bytes a fit takes beside what is in memory already."""
    treebank, most = counted.treebank, n_states or tables.largest(settings.n_states)
    counts = np.bincount(treebank.label, minlength=len(treebank.symbols))
    sizes = np.clip(counts // max(settings.nodes_per_state, 1), 1, most)
    n, is_leaf = len(treebank.label), treebank.left < 0
    of_rules = tensor_sizes(treebank.rules(), sizes).astype(float)
    entries = of_rules.prod(axis=1).sum()
    per_node = float(sizes[treebank.label].sum())
    total = _ENTRY.get(settings.method, _DENSE) * entries
    total += _VECTOR * per_node * min(NODES / n, 1.0)
    total += _LEAF * float(sizes[treebank.label[is_leaf]].sum())
    if settings.method == "spectral+em":
        total += _SIDE * float((of_rules[:, :2].sum(axis=1) * of_rules[:, 2]).sum())
    if settings.method not in WITHOUT_FEATURES:
        total += n * (_FEATURES + _DIRECTION * float(most))
    return total


def check_memory(counted: "CountedTrees", settings: Settings) -> None:
    """Raise ParameterError if a fit does not keep to the memory budget (``matrices/budget.py``)."""
    given = budget.current()
    if not given.is_stated:
        return
    wanted = needed(counted, settings)
    if wanted <= given.left:
        return
    asked = tables.largest(settings.n_states)
    fewer = [m for m in range(1, asked) if needed(counted, settings, m) <= given.left]
    remedy = f"take {fewer[-1]} states at most (n_states)" if fewer else "take fewer trees"
    if settings.method not in ("spectral+em", "spectral"):
        remedy += ', or method="spectral+em", which needs least'
    raise ParameterError(
        f"learning {asked} states from {len(counted.treebank):,} trees needs about "
        f"{(wanted + budget.resident()) / 1e9:,.2g} GB of memory, and memory is "
        f"{(given.memory or 0) / 1e9:,.2g} GB: {remedy}, or allow more memory"
    )
