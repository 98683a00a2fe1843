"""Word vectors for the vocabulary of a spaCy pipeline."""

from typing import Any

import numpy as np

from eigentext.errors import ParameterError


def add_vectors(nlp: Any, words: Any) -> Any:
    """Give the vectors of a model of words to the vocabulary of a pipeline, and return it.

    Then ``token.vector``, ``doc.vector`` and ``doc.similarity`` use them. Old vectors are replaced.
    If the model was learned from lower case, spaCy looks words up in lower case too.

    Parameters
    ----------
    nlp : spacy.Language
        The pipeline.
    words : Eigenwords
        A fitted model.

    Examples
    --------
    >>> import spacy
    >>> from eigentext import Eigenwords
    >>> from eigentext.spacy import add_vectors
    >>> words = Eigenwords(2, window=1, min_count=1).fit(["a cat sat", "a dog sat"])
    >>> nlp = add_vectors(spacy.blank("en"), words)
    >>> nlp("the cat")[1].has_vector, nlp("the cat")[0].has_vector
    (True, False)
    """
    from spacy.vectors import Vectors

    if not hasattr(words, "vectors_") or not hasattr(words, "vocabulary_"):
        raise ParameterError(
            f"{type(words).__name__} has no vectors of words; give a fitted Eigenwords"
        )
    known = words.vocabulary_.words
    is_lower = bool(words.provenance_["options"].get("lowercase"))
    nlp.vocab.vectors = Vectors(
        strings=nlp.vocab.strings,
        data=np.array(words.vectors_, np.float32),
        keys=[nlp.vocab.strings.add(word) for word in known],
        attr="LOWER" if is_lower else "ORTH",
    )
    return nlp
