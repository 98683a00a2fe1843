"""Word vectors from counts: the spectral template (Stratos, Collins and Hsu 2015), and its uses."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.words.clusters import WordClusters
    from eigentext.words.eigentokens import Eigentokens
    from eigentext.words.eigenwords import Eigenwords
    from eigentext.words.phrases import Phrases
    from eigentext.words.template import factored_counts, scaled_counts
    from eigentext.words.text_vectors import TextVectors

__all__ = [
    "Eigentokens",
    "Eigenwords",
    "Phrases",
    "TextVectors",
    "WordClusters",
    "factored_counts",
    "scaled_counts",
]

__getattr__ = lazily(
    __name__,
    {
        "Eigentokens": "eigentokens",
        "Eigenwords": "eigenwords",
        "Phrases": "phrases",
        "TextVectors": "text_vectors",
        "WordClusters": "clusters",
        "factored_counts": "template",
        "scaled_counts": "template",
    },
)
