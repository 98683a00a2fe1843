r"""How many states each label gets: states where they pay.

The cost of a rule is the product of three numbers of states, so states that say nothing are dear.
`n_states` and `nodes_per_state` give each label a limit. The parameter `allocation` says how many
of these states it gets.

* "uniform": all of them.
* "spectrum": as many as its singular values support. The outside features of the nodes of a label
  are shuffled among these nodes. Then inside and outside have nothing in common but their averages,
  which are the first singular value. What the second one still is comes from chance alone, and only
  directions with a larger singular value get a state [Horn 1965]. Frequent labels have little
  chance in their moments, and so get many states. The margin above chance is 15 %. No other trees
  are needed. The clusters of "spectral+em" then use these directions only.
* "held-out": the numbers that do best on other trees, found by a search with a beam after [Narayan
  and Cohen 2016]. It starts from those of "spectrum". The most frequent labels are taken in turn,
  each by itself, and then all other phrases and all other tags. For each, the next smaller and the
  next larger number of the ladder 1, 2, 3, 4, 6, 8, 12, … are tried. The best few choices go on.

The score of a choice is the mean logarithm of the marginals of the right brackets, in charts that
are pruned once. It is a smooth relative of F1: a few hundred sentences measure F1 to half a point,
which is more than a label gains. Trials are cheap. The projections are those of the largest
numbers, and the nodes of a label are clustered once for each number. "spectral" is tried with its
averages, and all other methods with the relative frequencies of clusters, before any step of EM.

[Horn 1965] J. Horn, A rationale and test for the number of factors in factor analysis,
Psychometrika 30 (2).

[Narayan and Cohen 2016] S. Narayan and S. Cohen, Optimizing spectral learning for parsing, ACL
2016.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eigentext import engine
from eigentext.corpus.trees import Tree
from eigentext.errors import CorpusError
from eigentext.evaluate.calibration import gold_brackets
from eigentext.grammars.chart.cascade import Cascade, Level, thresholds
from eigentext.grammars.grammar import Grammar
from eigentext.grammars.learning.clusters import (
    clustered_label,
    count_states,
    useful_projections,
)
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.protocol import Task
from eigentext.grammars.learning.spectral import Projections, project, projections, spectral
from eigentext.grammars.learning.training import maximize
from eigentext.parameters import Settings

_MARGIN = 1.15  # a singular value must be so many times as large as chance makes it
_ALONE = 12  # labels that are tried by themselves, the most frequent ones
_BEAM = 2  # choices that are kept
_ROUNDS = 2  # over all labels, at most
_EVERY = 10  # without validation trees, each tenth tree is kept back
_MOST_TREES = 400  # validation trees of the search, at most
_LEAST = 1e-3  # a smaller marginal counts as this: one lost bracket must not decide
LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)


def allocated(
    task: Task, validation: Sequence[Tree] | None, trees: Callable[[], list[Tree]], middle: Level
) -> Task:
    """The same task, with the numbers of states that the parameter `allocation` asks for.

    Parameters
    ----------
    task
        What the method learns from.
    validation
        Trees to choose by; None to keep back some of the trees.
    trees
        Returns the trees of the task. They are asked for only if some must be kept back.
    middle
        The grammar that prunes.
    """
    match task.settings.allocation if task.settings.method != "split-merge" else "uniform":
        case "spectrum":
            numbers = supported(task)
            return replace(task, allocated=numbers, useful=_useful(numbers))
        case "held-out":
            task = replace(task, useful=_useful(supported(task)))
            with engine.phase("numbers of states"), engine.report_to(None):
                if validation is None:
                    return replace(task, allocated=_from_a_part(task, trees()))
                return replace(task, allocated=searched(task, validation, middle))
        case _:
            return task


def _useful(numbers: np.ndarray) -> np.ndarray:
    """How many directions clusters look at. The first is nearly the same for all nodes."""
    return np.maximum(numbers, 2)


def supported(task: Task) -> np.ndarray:
    """The number of states of each label by its spectrum, at most its limit."""
    assert task.evidence is not None
    settings, evidence = task.settings, task.evidence
    found = projections(task, 0)
    inside, outside = evidence.features
    values = outside.values.copy()
    for a, nodes in enumerate(found.nodes):
        rng = np.random.default_rng([settings.random_state, a])
        values[:, nodes] = values[:, rng.permutation(nodes)]
    chance = project(
        evidence.nodes, (inside, outside._replace(values=values)), 2,
        kappa=settings.kappa, whitening=settings.whitening,
    )  # fmt: skip
    edges = [s[1] if len(s) > 1 else np.inf for s in chance.singular_values]
    above = [int((s > _MARGIN * edge).sum()) for s, edge in zip(found.singular_values, edges)]
    return np.clip(above, 1, task.room)


class _Choice(NamedTuple):
    """Numbers of states, and how well they do."""

    score: float
    n_states: np.ndarray


def searched(task: Task, validation: Sequence[Tree], middle: Level) -> np.ndarray:
    """The numbers of states that do best on other trees."""
    score = bracket_score(task.counted, validation, middle, task.settings)
    start = supported(task)
    level_of = _trials(replace(task, useful=_useful(start)))
    tried: dict[bytes, _Choice] = {}

    def judged(n_states: np.ndarray) -> _Choice:
        key = n_states.tobytes()
        if key not in tried:
            tried[key] = _Choice(score(level_of(n_states)), n_states)
        return tried[key]

    beam = [judged(start)]
    for _ in range(_ROUNDS):
        before = beam[0]
        for group in _groups(task):
            found = {one.n_states.tobytes(): one for one in beam}
            for one in beam:
                for step in (-1, 1):
                    n_states = _moved(one.n_states, group, step, task.room)
                    found[n_states.tobytes()] = judged(n_states)
            beam = sorted(found.values(), key=lambda one: -one.score)[:_BEAM]
        if beam[0].score <= before.score:
            break
    return beam[0].n_states


def _groups(task: Task) -> list[np.ndarray]:
    """The labels that change together: the most frequent alone, then other phrases and tags."""
    treebank = task.counted.treebank
    counts = np.bincount(treebank.label, minlength=len(treebank.symbols))
    order = np.argsort(-counts, kind="stable")
    alone, rest = order[:_ALONE], order[_ALONE:]
    is_tag = np.array([symbol.preterminal for symbol in treebank.symbols])
    groups = [*alone[:, None], rest[~is_tag[rest]], rest[is_tag[rest]]]
    return [group for group in groups if len(group)]


def _moved(n_states: np.ndarray, group: np.ndarray, step: int, room: np.ndarray) -> np.ndarray:
    """The numbers of states with those of some labels one rung up or down the ladder."""
    ladder, found = np.array(LADDER), n_states.copy()
    side = "right" if step > 0 else "left"
    rungs = np.searchsorted(ladder, n_states[group], side) + (0 if step > 0 else -1)
    found[group] = np.clip(ladder[np.clip(rungs, 0, len(ladder) - 1)], 1, room[group])
    return found


def _trials(task: Task) -> Callable[[np.ndarray], Level]:
    """A function that learns a grammar with some numbers of states, quickly."""
    settings = task.settings
    if settings.method == "spectral":
        found = projections(task, 0)
        return lambda n_states: spectral(
            task.counted,
            found,
            found.n_states(n_states, settings.tolerance, settings.nodes_per_state),
            smoothing=settings.smoothing,
        )
    return _ClusterTrials(task, useful_projections(task, 0))


class _ClusterTrials:
    """Relative frequencies of clusters. The nodes of a label are clustered once for each number."""

    def __init__(self, task: Task, found: Projections):
        self._task, self._found = task, found
        self._kept: dict[tuple[int, int], np.ndarray] = {}

    def __call__(self, n_states: np.ndarray) -> Level:
        """The grammar with these numbers of states."""
        counted = self._task.counted
        state = np.empty(len(counted.treebank.label), np.int64)
        sizes = np.ones_like(n_states)
        for a, m in enumerate(n_states.tolist()):
            clusters = self._clusters(a, m)
            state[self._found.nodes[a]] = clusters
            sizes[a] = clusters.max(initial=0) + 1
        grammar = Grammar(counted.trees.rules, sizes, np.empty(0), np.empty(0))
        counts = count_states(counted, grammar, state)
        return counted.level(maximize(counted.trees, grammar, counts, self._task.smoothing))

    def _clusters(self, a: int, m: int) -> np.ndarray:
        if (a, m) not in self._kept:
            found = self._found
            views = found.singular_values[a], found.inside[a], found.outside[a]
            seed = np.random.default_rng([self._task.settings.random_state, a])
            clusters = clustered_label(*views, m, seed)
            self._kept[a, m] = clusters.astype(np.min_scalar_type(max(m - 1, 1)))
        return self._kept[a, m]


def bracket_score(
    counted: CountedTrees, trees: Sequence[Tree], middle: Level, settings: Settings
) -> Callable[[Level], float]:
    """The mean log of the marginals of the right brackets, in charts that are pruned once."""
    symbols = counted.treebank.symbols
    cascade = Cascade(symbols, counted.coarse(), middle, [middle])
    limits = thresholds(settings.prune)
    names = [tuple(symbol.chain) if symbol.siblings is None else () for symbol in symbols]
    names = [chain[:-1] if one.preterminal else chain for chain, one in zip(names, symbols)]
    parts = []
    for tree in trees[:: -(-len(trees) // _MOST_TREES)]:
        chart = cascade.pruned(tree.leaves(), *limits)
        if chart.problem is not None:
            continue
        wanted = {key: place for place, key in enumerate(sorted(gold_brackets(tree)))}
        forest, item, place = chart.forest, [], []
        for i, (a, start, end) in enumerate(zip(forest.label, forest.start, forest.end)):
            for label in dict.fromkeys(names[a]):
                if (at := wanted.get((label, int(start), int(end)))) is not None:
                    item.append(i)
                    place.append(at)
        if wanted:
            parts.append((chart, np.array(item, int), np.array(place, int), len(wanted)))
    if not parts:
        raise CorpusError(
            "no validation tree has brackets that the grammar can parse: give others, or take "
            "allocation='spectrum'"
        )

    def score(level: Level) -> float:
        total, n = 0.0, 0
        for chart, item, place, size in parts:
            found = level.posteriors(chart.forest, chart.tokens)
            mu = np.zeros(size)
            if found is not None:
                mu = np.bincount(place, np.abs(found.items)[item], size)
            total += float(np.log(np.clip(mu, _LEAST, 1.0)).sum())
            n += size
        return total / n

    return score


def _from_a_part(task: Task, trees: list[Tree]) -> np.ndarray:
    """Keep back some trees, search with the others, and give all labels what they had there."""
    from eigentext.grammars.learning.em import pruning_level

    if len(trees) < 2 * _EVERY:
        raise CorpusError(
            f"{len(trees)} trees are too few to keep some back: give fit some as validation, or "
            "take allocation='spectrum'"
        )
    kept_back = trees[::_EVERY]
    others = [tree for place, tree in enumerate(trees) if place % _EVERY]
    counted = CountedTrees.by(task.settings, others)
    part = Task.of(counted, task.settings)
    numbers = searched(part, kept_back, pruning_level(part))
    known = dict(zip(counted.treebank.symbols, numbers.tolist()))
    symbols = task.counted.treebank.symbols
    return np.array([known.get(symbol, 1) for symbol in symbols], np.int64)
