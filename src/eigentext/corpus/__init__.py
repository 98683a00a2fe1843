"""The input: text and its vocabulary, tagged sentences, trees, and data sets."""

from typing import TYPE_CHECKING

from eigentext.lazy import lazily

if TYPE_CHECKING:
    from eigentext.corpus.conll import factored, read_conll, write_conll
    from eigentext.corpus.datasets import LabelledTexts, load_dataset
    from eigentext.corpus.encoded import EncodedCorpus, encode
    from eigentext.corpus.reading_trees import read_trees
    from eigentext.corpus.schemes import from_bilou, iob1_to_bio, to_bilou
    from eigentext.corpus.symbols import encode_sequences
    from eigentext.corpus.text import TextCorpus
    from eigentext.corpus.trees import Tree, as_tree, normalize_tree, write_trees
    from eigentext.corpus.vocabulary import Vocabulary

__all__ = [
    "EncodedCorpus",
    "LabelledTexts",
    "TextCorpus",
    "Tree",
    "Vocabulary",
    "as_tree",
    "encode",
    "encode_sequences",
    "factored",
    "from_bilou",
    "iob1_to_bio",
    "load_dataset",
    "normalize_tree",
    "read_conll",
    "read_trees",
    "to_bilou",
    "write_conll",
    "write_trees",
]

__getattr__ = lazily(
    __name__,
    {
        "EncodedCorpus": "encoded",
        "LabelledTexts": "datasets",
        "TextCorpus": "text",
        "Tree": "trees",
        "Vocabulary": "vocabulary",
        "as_tree": "trees",
        "encode": "encoded",
        "encode_sequences": "symbols",
        "factored": "conll",
        "from_bilou": "schemes",
        "iob1_to_bio": "schemes",
        "load_dataset": "datasets",
        "normalize_tree": "trees",
        "read_conll": "conll",
        "read_trees": "reading_trees",
        "to_bilou": "schemes",
        "write_conll": "conll",
        "write_trees": "trees",
    },
)
