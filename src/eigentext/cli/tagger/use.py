"""`eigentext tagger tag` and `nbest`: sentences in, tags out."""

import sys
from collections.abc import Callable, Iterator
from itertools import islice
from json import dumps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from eigentext.cli._console import (
    ClusterOption,
    QuietFlag,
    ThreadsOption,
    check_no_input,
    messages,
    print_warning,
    work,
)
from eigentext.cli._lines import decoded, input_paths, line_writer, raw_lines
from eigentext.cli.tagger._shared import (
    ColumnsOption,
    ModelArgument,
    Sentence,
    known_layout,
    load_tagger,
    read_sentences,
    told_speed,
)
from eigentext.errors import CorpusError, ParameterError

SentencesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        help="Sentences, as --format says (plain, .gz, .bz2, .xz, .zst); - or none is standard "
        "input."
    ),
]
LinesOption = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write; - is standard output.")
]
FormatOption = Annotated[
    Literal["words", "conll"] | None,
    typer.Option(
        help="words: a sentence a line, blanks between words; conll: a token a line, in columns, "
        "an empty line after each sentence.",
        show_default="words if the model looks at no other columns",
    ),
]
LabelledFlag = Annotated[
    bool, typer.Option("--labelled", help="The last column is a label; leave it aside.")
]
JsonLinesFlag = Annotated[bool, typer.Option("--json", help="One JSON object for each sentence.")]
_BLOCK = 1000  # sentences are answered together
_MANY = 100_000  # on a cluster, which gets the model with each of these
_GLANCE, _SHORT = 10, 4  # so many lines of so few words, all as many, are no sentences


