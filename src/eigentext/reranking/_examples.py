"""Lists of candidates with their log-probabilities, and with the right structures."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from eigentext.corpus.trees import as_tree
from eigentext.errors import ParameterError
from eigentext.kernels.candidate import Candidate, as_candidate, is_tree
from eigentext.kernels.kernel import Encoded, Kernel
from eigentext.reranking.measures import Measure, measure_of


class CandidateLists:
    """The candidates of each input, some of which may have none.

    Log-probabilities matter only by their differences within a list, so the highest becomes 0. One
    of -inf becomes one less than the lowest finite one; where there are none at all, all are 0.

    Attributes
    ----------
    lists : list of lists of Candidate
    sizes : array, shape (n_inputs,)
    borders : array, shape (n_inputs + 1,)
        Where lists begin among all candidates, and the last one ends.
    logs : array, shape (n_candidates,)
    """

    def __init__(self, candidates: Iterable[Any]):
        given = list(candidates)
        for number, one in enumerate(given):
            if isinstance(one, str) or not isinstance(one, Iterable):
                raise ParameterError(
                    f"input {number} is {one!r:.40}, not a list of candidates; give a list for "
                    "each input, an empty one where there is no candidate"
                )
        self.lists = [_centred(list(one), number) for number, one in enumerate(given)]
        self.sizes = np.array([len(one) for one in self.lists], dtype=np.int64)
        self.borders = np.concatenate([[0], np.cumsum(self.sizes)])
        self.logs = np.array([c.log_probability for one in self.lists for c in one], np.float64)
        self._encoded: Encoded | None = None

    def __len__(self) -> int:
        return len(self.lists)

    def __getitem__(self, numbers: np.ndarray) -> "CandidateLists":
        """Some of them."""
        return CandidateLists([self.lists[i] for i in numbers])

    @property
    def full(self) -> list[list[Candidate]]:
        """Those that are not empty."""
        return [one for one in self.lists if one]

    def weighted_logs(self, beta: float) -> list[np.ndarray]:
        """Beta times the log-probabilities of each list that is not empty."""
        return [beta * logs for logs in self.split(self.logs) if len(logs)]

    def encoded(self, kernel: Kernel) -> Encoded:
        """All candidates for a kernel, or for any other that differs from it in decay alone."""
        if self._encoded is None:
            self._encoded = kernel.encode([c for one in self.lists for c in one])
        return self._encoded

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Numbers of all candidates, list by list."""
        return np.split(values, self.borders[1:-1]) if len(self) else []

    def best(self, scores: np.ndarray) -> np.ndarray:
        """The place in its list of the first of the highest scores; -1 where there is none."""
        places = np.full(len(self), -1)
        full = np.flatnonzero(self.sizes)
        if len(full):
            starts = self.borders[full]
            highest = np.repeat(np.maximum.reduceat(scores, starts), self.sizes[full])
            hits = np.flatnonzero(scores == highest)
            places[full] = hits[np.searchsorted(hits, starts)] - starts
        return places


