"""What comes in: text and its vocabulary."""

from eigentext.corpus.datasets import LabelledTexts, load_dataset
from eigentext.corpus.encoded import EncodedCorpus, encode
from eigentext.corpus.symbols import encode_sequences
from eigentext.corpus.text import TextCorpus
from eigentext.corpus.vocabulary import Vocabulary

__all__ = [
    "EncodedCorpus",
    "LabelledTexts",
    "TextCorpus",
    "Vocabulary",
    "encode",
    "encode_sequences",
    "load_dataset",
]
