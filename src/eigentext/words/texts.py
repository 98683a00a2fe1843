"""Texts as means of the vectors of their tokens."""

import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from eigentext.corpus import EncodedCorpus, TextCorpus
from eigentext.corpus.documents import as_documents, skips_empty
from eigentext.corpus.encoded import END, encoded_tokens
from eigentext.corpus.items import listed
from eigentext.corpus.tokenizers import NAMED
from eigentext.errors import CorpusError
from eigentext.matrices.products import sparse_times
from eigentext.words.phrases import Phrases

VectorsOf = Callable[[list[str]], tuple[np.ndarray, np.ndarray]]


class TextTokens(NamedTuple):
    """Texts as numbers: for each token its text and its word."""

    n_texts: int
    rows: np.ndarray
    tokens: np.ndarray
    words: list[str]


def mean_vectors(
    X: Any, options: dict[str, Any], vectors_of: VectorsOf, phrases: Phrases | None = None
) -> np.ndarray:
    """A float32 row for each word or text: the mean of the vectors of its tokens.

    Tokens without a vector are left out.

    Parameters
    ----------
    X : list of words, of texts or of lists of tokens; or a TextCorpus
        A string is split in the same way as the text of the fit. If that way is unknown, the string
        is one word.
    options : dict
        How the text of the fit was read: tokenizer, lowercase.
    vectors_of : function
        It takes a list of distinct words and returns which of them have vectors, and the vectors,
        with rows of zeros for the others.
    phrases : Phrases, optional
        The phrases that were joined in the text of the fit.
    """
    texts = encoded_texts(X, options, phrases)
    return vectors_of([])[1] if texts is None else means_of(texts, vectors_of)


def encoded_texts(
    X: Any, options: dict[str, Any], phrases: Phrases | None = None
) -> TextTokens | None:
    """The tokens of the texts, with phrases joined; None if there are no texts."""
    corpus = _as_corpus(X, options)
    if corpus is None:
        return None
    if isinstance(corpus, EncodedCorpus):
        tokens, words = corpus.tokens, corpus.words
    else:
        tokens, words, _ = encoded_tokens(corpus)
    if phrases is not None and "phrases" not in corpus.options:
        tokens, words = phrases.joined_tokens(tokens, words)
    tokens = tokens[:-1]  # without the mark at the end
    ends = tokens == END
    if skips_empty(corpus):
        is_text = ~(ends & np.append(True, ends[:-1]))  # lines without tokens are not texts
        tokens, ends = tokens[is_text], ends[is_text]
    rows = np.cumsum(ends) - ends
    return TextTokens(int(ends.sum()), rows[~ends], tokens[~ends], words)


def means_of(texts: TextTokens, vectors_of: VectorsOf) -> np.ndarray:
    """The mean of the vectors of the tokens of each text, without tokens that have none."""
    has_vector, vectors = vectors_of(texts.words)
    used = has_vector[texts.tokens]
    rows, tokens = texts.rows[used], texts.tokens[used]
    lengths = np.bincount(rows, minlength=texts.n_texts)
    shares = (1 / np.maximum(lengths, 1)).astype(np.float32)[rows]
    weights = sp.csr_array((shares, (rows, tokens)), (texts.n_texts, len(texts.words)))
    weights.sum_duplicates()
    return sparse_times(weights, vectors)


def _as_corpus(X: Any, options: dict[str, Any]) -> TextCorpus | EncodedCorpus | None:
    """A corpus whose units are the given texts; None if there are none."""
    if isinstance(X, (str, os.PathLike)):
        raise CorpusError(f"{str(X)!r:.60} is not a list of words or texts; give [{str(X)!r:.60}]")
    if isinstance(X, (TextCorpus, EncodedCorpus)):
        return as_documents(X)
    items = listed(X)
    if not items:
        return None
    reading = {"tokenizer": "whitespace", "lowercase": False, **options, "unit": "document"}
    if reading["tokenizer"] not in NAMED and all(map(_is_word, items)):
        items = [[word] for word in items]
    return as_documents(items, reading)


def _is_word(item: Any) -> bool:
    return isinstance(item, str) and item.split() == [item]
