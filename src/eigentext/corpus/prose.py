"""A corpus that is already on the disk: the documentation of the scientific Python packages.

``eigentext demo`` must work offline, without a download. NumPy, SciPy and scikit-learn are
installed wherever eigentext is. Their docstrings and comments are a million words of plain
technical English on one subject, which is enough for interesting word vectors. The sources are read
and parsed, never imported, so no code of the packages runs.

The text is prepared for counting. Code, examples, formulas and bibliographies are removed, because
they are not language. Each paragraph is kept once: docstrings repeat each other (`random_state` is
described a hundred times), and repetitions would count as evidence. A parameter and its description
make one paragraph. Punctuation stays, as tokens: in a window of a few words, it separates a list
from the end of a sentence, and neighbors get better.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

from eigentext.errors import CorpusError


def docstring_prose(packages: Sequence[str] = ("numpy", "scipy", "sklearn")) -> list[str]:
    """Return the documentation of packages: paragraphs, tokenized and in lower case.

    Parameters
    ----------
    packages : sequence of str
        Names of top-level packages. Packages that are not installed are skipped.

    Returns
    -------
    list of str
        Different paragraphs, with one blank between tokens. The order is that of the packages and
        of the sorted files, so the same installation gives the same list.

    Raises
    ------
    CorpusError
        If the packages are not installed as Python sources, or have no documentation.
    """
    paragraphs: dict[str, None] = {}  # used as a set that keeps the order
    for package in packages:
        for location in _locations(package):
            for file in sorted(location.rglob("*.py")):
                pieces = _documentation(file, parse="tests" not in file.relative_to(location).parts)
                paragraphs.update((words, None) for piece in pieces for words in _paragraphs(piece))
    if not paragraphs:
        raise CorpusError(
            f"no documentation to learn from: no Python sources of {' or '.join(packages)} are"
            " installed here; name a text file instead: eigentext demo FILE"
        )
    return list(paragraphs)


def _locations(package: str) -> list[Path]:
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return []
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


# From a source file to its documentation ----------------------------------------------------------

_COMMENTS = re.compile(r"# .*(?:\n[ \t]*#.*)*")
_COMMENT_MARK = re.compile(r"^[ \t]*#+", re.M)


def _documentation(file: Path, *, parse: bool) -> Iterator[str]:
    """Yield the docstrings and the comments of a file; nothing if it cannot be parsed.

    Tests are not parsed: that takes longer than all other files, and most of their prose is in
    comments.
    """
    try:
        source = file.read_text(encoding="utf-8", errors="replace")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of invalid escapes in the packages' sources
            statements = ast.parse(source).body if parse else []
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _docstrings(statements)
    for block in _COMMENTS.findall(source):
        yield _COMMENT_MARK.sub("", block)


def _docstrings(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the docstrings: strings that are statements, or that a name with "doc" in it gets.

    The second kind (``add_newdoc``) documents compiled code. Only statements are visited, not
    expressions, which is several times faster than ``ast.walk``.
    """
    for statement in statements:
        match statement:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text
            case (
                ast.Expr(value=ast.Call(func=ast.Name(id=name)) as value)
                | ast.Assign(targets=[ast.Name(id=name)], value=value)
            ) if "doc" in name.lower():
                for node in ast.walk(value):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield node.value
            case _:
                for block in ("body", "orelse", "handlers", "finalbody"):
                    if inner := getattr(statement, block, None):
                        yield from _docstrings(inner)


# From documentation to prose ----------------------------------------------------------------------

_DEEPER = (
    r"(?:\n[ \t]*(?=\n|\Z)|\n(?P=indent)[ \t]+\S.*)*"  # lines that are indented more than "indent"
)
_EXAMPLE = re.compile(r"\n[ \t]*>>>.*(?:\n[ \t]*\S.*)*")  # with its output, up to a blank line
_BLOCK = re.compile(  # directives without prose, bibliography entries, link targets
    r"\n(?P<indent>[ \t]*)\.\. (?:(?:math|code|code-block|plot|parsed-literal|toctree|table"
    r"|list-table|image|figure|currentmodule|module|moduleauthor|sectionauthor|index|data"
    r"|auto(?!summary)\w+|testsetup|literalinclude)::|\[|_).*" + _DEEPER
)
_LITERAL_MARK = re.compile(r"::[ \t]*\n[ \t]*\n")
_LITERAL = re.compile(r"\n(?P<indent>[ \t]*)(?!\.\. )(?P<lead>.*)::[ \t]*(?=\n[ \t]*\n)" + _DEEPER)
_DIRECTIVE = re.compile(r"\n[ \t]*\.\. [\w-]+::")  # such as "note", whose body is prose
_OPTION = re.compile(r"\n[ \t]*:[\w-]+:(?: .*)?(?=\n)")
_MATH = re.compile(r":math:`[^`]*`")
_ROLE = re.compile(r":[\w:+.-]+:`(?:~[\w.]*\.)?!?([^`<]*)(?:<[^`]*)?`")
_CLUTTER = re.compile(r"%\(\w+\)s|\$\w+|\[[\w, -]+\]_|https?://\S+")

_RULE = " \t-=~^*+#_.`'\""  # a line of only these is blank or underlines a heading
_BULLET = re.compile(r"[*+-] |\(?\w{1,2}[.)] ")
_WORD = re.compile(r"[^\W\d_]{2,}")
_TOKEN = re.compile(
    r"\b(?:[a-z]\.){2,}"  # e.g.
    r"|[^\W\d]\w*(?:[.'’-]\w+)*|\d-?d\b"  # n_jobs, float64, non-zero, np.linalg.norm, 2-d
    r"|\d+(?:\.\d+)?(?:e-?\d+)?|\.+|[,;:()=]"
)
_FEWEST_WORDS = 3  # shorter paragraphs are headings and names


def _paragraphs(documentation: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring as words with blanks between them, without markup."""
    paragraph: list[str] = []
    previous = 0
    for line in _without_markup(documentation).split("\n"):
        text = line.lstrip()
        indent = len(line) - len(text)
        blank = not text.strip(_RULE)
        if paragraph and (blank or indent < previous or _BULLET.match(text)):
            yield from _tokenized(paragraph)
            paragraph = []
        if not blank:
            paragraph.append(text)
            previous = indent
    yield from _tokenized(paragraph)


def _without_markup(documentation: str) -> str:
    text = f"\n{cleandoc(documentation).lower()}\n"
    if ">>>" in text:
        text = _EXAMPLE.sub("\n", text)
    if ".. " in text:
        text = _BLOCK.sub("\n", text)
    if _LITERAL_MARK.search(text):  # a quick test first, because the pattern is slow
        text = _LITERAL.sub(r"\n\g<indent>\g<lead>\n", text)
    text = _DIRECTIVE.sub("\n\n", text)
    return _CLUTTER.sub("", _ROLE.sub(r"\1", _MATH.sub("", _OPTION.sub("", text))))


def _tokenized(lines: list[str]) -> Iterator[str]:
    """Yield the tokens of a paragraph, if at least half of its characters are in words."""
    text = " ".join(lines)
    words = _WORD.findall(text)
    if len(words) >= _FEWEST_WORDS and 2 * len("".join(words)) > len(text) - text.count(" "):
        yield " ".join(_TOKEN.findall(text))
