"""`eigentext_tagger`: tags of tokens, or entities, by a saved tagger."""

from collections.abc import Iterable
from typing import Any

from spacy.language import Language
from spacy.util import filter_spans

from eigentext.corpus.schemes import is_chunk_tags
from eigentext.errors import EigentextError
from eigentext.spacy.component import Component, parts_of


class TaggerComponent(Component):
    """A tagger in a pipeline of spaCy.

    If the tags of the model are tags of chunks (B-PER, I-PER, O), chunks become ``doc.ents``, and
    ``doc.spans[spans_key]`` with their probabilities in ``.attrs["scores"]``. Other tags become
    ``token.tag_``.

    The model splits the text by its own rule (`policy_`), because it learned from such tokens, and
    spaCy's tokens get what their characters got. A chunk that begins or ends inside a token of
    spaCy takes the whole token. A token with several tags gets the one with the most characters.
    Sentences are those of the document, or its lines if it has no borders of sentences.

    Parameters
    ----------
    name : str
        The name in the pipeline.
    model : str
        The file of a saved :class:`~eigentext.Tagger` of words.
    spans_key : str
        The name of the group of spans.
    overwrite_ents : bool
        Whether entities of components before this one are removed. If not, they stay, and new ones
        that overlap with them are only in the group of spans.
    """

    _kind, _needs = "a Tagger (`tagger fit`)", "spans_many"

    def __init__(
        self,
        name: str = "eigentext_tagger",
        *,
        model: str = "",
        spans_key: str = "eigentext_tagger",
        overwrite_ents: bool = True,
    ):
        super().__init__(name, model)
        self.spans_key, self.overwrite_ents = spans_key, overwrite_ents

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of chunks, or the tags; none if the file of the model is missing."""
        try:
            tags = self.eigentext.tags_
        except EigentextError:  # spaCy asks before it has read the model of a pipeline on disk
            return ()
        if is_chunk_tags(tags):
            tags = sorted({tag.partition("-")[2] for tag in tags} - {""})
        return tuple(tags)

    def _annotate(self, docs: list[Any]) -> None:
        tagger = self.eigentext
        parts = [(doc, part) for doc in docs for part in parts_of(doc)]
        found: dict[int, list[tuple[int, int, str, float]]] = {id(doc): [] for doc in docs}
        for (doc, part), spans in zip(parts, tagger.spans_many([part.text for _, part in parts])):
            found[id(doc)] += [(part.start + a, part.start + b, *rest) for a, b, *rest in spans]
        annotate = self._set_chunks if is_chunk_tags(tagger.tags_) else _set_tags
        for doc in docs:
            annotate(doc, found[id(doc)])

    def _set_chunks(self, doc: Any, found: list[tuple[int, int, str, float]]) -> None:
        spans = [doc.char_span(a, b, label, alignment_mode="expand") for a, b, label, _ in found]
        doc.spans[self.spans_key] = spans
        doc.spans[self.spans_key].attrs["scores"] = [score for *_, score in found]
        old = [] if self.overwrite_ents else list(doc.ents)
        taken = {token.i for span in old for token in span}
        new = [span for span in spans if taken.isdisjoint(range(span.start, span.end))]
        doc.ents = [*old, *filter_spans(new)]


def _set_tags(doc: Any, found: Iterable[tuple[int, int, str, float]]) -> None:
    waiting = iter([*found, (len(doc.text) + 1, len(doc.text) + 1, "", 0.0)])
    start, end, tag, _ = next(waiting)
    for token in doc:
        first, last, most = token.idx, token.idx + len(token), 0
        while start < last:
            shared = min(end, last) - max(start, first)
            if shared > most:
                most, token.tag_ = shared, tag
            if end > last:  # the next token of spaCy has a part of it, too
                break
            start, end, tag, _ = next(waiting)


@Language.factory(
    "eigentext_tagger",
    assigns=["doc.ents", "doc.spans", "token.tag", "token.ent_iob", "token.ent_type"],
    default_config={"model": "", "spans_key": "eigentext_tagger", "overwrite_ents": True},
)
def make_tagger(
    nlp: Language, name: str, model: str, spans_key: str, overwrite_ents: bool
) -> TaggerComponent:
    """Make the component for a pipeline."""
    return TaggerComponent(name, model=model, spans_key=spans_key, overwrite_ents=overwrite_ents)
