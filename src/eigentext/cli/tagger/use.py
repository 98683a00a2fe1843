"""`eigentext tagger tag` and `nbest`: sentences in, tags out."""

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from eigentext.cli._bundles import EncodingOption, SkipBadFlag
from eigentext.cli._console import messages, print_warning
from eigentext.cli._files import check_not_read
from eigentext.cli._lines import (
    AnswerOptions,
    TokenizedFlag,
    answering,
    are_typed,
    decoded,
    input_paths,
    raw_lines,
)
from eigentext.cli._options import Bundle, with_options
from eigentext.cli._tables import PLAIN, table_format, writing
from eigentext.cli._text import no_words
from eigentext.cli._work import work
from eigentext.cli.tagger._shared import (
    ColumnsOption,
    KnownColumns,
    ModelArgument,
    Sentence,
    how_to_skip,
    load_tagger,
    read_sentences,
)
from eigentext.errors import CorpusError, ParameterError
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from eigentext import Tagger
    from eigentext.corpus.policy import TokenPolicy

Tokens = list[tuple[str, ...]]
_INPUTS = ("words", "conll")
_NUMBERED = re.compile(rb"[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9,}")
_BLOCK = 1000  # sentences are answered together
_MANY = 100_000  # the same for Dask workers, which get the model with each block
_GLANCE, _SHORT = 10, 4  # if this many lines all have the same few words, each may be a token


