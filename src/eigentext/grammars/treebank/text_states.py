"""P(s | x) of rare and unseen words in the states of one grammar, by plain text.

    P(s | x) = P(t | x) (c(mates of x, s) + nu P(s | t)) / (c(mates of x, t) + nu)

for each state s and its tag t. P(t | x) is that of ``plain_text.py``, and P(s | t) that of rare
words. The mates of x are the words of the treebank in the cluster of x. A word without a cluster
has none, and its states are those of its tag. All of this is linear in the counts c, so it holds
for the coordinates of spectral grammars too.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eigentext.grammars.treebank.plain_text import TextTags, mate_weight

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from eigentext.grammars.treebank.lexicon import Lexicon

_NU = 20.0  # in tokens


@dataclass
class TextStates:
    """P(s | x) by plain text.

    Attributes
    ----------
    text
        P(t | x).
    tags
        The tag of each state.
    in_tag
        P(s | t) of each state and its tag.
    mates : sparse array, clusters by states
        How often the words of each cluster have each state. The last row, for words without a
        cluster, is empty.
    """

    text: TextTags
    tags: np.ndarray
    in_tag: np.ndarray
    mates: Any  # scipy.sparse.csr_array

    @classmethod
    def of(
        cls,
        lexicon: "Lexicon",
        text: TextTags,
        counts: "csr_array",
        tags: np.ndarray,
        in_tag: np.ndarray,
    ) -> "TextStates":
        """Join what plain text says about tags with the states of one grammar.

        `counts` is how often each word of the treebank has each state.
        """
        from scipy.sparse import csr_array

        group = np.array([text.group(word) for word in lexicon.words])
        member = np.flatnonzero(group >= 0)
        weight = mate_weight(lexicon.counts[member])
        shape = len(text.mate_tags), len(lexicon.words)
        belongs = csr_array((weight, (group[member], member)), shape)
        mates = (belongs @ counts).tocsr()
        mates.sort_indices()
        return cls(text, tags, in_tag, mates)

    def rows(self, words: list[tuple[str, bool]]) -> np.ndarray:
        """P(s | x) of words, each with whether it is the first of its sentence."""
        found = np.empty((len(words), len(self.tags)))
        for row, (word, first) in zip(found, words):
            row[:] = self._times(self.text.group(word), self.text.tags(word, first))
        return found

    def sums(self, words: list[str]) -> np.ndarray:
        """The sum of P(s | x) over words."""
        tags: dict[int, np.ndarray] = {}
        for word in words:
            group, p = self.text.group(word), self.text.tags(word, False)
            tags[group] = tags[group] + p if group in tags else p
        total = np.zeros(len(self.tags))
        for group in sorted(tags):
            total += self._times(group, tags[group])
        return total

    def _times(self, group: int, p: np.ndarray) -> np.ndarray:
        """The states of the mates in a cluster, times some P(t | x)."""
        first, last = self.mates.indptr[group % self.mates.shape[0] :][:2]
        row = _NU * self.in_tag
        row[self.mates.indices[first:last]] += self.mates.data[first:last]
        row *= (p / (self.text.mate_tags[group] + _NU))[self.tags]
        return row
