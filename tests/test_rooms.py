"""The rule of the rooms: who may import whom, and that private names stay in their room.

A room is a first-level package or module of eigentext. import-linter checks the imports (`make
lint`). This file checks that CONTRIBUTING.md describes the same rule, and what import-linter cannot
see: private names, and names that the package loads on first use.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "eigentext"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = PROJECT["tool"]["importlinter"]["contracts"]

BASE = {"monitor", "estimators", "engine", "storage", "notebook", "parameters", "errors", "lazy"}
TOP = {"__init__", "__main__", "cli", "explorer"}  # may use `eigentext.Name`, as users do

# Underscores that are not private: methods of named tuples.
NAMED_TUPLE = {"_asdict", "_fields", "_make", "_replace"}
# Private names from elsewhere, each with its reason.
EXCEPTIONS = {
    ("engine", "_cache_file"): "Numba has no public name for the cache of a function",
    ("engine", "_defn"): "Numba has no public name for the function of an intrinsic",
    ("engine", "_impl"): "Numba has no public name for how compiled code is pickled",
    ("engine", "_py_func"): "Numba has no public name for the function of a cache",
    ("engine", "_real_set_num_threads"): "threadpoolctl hides its setter without a lock",
    ("engine", "_source_stamp"): "Numba has no public name for the cache of a function",
    ("engine", "_start_arg"): "Dask has no public name for the address of a lost scheduler",
    ("estimators", "_check_together"): "estimators call this method of their subclasses",
    ("explorer", "_exit"): "os._exit ends a process without its clean-up",
    ("storage", "_mmap"): "numpy.memmap has no public name for its map",
}


@cache
def modules() -> list[tuple[Path, str, ast.Module]]:
    """Each file with its room and its syntax tree."""
    return [
        (path.relative_to(ROOT), room.removesuffix(".py"), ast.parse(path.read_text("utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
        for room in path.relative_to(SOURCE).parts[:1]
    ]


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """The full names that a file imports from eigentext, with their lines."""
    package = ("eigentext", *path.relative_to("src/eigentext").parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            start = ".".join((*above, *filter(None, [node.module])))
            names = [f"{start}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.split(".")[0] == "eigentext")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in NAMED_TUPLE


def private_attributes(tree: ast.Module) -> Iterator[tuple[str, int, bool]]:
    """Private attributes in a file: name, line, and whether the owner is `self` or `cls`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            yield node.attr, node.lineno, owner in ("self", "cls")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
            owner, name, *_ = node.args
            if isinstance(name, ast.Constant) and is_private(str(name.value)):
                yield str(name.value), node.lineno, ast.unparse(owner) in ("self", "cls")


def definitions(tree: ast.Module) -> Iterator[str]:
    """The names that a file defines: functions, classes, variables, attributes of `self`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
    yield from (name for name, _, is_own in private_attributes(tree) if is_own)


def test_private_modules_and_names_are_imported_in_their_room_only():
    found = [
        f"{path}:{line} {name}"
        for path, room, tree in modules()
        for name, line in imports(path, tree)
        if name.split(".")[1:2] != [room] and any(map(is_private, name.split(".")))
    ]
    assert not found, "private names of other rooms:\n" + "\n".join(found)


def test_private_attributes_are_used_in_their_room_only():
    own: dict[str, set[str]] = {}
    for _, room, tree in modules():
        own.setdefault(room, set()).update(definitions(tree))
    found = [
        f"{path}:{line} {name}"
        for path, room, tree in modules()
        for name, line, is_own in private_attributes(tree)
        if not is_own and name not in own[room] and (room, name) not in EXCEPTIONS
    ]
    assert not found, "private attributes of other rooms:\n" + "\n".join(found)


def test_rooms_do_not_import_through_the_package():
    """`from eigentext import Name` hides from import-linter which room is meant."""
    rooms = set(layers_of_rooms())
    found = [
        f"{path}:{line} {name}"
        for path, room, tree in modules()
        if room not in TOP
        for name, line in imports(path, tree)
        if name.count(".") == 1 and name.split(".")[1] not in rooms | {"__version__"}
    ]
    assert not found, "import these from their room:\n" + "\n".join(found)


# The table of CONTRIBUTING.md and the contracts of import-linter.


def layers_of_rooms() -> dict[str, int]:
    """Each room with the number of its layer; layer 0 is the lowest."""
    (layers,) = (one["layers"] for one in CONTRACTS if one.get("containers") == ["eigentext"])
    return {
        room.strip(): height
        for height, layer in enumerate(reversed(layers))
        for room in layer.split("|")
    }


def allowed_by_contracts(room: str) -> set[str]:
    layers = layers_of_rooms()
    allowed = {other for other in layers if layers[other] < layers[room]}
    for contract in CONTRACTS:
        if f"eigentext.{room}" in contract.get("source_modules", ()):
            allowed -= {name.removeprefix("eigentext.") for name in contract["forbidden_modules"]}
    return allowed


def table() -> dict[str, set[str]]:
    """What each room may import, as the table says."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", text, re.M)
    everything = {room for names, _ in rows for room in re.findall(r"`(\w+)`", names)}
    told = {}
    for names, cell in rows:
        listed = set(re.findall(r"`(\w+)`", cell)) | (BASE if "the base" in cell else set())
        rooms = re.findall(r"`(\w+)`", names)
        is_all = cell.startswith("everything")
        told |= {room: everything - listed - {room} if is_all else listed for room in rooms}
    return told


@pytest.mark.parametrize("room", sorted(set(layers_of_rooms()) - {"__main__"}))
def test_the_table_of_contributing_is_the_contract(room):
    assert table()[room] == allowed_by_contracts(room)


def test_the_table_has_all_rooms():
    rooms = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    rooms |= {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert set(table()) == rooms