@dataclass(kw_only=True)
class SentenceOptions(Bundle):
    """The sentences to tag, and how they are written."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sentences, as --input says (plain, .gz, .bz2, .xz, .zst); - or nothing is "
            "standard input."
        ),
    ] = None
    input: Annotated[
        Literal["words", "conll"] | None,
        typer.Option(
            "--input",
            help="words: one sentence on each line; conll: one token on "
            "each line, in columns, and an empty line after each sentence.",
            show_default="words if the model uses no other columns",
        ),
    ] = None
    format: Annotated[
        Literal["csv", "tsv", "jsonl", "parquet", "arrow", "words", "conll"] | None,
        typer.Option(
            "--format",
            help="Write a table with a row for each token (only `tag`): csv, tsv, jsonl (JSON "
            "lines), parquet or arrow. (words and conll are an old way to say --input.)",
            show_default="by the ending of -o",
        ),
    ] = None
    columns: ColumnsOption = None
    tokenized: TokenizedFlag = False
    encoding: EncodingOption = "utf-8"
    skip_bad: SkipBadFlag = False
    labelled: Annotated[
        bool, typer.Option("--labelled", help="The last column is a label; ignore it.")
    ] = False

    def names(self) -> list[str]:
        """Return the names of the files; "-" is standard input."""
        return self.files or ["-"]

    def table(self, output: Path, *, json: bool) -> str:
        """Return the format of the table that is wanted, or `PLAIN`."""
        return table_format(output, None if self.format in _INPUTS else self.format, json=json)

    def read(
        self, tagger: "Tagger", paths: list[Path | None], *, all_lines: bool
    ) -> Iterator[Sentence]:
        """Yield the sentences; with `all_lines`, also the lines between them."""
        from eigentext.corpus.conll import read_head
        from eigentext.corpus.encodings import checked_encoding

        in_columns = len(tagger.columns_) > 1 or self.columns or self.labelled
        given = self.input or (self.format if self.format in _INPUTS else None)
        if given is None and not in_columns and paths[0] is not None:
            head = read_head(paths[0], checked_encoding(self.encoding))
            in_columns = head.counted  # CoNLL-U
        if (given or ("conll" if in_columns else "words")) == "words":
            if in_columns:
                raise ParameterError(
                    f"--input words is for words alone, but the model uses "
                    f"{', '.join(tagger.columns_)}, or --columns or --labelled is given; leave it "
                    "out"
                )
            return _read_words(paths, tagger.policy_, self)
        if self.labelled and self.columns:
            raise ParameterError("--columns also names the label; leave --labelled out")
        known = KnownColumns(tagger, self.columns, labelled=self.labelled)
        found = read_sentences(paths, known, encoding=self.encoding, skip_bad=self.skip_bad)
        return found if all_lines else (one for one in found if one.tokens)


@with_options()
def tag(
    model: ModelArgument,
    sentences: SentenceOptions,
    run: AnswerOptions,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Write the probability of each tag after it.")
    ] = False,
    spans: Annotated[
        bool,
        typer.Option(
            "--spans",
            help="Write each line of raw text as one JSON object: its text, and its chunks (or "
            "tokens) with start, end, label and confidence. Places count characters.",
        ),
    ] = False,
) -> None:
    """Tag sentences: one token on each line, its columns and its tag; an empty line after each.

    Lines between sentences stay as they are. An empty line of words gives only an empty line.
    Sentences are read, tagged and written a thousand at a time, or one by one if a person types
    them. A table (--format) has the columns sentence and token (numbers from 1), those of the
    model, tag and, if wanted, confidence. In lines of words, the sentence is the line.
    """
    if spans:
        from eigentext.cli.tagger.spans import write_spans

        paths = input_paths(sentences.names())
        write_spans(model, sentences, run, _n_together(paths, run))
        return
    format = sentences.table(run.output, json=run.json)
    if format != PLAIN:
        _tag_table(model, sentences, run, format, confidence=confidence)
        return

    def answers(tagger: "Tagger", block: list[Tokens]) -> Iterator[Any]:
        tags = [[token[-1] for token in one] for one in tagger.tag(block)]
        sure = tagger.confidences(block) if confidence else [[]] * len(tags)
        return zip(tags, ([round(float(p), 4) for p in one] for one in sure))

    def lines(sentence: Sentence, found: Any) -> list[str]:
        tags, sure = found or ([], [])
        if run.json:
            facts = {"tokens": sentence.tokens, "tags": tags}
            return [json_text(facts | ({"confidences": sure} if confidence else {}))]
        last = [(f"{p:.4f}",) for p in sure] or [()] * len(tags)
        rows = [(*parts, y, *p) for parts, y, p in zip(sentence.tokens, tags, last)]
        written = [sentence.separator.join(row) for row in rows]
        return written if sentence.border is None else [*written, sentence.border]

    _answer(model, sentences, run, answers, lines, all_lines=not run.json)


@with_options()
def nbest(
    model: ModelArgument,
    sentences: SentenceOptions,
    run: AnswerOptions,
    k: Annotated[int, typer.Option("-k", min=1, help="How many taggings to write, at most.")] = 10,
) -> None:
    """Write the k best taggings of each sentence, as `rerank` reads them: log-probability, tagging.

    A tab is between the two. A tagging is word/tag word/tag ..., or word|pos/tag if the model uses
    several columns. An empty line follows the taggings of each sentence. An empty line of words
    gives only an empty line.
    """
    from eigentext.reranking.candidates import candidate_line

    if sentences.format not in (None, *_INPUTS):
        raise ParameterError("nbest writes lists, not tables; leave --format out, or use --json")

    def answers(tagger: "Tagger", block: list[Tokens]) -> Iterator[Any]:
        return iter(tagger.k_best_many(block, k))

    def lines(sentence: Sentence, found: Any) -> list[str]:
        if run.json:
            taggings = [
                {"tags": [y for _, y in tagging], "log_probability": log}
                for tagging, log in found or []
            ]
            return [json_text({"tokens": sentence.tokens, "taggings": taggings})]
        try:
            return [*map(candidate_line, found or []), ""]
        except CorpusError as error:
            raise CorpusError(f"{sentence.file}, line {sentence.line}: {error}") from error

    _answer(model, sentences, run, answers, lines, all_lines=False)


def _answer(
    model: Path,
    sentences: SentenceOptions,
    run: AnswerOptions,
    answers: Callable[["Tagger", list[Tokens]], Iterator[Any]],
    lines: Callable[[Sentence, Any], list[str]],
    *,
    all_lines: bool,
) -> None:
    """Write the lines about each of the answers of a tagger to sentences.

    With `all_lines`, the lines between sentences in columns are written too.
    """
    paths = input_paths(sentences.names())
    with answering(run, [model, *paths]) as (write, phases):
        tagger = load_tagger(model)
        found = sentences.read(tagger, paths, all_lines=all_lines)
        waiting: list[str] = []  # lines to write as soon as there is a word
        is_empty = True
        for block in _answered(tagger, found, answers, sentences, _n_together(paths, run)):
            for one, answer in block:
                waiting += lines(one, answer)
                is_empty = is_empty and not one.tokens
            if not is_empty:
                write("\n".join(waiting))
                waiting.clear()
    if not run.quiet:
        messages.print(phases.speed_in_words("token"), markup=False)


def _tag_table(
    model: Path, sentences: SentenceOptions, run: AnswerOptions, format: str, *, confidence: bool
) -> None:
    """Write a table with a row for each token."""
    from eigentext.tagging.tables import token_schema, token_table

    def answers(tagger: "Tagger", block: list[Tokens]) -> Iterator[Any]:
        sure = tagger.confidences(block) if confidence else [[]] * len(block)
        return zip(tagger.tag(block), sure)

    paths = input_paths(sentences.names())
    check_not_read(run.output, [model, *paths])
    with work(run) as phases:
        tagger = load_tagger(model)
        schema = token_schema(tagger.columns_, confidence=confidence)
        found = sentences.read(tagger, paths, all_lines=False)
        number = 1
        with writing(schema, run.output, format) as write:
            for block in _answered(tagger, found, answers, sentences, _n_together(paths, run)):
                tagged = [answer[0] if answer else [] for _, answer in block]
                sure = [answer[1] for _, answer in block if answer] if confidence else None
                write(token_table(schema, tagged, sure, first=number))
                number += len(block)
    if not run.quiet:
        messages.print(phases.speed_in_words("token"), markup=False)


def _n_together(paths: list[Path | None], run: AnswerOptions) -> int:
    """Return how many sentences are answered together."""
    return 1 if are_typed(paths) else _MANY if run.workers else _BLOCK


def _answered(
    tagger: "Tagger",
    found: Iterator[Sentence],
    answers: Callable[["Tagger", list[Tokens]], Iterator[Any]],
    sentences: SentenceOptions,
    size: int,
) -> Iterator[list[tuple[Sentence, Any]]]:
    """Yield sentences in blocks, each with its answer, or None if it has no words."""
    from eigentext import engine
    from eigentext.corpus.raw_text import RawCheck

    is_empty, check = True, RawCheck(tagger.policy_)
    with engine.phase("tag", None, "tokens") as advance:
        while block := list(islice(found, size)):
            full = [one.tokens for one in block if one.tokens]
            is_empty = is_empty and not full
            for tokens in full:
                check.see([tokens[-1][0]])
            with engine.report_to(None), _not_again():  # one bar for all blocks
                given = answers(tagger, full)
                found_here = [(one, next(given) if one.tokens else None) for one in block]
            yield found_here
            advance(sum(map(len, full)))
        if is_empty:
            raise no_words(sentences.names())
    check.warn()


@contextmanager
def _not_again() -> Iterator[None]:
    """Leave out what the model warns of raw text, because it is said once, at the end."""
    from eigentext.corpus.raw_text import RawTextWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RawTextWarning)
        yield


def _read_words(
    paths: list[Path | None], policy: "TokenPolicy", how: SentenceOptions
) -> Iterator[Sentence]:
    """Yield a sentence for each line; an empty line gives a sentence without tokens."""
    from eigentext.corpus.bad_items import BadItems

    bad, n_good = BadItems(how_to_skip(how.skip_bad), "sentences"), 0
    lengths: list[int] = []  # of the first lines
    for path in paths:
        file = "standard input" if path is None else str(path)
        for number, line in enumerate(raw_lines(path, how.encoding), 1):
            try:
                text = decoded(line, f"{file}, line {number}", "strict")
            except CorpusError as error:
                bad.skip(error)
                continue
            if _NUMBERED.fullmatch(line):
                raise CorpusError(
                    f"{file}, line {number}: looks like a token of CoNLL-U, not like a sentence; "
                    "give --input conll"
                )
            words = [word.decode() for word in line.split()]
            tokens = [(word,) for word in (words if how.tokenized else policy.split(text))]
            n_good += bool(tokens)
            if tokens and len(lengths) < _GLANCE:
                lengths.append(len(words))
                if len(lengths) == _GLANCE and max(lengths) == min(lengths) <= _SHORT:
                    print_warning(
                        f"{file}: each line is read as a sentence; if each line is a token, give "
                        "--input conll, and if columns follow the word, --labelled or --columns"
                    )
            yield Sentence(file, number, tokens, "")
    bad.report(n_good)
