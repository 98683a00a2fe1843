"""Choosing the number of states, the scaling of features, the smoothing and what labels remember.

The best is what has the best F1 of brackets on validation trees. Little of the work depends on all
that is searched, and each part is done once for what it depends on:

* the coarse chart of each validation sentence: on nothing, as its grammar remembers nothing;
* a markovisation (horizontal, vertical): treebank, features, the grammar that prunes, and what it
  leaves of the charts;
* a kappa beside it: the SVDs of "spectral", with the most states of all, of which fewer are a cut;
* a number of states and a smoothing beside these: averages, and the last pass over what is left of
  the charts. Only this is done for each trial.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import Any, NamedTuple

from eigentext import engine
from eigentext.corpus.packing import Packed, pack, unpack
from eigentext.corpus.trees import Tree
from eigentext.engine.spread import Spread
from eigentext.errors import CorpusError, ParameterError
from eigentext.estimators import learned_with
from eigentext.evaluate import brackets
from eigentext.grammars.chart.cascade import Cascade, Charted, Level, Pruned
from eigentext.grammars.latent import LatentPCFG
from eigentext.grammars.learning.learner import Learner, normalized
from eigentext.grammars.learning.spectral import Projections
from eigentext.grammars.parser import workers
from eigentext.parameters import warn_of_unused

WITHOUT_FEATURES = ("em", "split-merge")
MARKOVIZATIONS = ((0, 1), (1, 1), (0, 2))
_BLOCK = 4  # sentences whose charts stay together
_Point = tuple[Any, ...]  # n_states, smoothing, kappa, (horizontal, vertical)


class Trial(NamedTuple):
    """One choice of parameters, and how well it did.

    Attributes
    ----------
    parameters
        Those of :class:`~eigentext.LatentPCFG` that were searched.
    f1
        Of the brackets of the validation trees.
    n_fallbacks
        How many of their sentences had no parse by the grammar.
    seconds
        Of this trial alone, without what trials share.
    """

    parameters: dict[str, Any]
    f1: float
    n_fallbacks: int
    seconds: float


@dataclass(frozen=True)
class Tuned:
    """What a search found; printed, a table of trials.

    Attributes
    ----------
    best
        Parameters: ``LatentPCFG(**best)``.
    trials
        All that was tried, best first.
    model
        The best one, fitted. Fitted anew it is the same up to rounding.
    """

    best: dict[str, Any]
    trials: list[Trial]
    model: LatentPCFG

    def __str__(self) -> str:
        names = list(self.trials[0].parameters)
        if self.model.parameters_.method in WITHOUT_FEATURES:
            names.remove("kappa")
        rows = [["F1", *(name.removeprefix("n_") for name in names), "fallbacks", "seconds"]]
        for trial in self.trials:
            told = (_told(trial.parameters[name]) for name in names)
            scores = str(trial.n_fallbacks), f"{trial.seconds:.1f}"
            rows.append([f"{100 * trial.f1:.2f}", *told, *scores])
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(map(str.rjust, row, widths)) for row in rows)


def tune(
    trees: Iterable[Any],
    validation: Iterable[Any],
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
    """The parameters of a latent PCFG that parse validation trees best, and the parser.

    Each parameter is chosen in turn with the others at their best so far, from the first value of
    each on, until a round changes nothing.

    Parameters
    ----------
    trees, validation
        Trees to learn from, and others to measure on: the best F1 of many is a little flattered, so
        neither should be those of a last test.
    method
        Of :class:`~eigentext.LatentPCFG`. "spectral" is what this is made for; with others trials
        share what they can, and each takes a while.
    n_states, smoothing, kappa
        Values to try; "em" and "split-merge", which have no features, have no use for `kappa`.
    markovization
        Pairs of `horizontal` and `vertical` to try.
    full
        Try every combination.
    random_state, n_jobs, fixed
        Other parameters.

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
        search = _Search(normalized(trees), gold, fixed, max(grid["n_states"]))
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
    """What trials with the same markovisation share."""

    learner: Learner
    evidence: Any
    coarse: Level
    middle: Level
    charts: Spread  # of blocks of what is left of the sentences


class _Found(NamedTuple):
    """A trial, its model, and what else that takes to be complete."""

    trial: Trial
    model: LatentPCFG
    learner: Learner
    history: list[dict[str, Any]]