class LabeledLists:
    """Lists with the right structures.

    Attributes
    ----------
    lists : CandidateLists
    gold : list
        The right structure of each input.
    right : array, shape (n_inputs,)
        Its place in its list or, if it is not there, that of the one nearest to it by the measure;
        -1 in an empty list.
    replaced : array, shape (n_inputs,)
        Whether it was not there.
    measure : Measure
    """

    def __init__(
        self,
        lists: CandidateLists,
        gold: Iterable[Any],
        *,
        closest: bool = True,
        measure: Measure | None = None,
    ):
        self.lists = lists
        gold = list(gold)
        if len(gold) != len(lists) or not gold:
            raise ParameterError(
                f"{len(lists)} lists of candidates and {len(gold)} gold structures; give one for "
                "each input, and some inputs"
            )
        self.gold = [
            _at(one, right, number) if _is_place(right) else right
            for number, (one, right) in enumerate(zip(lists.lists, gold))
        ]
        self.measure = measure or measure_of(self.gold)
        self._check_kinds()
        self._counts: list[np.ndarray | None] = [None] * len(gold)
        self.right = np.array(
            [
                right if _is_place(right) else _place(one, right)
                for one, right in zip(lists.lists, gold)
            ],
            dtype=np.int64,
        )
        self.replaced = (self.right < 0) & (lists.sizes > 0)
        for number in np.flatnonzero(self.replaced).tolist():
            if not closest:
                raise ParameterError(
                    f"the gold structure of input {number} is not among its candidates; set "
                    "closest=True to let the nearest take its place"
                )
            self.right[number] = self.measure.value(self.counts(number)).argmax()

    def __getitem__(self, numbers: np.ndarray) -> "LabeledLists":
        """Some of them."""
        some = object.__new__(LabeledLists)
        some.lists, some.measure = self.lists[numbers], self.measure
        some.right, some.replaced = self.right[numbers], self.replaced[numbers]
        some.gold = [self.gold[i] for i in numbers]
        some._counts = [self._counts[i] for i in numbers]
        return some

    def values(self) -> list[np.ndarray]:
        """The measure of each candidate, for each list that is not empty."""
        full = np.flatnonzero(self.lists.sizes).tolist()
        return [self.measure.value(self.counts(number)) for number in full]

    def oracle(self) -> np.ndarray:
        """The place of the candidate with the best measure of its own; -1 in an empty list."""
        return self.lists.best(np.concatenate([np.empty(0), *self.values()]))

    def counts(self, number: int) -> np.ndarray:
        """The measure's counts of each candidate for an input; of none, those of a lost answer."""
        found = self._counts[number]
        if found is None:
            gold = self.gold[number]
            nothing = [None if is_tree(gold) else []]
            structures = [c.structure for c in self.lists.lists[number]] or nothing
            found = np.array([self.measure.counts(gold, one) for one in structures])
            self._counts[number] = found
        return found

    def counts_at(self, places: np.ndarray) -> np.ndarray:
        """The counts of each input's candidate at these places (-1 in an empty list)."""
        return np.array([self.counts(i)[place] for i, place in enumerate(places)])

    def _check_kinds(self) -> None:
        kind = is_tree(self.gold[0])
        for number, one in enumerate(self.lists.lists):
            for candidate in one:
                if is_tree(candidate.structure) != kind:
                    raise ParameterError(
                        f"input {number} has a candidate that is a {_KINDS[not kind]}, but gold "
                        f"structures are {_KINDS[kind]}s; rerank each kind by itself"
                    )


_KINDS = ("tagged sequence", "tree")


def _centred(given: list[Any], number: int) -> list[Candidate]:
    """Candidates with logs of at most 0, all finite."""
    pairs = [as_candidate(one) for one in given]
    if all(pair is None for pair in pairs):  # the base model says no more than their order
        return [Candidate(structure, 0.0) for structure in given]
    logs = np.array([np.nan if pair is None else pair.log_probability for pair in pairs])
    for place in np.flatnonzero(~(logs < np.inf)):
        raise ParameterError(
            f"candidate {place} of input {number} has no log-probability, or one of {logs[place]}; "
            "give Candidate(structure, log_probability) with a number or -inf, or structures alone"
        )
    finite = logs[np.isfinite(logs)]
    if len(finite):
        logs = np.where(np.isfinite(logs), logs, finite.min() - 1) - finite.max()
    else:
        logs = np.zeros(len(logs))
    return [Candidate(pair.structure, log) for pair, log in zip(pairs, logs.tolist()) if pair]


def _is_place(right: Any) -> bool:
    return isinstance(right, (int, np.integer))


def _at(candidates: list[Candidate], place: int, number: int) -> Any:
    if not 0 <= place < len(candidates):
        raise ParameterError(
            f"the gold of input {number} is {place}, but its {len(candidates)} candidates are "
            "numbered from 0; give the structure if it is not among them"
        )
    return candidates[place].structure


def _place(candidates: list[Candidate], gold: Any) -> int:
    """Where the right structure is; -1 if nowhere."""
    plain = _plain(gold)
    return next((i for i, one in enumerate(candidates) if _plain(one.structure) == plain), -1)


def _plain(structure: Any) -> Any:
    return str(as_tree(structure)) if is_tree(structure) else [tuple(pair) for pair in structure]
