"""Forward counts of pairs in one process, shard by shard, within the memory budget.

With a checkpoint, the counts of each shard are saved as soon as they are there.
"""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from eigentext import engine
from eigentext.corpus import EncodedCorpus, Vocabulary, encode
from eigentext.errors import CorpusError, ParameterError
from eigentext.matrices import budget
from eigentext.matrices.budget import DEFAULT_MEMORY, give_back
from eigentext.matrices.runs import CSR, assembled, is_on_disk, merge
from eigentext.moments.additive import Counted
from eigentext.moments.states import SHARD, KeptCounts
from eigentext.storage.maps import forget

_TOKENS = 1 << 20
_MOST_PLACES = 1000  # each place is a matrix
_LARGEST_EXACT = 40  # with a unit of lcm(1..41), counts overflow 64 bits on large corpora


def check_window(window: int, weighting: str, context: str = "bag") -> None:
    """Raise a ParameterError if the weights would not be exact, or a list would be too long."""
    if context == "list" and window > _MOST_PLACES:
        raise ParameterError(
            f"window is {window}, but a list of contexts has {_MOST_PLACES} places on each side "
            "at most; use a smaller window, or context='bag' (--context bag)"
        )
    if weighting == "distance" and window > _LARGEST_EXACT:
        raise ParameterError(
            f"window is {window}, but weights by distance are exact for windows up to "
            f"{_LARGEST_EXACT}; use a smaller window, or weighting='flat' (--weighting flat)"
        )


