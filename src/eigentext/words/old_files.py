"""Files of word vectors of older versions."""

from typing import Any

from eigentext.storage.schema import damage

_PREFIX = "moments."


def words_v1(
    arrays: dict[str, Any], about: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Version 2 packs the moments that a model keeps, if it keeps any."""
    from eigentext.moments.old_files import cooccurrence_v1

    if "moments" not in about:
        return arrays, about
    if not isinstance(about["moments"], dict):
        raise damage("moments", "is no document")
    old = {
        name.removeprefix(_PREFIX): part
        for name, part in arrays.items()
        if name.startswith(_PREFIX)
    }
    parts, inner = cooccurrence_v1(old, about["moments"])
    kept = {name: part for name, part in arrays.items() if not name.startswith(_PREFIX)}
    kept |= {f"{_PREFIX}{name}": part for name, part in parts.items()}
    return kept, about | {"moments": inner}