class _Search:
    """Trials, and what they share."""

    def __init__(self, trees: list[Tree], gold: list[Tree], fixed: dict[str, Any], most: int):
        self._trees, self._gold, self._fixed, self._most = trees, gold, fixed, most
        self._trials: dict[_Point, Trial] = {}
        self._charted: Spread | None = None
        self._grounds: dict[Any, _Ground] = {}
        self._projections: dict[Any, list[Projections]] = {}

    def sweep(self, points: list[_Point]) -> None:
        """Try those points that are new."""
        points = [point for point in points if point not in self._trials]
        if not points:
            return
        for point in points:
            self._prepare(point)
        with (
            engine.phase("trials", len(points), "trials") as advance,
            engine.report_to(None),  # the phases of a trial are many
        ):
            for point in points:
                found = self._try(point)
                if not self._trials or found.trial.f1 > self._found.trial.f1:
                    self.best, self._found = point, found
                self._trials[point] = found.trial
                advance(1)

    def forget(self) -> None:
        """Keep nothing of the markovisations so far; only the charts."""
        self._grounds.clear()
        self._projections.clear()

    def tuned(self) -> Tuned:
        """The best, with all that a fit would have told of it."""
        trial, model, learner, history = self._found
        model._tell(learner, history)
        model.provenance_["tuned"] = {"n_trials": len(self._trials), "f1": trial.f1}
        trials = sorted(self._trials.values(), key=lambda one: -one.f1)  # stable: the first is best
        return Tuned(self._fixed | trial.parameters, trials, model)

    def _prepare(self, point: _Point) -> None:
        """See that there is what this trial shares with others."""
        *_, kappa, markovization = point
        model = self._model(point)
        if markovization not in self._grounds:
            self._grounds[markovization] = self._ground(model)
        if model.method == "spectral" and (kappa, markovization) not in self._projections:
            evidence = self._grounds[markovization].evidence
            model.set_params(n_states=self._most)
            self._projections[kappa, markovization] = [
                model._projections(evidence, k) for k in range(model.n_grammars)
            ]

    def _ground(self, model: LatentPCFG) -> _Ground:
        learner = model._learner(self._trees)
        evidence = model._evidence(learner)
        middle, coarse = model._middle(learner), learner.coarse()
        cascade = Cascade(learner.treebank.symbols, coarse, middle, [middle])
        threshold, middle_threshold = model._thresholds()
        if self._charted is None:
            sentences = [tree.leaves() for tree in self._gold]
            blocks = [sentences[i : i + _BLOCK] for i in range(0, len(sentences), _BLOCK)]
            self._charted = Spread(_charted, blocks, cascade, threshold)
            _make("charts", self._charted, len(self._gold))
        charts = Spread(_refined, self._charted, cascade, middle_threshold)
        _make("prune", charts, len(self._gold))
        return _Ground(learner, evidence, coarse, middle, charts)

    def _try(self, point: _Point) -> _Found:
        *_, kappa, markovization = point
        started = time.perf_counter()
        model, ground = self._model(point), self._grounds[markovization]
        learner = ground.learner
        learned = [
            model._spectral(learner, self._projections[kappa, markovization][k], None)
            if model.method == "spectral"
            else model._grammar(learner, ground.evidence, k, None)
            for k in range(model.n_grammars)
        ]
        levels, history = map(list, zip(*learned))
        cascade = Cascade(learner.treebank.symbols, ground.coarse, ground.middle, levels)
        model._keep(learner, cascade)
        packed, fallbacks = zip(*chain.from_iterable(ground.charts.map(_parses, model)))
        f1 = brackets(self._gold, [unpack(tree) for tree in packed]).f1
        seconds = time.perf_counter() - started
        trial = Trial(_parameters(point), f1, sum(fallbacks), seconds)
        return _Found(trial, model, learner, history)

    def _model(self, point: _Point) -> LatentPCFG:
        return learned_with(LatentPCFG, self._fixed | _parameters(point))


def _make(name: str, charts: Spread, n_sentences: int) -> None:
    with engine.phase(name, n_sentences, "sentences") as advance:
        for _ in charts.made():
            advance(min(_BLOCK, n_sentences))
            n_sentences -= _BLOCK


def _charted(sentences: list[list[str]], cascade: Cascade, threshold: float) -> list[Charted]:
    return [cascade.charted(tokens, threshold) for tokens in sentences]


def _refined(block: list[Charted], cascade: Cascade, threshold: float) -> list[Pruned]:
    return [cascade.refined(charted, threshold) for charted in block]


def _parses(block: list[Pruned], model: LatentPCFG) -> list[tuple[Packed, bool]]:
    """The tree of each sentence, and whether there was none by the grammar."""
    found = []
    for pruned in block:
        reading = model._cascade.vote(pruned, model._cascade.levels)
        tree = model._tree(reading, list(pruned.tokens))
        found.append((pack(tree), reading.problem is not None))
    return found


def _told(value: Any) -> str:
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
    """Each once."""
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
        found.append(tuple(value) if pairs else value)
    if not found:
        raise ParameterError(f"{name} has no values to try: give some, as {example}")
    return list(dict.fromkeys(found))


def _checked(grid: dict[str, list[Any]], fixed: dict[str, Any]) -> dict[str, Any]:
    """The fixed parameters as learning wants them; all values are checked before any work."""
    for name in ("horizontal", "vertical"):
        if name in fixed:
            raise ParameterError(f"{name} is searched for: give pairs to try as markovization")
    table = LatentPCFG._table
    given = LatentPCFG().set_params(**fixed).get_params(deep=False)
    point = {name: values[0] for name, values in grid.items()}
    for name, values in grid.items():
        for value in values:
            table.checked(given | _parameters(tuple((point | {name: value}).values())))
    warn_of_unused(table, given, stacklevel=3)
    taken = table.taken(given)
    return {name: taken[name] for name in fixed}
