r"""Word intrusion: can the word that does not belong be told from the words of a topic?

Chang et al. (2009) show people the best words of a topic together with an *intruder*, a word that
is probable in another topic and not in this one. If the topic means something, people see which
word it is. Lau et al. (2014) let a program choose, by how often words are in the same documents:
the intruder is the word with the least total NPMI (:mod:`eigentext.evaluate.coherence`) with the
others,

.. math:: \hat w = \arg\min_{w \in S} \sum_{v \in S \setminus w} \mathrm{NPMI}(w, v),
          \quad S = \{\text{best words of topic } k\} \cup \{\text{intruder}\}.

They draw one intruder for each topic. Here *all* are tried, and the score of a topic is the share
of intruders that are found: what one would expect of a random one. So no random seed changes the
score. If several words are equally bad, one of them is guessed.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from eigentext import notebook
from eigentext.errors import ParameterError
from eigentext.evaluate.coherence import npmi_matrix
from eigentext.parameters import Count, argument

if TYPE_CHECKING:
    from eigentext.moments import DocumentMoments


@dataclass(frozen=True, repr=False)
class IntrusionResult:
    """The share of intruders that are found: for each topic, and the mean.

    A topic has nan if fewer than two of its words are known, or if no word can be its intruder.
    """

    mean: float
    topics: list[float]
    n_tried: int  # pairs of a topic and an intruder

    def __str__(self) -> str:
        return (
            f"intruders found {self.mean:.3f} over {len(self.topics):,} topics "
            f"({self.n_tried:,} intruders)"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        rows = [(topic, notebook.rounded(value, 3)) for topic, value in enumerate(self.topics)]
        return notebook.result(str(self), notebook.table(("topic", "intruders found"), rows))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON. None stands for nan."""
        topics = [None if math.isnan(x) else x for x in self.topics]
        mean = None if math.isnan(self.mean) else self.mean
        return asdict(self) | {"mean": mean, "topics": topics}


def word_intrusion(
    top_words: Sequence[Sequence[str]],
    documents: "DocumentMoments | ArrayLike | sp.sparray | sp.spmatrix",
    *,
    words: Sequence[str] | None = None,
    n_words: int = 5,
) -> IntrusionResult:
    """Measure how often a word from another topic can be told from the words of a topic.

    Parameters
    ----------
    top_words : list of lists of str
        The words of each topic, the best first. Give more than are shown (50, for example): a word
        in this list is too probable in the topic to be its intruder.
    documents, words
        The documents in which words are looked up, as in :func:`eigentext.evaluate.coherence`.
    n_words : int
        How many words of a topic are shown with the intruder. The intruders of a topic are so many
        words of each other topic, if the list of the topic does not have them.

    Examples
    --------
    >>> from eigentext.evaluate import word_intrusion
    >>> counts = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 1]]
    >>> print(word_intrusion([["tea", "cup"], ["ox", "hay"]], counts,
    ...                      words=["tea", "cup", "ox", "hay"]))
    intruders found 1.000 over 2 topics (4 intruders)
    """
    n_words = argument("n_words", Count(5, least=2), n_words)
    if len(top_words) < 2:
        raise ParameterError(
            "word intrusion needs two topics or more: intruders are words of another topic"
        )
    npmi, column = npmi_matrix(top_words, documents, words=words)
    known = [[word for word in topic if word in column] for topic in top_words]
    shown = [topic[:n_words] for topic in known]
    scores, n_tried = [], 0
    for k, topic in enumerate(shown):
        own = set(known[k])
        others = [word for j, some in enumerate(shown) if j != k for word in some]
        intruders = sorted(set(others) - own)
        if len(topic) < 2 or not intruders:
            scores.append(math.nan)
            continue
        places = ([column[word] for word in some] for some in (topic, intruders))
        scores.append(float(_found(npmi, *places).mean()))
        n_tried += len(intruders)
    defined = [score for score in scores if not math.isnan(score)]
    return IntrusionResult(float(np.mean(defined)) if defined else math.nan, scores, n_tried)


def _found(npmi: np.ndarray, topic: list[int], intruders: list[int]) -> np.ndarray:
    """The probability that each intruder is found: 1 or 0, or a share if words are equally bad."""
    among = npmi[np.ix_(topic, topic)]
    inside = among.sum(axis=1) - np.diag(among)
    beside = npmi[np.ix_(topic, intruders)]
    outside = beside.sum(axis=0)
    # Sums are rounded: words that differ by less are equally bad.
    worse = inside[:, None] + beside < outside - 1e-9
    tied = np.abs(inside[:, None] + beside - outside) <= 1e-9
    return np.where(worse.any(axis=0), 0.0, 1.0 / (1 + tied.sum(axis=0)))
