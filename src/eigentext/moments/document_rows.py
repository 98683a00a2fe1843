"""Counts of new documents, by the words of a fitted vocabulary."""

from typing import Any

import numpy as np

from eigentext.corpus import Vocabulary
from eigentext.corpus.documents import MATRIX, as_documents, checked_matrix, document_ids, is_matrix
from eigentext.corpus.encoded import EncodedCorpus
from eigentext.corpus.text import TextCorpus
from eigentext.errors import CorpusError
from eigentext.matrices.runs import CSR, csr
from eigentext.moments.multisets import counted, moved, narrowed


def document_counts(X: Any, vocabulary: Vocabulary, options: dict[str, Any]) -> CSR:
    """Documents by the words of a fitted vocabulary, a row for each document.

    X is anything that :meth:`DocumentMoments.from_corpus` takes. Words outside the vocabulary are
    left out. A document without known words is an empty row. `options` are those of the fitted
    moments: text is split in the same way, and a matrix has the same columns, or one column for
    each word of the vocabulary.

    Examples
    --------
    >>> from eigentext import DocumentMoments
    >>> moments = DocumentMoments.from_corpus(["Ham and eggs", "and ham"])
    >>> new = ["Eggs, and eggs!", "", "Bread"]
    >>> document_counts(new, moments.vocabulary, moments.options).toarray()
    array([[1, 0, 2],
           [0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """
    V = len(vocabulary)
    if is_matrix(X):
        counts = checked_matrix(X)
        d = counts.shape[1]
        # Columns without names are known by their numbers.
        numbers = list(map(str, range(d)))
        if d == options.get("columns") and set(vocabulary.words) <= set(numbers):
            counts = moved(counts, Vocabulary(numbers, np.zeros(d)), vocabulary)
        elif d != V:
            raise CorpusError(
                f"a matrix of {d} columns, but the model was learned from {V} words; "
                "give a column for each word, in their order"
            )
        return narrowed(counts)
    if options.get("tokenizer") == MATRIX:
        raise CorpusError(
            "the model was learned from the columns of a matrix; give one with the same columns"
        )
    if not isinstance(X, (TextCorpus, EncodedCorpus)) and hasattr(X, "__len__") and len(X) == 0:
        return csr(np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(1, np.int64), (0, V))
    return counted(document_ids(as_documents(X, options), vocabulary), V)
