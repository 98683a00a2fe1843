"""Lists of candidates with their log-probabilities, and with their gold structures."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from eigentext.corpus.trees import as_tree
from eigentext.errors import ParameterError
from eigentext.kernels.candidate import Candidate, as_candidate, is_tree
from eigentext.kernels.kernel import Encoded, Kernel
from eigentext.reranking.measures import Measure, measure_of


class CandidateLists:
    """The candidates of each input. A list may be empty.

    Only differences of log-probabilities within a list matter, so the highest one becomes 0. A
    value of -inf becomes one less than the lowest finite value. If the list has no finite value,
    all become 0.

    Attributes
    ----------
    lists : list of lists of Candidate
    sizes : array, shape (n_inputs,)
        The length of each list.
    borders : array, shape (n_inputs + 1,)
        The place of the first candidate of each list among all candidates, and the end of the last.
    logs : array, shape (n_candidates,)
        The log-probabilities.
    """

    def __init__(self, candidates: Iterable[Any]):
        given = list(candidates)
        for number, one in enumerate(given):
            if isinstance(one, str) or not isinstance(one, Iterable):
                raise ParameterError(
                    f"input {number} is {one!r:.40}, not a list of candidates; give a list for "
                    "each input, and an empty list if it has no candidates"
                )
        self.lists = [_centered(list(one), number) for number, one in enumerate(given)]
        self.sizes = np.array([len(one) for one in self.lists], dtype=np.int64)
        self.borders = np.concatenate([[0], np.cumsum(self.sizes)])
        self.logs = np.array([c.log_probability for one in self.lists for c in one], np.float64)
        self._encoded: Encoded | None = None

    def __len__(self) -> int:
        return len(self.lists)

    def __getitem__(self, numbers: np.ndarray) -> "CandidateLists":
        """Return the lists with these numbers."""
        return CandidateLists([self.lists[i] for i in numbers])

    @property
    def full(self) -> list[list[Candidate]]:
        """The lists that are not empty."""
        return [one for one in self.lists if one]

    def weighted_logs(self, beta: float) -> list[np.ndarray]:
        """Return beta times the log-probabilities of each list that is not empty."""
        return [beta * logs for logs in self.split(self.logs) if len(logs)]

    def encoded(self, kernel: Kernel) -> Encoded:
        """Encode all candidates for a kernel. Kernels with another decay can use the result too."""
        if self._encoded is None:
            self._encoded = kernel.encode([c for one in self.lists for c in one])
        return self._encoded

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        """Split an array over all candidates into one array for each list."""
        return np.split(values, self.borders[1:-1]) if len(self) else []

    def best(self, scores: np.ndarray) -> np.ndarray:
        """Return the place of the first highest score in each list, or -1 for an empty list."""
        places = np.full(len(self), -1)
        full = np.flatnonzero(self.sizes)
        if len(full):
            starts = self.borders[full]
            highest = np.repeat(np.maximum.reduceat(scores, starts), self.sizes[full])
            hits = np.flatnonzero(scores == highest)
            places[full] = hits[np.searchsorted(hits, starts)] - starts
        return places


class LabeledLists:
    """Lists of candidates, with the gold structure of each input.

    Attributes
    ----------
    lists : CandidateLists
    gold : list
        The gold structure of each input.
    right : array, shape (n_inputs,)
        The place of the gold structure in its list. If it is not there, the place of the candidate
        that is closest to it by the measure. -1 for an empty list.
    replaced : array, shape (n_inputs,)
        Whether a closest candidate took the place of the gold structure.
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
        self.gold = resolved(lists, gold)
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
                    "closest=True to use the closest candidate in its place"
                )
            self.right[number] = self.measure.value(self.counts(number)).argmax()

    def __getitem__(self, numbers: np.ndarray) -> "LabeledLists":
        """Return the lists with these numbers."""
        some = object.__new__(LabeledLists)
        some.lists, some.measure = self.lists[numbers], self.measure
        some.right, some.replaced = self.right[numbers], self.replaced[numbers]
        some.gold = [self.gold[i] for i in numbers]
        some._counts = [self._counts[i] for i in numbers]
        return some

    def values(self) -> list[np.ndarray]:
        """Return the measure of each candidate, for each list that is not empty."""
        full = np.flatnonzero(self.lists.sizes).tolist()
        return [self.measure.value(self.counts(number)) for number in full]

    def oracle(self) -> np.ndarray:
        """Return the place of the candidate with the best measure, or -1 for an empty list."""
        return self.lists.best(np.concatenate([np.empty(0), *self.values()]))

    def counts(self, number: int) -> np.ndarray:
        """Return the counts of each candidate of an input, or those of a missing answer."""
        found = self._counts[number]
        if found is None:
            gold = self.gold[number]
            nothing = [None if is_tree(gold) else []]
            structures = [c.structure for c in self.lists.lists[number]] or nothing
            found = np.array([self.measure.counts(gold, one) for one in structures])
            self._counts[number] = found
        return found

    def counts_at(self, places: np.ndarray) -> np.ndarray:
        """Return the counts of one candidate of each input, given its place (or -1)."""
        return np.array([self.counts(i)[place] for i, place in enumerate(places)])

    def _check_kinds(self) -> None:
        kind = is_tree(self.gold[0])
        for number, one in enumerate(self.lists.lists):
            for candidate in one:
                if is_tree(candidate.structure) != kind:
                    raise ParameterError(
                        f"input {number} has a candidate that is a {_KINDS[not kind]}, but gold "
                        f"structures are {_KINDS[kind]}s; make a reranker for each kind"
                    )


