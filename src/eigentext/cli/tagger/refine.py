"""`eigentext tagger refine`: from tagged sentences to a tagger whose tags have hidden states.

The other commands use such a model as they use a :class:`~eigentext.Tagger`, through
:class:`InColumns`.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from eigentext.cli._bundles import EncodingOption, FitOptions, OutputOption, SkipBadFlag
from eigentext.cli._console import plural
from eigentext.cli._fitting import fitting
from eigentext.cli._options import Parameters, with_options
from eigentext.cli.tagger._shared import (
    TaggedArgument,
    places_of,
    read_tagged,
    training_columns,
)
from eigentext.errors import ParameterError
from eigentext.sequences import parameters as tables

if TYPE_CHECKING:
    from eigentext import RefinementHMM
    from eigentext.evaluate.chunks import Chunks
    from eigentext.evaluate.tags import Tags

Tokens = Sequence[Sequence[str]]


@with_options(tables.RefinementHMM)
def refine(
    files: TaggedArgument,
    output: OutputOption,
    parameters: Parameters,
    run: FitOptions,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="The columns, the label last, as in word,pos,_,label; _ is ignored.",
            show_default="found in the first lines",
        ),
    ] = None,
    encoding: EncodingOption = "utf-8",
    skip_bad: SkipBadFlag = False,
) -> None:
    """Learn a tagger whose tags have hidden states, and write it as one model file.

    It is a hidden Markov model (a refinement HMM), learned in seconds. Files are those of
    `tagger fit`. With a column between word and label, such as a part of speech, words are known by
    it if they are rare, and it is a part of the states. `tagger tag` and `tagger evaluate` use the
    model.
    """
    from eigentext import RefinementHMM
    from eigentext.corpus.encodings import checked_encoding
    from eigentext.corpus.readers import expand_paths

    with fitting(output, run, files) as done:
        paths = expand_paths(done.paths[0])
        done.check_not_read(paths)
        encoding = checked_encoding(encoding)
        found = training_columns(columns, paths[0], encoding)
        if len(found.kept) > 3:
            raise ParameterError(
                f"the columns are {', '.join(found.kept)}; a model with hidden states takes the "
                "word, one more column and the label: name them with --columns, and _ for others"
            )
        sentences = read_tagged(paths, found, encoding=encoding, skip_bad=skip_bad)
        tagged = [[(joined(token[:-1]), token[-1]) for token in one.tokens] for one in sentences]
        if len(found.kept) == 3:
            parameters["classes"] = "factor"
        with places_of(sentences):
            model = RefinementHMM(**parameters).fit(tagged)
        done.save(model)
    facts = model.diagnostics_
    summary = f"{facts['n_tags']:,} tags with {facts['n_states']:,} states"
    if model.parameters_.method != "spectral":
        summary += f" after {plural(facts['passes'], 'step')} of EM"
    summary += f", from {facts['n_sentences']:,} sentences, {facts['n_tokens']:,} tokens"
    done.report({"states": model.states_, "history": model.history_, **facts}, summary, phases=True)


def joined(parts: Sequence[str]) -> str:
    """Return a word, or a word and its class: "dog|NN"."""
    return "|".join(parts)


class InColumns:
    """A refinement HMM for the commands: tokens are tuples of columns, as those of a `Tagger`."""

    def __init__(self, model: "RefinementHMM"):
        self.model, self.tags_, self.policy_ = model, model.tags_, model.policy_
        self.columns_ = ["word", "pos"] if model.parameters_.classes == "factor" else ["word"]

    def tag(self, sentences: Iterable[Tokens]) -> list[list[tuple[str, ...]]]:
        """Return the tokens of each sentence, with their tags as the last column."""
        sentences = list(sentences)
        found = self.model.tag_many([list(map(joined, one)) for one in sentences])
        return [
            [(*parts, tag) for parts, (_, tag) in zip(tokens, tagging)]
            for tokens, tagging in zip(sentences, found)
        ]

    def confidences(self, sentences: Iterable[Tokens]) -> list[list[float]]:
        """Return the probability of each of the tags that :meth:`tag` gives."""
        place = {tag: t for t, tag in enumerate(self.tags_)}
        found = []
        for tokens in sentences:
            words = list(map(joined, tokens))
            tagging = self.model.tag(words)
            rows = self.model.marginals(words)
            found.append([float(row[place[tag]]) for (_, tag), row in zip(tagging, rows)])
        return found

    def evaluate(self, tagged: Iterable[Tokens]) -> "Chunks | Tags":
        """Compare with tagged sentences: chunks by the rules of conlleval, or single tags."""
        from eigentext import evaluate
        from eigentext.corpus.schemes import is_chunk_tags

        tagged = list(tagged)
        gold = [[token[-1] for token in one] for one in tagged]
        found = self.tag([[token[:-1] for token in one] for one in tagged])
        tags = [[token[-1] for token in one] for one in found]
        is_chunks = is_chunk_tags([*self.tags_, *(tag for one in gold for tag in one)])
        return evaluate.chunks(gold, tags) if is_chunks else evaluate.tags(gold, tags)

    def __getattr__(self, name: str) -> Any:
        if name in ("k_best_many", "spans_many"):
            raise ParameterError(
                "this model has hidden states, so it has no list of best taggings and no spans; "
                "use `tagger tag`, or a model of `tagger fit`"
            )
        raise AttributeError(name)