def pair_weights(window: int, weighting: str) -> np.ndarray:
    """Integer weights of the distances 0..window (0 is never a pair)."""
    check_window(window, weighting)
    if weighting == "flat":
        return np.append(0, np.ones(window, np.int64))
    unit = math.lcm(*range(1, window + 1))
    return np.array([0] + [unit // d for d in range(1, window + 1)], np.int64)


def check_sums(vocabulary: Vocabulary, rare_count: int, weights: np.ndarray) -> None:
    """Raise a ParameterError if the sum of a row of counts may not fit in 64 bits.

    A token has one neighbor at most at each distance on each side. So the most frequent word, or
    all rare words together, decides.
    """
    most = max(int(vocabulary.counts.max(initial=0)), rare_count)
    if 2 * most * sum(weights.tolist()) >= 2**63:
        raise ParameterError(
            f"window is {len(weights) - 1}, and the most frequent word, or all rare words "
            f"together, occurs {most} times: sums of exact weights may not fit in 64 bits; use "
            "a smaller window (--window), or weighting='flat' (--weighting flat)"
        )


def pair_shape(n: int, window: int, context: str) -> tuple[int, int]:
    """The shape of F for n words; raises a ParameterError if it has too many columns."""
    shape = (n, n * window if context == "list" else n)
    if shape[1] >= 2**31:
        raise ParameterError(
            f"{n} words at {window} places are too many columns; "
            "raise min_count or use context='bag'"
        )
    return shape


def counted_corpus(
    corpus: Any,
    weights: np.ndarray,
    shape_of: Callable[[int], tuple[int, int]],
    limits: dict[str, Any],
    n_shards: int | None,
    cache: str | os.PathLike[str] | bool | None,
) -> Counted:
    """Forward counts of a corpus, by the threads of this process."""
    encoded, found, lookup = read_rows(corpus, limits, cache)
    check_sums(found.vocabulary, found.rare_count, weights)
    shape = shape_of(len(found.vocabulary) + (not found.whole))
    found.counts = counted(encoded, lookup, weights, shape, n_shards)
    return found


def read_rows(
    corpus: Any, limits: dict[str, Any], cache: str | os.PathLike[str] | bool | None
) -> tuple[EncodedCorpus, Counted, np.ndarray]:
    """The encoded text, what is known about it, and the row of each word, with -1 last."""
    encoded = encode(corpus, cache=cache, memory=budget.current().memory)
    check_pairs(encoded.n_tokens)
    vocabulary = Vocabulary.from_counts(encoded.words, encoded.counts, **limits)
    found = Counted.of(encoded, vocabulary)
    places = vocabulary.ids_of(encoded.words)
    places[places < 0] = len(vocabulary)
    give_back()
    # END is -1, NumPy's index of the last place: one look-up maps words and the ends of units.
    return encoded, found, np.append(places, np.int32(-1))


def counted(
    encoded: EncodedCorpus,
    lookup: np.ndarray,
    weights: np.ndarray,
    shape: tuple[int, int],
    n_shards: int | None,
) -> CSR:
    """F of a corpus: shards that fit in memory are counted by blocks of rows, then added.

    `lookup` gives the row of each word, and -1 last. The memory budget decides how large a shard
    is, and whether the sum is in memory or on disk.
    """
    window = len(weights) - 1
    n_tokens = len(encoded.tokens)
    kept = KeptCounts(
        {"text": encoded.fingerprint, "weights": weights.tolist(), "shape": list(shape)}, lookup
    )
    if n_shards is None:
        most = _affordable(n_tokens, window)
        n_shards = -(-n_tokens // (min(most, SHARD) if kept.in_use else most))
    # With a budget, the sum may take a third of what is left, and partial counts wait on disk.
    answer = budget.current().left / 3
    partial = 0 if budget.current().is_stated else DEFAULT_MEMORY / 2
    left = answer if n_shards == 1 else partial
    if found := kept.read("sum", answer):
        return found[0][0]
    runs: list[CSR] = []
    shards = encoded.shards(n_shards)
    with engine.phase("count", n_tokens, "tokens") as advance:
        for start, stop in shards:
            if found := kept.read(f"run-{start}-{stop}", left):
                runs += found[0]
                advance(stop - start)
            else:
                # A pair begins in the shard and ends up to `window` places after it.
                tokens = rows_of_words(encoded.tokens[start : stop + window], lookup)
                runs.append(counted_shard(tokens, stop - start, weights, shape, advance, left))
                del tokens
                if len(shards) > 1:
                    kept.write(f"run-{start}-{stop}", runs[-1:])
            if not is_on_disk(runs[-1]):
                left -= 12 * runs[-1].nnz
    if len(runs) == 1:
        forward = runs[0]
    else:
        with engine.phase("merge", sum(run.nnz for run in runs), "entries") as advance:
            forward = merge(runs, answer, advance)
    kept.write("sum", [forward])
    for start, stop in shards:
        kept.drop(f"run-{start}-{stop}")
    return forward


def counted_shard(
    tokens: np.ndarray,
    n_positions: int,
    weights: np.ndarray,
    shape: tuple[int, int],
    advance: Callable[[int], None] = lambda amount: None,
    keep: float = math.inf,
) -> CSR:
    """F of the pairs that begin at the first `n_positions` tokens; -1 ends a unit."""
    from eigentext.matrices import row_loops
    from eigentext.moments import _loops

    starts, positions = row_loops.sort_positions(tokens, n_positions, shape[0])
    stride = shape[0] if shape[1] > shape[0] else 0

    def count_rows(rows: tuple[int, int]):
        return _loops.count_pairs(tokens, starts, positions, weights, stride, shape[1], *rows)

    return assembled(count_rows, starts, shape, advance, keep=keep)


def check_pairs(n_tokens: int) -> None:
    """Raise a CorpusError if the corpus has fewer than two tokens."""
    if n_tokens < 2:
        raise CorpusError(
            "the corpus has one token only, and nothing occurs together with it; "
            "give more text, or another tokenizer if this is one long word"
        )


def nothing_to_count(options: dict[str, Any]) -> CorpusError:
    """The error for text without pairs."""
    return CorpusError(
        f"no two words share a {options['unit']}, so there is nothing to count; "
        "read the text as one with unit='document' or 'stream' (--unit)"
    )


def _affordable(n_tokens: int, window: int) -> int:
    """The number of tokens of a shard, which changes no answer."""
    # A token needs its id and its position.
    if budget.current().is_stated:
        # A third of what is left, but at least a block of text; the counts go to disk. It is a
        # power of two: what is left is never quite the same, and checkpoints need the same shards.
        third = max(budget.current().left / 3, 1 << 23)
        return n_tokens if 8 * n_tokens <= third else 1 << int(math.log2(third / 8))
    if fits_at_once(n_tokens):
        return n_tokens
    # The counts of the shard need memory too: at worst a new entry for each distance.
    return DEFAULT_MEMORY // 2 // (8 + 12 * window)


def fits_at_once(n_tokens: int) -> bool:
    """Whether a text is one shard where nobody states a budget."""
    return 8 * n_tokens <= DEFAULT_MEMORY // 2


def rows_of_words(tokens: np.ndarray, lookup: np.ndarray, *, in_place: bool = False) -> np.ndarray:
    """``lookup[tokens]``, in half the memory that NumPy would need; `in_place`, in none."""
    rows = tokens if in_place else np.empty(len(tokens), np.int32)
    for start in range(0, len(tokens), _TOKENS):
        part = tokens[start : start + _TOKENS]
        rows[start : start + _TOKENS] = np.take(lookup, part, mode="wrap")
        forget(part)
    return rows
