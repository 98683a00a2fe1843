"""How Sphinx builds the pages: ``make docs``. It fetches nothing, and a warning is an error."""

import os
import re
import sys
from pathlib import Path
from typing import Any

os.environ["MPLBACKEND"] = "Agg"
sys.path.insert(0, str(Path(__file__).parent))

from _citations import STYLE
from sphinx_gallery.sorting import ExplicitOrder

import eigentext

project = "eigentext"
author = "The eigentext developers"
copyright = author
release = eigentext.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = STYLE
exclude_patterns = ["_build", "**/GALLERY_HEADER.rst", "sg_execution_times.rst"]
html_theme = "furo"
html_title = "eigentext"
html_show_sourcelink = False
highlight_language = "text"  # blocks without a language are commands and their output
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # the setting for the order of tutorials is an object

# GitHub also shows these Markdown pages, so links go to files, and headings are anchors.
myst_heading_anchors = 3

# Docstrings become the API reference.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings have the types, with their meaning
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True

_ORDER = ("words", "sequences", "topics", "grammars", "reranking", "tagging")
sphinx_gallery_conf = {
    "examples_dirs": str(Path(__file__).parents[1] / "examples"),
    "gallery_dirs": "tutorials",
    "filename_pattern": r"\.py$",
    "within_subsection_order": ExplicitOrder([f"{name}.py" for name in _ORDER]),
    "download_all_examples": False,
    "show_memory": False,
    "abort_on_example_error": True,
    "write_computation_times": False,
    "plot_gallery": True,
}


def skip_inherited(
    app: Any, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out members of scikit-learn's base classes; its own pages document them."""
    origin = getattr(obj, "__module__", None) or ""
    return True if origin.startswith("sklearn.") else None


def keep_underscores(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape the ``_`` at the end of attributes, which reStructuredText would take for a link."""
    for i, line in enumerate(lines):
        if match := re.match(r":(ivar|vartype) ([^:]*):", line):
            field, names = match.groups()
            escaped = names.replace(", ", ",").replace("_", r"\_")
            lines[i] = f":{field} {escaped}:{line[match.end() :]}"


def setup(app: Any) -> None:
    """Connect the functions above to Sphinx."""
    app.connect("autodoc-process-docstring", keep_underscores, priority=600)  # after Napoleon
    app.connect("autodoc-skip-member", skip_inherited)
