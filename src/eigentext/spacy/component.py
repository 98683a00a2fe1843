"""What the components of a spaCy pipeline share: a saved model, batches, and files."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from eigentext.errors import ModelFileError, ParameterError
from eigentext.storage import load

_FILE = "model"


class Part(NamedTuple):
    """A sentence or line of a document, and the place of its first character."""

    text: str
    start: int


class Component(ABC):
    """A component with a saved model.

    The model is loaded when it is first needed, because a pipeline on disk has its own copy, and
    the path in its configuration may be one of another machine.

    Parameters
    ----------
    name
        The name in the pipeline.
    path
        The file of the model.
    """

    _kind: str  # the models that it takes, in words
    _needs: str  # a method of these models

    def __init__(self, name: str, path: str):
        self.name = name
        self._path = path
        self._model: Any = None

    @property
    def eigentext(self) -> Any:
        """The model."""
        if self._model is None:
            if not self._path:
                raise ParameterError(
                    f"the component {self.name!r} has no model; name its file, as in "
                    f'nlp.add_pipe("{self.name}", config={{"model": "my-model"}})'
                )
            self._model = self._loaded(self._path)
        return self._model

    def __call__(self, doc: Any) -> Any:
        """Annotate one document."""
        self._annotate([doc])
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Annotate a stream of documents, in batches."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            self._annotate(batch)
            yield from batch

    @abstractmethod
    def _annotate(self, docs: list[Any]) -> None:
        """Annotate some documents."""

    # Files.

    def to_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into the folder of the component."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        self.eigentext.save(folder / _FILE)

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> "Component":
        """Read the model of :meth:`to_disk`."""
        self._model = self._loaded(Path(path) / _FILE)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return the file of the model."""
        with TemporaryDirectory(prefix="eigentext-") as folder:
            self.to_disk(folder)
            return Path(folder, _FILE).read_bytes()

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "Component":
        """Read the model of :meth:`to_bytes`."""
        with TemporaryDirectory(prefix="eigentext-") as folder:
            Path(folder, _FILE).write_bytes(data)
            return self.from_disk(folder)

    def _loaded(self, path: str | Path) -> Any:
        model = load(path)
        if not hasattr(model, self._needs):
            raise ModelFileError(f"{path}: holds {type(model).__name__}; give {self._kind}")
        return model


def parts_of(doc: Any) -> list[Part]:
    """The sentences of a document; without borders of sentences, its lines."""
    if doc.has_annotation("SENT_START"):
        return [Part(sentence.text, sentence.start_char) for sentence in doc.sents]
    found, start = [], 0
    for line in doc.text.split("\n"):
        found.append(Part(line, start))
        start += len(line) + 1
    return found