def tag(
    model: ModelArgument,
    files: SentencesArgument = None,
    output: LinesOption = Path("-"),
    format: FormatOption = None,
    columns: ColumnsOption = None,
    labelled: LabelledFlag = False,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="The probability of each tag behind it.")
    ] = False,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    json: JsonLinesFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Tag sentences: a token a line, its columns and its tag, an empty line after each sentence.

    Lines between sentences stay as they are; of an empty line of words, an empty line is all that
    comes. Sentences are read, tagged and written a thousand at a time, and one by one where they
    are typed.
    """

    def answers(tagger: Any, sentences: list[Any]) -> Iterator[Any]:
        tags = [[token[-1] for token in one] for one in tagger.tag(sentences)]
        sure = tagger.confidences(sentences) if confidence else [[]] * len(tags)
        return zip(tags, ([round(float(p), 4) for p in one] for one in sure))

    def answer(sentence: Sentence, found: Any) -> list[str]:
        tags, sure = found or ([], [])
        if json:
            told = {"tokens": sentence.tokens, "tags": tags}
            return [dumps(told | ({"confidences": sure} if confidence else {}))]
        last = [(f"{p:.4f}",) for p in sure] or [()] * len(tags)
        rows = [(*parts, y, *p) for parts, y, p in zip(sentence.tokens, tags, last)]
        lines = [sentence.separator.join(row) for row in rows]
        return lines if sentence.border is None else [*lines, sentence.border]

    run = _Run(model, files or ["-"], output, format, columns, labelled)
    run(answers, answer, all_lines=not json, threads=threads, cluster=cluster, quiet=quiet)


def nbest(
    model: ModelArgument,
    files: SentencesArgument = None,
    output: LinesOption = Path("-"),
    k: Annotated[int, typer.Option("-k", min=1, help="How many taggings, if there are.")] = 10,
    format: FormatOption = None,
    columns: ColumnsOption = None,
    labelled: LabelledFlag = False,
    threads: ThreadsOption = None,
    cluster: ClusterOption = None,
    json: JsonLinesFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """The k best taggings of each sentence, as `rerank` reads them: log-probability, tab, tagging.

    A tagging is word/tag word/tag ..., or word|pos/tag where the model looks at several columns. An
    empty line follows the taggings of each sentence; it is all that comes of an empty line of
    words.
    """
    from eigentext.reranking.candidates import candidate_line

    def answers(tagger: Any, sentences: list[Any]) -> Iterator[Any]:
        return iter(tagger.k_best_many(sentences, k))

    def answer(sentence: Sentence, found: Any) -> list[str]:
        if json:
            taggings = [
                {"tags": [y for _, y in tagging], "log_probability": log}
                for tagging, log in found or []
            ]
            return [dumps({"tokens": sentence.tokens, "taggings": taggings})]
        try:
            return [*map(candidate_line, found or []), ""]
        except CorpusError as error:
            raise CorpusError(f"{sentence.file}, line {sentence.line}: {error}") from error

    run = _Run(model, files or ["-"], output, format, columns, labelled)
    run(answers, answer, all_lines=False, threads=threads, cluster=cluster, quiet=quiet)


class _Run(NamedTuple):
    """What is read and written."""

    model: Path
    files: list[str]
    output: Path
    format: Literal["words", "conll"] | None
    columns: str | None
    labelled: bool

    def __call__(
        self,
        answers: Callable[[Any, list[Any]], Iterator[Any]],
        answer: Callable[[Sentence, Any], list[str]],
        *,
        all_lines: bool,
        threads: int | None,
        cluster: str | None = None,
        quiet: bool,
    ) -> None:
        """Write the `answer` about each of the `answers` of a tagger to sentences.

        With `all_lines`, it is asked about those between sentences in columns, too.
        """
        from eigentext import engine

        paths = input_paths(self.files)
        check_no_input(self.output, [self.model, *(path for path in paths if path)])
        # People want an answer before they type on.
        is_typed = None in paths and sys.stdin.isatty()
        n_together = 1 if is_typed else _MANY if cluster else _BLOCK
        # Bars and tags on one screen would be in each other's way; elsewhere the end will tell.
        is_shown = str(self.output) == "-" and sys.stdout.isatty()
        bars = messages.is_terminal and not is_shown and not quiet
        with (
            line_writer(self.output) as write,
            work(quiet=not bars, threads=threads, cluster=cluster, tell=not quiet) as watch,
        ):
            tagger = load_tagger(self.model)
            sentences = self._read(tagger, paths, all_lines)
            waiting: list[str] = []  # until there is a word
            is_empty = True
            with engine.phase("tag", None, "tokens") as advance:
                while block := list(islice(sentences, n_together)):
                    full = [one.tokens for one in block if one.tokens]
                    with engine.report_to(None):  # one bar for all
                        found = answers(tagger, full)
                        for one in block:
                            waiting += answer(one, next(found) if one.tokens else None)
                    if full or not is_empty:
                        is_empty = False
                        write("\n".join(waiting))
                        waiting.clear()
                    advance(sum(map(len, full)))
                if is_empty:
                    raise CorpusError(
                        f"{', '.join(self.files)}: no words in it; is the file empty?"
                    )
        if not quiet:
            messages.print(told_speed(watch), markup=False)

    def _read(self, tagger: Any, paths: list[Path | None], all_lines: bool) -> Iterator[Sentence]:
        in_columns = len(tagger.columns_) > 1 or self.columns or self.labelled
        if (self.format or ("conll" if in_columns else "words")) == "words":
            if in_columns:
                raise ParameterError(
                    f"--format words is for words alone, not for {', '.join(tagger.columns_)} nor "
                    "for --columns or --labelled; leave it out"
                )
            return _read_words(paths)
        if self.labelled and self.columns:
            raise ParameterError("--columns names the label, too; leave --labelled out")
        layout = known_layout(tagger, self.columns, labelled=self.labelled)
        found = read_sentences(paths, layout)
        return found if all_lines else (one for one in found if one.tokens)


def _read_words(paths: list[Path | None]) -> Iterator[Sentence]:
    """A sentence for each line, without tokens for an empty one."""
    lengths: list[int] = []  # of the first lines
    for path in paths:
        file = "standard input" if path is None else str(path)
        for number, line in enumerate(raw_lines(path), 1):
            decoded(line, f"{file}, line {number}", "strict")
            tokens = [(word.decode(),) for word in line.split()]
            if tokens and len(lengths) < _GLANCE:
                lengths.append(len(tokens))
                if len(lengths) == _GLANCE and max(lengths) == min(lengths) <= _SHORT:
                    print_warning(
                        f"{file}: its lines are read as sentences; if each is a token, give "
                        "--format conll, and if columns follow the word, --labelled or --columns"
                    )
            yield Sentence(file, number, tokens, "")
