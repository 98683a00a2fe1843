"""From pieces to numbers: which features a bracket has, and in which columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eigentext.corpus.trees import Tree
from eigentext.reranking.head_vectors import HeadVectors, contexts
from eigentext.reranking.pieces import Piece
from eigentext.reranking.tree_features import FAMILIES, Sentence, features


@dataclass
class Extractor:
    """Finds the features of brackets.

    Attributes
    ----------
    families
        Names of families of :mod:`eigentext.reranking.tree_features`; "vectors" is that of
        :mod:`eigentext.reranking.head_vectors`.
    clusters
        The bit string of each word, or None.
    vectors
        The coordinates of words, or None.
    index
        The column of each feature.
    grows
        Whether features that are not in `index` are added to it. Otherwise they are ignored.
    """

    families: Sequence[str]
    clusters: Mapping[str, str] | None = None
    vectors: HeadVectors | None = None
    index: dict[str, int] = field(default_factory=dict)
    grows: bool = False

    def __post_init__(self) -> None:
        self._functions = [FAMILIES[name] for name in self.families if name in FAMILIES]
        self._dense = self.vectors if "vectors" in self.families else None
        self._columns: dict[str, list[int]] = {}  # of all coordinates with these labels
        if self._dense is not None:
            self._coordinates = self._dense.coordinates.astype(float)

    def sentence(self, tree: Tree) -> Sentence:
        """What features may ask of the words of a tree."""
        return Sentence.of(tree, self.clusters)

    def add(
        self, piece: Piece, sentence: Sentence, odds: float, columns: list[int], values: list[float]
    ) -> None:
        """Add the columns and the values of the features of a bracket to two lists.

        Parameters
        ----------
        piece, sentence
            The bracket with what is around it, and its words.
        odds
            The log-odds of the base model.
        columns, values
            Lists that grow.
        """
        x, column = piece.label, self._column
        for name in features(piece, sentence, self._functions):
            if (place := column(name)) >= 0:
                columns.append(place)
                values.append(1.0)
        for name, value in (("odds", odds), (f"odds {x}", odds), (f"label {x}", 1.0)):
            if (place := column(name)) >= 0:
                columns.append(place)
                values.append(value)
        if self._dense is not None:
            self._add_vectors(piece, sentence, self._dense, columns, values)

    def _add_vectors(
        self,
        piece: Piece,
        sentence: Sentence,
        vectors: HeadVectors,
        columns: list[int],
        values: list[float],
    ) -> None:
        none, u = len(vectors.rows), self._coordinates
        for labels, place, other in contexts(piece):
            row = vectors.row(sentence.spellings[place])
            if row == none:
                continue
            one = u[row]
            if other >= 0:
                one = one * u[vectors.row(sentence.spellings[other])]
            found = self._columns.get(labels)
            if found is None:
                found = [self._column(f"{labels} {n}") for n in range(u.shape[1])]
                self._columns[labels] = found
            if found[0] >= 0:  # features with the same labels are as frequent
                columns += found
                values += one.tolist()

    def _column(self, name: str) -> int:
        if self.grows:
            return self.index.setdefault(name, len(self.index))
        return self.index.get(name, -1)
