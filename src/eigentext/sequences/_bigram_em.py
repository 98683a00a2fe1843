"""EM of the bigram model, on held-out pairs as long as they gain by it."""

from typing import Any, NamedTuple

import numpy as np

from eigentext import engine
from eigentext.errors import CorpusError
from eigentext.factor.mixture import ConditionalMixture, pair_scores
from eigentext.storage.checkpoints import Iteration, State

_PATIENCE = 3  # steps without a better held-out likelihood before EM is stopped
_FLOOR = 1e-6  # least smoothing, or rounding makes zeros


class Judge(NamedTuple):
    """Held-out pairs and how often each occurs."""

    contexts: np.ndarray
    events: np.ndarray
    counts: np.ndarray

    @classmethod
    def of_text(cls, contexts: np.ndarray, events: np.ndarray) -> "Judge":
        """Of a text's events after their contexts; unknown events are left out."""
        known = events >= 0
        if not known.any():
            raise CorpusError("no word of the held-out text is in the vocabulary; give other text")
        width = np.int64(events.max()) + 1
        pairs, counts = np.unique(contexts[known] * width + events[known], return_counts=True)
        return cls(pairs // width, pairs % width, counts)

    @classmethod
    def of_counts(cls, drawn: Any, training: Any) -> "Judge | None":
        """Without the words that nothing is left of in training; None if that leaves nothing."""
        contexts, events = drawn.nonzero()
        known = (training.sum(axis=0) > 0)[events]
        return cls(contexts[known], events[known], drawn.data[known]) if known.any() else None

    def perplexity(self, r: np.ndarray, s: np.ndarray, prior: np.ndarray) -> float:
        r = np.vstack([r, prior]).astype(r.dtype)
        scores = pair_scores(self.contexts, self.events, r, s)
        with np.errstate(over="ignore"):
            return float(np.exp(-(self.counts * scores).sum() / self.counts.sum()))


class Fitted(NamedTuple):
    r: np.ndarray
    s: np.ndarray
    prior: np.ndarray
    n_iter: int
    history: dict[str, list[float]]


def em(
    mixture: ConditionalMixture,
    r: np.ndarray,
    s: np.ndarray,
    smoothing: float,
    n_iter: int,
    judge: Judge | None,
    fixed: bool,
) -> Fitted:
    """EM for r, and for s unless `fixed`, to the end or as long as the judge likes it."""
    smoothing = max(smoothing, _FLOOR)
    weights = mixture.counts.sum(axis=1, dtype=np.float64)[:, None]
    total = weights.sum()
    prior = (weights * r).sum(axis=0) / total
    r = np.where(weights > 0, r, prior).astype(np.float32)
    history: dict[str, list[float]] = {"perplexity": [], "heldout_perplexity": []}
    seen = history["heldout_perplexity"]
    best: tuple[np.ndarray, np.ndarray, np.ndarray, int] = r, s, prior, 0
    C = mixture.counts
    held_out = () if judge is None else judge
    loop = Iteration("bigram-em", C.indptr, C.indices, C.data, r, s, *held_out, smoothing, n_iter,
                     fixed)  # fmt: skip
    first = 0
    if kept := loop.kept():
        arrays, about = kept
        r, s, prior = (arrays[name] for name in ("r", "s", "prior"))
        best = *(arrays[f"best.{name}"] for name in ("r", "s", "prior")), about["best"]
        history["perplexity"], first = arrays["perplexity"].tolist(), about["step"]
        seen += arrays["heldout"].tolist()

    def state() -> State:
        arrays = {"r": r, "s": s, "prior": prior}
        arrays |= {f"best.{name}": part for name, part in zip(("r", "s", "prior"), best)}
        arrays |= {"perplexity": np.array(history["perplexity"]), "heldout": np.array(seen)}
        return arrays, {"step": step + 1, "best": best[3]}

    with engine.phase("em", n_iter, "steps") as advance:
        if first:
            advance(first)
        for step in range(first, n_iter + 1):
            if judge is not None:
                seen.append(judge.perplexity(r, s, prior))
                if step - int(np.argmin(seen)) >= _PATIENCE:
                    break
            if judge is None or seen[-1] == min(seen):
                best = r, s, prior, step
            left, right, log_likelihood = mixture.expect(r, s, right=not fixed and step < n_iter)
            history["perplexity"].append(float(np.exp(-log_likelihood / total)))
            if step == n_iter:
                break
            prior = left.sum(axis=0, dtype=np.float64) / total
            r = ((left + smoothing * prior) / (weights + smoothing)).astype(np.float32)
            if not fixed:
                s = right / np.maximum(right.sum(axis=0, dtype=np.float64), 1e-30)
                s = s.astype(np.float32)
            advance(1)
            loop.keep(state, is_last=step == n_iter - 1)
    return Fitted(*best, history)
