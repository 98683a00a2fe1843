"""Reads files of older versions of a format: step by step, in the form of the next version.

A changed layout gets a new version, and a function that rewrites the arrays and the document of the
old one. So a file stays readable as long as the library lives. The function checks what it reads,
because the schema of its format is that of the newest version. `save` writes the newest version.
"""

from importlib import import_module
from typing import Any

import eigentext
from eigentext.errors import ModelFileError
from eigentext.storage.files import Arrays

# The function that rewrites each old format as the next version: its module and its name.
_STEPS = {
    "eigentext.cooccurrence.v1": ("eigentext.moments.old_files", "cooccurrence_v1"),
    "eigentext.latent-pcfg.v1": ("eigentext.grammars.old_files", "grammar_v1"),
    "eigentext.latent-pcfg.v2": ("eigentext.grammars.old_files", "grammar_v2"),
    "eigentext.pcfg.v1": ("eigentext.grammars.old_files", "grammar_v1"),
    "eigentext.words.v1": ("eigentext.words.old_files", "words_v1"),
}


def migrated(arrays: Arrays, about: dict[str, Any], newest: str) -> tuple[Arrays, dict[str, Any]]:
    """The content of a file in the newest version of its format.

    Raises
    ------
    ModelFileError
        If the file is of a newer version than this library reads, or of one that never was.
    """
    form = str(about["format"])
    while form != newest:
        family, _, version = form.rpartition(".v")
        known = newest.rpartition(".v")[2]
        if not version.isdecimal() or int(version) > int(known):
            raise _refused(about, newest, "upgrade with pip install -U eigentext")
        if form not in _STEPS:
            raise _refused(
                about, newest, f"no version of eigentext wrote {form}; copy the file again"
            )
        module, name = _STEPS[form]
        arrays, about = getattr(import_module(module), name)(arrays, about)
        form = f"{family}.v{int(version) + 1}"
    return arrays, about | {"format": newest}


def _refused(about: dict[str, Any], newest: str, remedy: str) -> ModelFileError:
    return ModelFileError(
        f"format version {str(about['format']).rpartition('.v')[2]}, written by eigentext "
        f"{about.get('eigentext')}, but this is eigentext {eigentext.__version__}, which reads "
        f"{newest}; {remedy}"
    )
