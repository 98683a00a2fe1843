"""What word vectors answer: the vector of a word, its nearest words, analogies."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal, overload

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.vocabulary import as_asked
from eigentext.errors import ParameterError
from eigentext.estimators import check_is_fitted
from eigentext.parameters import Choice, Count, argument, is_number
from eigentext.words._saved import UNIT_ROWS, check_values
from eigentext.words.neighbors import Neighbors

Found = list[tuple[str, float]]  # words with their cosines, the nearest first
Unweighted = str | np.ndarray  # a word or a vector
Key = Unweighted | tuple[Unweighted, float]
_TOPN = Count(10, least=0)
_CANDIDATES = 100  # words of highest cosine among which hubs are reduced
_CROWD = 10  # nearest words that show whether a word is a hub
_METHOD = Choice("mul", of=("mul", "add"))


class WordLookup:
    """Mixin for models with unit `vectors_` of the words of a `vocabulary_`.

    A model is a collection of its words: ``len(words)``, ``"cat" in words``, ``for word in words``
    and ``words["cat"]``, the vector of a word.
    """

    vectors_: np.ndarray
    vocabulary_: Vocabulary
    provenance_: dict[str, Any]
    spelling_: Any

    def __getitem__(self, word: str) -> np.ndarray:
        check_is_fitted(self)
        word = self._asked(word)
        if self.spelling_ is not None and word not in self.vocabulary_:
            return self.spelling_.predict([word])[0]
        return self._rows([self.vocabulary_[word]])[0]

    def __contains__(self, word: object) -> bool:
        """Whether the word is in the vocabulary."""
        check_is_fitted(self)
        return isinstance(word, str) and self._asked(word) in self.vocabulary_

    def __len__(self) -> int:
        """The number of words."""
        check_is_fitted(self)
        return len(self.vocabulary_)

    def __iter__(self) -> Iterator[str]:
        """The words, the most frequent first."""
        check_is_fitted(self)
        return iter(self.vocabulary_)

    def __bool__(self) -> bool:
        """True, also before the fit, when there is no number of words."""
        return True

    def similarity(self, a: str, b: str) -> float:
        """The cosine of the angle between two words' vectors."""
        return float(self[a] @ self[b])

    @overload
    def most_similar(
        self,
        word: str | np.ndarray | None = None,
        topn: int = 10,
        *,
        positive: Key | Sequence[Key] = (),
        negative: Unweighted | Sequence[Unweighted] = (),
        reduce_hubs: bool = False,
    ) -> Found: ...
    @overload
    def most_similar(
        self,
        word: list[str] | tuple[str, ...] | list[np.ndarray],
        topn: int = 10,
        *,
        reduce_hubs: bool = False,
    ) -> list[Found]: ...
    def most_similar(
        self,
        word: Any = None,
        topn: int = 10,
        *,
        positive: Key | Sequence[Key] = (),
        negative: Unweighted | Sequence[Unweighted] = (),
        reduce_hubs: bool = False,
    ) -> Any:
        """The words nearest to a word (without itself) or to a vector, with their cosines.

        Parameters
        ----------
        word : str, vector, or a list of them
            A list has a list of answers, one for each of its words or vectors. (gensim takes the
            mean of a list: here, that is `positive`.)
        topn : int
            The number of words to find.
        positive, negative : lists of words or vectors
            Instead of `word`: the nearest words of the sum of the unit vectors of `positive` minus
            those of `negative`, as in gensim. The words that are given are left out. `positive`
            may have pairs (word, weight), with weights of any sign.
        reduce_hubs : bool
            Whether to put words back that are near to very many words. The order is then by
            2 cos(x, y) - r(y), where r(y) is the mean cosine of y with its ten nearest words
            (Conneau et al. 2018), among the words of highest cosine.
            :func:`eigentext.evaluate.hubness` measures whether a model has such words.

        Examples
        --------
        >>> from eigentext import Eigenwords
        >>> text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5
        >>> words = Eigenwords(n_components=2, window=1).fit(text)
        >>> [near[0][0] for near in words.most_similar(["cat", "dog"], topn=1)]
        ['dog', 'cat']
        >>> words.most_similar(positive=["cat", "ran"], negative=["sat"], topn=1)[0][0]
        'dog'
        """
        topn = argument("topn", _TOPN, topn)
        check_is_fitted(self)
        weighted = [*map(_weighted, _listed(positive)), *map(_negated, _listed(negative))]
        if word is None:
            query, left_out = self._combined(weighted)
            return self._nearest(query[None], [left_out], topn, reduce_hubs)[0]
        if weighted:
            raise ParameterError("give either a word, or positive and negative words; not both")
        several = _several(word)
        asked = [word] if several is None else several
        left_out = [self._own([one]) for one in asked]
        found = self._nearest(self._directions(asked), left_out, topn, reduce_hubs)
        return found[0] if several is None else found

    def analogy(
        self, a: str, b: str, c: str, topn: int = 1, method: Literal["mul", "add"] = "mul"
    ) -> Found:
        """The words that are to `c` as `b` is to `a`.

        The methods are 3CosMul ("mul") and 3CosAdd ("add") of Levy and Goldberg (2014).
        """
        topn, method = argument("topn", _TOPN, topn), argument("method", _METHOD, method)
        to_a, to_b, to_c = (self._cosines(self[word]) for word in (a, b, c))
        if method == "mul":  # cosines moved to [0, 1], as in Levy and Goldberg
            scores = (1 + to_b) / 2 * (1 + to_c) / 2 / ((1 + to_a) / 2 + 1e-3)
        else:
            scores = to_b - to_a + to_c
        return self._best(scores, topn, leave_out=[*map(self._asked, (a, b, c))])

    # Private steps.

    def _nearest(
        self, queries: np.ndarray, left_out: list[list[int]], topn: int, reduce_hubs: bool = False
    ) -> list[Found]:
        longest = max(map(len, left_out), default=0)
        unwanted = [[*places, *[-1] * (longest - len(places))] for places in left_out]
        unwanted = np.array(unwanted, np.int64).reshape(len(queries), longest)
        wanted = max(_CANDIDATES, 5 * topn) if reduce_hubs else topn
        rows, cosines = self._neighbors.search(queries, wanted, leave_out=unwanted)
        words = self.vocabulary_.words
        found = [
            [(words[place], cosine) for place, cosine in zip(*found) if place >= 0]
            for found in zip(rows.tolist(), cosines.tolist())
        ]
        if not reduce_hubs:
            return found
        return [self._without_hubs(near)[:topn] for near in found]

    def _without_hubs(self, near: Found) -> Found:
        """The same words in the order of local scaling; each keeps its cosine."""
        places = self.vocabulary_.ids_of([word for word, _ in near])
        own = places[:, None].astype(np.int64)
        cosines = self._neighbors.search(self._rows(places), _CROWD, leave_out=own)[1]
        scores = 2 * np.array([cosine for _, cosine in near]) - cosines.mean(axis=1)
        return [near[k] for k in np.argsort(-scores, kind="stable").tolist()]

    def _directions(self, asked: Sequence[Any]) -> np.ndarray:
        """A row for each word or vector."""
        if not asked:
            return np.zeros((0, self.vectors_.shape[1]), np.float32)
        return np.stack(
            [self[one] if isinstance(one, str) else self._checked(np.asarray(one)) for one in asked]
        )

    def _own(self, asked: Sequence[Any]) -> list[int]:
        """The places of the words among words and vectors."""
        words = [self._asked(one) for one in asked if isinstance(one, str)]
        return [place for place in self.vocabulary_.ids_of(words).tolist() if place >= 0]

    def _combined(self, weighted: list[tuple[Any, float]]) -> tuple[np.ndarray, list[int]]:
        """The weighted sum of unit vectors, and the places of the words that are in it."""
        if not weighted:
            raise ParameterError("no word was given; give a word, or a list as positive=[…]")
        keys, weights = zip(*weighted)
        rows = self._directions(keys).astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1)
        unit = rows / np.where(lengths > 0, lengths, 1)[:, None]
        return np.array(weights) @ unit, self._own(keys)

    # Vectors of a file are checked when they are first used: some rows, or all of them.

    def _rows(self, places: Any) -> np.ndarray:
        rows = self.vectors_[places]
        if isinstance(self.vectors_, np.memmap):
            check_values("vectors", UNIT_ROWS, rows)
        return rows

    def _all_vectors(self) -> np.ndarray:
        vectors = self.vectors_
        if isinstance(vectors, np.memmap) and not vars(self).get("_sound"):
            check_values("vectors", UNIT_ROWS, vectors)
            self._sound = True
        return vectors

    def _asked(self, word: str) -> str:
        """The word as the model knows it: in lower case if the text of `fit` was."""
        return as_asked([word], self.provenance_["options"])[0]

    def _vectors_of(self, words: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """Which words have vectors, and the vectors, with a row of zeros for the others."""
        words = as_asked(words, self.provenance_["options"])
        places = self.vocabulary_.ids_of(words)
        known = places >= 0
        vectors = np.zeros((len(words), self.vectors_.shape[1]), np.float32)
        vectors[known] = self._rows(places[known])
        if self.spelling_ is not None and not known.all():
            unknown = [word for word, place in zip(words, places.tolist()) if place < 0]
            vectors[~known] = self.spelling_.predict(unknown)
            known[:] = True
        return known, vectors

    @property
    def _neighbors(self) -> Neighbors:
        """An index of the vectors, made when it is first needed."""
        index = vars(self).get("_index")
        if index is None:
            self._index = index = Neighbors(self._all_vectors())
        return index

    def __getstate__(self) -> dict[str, Any]:
        return {name: v for name, v in vars(self).items() if name not in ("_index", "_sound")}

    def _cosines(self, vector: np.ndarray) -> np.ndarray:
        return self._all_vectors() @ (vector / max(float(np.linalg.norm(vector)), 1e-30))

    def _checked(self, vector: np.ndarray) -> np.ndarray:
        if vector.shape != (self.vectors_.shape[1],):
            raise ParameterError(
                f"a vector of shape {vector.shape}, but this model has "
                f"{self.vectors_.shape[1]} dimensions"
            )
        return vector

    def _best(self, scores: np.ndarray, topn: int, leave_out: list[str]) -> Found:
        left_out = [self.vocabulary_[word] for word in leave_out if word in self.vocabulary_]
        scores[left_out] = -np.inf
        topn = min(topn, len(scores) - len(set(left_out)))
        best = np.argsort(-scores, kind="stable")[:topn]
        return [(self.vocabulary_.words[place], float(scores[place])) for place in best.tolist()]


def _several(given: Any) -> list[Any] | None:
    """The items of a list of words or vectors; None for one word or one vector."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        return None
    if isinstance(given, np.ndarray):
        return list(given) if given.ndim == 2 or given.dtype.kind in "UO" else None
    items = list(given)
    return None if items and all(map(is_number, items)) else items


def _listed(keys: Any) -> list[Any]:
    """Words, vectors and pairs (word, weight) as a list, also if there is only one."""
    is_vector = isinstance(keys, np.ndarray) and keys.ndim == 1 and keys.dtype.kind not in "UO"
    return [keys] if isinstance(keys, str) or is_vector or _is_pair(keys) else list(keys)


def _is_pair(key: Any) -> bool:
    return isinstance(key, tuple) and len(key) == 2 and is_number(key[1]) and not is_number(key[0])


def _weighted(key: Any) -> tuple[Any, float]:
    return (key[0], float(key[1])) if _is_pair(key) else (key, 1.0)


def _negated(key: Any) -> tuple[Any, float]:
    if _is_pair(key):  # gensim would add this one, and others would subtract it
        raise ParameterError(
            f"a weight for the negative word {key[0]!r:.40}; give positive=[({key[0]!r:.40}, "
            f"{-key[1]:g})]"
        )
    return key, -1.0
