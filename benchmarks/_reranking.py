"""N-best lists for the benchmarks of reranking; they take minutes, so they are kept in a folder."""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import eigentext as et
from _harness import scratch
from eigentext.corpus import factored
from eigentext.grammars import FallbackWarning
from eigentext.reranking import read_candidates, write_candidates
from eigentext.reranking.folds import jackknife, n_best, words_of

K = 20  # candidates for each sentence
FOLDER = scratch("n-best")
Lists = list[list[Any]]


def chunked(split: str) -> list[list[tuple[str, str]]]:
    """Sentences of CoNLL-2000 as ("word|part of speech", chunk tag)."""
    return factored(et.load_dataset("conll2000", split=cast(Any, split)))


def lists_of(model: Any, examples: list[Any]) -> Lists:
    """The candidates of a fitted model for the words of trees or tagged sentences."""
    return n_best(model, [words_of(one) for one in examples], K)


def jackknifed(make: Callable[[], Any], examples: list[Any], n_folds: int) -> Lists:
    """The candidates for each fold of the examples, by a model of all other folds."""
    return jackknife(lambda part: make().fit(part), lists_of, examples, n_folds)


def kept(folder: Path, name: str, make: Callable[[], Lists]) -> tuple[Lists, float | None]:
    """Lists from a file; if there is none, they are made, written and timed in CPU seconds."""
    path = folder / f"{name}.nbest.gz"
    seconds = None
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FallbackWarning)
            lists = make()
        seconds = time.process_time() - start
        write_candidates(lists, path)
    return read_candidates(path), seconds
