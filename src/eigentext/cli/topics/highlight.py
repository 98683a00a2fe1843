"""`eigentext topics highlight`: the words of a document by topic."""

from pathlib import Path
from typing import Annotated

import typer

from eigentext.cli._bundles import EncodingOption, JsonFlag, StreamOption
from eigentext.cli._files import check_not_read, inputs
from eigentext.cli._options import with_options
from eigentext.cli._tables import write_text
from eigentext.cli.topics._shared import ModelArgument, load_topics
from eigentext.errors import ParameterError
from eigentext.storage.valid_json import json_text

_PAGE = (
    '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="color-scheme" content="light dark">\n<title>{title}</title>\n'
    '<body style="font:1rem/1.6 system-ui,sans-serif;max-width:60rem;margin:2rem auto;'
    'padding:0 1rem">\n{body}\n</body>\n</html>'
)


@with_options()
def highlight(
    model: ModelArgument,
    document: Annotated[
        str, typer.Argument(metavar="FILE|TEXT", help="A file; - is standard input; or a text.")
    ],
    encoding: EncodingOption = "utf-8",
    output: StreamOption = Path("-"),
    html: Annotated[bool, typer.Option("--html", help="Write an HTML page.")] = False,
    color: Annotated[
        bool, typer.Option("--color", help="Color words instead of numbering their topics.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Print a document with the topic of each known word behind it, as in shuttle[10].

    If no file has the given name, it is the text itself.
    """
    if html + color + json > 1:
        raise ParameterError("--html, --color and --json exclude each other; choose one")
    topics = load_topics(model)
    check_not_read(output, [model])
    found = topics.highlight(_text(document, encoding, output))
    if html:
        lines = [_PAGE.format(title="Words by topic", body=found.to_html())]
    elif json:
        lines = [json_text({"model": str(model), **found.to_dict()}, ascii_only=False)]
    else:
        lines = [found.to_text(color=color)]
    write_text((f"{line}\n" for line in lines), output)


def _text(document: str, encoding: str, output: Path) -> str:
    """The text of a file, or else the given text."""
    from eigentext.corpus.encodings import checked_encoding, text_of
    from eigentext.corpus.readers import read_whole

    try:
        is_file = document == "-" or Path(document).is_file()
    except (OSError, ValueError):  # a text is longer than any name
        is_file = False
    if not is_file:
        if "/" in document and not any(c.isspace() for c in document):
            raise ParameterError(f"{document}: no such file; give a file or a text")
        return document
    with inputs([document]) as (paths,):
        check_not_read(output, paths)
        return text_of(read_whole(paths[0], checked_encoding(encoding)), document)