_KINDS = ("tagged sequence", "tree")


def resolved(lists: CandidateLists, gold: list[Any]) -> list[Any]:
    """Return the gold structure of each list, which may be given by its place in the list."""
    if len(gold) != len(lists) or not gold:
        raise ParameterError(
            f"{len(lists)} lists of candidates and {len(gold)} gold structures; give one of "
            "both for each input, and at least one input"
        )
    return [
        _at(one, right, number) if _is_place(right) else right
        for number, (one, right) in enumerate(zip(lists.lists, gold))
    ]


def _centered(given: list[Any], number: int) -> list[Candidate]:
    """Return candidates whose log-probabilities are finite and at most 0."""
    pairs = [as_candidate(one) for one in given]
    if all(pair is None for pair in pairs):  # only their order is known
        return [Candidate(structure, 0.0) for structure in given]
    logs = np.array([np.nan if pair is None else pair.log_probability for pair in pairs])
    for place in np.flatnonzero(~(logs < np.inf)):
        has = "no log-probability" if pairs[place] is None else f"log-probability {logs[place]}"
        raise ParameterError(
            f"candidate {place} of input {number} has {has}; give Candidate(structure, "
            "log_probability) with a number or -inf, or give only structures"
        )
    finite = logs[np.isfinite(logs)]
    if len(finite):
        logs = np.where(np.isfinite(logs), logs, finite.min() - 1) - finite.max()
    else:
        logs = np.zeros(len(logs))
    return [Candidate(pair.structure, log) for pair, log in zip(pairs, logs.tolist()) if pair]


def _is_place(right: object) -> bool:
    return isinstance(right, (int, np.integer))


def _at(candidates: list[Candidate], place: int, number: int) -> Any:
    if not 0 <= place < len(candidates):
        raise ParameterError(
            f"the gold of input {number} is {place}, but its {len(candidates)} candidates are "
            "numbered from 0; give the structure if it is not among them"
        )
    return candidates[place].structure


def _place(candidates: list[Candidate], gold: Any) -> int:
    """Return the place of the gold structure, or -1 if it is missing."""
    plain = _plain(gold)
    return next((i for i, one in enumerate(candidates) if _plain(one.structure) == plain), -1)


def _plain(structure: Any) -> Any:
    return str(as_tree(structure)) if is_tree(structure) else [tuple(pair) for pair in structure]
