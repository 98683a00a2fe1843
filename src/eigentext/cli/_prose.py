"""A corpus that is already on the disk: the docstrings of the scientific Python packages.

``eigentext demo`` must work at once, offline and without a download. NumPy, SciPy and scikit-learn
are installed wherever eigentext is, and their documentation is a million words of plain technical
English on one subject: enough for word vectors worth looking at. The sources are read and parsed,
never imported, so nothing of the packages runs.

The text is made for counting. Code, examples, formulas and bibliographies are dropped: they are
not language. Every paragraph is kept once: docstrings are full of copies (one `random_state` is
described a hundred times over), and copies would count as evidence. A parameter and its
description make one paragraph. Punctuation is dropped, so that a window reaches over it.
"""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from inspect import cleandoc
from pathlib import Path

from eigentext.errors import CorpusError

_SKIPPED_FOLDERS = {"tests", "externals", "_vendored"}
_SHORTEST_PARAGRAPH = 4  # words: below stand headings and bare names, "Returns", "out ndarray"


def docstring_prose(packages: Sequence[str] = ("numpy", "scipy", "sklearn")) -> list[str]:
    """Return the prose of the packages' docstrings, one lower-cased tokenised paragraph a string.

    Parameters
    ----------
    packages : sequence of str
        Names of importable packages. Those not installed are passed over.

    Returns
    -------
    list of str
        Distinct paragraphs, words separated by one blank, in the order of packages and sorted
        files: the same installation gives the same list.

    Raises
    ------
    CorpusError
        If none of the packages is installed as Python source, or they hold no prose.
    """
    paragraphs: dict[str, None] = {}  # a set that remembers the order
    for package in packages:
        for file in _source_files(package):
            for documentation in _documentation(file):
                paragraphs.update(dict.fromkeys(_paragraphs(documentation)))
    if not paragraphs:
        raise CorpusError(
            f"no docstrings to learn from: no Python sources of {', '.join(packages)} are installed"
            " here; name a text file instead: eigentext demo FILE"
        )
    return list(paragraphs)


def _source_files(package: str) -> Iterator[Path]:
    """Yield the package's own sources in sorted order; tests say little and take half the time."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return
    for location in (spec and spec.submodule_search_locations) or ():
        root = Path(location)
        for file in sorted(root.rglob("*.py")):
            if _SKIPPED_FOLDERS.isdisjoint(file.relative_to(root).parts):
                yield file


# Finding the documentation ------------------------------------------------------------------------


def _documentation(file: Path) -> Iterator[str]:
    """Yield every piece of documentation in a source file; none if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # others' invalid escapes are not our user's concern
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return
    yield from _documentation_in(tree.body)


def _documentation_in(statements: Iterable[ast.AST]) -> Iterator[str]:
    """Descend through statements only, which is several times faster than ``ast.walk``.

    Documentation is a string that stands as a statement, as docstrings do, or one that is
    assigned to or passed to a name with "doc" in it: ``add_newdoc`` documents compiled functions.
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
                for block in ("body", "handlers", "orelse", "finalbody"):
                    yield from _documentation_in(getattr(statement, block, ()))


# From documentation to prose ----------------------------------------------------------------------

# Patterns for whole docstrings, in the order they are applied.
_DEEPER = r"(?:\n[ \t]*(?=\n|\Z)|\n(?P=indent)[ \t]+\S.*)*"  # lines indented below "indent"
_EXAMPLE = re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.M)  # with its output, to a blank line
_BLOCK = re.compile(  # directives without prose, bibliography entries, link targets
    r"^(?P<indent>[ \t]*)\.\. (?:(?:math|code|code-block|plot|parsed-literal|toctree|table"
    r"|list-table|image|figure|currentmodule|module|moduleauthor|sectionauthor|index|data"
    r"|auto[a-z]+(?<!autosummary)|testsetup|literalinclude)::|\[|_).*" + _DEEPER,
    re.M,
)
_DIRECTIVE = re.compile(r"^[ \t]*\.\. [\w-]+::", re.M)  # "note" and the like: the body is prose
_LITERAL = re.compile(r"^(?P<indent>[ \t]*)(?P<lead>.*)::[ \t]*(?=\n[ \t]*\n)" + _DEEPER, re.M)
_OPTION = re.compile(r"^[ \t]*:[\w-]+:(?: .*)?$", re.M)
_MATH = re.compile(r":math:`[^`]*`|\$[^$\n]+\$")
_ROLE = re.compile(r":[\w:+.-]+:`[~!]?([^`<]*)(?:<[^`]*)?`")
_CLUTTER = re.compile(r"%\(\w+\)s|\$\w+|\S+://\S+|\b10\.\d+/\S+|<blankline>")
_QUALIFIER = re.compile(r"\b[a-z_]\w+\.(?=[a-z_])")  # np.linalg.norm is "norm"

_WORD = re.compile(r"[^\W\d]\w*(?:['’-]\w+)*|\d-?d\b")  # n_jobs, float64, non-zero, coef_, 2-d
_BULLET = re.compile(r"[*+-] |\(?\w{1,2}[.)] ")


def _paragraphs(documentation: str) -> Iterator[str]:
    """Yield the paragraphs of a docstring as words separated by blanks, all markup gone."""
    paragraph: list[str] = []
    indent = 0
    for line in _without_markup(documentation).split("\n"):
        text = line.lstrip()
        words = _WORD.findall(text)
        deeper = len(line) - len(text)
        prose = _mostly_words(text, words)
        if not prose or deeper < indent or _BULLET.match(text):
            if len(paragraph) >= _SHORTEST_PARAGRAPH:
                yield " ".join(paragraph)
            paragraph = []
        if prose:
            paragraph += words
        indent = deeper
    if len(paragraph) >= _SHORTEST_PARAGRAPH:
        yield " ".join(paragraph)


def _without_markup(documentation: str) -> str:
    text = cleandoc(documentation).lower()
    if ">>>" in text:
        text = _EXAMPLE.sub("", text)
    if ".. " in text:
        text = _DIRECTIVE.sub("", _BLOCK.sub("", text))
    if "::" in text:
        text = _LITERAL.sub(r"\g<indent>\g<lead>", text)
    if ":" in text:
        text = _ROLE.sub(r"\1", _MATH.sub("", _OPTION.sub("", text)))
    return _QUALIFIER.sub("", _CLUTTER.sub("", text))


def _mostly_words(text: str, words: list[str]) -> bool:
    """Tell language from formulas, tables of numbers and rules: half of it is words."""
    return 2 * sum(len(word) for word in words if len(word) > 1) > len(text) - text.count(" ")
