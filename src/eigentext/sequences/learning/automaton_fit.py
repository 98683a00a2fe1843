"""From n-gram counts to an automaton: its basis, its size, its repairs."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from eigentext.corpus import EncodedCorpus
from eigentext.corpus.encoded import END
from eigentext.corpus.symbols import INTEGERS, is_stream, symbol_ids
from eigentext.errors import CorpusError, ParameterError
from eigentext.matrices.budget import check_room
from eigentext.moments import NgramMoments
from eigentext.moments.hankel import Basis, Hankel, Statistics, String, Trie, check_order
from eigentext.sequences._symbols import Symbols
from eigentext.sequences.forms import Operators, PlainOperators
from eigentext.sequences.learning.automaton import Projected, Scaling, projected
from eigentext.sequences.learning.plain import check_rank
from eigentext.sequences.learning.rank_choice import Trial, floor_of_windows, tried

_PARTS = (1.0, 0.3, 0.1)  # of the basis, that validation tries
_FEWEST = 10  # strings of a part of the basis


class Settings(Protocol):
    """The parameters of :class:`eigentext.WeightedAutomaton` that learning uses."""

    n_states: int
    basis: Any
    longest: int
    statistics: Statistics
    rank: int | None
    scaling: Scaling
    repair: Any
    validation_fraction: float
    random_state: int


class Choice(NamedTuple):
    """What validation chose, and all that it tried."""

    best: Trial
    trials: list[Trial]


class Learned(NamedTuple):
    """The result of :func:`learned`."""

    model: Operators | PlainOperators
    basis: Basis
    diagnostics: dict[str, Any]


def learned(
    settings: Settings, moments: NgramMoments, symbols: Symbols, choice: Choice | None
) -> Learned:
    """Learn an automaton from counts."""
    trie = Trie.of(moments, has_rare=symbols.has_rare)
    basis = _basis(settings, trie, symbols)
    if choice is not None:
        basis = _part(basis, choice.best.basis)
    hankel = Hankel.of(trie, basis, settings.statistics)
    _check_hankel(hankel, settings)
    m = settings.n_states if choice is None else choice.best.rank
    _check_room(hankel, m)
    plain = settings.repair == "none"
    found = projected(
        hankel,
        basis,
        settings.statistics,
        m,
        scaling="none" if plain else settings.scaling,
        random_state=settings.random_state,
    )
    diagnostics: dict[str, Any] = {
        "singular_values": found.singular_values,
        "prefixes": len(basis.prefixes),
        "suffixes": len(basis.suffixes),
        "never_seen": int((hankel.totals == 0).sum() + (hankel.masses == 0).sum()),
        "windows": float(hankel.n_windows),
    }
    if plain:
        check_rank(m, found.singular_values, max(hankel.H.shape), "the Hankel matrix")
        model: Operators | PlainOperators = found.plain(m)
        diagnostics |= {"rank": m}
    else:
        r = _rank(settings, found, choice)
        model, shares = found.operators(r)
        floor = 0.0
        if choice is not None:
            floor = choice.best.floor
        elif hankel.sampled:
            rng = np.random.default_rng(settings.random_state)
            floor = floor_of_windows(model, found, trie, rng)
        model.floors = floor * found.usual
        diagnostics |= {
            "noise": float(found.noise),
            "usable_rank": found.usable_rank,
            "rank": r,
            "full_operators": len(model.operators),
            "mean_share_of_rank_one": float(shares.mean()) if len(shares) else 1.0,
            "floor": float(floor),
        }
    diagnostics["negative_mass"] = model.negative_mass()
    if choice is not None:
        names = ("log_probability", "basis", "rank", "floor")
        diagnostics["tried"] = [dict(zip(names, trial)) for trial in choice.trials]
    return Learned(model, basis, diagnostics)


def chosen_by_validation(
    settings: Settings, encoded: EncodedCorpus, symbols: Symbols, order: int
) -> Choice:
    """Hold out a part of the text, and find the size that predicts it best from the rest."""
    rng = np.random.default_rng(settings.random_state)
    kept, held = _split(encoded, settings.validation_fraction, rng)
    moments = NgramMoments.from_corpus(kept, order=order).restrict(symbols.vocabulary.words)
    trie = Trie.of(moments, has_rare=symbols.has_rare)
    basis = _basis(settings, trie, symbols)
    whole = Hankel.of(trie, basis, settings.statistics)
    _check_hankel(whole, settings)
    ids = symbols.all_ids(held)
    if not is_stream(encoded.options):
        is_last = (ids == END) & (np.append(END, ids[:-1]) != END)
        ids = np.insert(ids, np.flatnonzero(is_last), np.int32(trie.n))
    trials: list[Trial] = []
    for size in _sizes(basis, settings):
        part = _part(basis, size)
        hankel = whole.part(len(part.prefixes), len(part.suffixes))
        if not hankel.H.nnz:
            continue
        _check_room(hankel, settings.n_states)
        found = projected(
            hankel,
            part,
            settings.statistics,
            settings.n_states,
            scaling=settings.scaling,
            random_state=settings.random_state,
        )
        trials += tried(found, ids, size)
    return Choice(max(trials), trials)


def _sizes(basis: Basis, settings: Settings) -> list[int]:
    """The sizes of the basis that are tried, the largest first. Given strings are all taken."""
    largest = max(len(strings) for strings in basis)
    if not isinstance(settings.basis, int):
        return [largest]
    sizes = [round(largest * part) for part in _PARTS]
    return [largest, *(size for size in sizes[1:] if size >= _FEWEST)]


def _part(basis: Basis, size: int) -> Basis:
    return Basis(basis.prefixes[:size], basis.suffixes[:size])


def _split(
    encoded: EncodedCorpus, fraction: float, rng: np.random.Generator
) -> tuple[EncodedCorpus, EncodedCorpus]:
    """The text without the held-out part, and that part: some sequences, or the end of a stream."""
    tokens = np.asarray(encoded.tokens)
    if is_stream(encoded.options):
        inside = np.flatnonzero(tokens != END)
        n_held = max(1, round(len(inside) * fraction))
        is_held = np.arange(len(tokens)) >= inside[-n_held] if n_held < len(inside) else None
    else:
        unit = np.cumsum(tokens == END) - (tokens == END)
        n_units = int(unit[-1]) + 1 if len(unit) else 0
        n_held = max(1, round(n_units * fraction))
        chosen = np.zeros(n_units, np.bool_)
        chosen[rng.permutation(n_units)[:n_held]] = True
        is_held = chosen[unit] if n_held < n_units else None
    if is_held is None or not (tokens[~is_held] != END).any():
        raise CorpusError(
            "too little text to hold some out for validation; give more, or use selection='noise'"
        )
    return tuple(_piece(encoded, mask) for mask in (~is_held, is_held))  # type: ignore[return-value]


def _piece(encoded: EncodedCorpus, mask: np.ndarray) -> EncodedCorpus:
    tokens = np.asarray(encoded.tokens)[mask]
    if not len(tokens) or tokens[-1] != END:
        tokens = np.append(tokens, np.int32(END))
    counts = np.bincount(tokens[tokens != END], minlength=len(encoded.words)).astype(np.int64)
    words, name = encoded.words, f"{encoded.fingerprint}, in part"
    if encoded.options.get("tokenizer") != INTEGERS and not counts.all():
        # Without the words of the other part, the counts are whole and can get any vocabulary.
        places = np.append(np.cumsum(counts > 0) - 1, END).astype(np.int32)
        tokens = places[tokens]  # END is -1, the last place
        words = [word for word, count in zip(words, counts.tolist()) if count]
        counts = counts[counts > 0]
    return EncodedCorpus(tokens, words, counts, name, encoded.options)


def _basis(settings: Settings, trie: Trie, symbols: Symbols) -> Basis:
    """The most frequent strings, or those that are given."""
    if isinstance(settings.basis, int):
        statistics, k, longest = settings.statistics, settings.basis, settings.longest
        check_order(trie, statistics, longest, longest)
        origin = 0 if statistics == "substring" else trie.node([trie.edge])
        prefixes = trie.frequent(k, longest, after=origin)
        suffixes = trie.frequent(k, longest, anchored=statistics == "string")
        return Basis(prefixes, suffixes)
    return Basis(*(_ids(strings, symbols) for strings in settings.basis))


def _ids(strings: Any, symbols: Symbols) -> list[String]:
    """The ids of the symbols of given strings. One that was never seen has -1."""
    found: dict[String, None] = {}  # in the given order, each once
    for string in strings:
        ids = symbol_ids(list(string), symbols.vocabulary, symbols.options)
        if symbols.has_rare:
            ids[ids < 0] = len(symbols.vocabulary)
        found[tuple(ids.tolist())] = None
    return list(found)


def _rank(settings: Settings, found: Projected, choice: Choice | None) -> int:
    if choice is not None:
        return min(choice.best.rank, found.size)
    if settings.rank is None:
        return found.usable_rank
    if settings.rank > found.size:
        raise ParameterError(
            f"rank {settings.rank} asked for, but the Hankel matrix has rank {found.size}; ask for "
            "no more, or give a larger basis"
        )
    return settings.rank


def _check_hankel(hankel: Hankel, settings: Settings) -> None:
    if not hankel.H.nnz or not hankel.middles.nnz:
        what = {"string": "sequence is", "prefix": "sequence begins with"}
        where = what.get(settings.statistics, "sequence has")
        raise CorpusError(
            f"no {where} a prefix, a symbol and a suffix of this basis, so there is nothing to "
            "learn from; give strings that occur, a number as basis, or statistics='substring'"
        )


def _check_room(hankel: Hankel, m: int) -> None:
    n, R = len(hankel.frequencies), min(m, *hankel.H.shape)
    check_room(
        24.0 * n * R * R + 40.0 * (hankel.H.shape[0] + hankel.H.shape[1]) * R,
        f"operators of {R:,} x {R:,} numbers for {n:,} symbols",
        "ask for fewer states, or raise min_count (--min-count) for fewer symbols",
    )
