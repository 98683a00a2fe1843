r"""Topics beside labels that people gave: is the topic of a document also its label?

Let :math:`n_{kc}` be the number of documents with the topic k and the label c. Then

.. math::
    \text{purity} = \frac1n \sum_k \max_c n_{kc}, \qquad
    \text{NMI} = \frac{2\, I(K; C)}{H(K) + H(C)},

and the adjusted Rand index (Hubert and Arabie 1985) is the share of pairs of documents on which
both agree, moved and scaled so that it is 0 by chance and 1 for the same groups. NMI with the mean
of the entropies, as here, is the V-measure of :func:`eigentext.evaluate.induced_tags`. Purity never
falls if a topic is split, so compare it only between models with the same number of topics. NMI
also rises a little with the number of topics; the adjusted Rand index does not.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigentext import notebook
from eigentext.errors import CorpusError, ParameterError
from eigentext.evaluate.induced import InducedTags, induced_tags


@dataclass(frozen=True, repr=False, eq=False)
class Agreement:
    """How well found groups of documents agree with labels.

    Attributes
    ----------
    table : InducedTags
        The documents with each pair of a group and a label.
    n_unlabeled, n_several : int
        The documents without a label, and with several. They are left out.
    """

    table: InducedTags
    n_unlabeled: int = 0
    n_several: int = 0

    @property
    def n_documents(self) -> int:
        """The number of documents that were compared."""
        return self.table.n_tokens

    @property
    def purity(self) -> float:
        """The share of documents with the most frequent label of their group."""
        return self.table.many_to_one

    @property
    def nmi(self) -> float:
        """The normalized mutual information of groups and labels, from 0 to 1."""
        return min(max(self.table.v_measure, 0.0), 1.0)  # entropies are rounded

    @property
    def ari(self) -> float:
        """The adjusted Rand index: 0 by chance, 1 for the same groups."""
        counts = self.table.counts
        both, rows, columns = (
            _pairs(x).sum() for x in (counts, counts.sum(axis=1), counts.sum(axis=0))
        )
        every = _pairs(np.array([counts.sum()]))[0]
        expected = rows * columns / every if every else 0.0
        most = (rows + columns) / 2
        return 1.0 if most == expected else float((both - expected) / (most - expected))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        names = ("purity", "nmi", "ari", "n_documents", "n_unlabeled", "n_several")
        return {name: getattr(self, name) for name in names} | {"labels": self.table.mapping}

    def __str__(self) -> str:
        left = [(self.n_unlabeled, "without a label"), (self.n_several, "with several labels")]
        without = "".join(f"; {n:,} {what} left out" for n, what in left if n)
        return (
            f"purity {self.purity:.3f}, NMI {self.nmi:.3f}, adjusted Rand index {self.ari:.3f} "
            f"over {self.n_documents:,} documents{without}"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def _repr_html_(self) -> str:
        table = self.table.to_arrow().to_pydict()
        columns = (table["tag"], table["n_tokens"], table["gold"], table["share"])
        rows = [(k, n, c, notebook.percent(share)) for k, n, c, share in zip(*columns)]
        names = ("topic", "documents", "label", "share")
        return notebook.result(str(self), notebook.table(names, rows))


def label_agreement(found: Iterable[Any], labels: Iterable[Any]) -> Agreement:
    """Compare the groups of documents that a model found with their labels.

    Parameters
    ----------
    found : list or array
        The group of each document: a number or a string.
    labels : list
        The label of each document: a string or a number. None, nan and "" mean that it has none. A
        list, tuple or set has all labels of a document. Documents without a label are left out, and
        so are documents with several: no group can agree with all of them.

    Examples
    --------
    >>> from eigentext.evaluate import label_agreement
    >>> print(label_agreement([0, 0, 1, 1, 0], ["tea", "tea", "ox", "ox", None]))
    purity 1.000, NMI 1.000, adjusted Rand index 1.000 over 4 documents; 1 without a label left out
    """
    groups, given = list(found), [labels_of(one) for one in listed_labels(labels)]
    if len(groups) != len(given):
        raise ParameterError(
            f"there are {len(given):,} labels and {len(groups):,} documents; give one label for "
            "each document, and None for a document without one"
        )
    kept = [(group, one[0]) for group, one in zip(groups, given) if len(one) == 1]
    if not kept:
        raise CorpusError(
            f"none of the {len(given):,} documents has exactly one label; "
            "agreement with labels needs such documents"
        )
    table = induced_tags([label for _, label in kept], [group for group, _ in kept])
    n_unlabeled = sum(not one for one in given)
    return Agreement(table, n_unlabeled, len(given) - len(kept) - n_unlabeled)


def listed_labels(labels: Iterable[Any]) -> list[Any]:
    """The labels as a list. Raise ParameterError for one string."""
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise ParameterError("labels must be a list with a label for each document")
    return list(labels)


def labels_of(given: Any) -> list[str]:
    """All labels of one document, as strings without repeats."""
    if isinstance(given, Sequence | set | frozenset | np.ndarray) and not isinstance(given, str):
        every = {label for one in given for label in labels_of(one)}
        return sorted(every)
    if given is None or given != given:  # nan is not itself
        return []
    if isinstance(given, float) and given.is_integer():  # a column of numbers with gaps
        given = int(given)
    return [str(given)] if str(given).strip() else []


def _pairs(n: np.ndarray) -> np.ndarray:
    """The numbers of pairs."""
    n = n.astype(float)
    return n * (n - 1) / 2
