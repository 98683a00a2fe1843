"""Files with the words of topics, and with words that may not be anchors."""

from pathlib import Path
from typing import Any

from eigentext.cli._text import utf8_or
from eigentext.errors import CorpusError

_OPTIONS = {"anchors": "--anchors", "not_anchors": "--not-anchors"}


def anchors_in_files(given: dict[str, Any], encoding: str) -> dict[str, Any]:
    """Return the anchors, and the words that may not be anchors, in the files that are given.

    The files are in UTF-8, or else in the encoding of the documents.
    """
    found = dict[str, Any]()
    for name, option in _OPTIONS.items():
        if given[name] is not None:
            path = Path(given[name])
            lines = _lines(path, encoding, option)
            found[name] = (
                _topics(path, lines) if name == "anchors" else [w for x in lines for w in x.split()]
            )
    return found


def _lines(path: Path, encoding: str, option: str) -> list[str]:
    try:
        text = path.read_text(encoding=utf8_or(encoding, path))
    except (OSError, UnicodeError) as error:
        raise CorpusError(
            f"{path}: cannot be read ({error}); {option} is a file of words"
        ) from error
    if not text.split():
        raise CorpusError(f"{path}: has no words; write some, or leave {option} out")
    return text.splitlines()


def _topics(path: Path, lines: list[str]) -> dict[str, list[str]] | list[list[str]]:
    """The words of each topic, by name if lines have names: ``space: nasa orbit``."""
    if lines[0].lstrip().startswith(("{", "[")):
        raise CorpusError(
            f"{path}: looks like JSON; write a line for each topic instead: `space: nasa orbit`"
        )
    found = list[tuple[str | None, list[str]]]()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        before, colon, after = line.partition(":")
        name, words = (before.strip(), after.split()) if colon else (None, line.split())
        if name == "" or not words:
            raise CorpusError(
                f"{path}, line {number}: {line.strip()!r:.80} is not a topic; write a name, a "
                "colon and words, as in `space: nasa orbit`"
            )
        if name is not None and any(name == other for other, _ in found):
            raise CorpusError(f"{path}, line {number}: a second topic {name!r}; join the two lines")
        found.append((name, words))
    if all(name is None for name, _ in found):
        return [words for _, words in found]
    if unnamed := [words for name, words in found if name is None]:
        raise CorpusError(
            f"{path}: the topic {' '.join(unnamed[0])!r:.80} has no name, but others have one; "
            "give all of them names, or none"
        )
    return {name: words for name, words in found if name is not None}
