"""`save` and `load` for everything that can be saved."""

import os
from importlib import import_module
from typing import Any, ClassVar, Self

import eigentext
from eigentext.errors import ModelFileError
from eigentext.storage.files import Arrays, read_saved, write_saved
from eigentext.storage.migrations import migrated
from eigentext.storage.schema import Schema

# The class that reads each format. A file names a format, never a class, so it cannot run code.
_READERS = {
    "eigentext.automaton": ("eigentext.sequences", "WeightedAutomaton"),
    "eigentext.bigram": ("eigentext.sequences", "BigramModel"),
    "eigentext.class-bigram": ("eigentext.sequences", "ClassBigram"),
    "eigentext.clusters": ("eigentext.words", "WordClusters"),
    "eigentext.cooccurrence": ("eigentext.moments", "CooccurrenceMoments"),
    "eigentext.documents": ("eigentext.moments", "DocumentMoments"),
    "eigentext.eigentokens": ("eigentext.words", "Eigentokens"),
    "eigentext.hmm-tagger": ("eigentext.sequences", "HMMTagger"),
    "eigentext.hmm": ("eigentext.sequences", "HMM"),
    "eigentext.kernel-perceptron": ("eigentext.linear", "KernelPerceptron"),
    "eigentext.refinement-hmm": ("eigentext.sequences", "RefinementHMM"),
    "eigentext.kneser-ney": ("eigentext.sequences", "KneserNey"),
    "eigentext.latent-pcfg": ("eigentext.grammars", "LatentPCFG"),
    "eigentext.ngrams": ("eigentext.moments", "NgramMoments"),
    "eigentext.pcfg": ("eigentext.grammars", "PCFG"),
    "eigentext.perceptron": ("eigentext.linear", "Perceptron"),
    "eigentext.phrases": ("eigentext.words", "Phrases"),
    "eigentext.reranker": ("eigentext.reranking", "Reranker"),
    "eigentext.tree-reranker": ("eigentext.reranking", "TreeReranker"),
    "eigentext.tagger": ("eigentext.tagging", "Tagger"),
    "eigentext.text-vectors": ("eigentext.words", "TextVectors"),
    "eigentext.topics": ("eigentext.topics", "TopicModel"),
    "eigentext.two-view-classifier": ("eigentext.tagging", "TwoViewClassifier"),
    "eigentext.two-view-regressor": ("eigentext.tagging", "TwoViewRegressor"),
    "eigentext.two-view-topics": ("eigentext.topics", "TwoViewTopics"),
    "eigentext.two-windows": ("eigentext.moments", "TwoWindowMoments"),
    "eigentext.words": ("eigentext.words", "Eigenwords"),
}


class Saved:
    """Mixin for classes with a file format: ``model.save(path)`` and ``et.load(path)``."""

    _format: ClassVar[str]  # the name and version, such as "eigentext.words.v1"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to one file. A reader sees the old file or the complete new one."""
        arrays, about = self._to_saved()
        write_saved(path, self._format, arrays, about)

    def _to_saved(self) -> tuple[Arrays, dict[str, Any]]:
        raise NotImplementedError

    @classmethod
    def _schema(cls, about: dict[str, Any]) -> Schema:
        """What a file of this format must contain; `about` says which variant it is."""
        return Schema()

    @classmethod
    def _from_saved(cls, arrays: Any, about: dict[str, Any]) -> Self:
        raise NotImplementedError


def load(path: str | os.PathLike[str]) -> Any:
    """Read a file of ``save``: a model or statistics, with arrays mapped from the file.

    The path may be a folder of ``et.hub.save``.

    Raises
    ------
    ModelFileError
        If the file is missing, not ours, incomplete, or from a newer version of the format. Files
        of older versions are read (:mod:`eigentext.storage.migrations`).
    """
    arrays, about = read_saved(path)
    return restored(arrays, about, str(path))


def nested(thing: Saved) -> tuple[Arrays, dict[str, Any]]:
    """The arrays and document of an object inside another; `restored` reads them back."""
    if not isinstance(thing, Saved):
        raise ModelFileError(
            f"{type(thing).__name__} has no file format; a model that contains it cannot be saved"
        )
    arrays, about = thing._to_saved()
    return arrays, {"format": thing._format, **about}


def restored(arrays: Arrays, about: dict[str, Any], path: str = "inside of it") -> Any:
    """The object that arrays and a document describe. Errors begin with `path`."""
    family = str(about["format"]).rpartition(".v")[0]
    if family not in _READERS:
        raise ModelFileError(
            f"{path}: holds {about['format']!r}, which eigentext {eigentext.__version__} "
            "does not know; a newer version may"
        )
    module, name = _READERS[family]
    reader: type[Saved] = getattr(import_module(module), name)
    try:
        if reader._format != about["format"]:
            arrays, about = migrated(arrays, about, reader._format)
        reader._schema(about).check(arrays, about)
        return reader._from_saved(arrays, about)
    except ModelFileError as error:
        if str(error).startswith(path):
            raise
        raise ModelFileError(f"{path}: {error}") from error
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(
            f"{path}: damaged or made by something else: {error!r:.200} "
            f"while reading {about['format']}"
        ) from error
