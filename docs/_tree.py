"""Writes docs/tree.md, the folder tree with a line for each file: ``python docs/_tree.py``.

The line of a file is the first sentence of its module docstring. The line of a folder is that of
its ``__init__.py``.
"""

import ast
import re
from pathlib import Path

PAGE = Path(__file__).with_name("tree.md")
_PACKAGE = Path(__file__).parents[1] / "src" / "eigentext"
_HEAD = """# The folder tree

Every file of `src/eigentext`, with the first sentence of its docstring. A name that begins with an
underscore is private to its room. Files called `_loops.py` or `_…_loops.py` hold compiled loops.
[Architecture](architecture.md) explains the rooms.

`python docs/_tree.py` writes this page, and a test compares it with the sources.
"""
# The rooms in the order of their layers, lowest first; all others follow by name.
_ORDER = (
    "__init__.py",
    "__main__.py",
    "errors.py",
    "lazy.py",
    "parameters.py",
    "estimators.py",
    "monitor.py",
    "engine",
    "storage",
    "matrices",
    "corpus",
    "moments",
    "factor",
    "trellis",
    "words",
    "sequences",
    "topics",
    "grammars",
    "kernels",
    "linear",
    "reranking",
    "tagging",
    "evaluate",
    "plots.py",
    "cli",
    "explorer",
    "spacy",
)


def page() -> str:
    """Return the whole page."""
    rooms = [one for one in _children(_PACKAGE) if one.is_dir()]
    files = [_line(one, 0) for one in _children(_PACKAGE) if not one.is_dir()]
    parts = [_HEAD, "## eigentext\n", *files, ""]
    for room in rooms:
        parts += [f"## {room.name}\n", f"{_sentence(room / '__init__.py')}\n", *_lines(room, 0), ""]
    return "\n".join(parts)


def _lines(folder: Path, depth: int) -> list[str]:
    found: list[str] = []
    for one in _children(folder):
        if one.name == "__init__.py":
            continue
        found.append(_line(one, depth))
        if one.is_dir():
            found += _lines(one, depth + 1)
    return found


def _line(one: Path, depth: int) -> str:
    name = f"{one.name}/" if one.is_dir() else one.name
    sentence = _sentence(one / "__init__.py" if one.is_dir() else one)
    return f"{'  ' * depth}- `{name}`: {sentence}"


def _children(folder: Path) -> list[Path]:
    """Return the modules and packages of a folder, public names first, files before folders."""
    found = [one for one in folder.iterdir() if _is_code(one)]
    if folder == _PACKAGE:
        place = {name: i for i, name in enumerate(_ORDER)}
        return sorted(found, key=lambda one: (place.get(one.name, len(place)), one.name))
    return sorted(found, key=lambda one: (one.is_dir(), one.name.startswith("_"), one.name))


def _is_code(one: Path) -> bool:
    return one.suffix == ".py" or (one.is_dir() and (one / "__init__.py").exists())


def _sentence(module: Path) -> str:
    """Return the first sentence of the docstring, on one line and safe for Markdown."""
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(docstring.split("\n\n")[0].split())
    sentence = re.split(r"(?<=[^.][.])\s(?=[A-Z])", paragraph)[0]
    plain = re.sub(r":\w+:`~?([^`]*)`", r"`\1`", sentence).replace("``", "`")
    return re.sub(r"\s*\[\d\]_", "", plain)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
