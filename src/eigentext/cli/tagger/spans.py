"""`eigentext tagger tag --spans`: lines of raw text in, chunks with their places out."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from eigentext.cli._console import messages
from eigentext.cli._lines import AnswerOptions, answering, decoded, input_paths, raw_lines
from eigentext.cli._text import no_words
from eigentext.cli.tagger._shared import how_to_skip, load_tagger
from eigentext.errors import CorpusError, ParameterError
from eigentext.storage.valid_json import json_text

if TYPE_CHECKING:
    from eigentext.cli.tagger.use import SentenceOptions


def write_spans(model: Path, how: "SentenceOptions", run: AnswerOptions, size: int) -> None:
    """Write a JSON object for each line of raw text, `size` lines at a time."""
    from eigentext import engine

    used = {
        "--columns": how.columns,
        "--labelled": how.labelled,
        "--tokenized": how.tokenized,
        "--input conll": how.input == "conll",
        "--format": how.format,
    }
    if wrong := [name for name, value in used.items() if value]:
        raise ParameterError(f"--spans reads raw text and writes JSON; leave {wrong[0]} out")
    paths = input_paths(how.names())
    with answering(run, [model, *paths]) as (write, phases):
        tagger = load_tagger(model)
        texts, is_empty = _texts(paths, how), True
        with engine.phase("tag", None, "lines") as advance:
            while block := list(islice(texts, size)):
                with engine.report_to(None):  # one bar for all blocks
                    found = tagger.spans_many(block)
                for text, spans in zip(block, found):
                    facts = [
                        span._asdict() | {"confidence": round(span.confidence, 4)} for span in spans
                    ]
                    write(json_text({"text": text, "spans": facts}))
                    is_empty = is_empty and not text.strip()
                advance(len(block))
        if is_empty:
            raise no_words(how.names())
    if not run.quiet:
        messages.print(phases.speed_in_words("line"), markup=False)


def _texts(paths: list[Path | None], how: "SentenceOptions") -> Iterator[str]:
    """Yield all lines without their ends, also empty ones."""
    from eigentext.corpus.bad_items import BadItems

    bad, n_good = BadItems(how_to_skip(how.skip_bad), "lines"), 0
    for path in paths:
        file = "standard input" if path is None else str(path)
        for number, line in enumerate(raw_lines(path, how.encoding), 1):
            try:
                text = decoded(line, f"{file}, line {number}", "strict")
            except CorpusError as error:
                bad.skip(error)
                continue
            n_good += 1
            yield text.rstrip("\r\n")
    bad.report(n_good)
