"""Search for the number of states, the scaling of features, the smoothing and the markovization.

The best choice has the highest F1 of brackets on validation trees. Most of the work does not depend
on all that is searched, and each part is done once for what it depends on:

* The coarse chart of each validation sentence depends on nothing: its grammar remembers nothing.
* The treebank, the features, the grammar that prunes, and what it leaves of the charts depend on
  the markovization (horizontal, vertical).
* The SVDs of "spectral" also depend on kappa. They are computed for the largest number of states;
  fewer states are the first directions.
* The averages, and the last pass over what is left of the charts, also depend on the number of
  states and the smoothing. Only this is done for each trial.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, NamedTuple

from eigentext import engine
from eigentext.corpus.packing import Packed, pack, unpack
from eigentext.corpus.trees import Tree
from eigentext.engine.spread import Spread
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import learned_with
from eigentext.evaluate import brackets
from eigentext.grammars import parameters as tables
from eigentext.grammars.chart.cascade import Cascade, Charted, Level, Pruned, thresholds
from eigentext.grammars.chart.decoding import Decoder
from eigentext.grammars.latent import LatentPCFG
from eigentext.grammars.learning.allocation import allocated
from eigentext.grammars.learning.counts import CountedTrees
from eigentext.grammars.learning.em import pruning_level
from eigentext.grammars.learning.protocol import WITHOUT_FEATURES, Learned, Task, method
from eigentext.grammars.learning.spectral import projections
from eigentext.grammars.parser import workers
from eigentext.grammars.treebank.reading import TreeLike, normalized
from eigentext.parameters import Settings, warn_of_unused

MARKOVIZATIONS = ((0, 1), (1, 1), (0, 2))
_BLOCK = 4  # sentences whose charts are computed together
_Point = tuple[Any, ...]  # n_states, smoothing, kappa, (horizontal, vertical)


class TuningTrial(NamedTuple):
    """One choice of parameters, and how well it did.

    Attributes
    ----------
    parameters
        The parameters of :class:`~eigentext.LatentPCFG` that were searched.
    f1
        The F1 of the brackets of the validation trees.
    n_fallbacks
        How many of the validation sentences had no parse by the grammar.
    seconds
        The time of this trial, without the work that trials share.
    """

    parameters: dict[str, Any]
    f1: float
    n_fallbacks: int
    seconds: float


@dataclass(frozen=True)
class Tuned:
    """The result of a search. ``str(tuned)`` is a table of the trials.

    Attributes
    ----------
    best
        The best parameters, for ``LatentPCFG(**best)``.
    trials
        All trials, the best first.
    model
        The best model, fitted. A new fit with these parameters gives the same up to rounding.
    """

    best: dict[str, Any]
    trials: list[TuningTrial]
    model: LatentPCFG

    def __str__(self) -> str:
        names = list(self.trials[0].parameters)
        if self.model.parameters_.method in WITHOUT_FEATURES:
            names.remove("kappa")
        rows = [["F1", *(name.removeprefix("n_") for name in names), "fallbacks", "seconds"]]
        for trial in self.trials:
            values = (_text(trial.parameters[name]) for name in names)
            scores = str(trial.n_fallbacks), f"{trial.seconds:.1f}"
            rows.append([f"{100 * trial.f1:.2f}", *values, *scores])
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)


def tune(
    trees: Iterable[TreeLike],
    validation: Iterable[TreeLike],
    *,
    method: str = "spectral",
    n_states: Iterable[int] = (16, 8, 24),
    smoothing: Iterable[float] = (1.0, 0.5, 2.0),
    kappa: Iterable[float] = (5.0, 20.0),
    markovization: Iterable[tuple[int | None, int]] = MARKOVIZATIONS,
    full: bool = False,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    **fixed: Any,
) -> Tuned:
    """Find the parameters of a latent PCFG that parse validation trees best, and fit the parser.

    The search begins with the first value of each parameter. It chooses each parameter in turn,
    with the others at their best so far, until a round changes nothing.

    Parameters
    ----------
    trees, validation
        Trees to learn from, and other trees to measure on. The best F1 of many trials is slightly
        too high, so do not use the trees of a final test for either.
    method
        The method of :class:`~eigentext.LatentPCFG`. The search is made for "spectral". With other
        methods, trials share less work and take longer.
    n_states, smoothing, kappa
        Values to try. "em" and "split-merge" have no features and do not use `kappa`.
    markovization
        Pairs of `horizontal` and `vertical` to try.
    full
        Whether to try every combination.
    random_state, n_jobs, fixed
        Other parameters of :class:`~eigentext.LatentPCFG`.

    Examples
    --------
    >>> trees = ["(S (NP (NNP Ann)) (VP (VBZ likes) (NP (NNP Bob))))",
    ...          "(S (NP (NNP Bob)) (VP (VBZ sleeps)))"]
    >>> more = ["(S (NP (NNP Ann)) (VP (VBZ sleeps)))"]
    >>> tuned = tune(trees, more, n_states=[1, 2], markovization=[(0, 1)], nodes_per_state=1)
    >>> len(tuned.trials), tuned.trials[0].f1
    (5, 1.0)
    >>> print(tuned.model.parse("Bob likes Ann"))
    (S (NP (NNP Bob)) (VP (VBZ likes) (NP (NNP Ann))))
    """
    grid = {
        "n_states": _values("n_states", n_states),
        "smoothing": _values("smoothing", smoothing),
        "kappa": _values("kappa", kappa),
        "markovization": _values("markovization", markovization),
    }
    if isinstance(validation, Sequence) and not len(validation):
        raise CorpusError("no validation trees to measure on: give some that are not learned from")
    gold = normalized(validation)
    if not brackets(gold, gold).gold:
        raise CorpusError("the validation trees have no brackets to measure: give longer ones")
    fixed = {"method": method, **fixed, "random_state": random_state, "n_jobs": n_jobs}
    fixed = _checked(grid, fixed)
    if fixed["method"] in WITHOUT_FEATURES:
        grid["kappa"] = grid["kappa"][:1]
    with engine.use(workers(n_jobs)):
        search = _Search(normalized(trees), gold, fixed, grid)
        (_every if full else _each_in_turn)(search, list(grid.values()))
        return search.tuned()


def _each_in_turn(search: "_Search", values: list[list[Any]]) -> None:
    point = tuple(some[0] for some in values)
    while True:
        before = point
        for place, some in enumerate(values):
            search.sweep([(*point[:place], value, *point[place + 1 :]) for value in some])
            point = search.best
        if point == before:
            return


def _every(search: "_Search", values: list[list[Any]]) -> None:
    *others, markovizations = values
    for markovization in markovizations:
        search.sweep([(*rest, markovization) for rest in product(*others)])
        search.forget()


class _Ground(NamedTuple):
    """What trials with the same markovization share."""

    task: Task
    coarse: Level
    middle: Level
    charts: Spread  # blocks of what is left of the charts of the sentences


class _Found(NamedTuple):
    """A trial, and what its model is made of."""

    trial: TuningTrial
    task: Task
    cascade: Cascade
    learned: list[Learned]


class _Search:
    """The trials, and what they share."""

    def __init__(
        self,
        trees: list[Tree],
        gold: list[Tree],
        fixed: dict[str, Any],
        grid: dict[str, list[Any]],
    ):
        self._trees, self._gold, self._fixed = trees, gold, fixed
        self._most, self._n_kappas = max(grid["n_states"]), len(grid["kappa"])
        self._trials: dict[_Point, TuningTrial] = {}
        self._charted: Spread | None = None
        self._grounds: dict[Any, _Ground] = {}

    def sweep(self, points: list[_Point]) -> None:
        """Try the points that are new."""
        points = [point for point in points if point not in self._trials]
        if not points:
            return
        for point in points:
            self._prepare(point)
        with (
            engine.phase("trials", len(points), "trials") as advance,
            engine.report_to(None),  # the phases of a trial are too many to show
        ):
            for point in points:
                found = self._try(point)
                if not self._trials or found.trial.f1 > self._found.trial.f1:
                    self.best, self._found = point, found
                self._trials[point] = found.trial
                advance(1)

    def forget(self) -> None:
        """Free what belongs to the markovizations so far. The coarse charts stay."""
        self._grounds.clear()

    def tuned(self) -> Tuned:
        """The result, with the diagnostics that a fit would give."""
        trial, task, cascade, learned = self._found
        model = LatentPCFG.from_learned(task.settings, task.counted, cascade, learned)
        model.provenance_["tuned"] = {"n_trials": len(self._trials), "f1": trial.f1}
        trials = sorted(self._trials.values(), key=lambda one: -one.f1)  # stable: the first is best
        return Tuned(self._fixed | trial.parameters, trials, model)

    def _prepare(self, point: _Point) -> None:
        """Compute what this trial shares with others, if that was not done before."""
        *_, markovization = point
        if markovization not in self._grounds:
            self._grounds[markovization] = self._ground(self._settings(point))
        task = self._task(point)
        if task.settings.method == "spectral":
            for k in range(task.settings.n_grammars):
                projections(task, k, noise=task.settings.noise)

    def _ground(self, settings: Settings) -> _Ground:
        counted = CountedTrees.by(settings, self._trees)
        n_kept = settings.n_grammars * self._n_kappas if settings.method == "spectral" else 1
        task = Task.of(counted, settings, n_kept)
        middle, coarse = pruning_level(task), counted.coarse()
        cascade = Cascade(counted.treebank.symbols, coarse, middle, [middle])
        threshold, middle_threshold = thresholds(settings.prune)
        if self._charted is None:
            sentences = [tree.leaves() for tree in self._gold]
            blocks = [sentences[i : i + _BLOCK] for i in range(0, len(sentences), _BLOCK)]
            self._charted = Spread(_charted, blocks, cascade, threshold)
            _make("charts", self._charted, len(self._gold))
        charts = Spread(_refined, self._charted, cascade, middle_threshold)
        _make("prune", charts, len(self._gold))
        return _Ground(task, coarse, middle, charts)

    def _try(self, point: _Point) -> _Found:
        *_, markovization = point
        started = time.perf_counter()
        ground = self._grounds[markovization]
        task = allocated(self._task(point), self._gold, lambda: self._trees, ground.middle)
        learn = method(task.settings.method)
        learned = [learn(task, k) for k in range(task.settings.n_grammars)]
        levels = [one.level for one in learned]
        symbols = task.counted.treebank.symbols
        chains = task.counted.chains()
        cascade = Cascade(symbols, ground.coarse, ground.middle, levels, chains)
        decoder, (threshold, _) = (
            Decoder.of(cascade, task.settings),
            thresholds(task.settings.prune),
        )
        found = ground.charts.map(_parses, decoder, threshold)
        packed, fallbacks = zip(*chain.from_iterable(found))
        f1 = brackets(self._gold, [unpack(tree) for tree in packed]).f1
        seconds = time.perf_counter() - started
        trial = TuningTrial(_parameters(point), f1, sum(fallbacks), seconds)
        return _Found(trial, task, cascade, learned)

    def _task(self, point: _Point) -> Task:
        """What the method needs for this trial, with the trees and features that trials share."""
        *_, markovization = point
        settings = self._settings(point)
        directions = self._most if settings.method == "spectral" else None
        return replace(self._grounds[markovization].task, settings=settings, directions=directions)

    def _settings(self, point: _Point) -> Settings:
        return learned_with(LatentPCFG, self._fixed | _parameters(point)).parameters_


def _make(name: str, charts: Spread, n_sentences: int) -> None:
    with engine.phase(name, n_sentences, "sentences") as advance:
        for _ in charts.made():
            advance(min(_BLOCK, n_sentences))
            n_sentences -= _BLOCK


def _charted(sentences: list[list[str]], cascade: Cascade, threshold: float) -> list[Charted]:
    return [cascade.charted(tokens, threshold) for tokens in sentences]


def _refined(block: list[Charted], cascade: Cascade, threshold: float) -> list[Pruned]:
    return [cascade.refined(charted, threshold) for charted in block]


def _parses(block: list[Pruned], decoder: Decoder, threshold: float) -> list[tuple[Packed, bool]]:
    """The tree of each sentence, and whether the grammar had none for it."""
    found = []
    for pruned in block:
        reading = decoder.cascade.answered(pruned, threshold)
        tree = decoder.tree(reading, list(pruned.tokens))
        found.append((pack(tree), reading.problem is not None))
    return found


def _text(value: Any) -> str:
    return "all" if value is None else f"{value:g}"


def _parameters(point: _Point) -> dict[str, Any]:
    n_states, smoothing, kappa, (horizontal, vertical) = point
    return {
        "n_states": n_states,
        "smoothing": smoothing,
        "kappa": kappa,
        "horizontal": horizontal,
        "vertical": vertical,
    }


def _values(name: str, values: Any) -> list[Any]:
    """The values to try, each once; raise ParameterError if they are none."""
    pairs = name == "markovization"
    example = "[(0, 1), (1, 1)]" if pairs else "[1, 2]"
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ParameterError(f"{name} must be values to try, as {example}, not {values!r}")
    found = []
    for value in values:
        if pairs and not (isinstance(value, (tuple, list)) and len(value) == 2):
            raise ParameterError(
                f"markovization must be pairs of horizontal and vertical, as {example}, "
                f"not {value!r}"
            )
        if isinstance(value, Mapping):
            raise ParameterError(f"{name} must be numbers to try, not a mapping: {value!r:.80}")
        found.append(tuple(value) if pairs else value)
    if not found:
        raise ParameterError(f"{name} has no values to try: give some, as {example}")
    return list(dict.fromkeys(found))


def _checked(grid: dict[str, list[Any]], fixed: dict[str, Any]) -> dict[str, Any]:
    """The fixed parameters, converted. All values are checked before any work."""
    for name in ("horizontal", "vertical"):
        if name in fixed:
            raise ParameterError(f"{name} is searched for: give pairs to try as markovization")
    table = tables.LatentPCFG
    given = LatentPCFG().set_params(**fixed).get_params(deep=False)
    point = {name: values[0] for name, values in grid.items()}
    for name, values in grid.items():
        for value in values:
            table.checked(given | _parameters(tuple((point | {name: value}).values())))
    warn_of_unused(table, given, stacklevel=3)
    taken = table.taken(given)
    return {name: taken[name] for name in fixed}
