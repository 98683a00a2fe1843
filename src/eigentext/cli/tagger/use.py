"""`eigentext tagger tag` and `nbest`: sentences in, tags out."""

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
from eigentext.cli._text import no_words
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
_BLOCK = 1000  # sentences are answered together
_MANY = 100_000  # the same for Dask workers, which get the model with each block
_GLANCE, _SHORT = 10, 4  # if this many lines all have the same few words, each may be a token


@dataclass(kw_only=True)
class SentenceOptions(Bundle):
    """The sentences to tag, and how they are written."""

    files: Annotated[
        list[str] | None,
        typer.Argument(
            help="Sentences, as --format says (plain, .gz, .bz2, .xz, .zst); - or nothing is "
            "standard input."
        ),
    ] = None
    format: Annotated[
        Literal["words", "conll"] | None,
        typer.Option(
            help="words: one sentence on each line; conll: one token on "
            "each line, in columns, and an empty line after each sentence.",
            show_default="words if the model uses no other columns",
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

    def read(
        self, tagger: "Tagger", paths: list[Path | None], *, all_lines: bool
    ) -> Iterator[Sentence]:
        """Yield the sentences; with `all_lines`, also the lines between them."""
        in_columns = len(tagger.columns_) > 1 or self.columns or self.labelled
        if (self.format or ("conll" if in_columns else "words")) == "words":
            if in_columns:
                raise ParameterError(
                    f"--format words is for words alone, but the model uses "
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
) -> None:
    """Tag sentences: one token on each line, its columns and its tag; an empty line after each.

    Lines between sentences stay as they are. An empty line of words gives only an empty line.
    Sentences are read, tagged and written a thousand at a time, or one by one if a person types
    them.
    """

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
    from eigentext import engine
    from eigentext.corpus.raw_text import RawCheck

    paths = input_paths(sentences.names())
    n_together = 1 if are_typed(paths) else _MANY if run.workers else _BLOCK
    with answering(run, [model, *paths]) as (write, phases):
        tagger = load_tagger(model)
        found = sentences.read(tagger, paths, all_lines=all_lines)
        waiting: list[str] = []  # lines to write as soon as there is a word
        is_empty, check = True, RawCheck(tagger.policy_)
        with engine.phase("tag", None, "tokens") as advance:
            while block := list(islice(found, n_together)):
                full = [one.tokens for one in block if one.tokens]
                for tokens in full:
                    check.see([tokens[-1][0]])
                with engine.report_to(None), _not_again():  # one bar for all blocks
                    given = answers(tagger, full)
                    for one in block:
                        waiting += lines(one, next(given) if one.tokens else None)
                if full or not is_empty:
                    is_empty = False
                    write("\n".join(waiting))
                    waiting.clear()
                advance(sum(map(len, full)))
            if is_empty:
                raise no_words(sentences.names())
        check.warn()
    if not run.quiet:
        messages.print(phases.speed_in_words("token"), markup=False)


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
            words = [word.decode() for word in line.split()]
            tokens = [(word,) for word in (words if how.tokenized else policy.split(text))]
            n_good += bool(tokens)
            if tokens and len(lengths) < _GLANCE:
                lengths.append(len(words))
                if len(lengths) == _GLANCE and max(lengths) == min(lengths) <= _SHORT:
                    print_warning(
                        f"{file}: each line is read as a sentence; if each line is a token, give "
                        "--format conll, and if columns follow the word, --labelled or --columns"
                    )
            yield Sentence(file, number, tokens, "")
    bad.report(n_good)
