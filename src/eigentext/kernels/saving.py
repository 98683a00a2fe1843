"""Kernels and structures as plain data, for model files.

A kernel is saved as its name, its parameters and the kernels it is made of. A structure is saved as
a short JSON text that says its kind. Files contain names, never classes or functions, so that
reading a file runs no code.
"""

import reprlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from operator import index
from typing import Any

import numpy as np

from eigentext.corpus.trees import Tree, as_tree
from eigentext.errors import CorpusError, EigentextError, ModelFileError, ParameterError
from eigentext.kernels.kernel import Kernel
from eigentext.storage.valid_json import json_text, json_value

_HOMES = {
    "tree": ("trees", "TreeKernel"),
    "sequence": ("sequences", "SequenceKernel"),
    "linear": ("polynomial", "LinearKernel"),
    "polynomial": ("polynomial", "PolynomialKernel"),
    "sum": ("composed", "SumKernel"),
    "product": ("composed", "ProductKernel"),
    "scaled": ("composed", "ScaledKernel"),
    "normalized": ("composed", "NormalizedKernel"),
    "baseline": ("composed", "BaselineKernel"),
}
_PARTS = {
    **{name: {"first", "second"} for name in ("sum", "product")},
    **{name: {"kernel"} for name in ("scaled", "normalized", "baseline")},
}  # other kernels have no parts
_NAMES = {home: name for name, home in _HOMES.items()}
_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


def described(kernel: Kernel) -> dict[str, Any]:
    """Return a kernel as plain data for JSON. :func:`kernel_of` reads it.

    Raises
    ------
    ParameterError
        If a parameter is a function, or the kernel is not one of this library.

    Examples
    --------
    >>> from eigentext import PolynomialKernel
    >>> described(PolynomialKernel(3).normalized())["parts"]
    {'kernel': {'kernel': 'polynomial', 'parameters': {'degree': 3, 'phi': None}, 'parts': {}}}
    """
    home = (type(kernel).__module__.rpartition(".")[2], type(kernel).__name__)
    if home not in _NAMES or type(kernel) is not _class(_NAMES[home]):
        raise ParameterError(
            f"{kernel!r:.60} cannot be saved, because it is not a kernel of this library; use one "
            f"that is made of these: {', '.join(_HOMES)}"
        )
    given = kernel.get_params(deep=False)
    parts = {name: described(part) for name, part in given.items() if isinstance(part, Kernel)}
    plain = {name: _plain(name, given[name]) for name in given if name not in parts}
    return {"kernel": _NAMES[home], "parameters": plain, "parts": parts}


def kernel_of(description: Any) -> Kernel:
    """Return the kernel that :func:`described` described.

    Examples
    --------
    >>> from eigentext import PolynomialKernel
    >>> kernel_of(described(2.0 * PolynomialKernel(3)))
    ScaledKernel(kernel=PolynomialKernel(degree=3), scale=2.0)
    """
    try:
        return _kernel_of(description)
    except (*_MALFORMED, EigentextError) as error:
        raise ModelFileError(
            f"{reprlib.repr(description)} does not describe a kernel ({error!r:.80}); "
            "fit the model again"
        ) from error


def structures_to(structures: Iterable[Any]) -> list[str]:
    """Return each structure as a JSON text. :func:`structures_of` returns equal structures.

    A tree is written in brackets if possible. If its words contain round brackets or blanks, it is
    written node by node. Other structures are made of lists, tuples, arrays, dictionaries, strings
    and numbers. Arrays are read back as lists.

    Examples
    --------
    >>> from eigentext import Tree
    >>> structures_to([Tree("NN", ["dog"]), [("dog", "NN")], {"dog": 1.0}])
    ['{"tree": "(NN dog)"}', '[{"tuple": ["dog", "NN"]}]', '{"dict": [["dog", 1.0]]}']
    """
    return [json_text(_to(one, number), keep=True) for number, one in enumerate(structures)]


def structures_of(texts: Iterable[str]) -> list[Any]:
    """Return the structures that :func:`structures_to` wrote."""
    found = []
    for number, text in enumerate(texts):
        try:
            found.append(_of(json_value(text)))
        except (*_MALFORMED, EigentextError) as error:
            raise ModelFileError(
                f"structure {number}, {text!r:.60}, is damaged ({error!r:.60}); fit the model again"
            ) from error
    return found


# Kernels.


def _class(name: str) -> type[Kernel]:
    module, class_name = _HOMES[name]
    return getattr(import_module(f"eigentext.kernels.{module}"), class_name)


def _kernel_of(description: Any) -> Kernel:
    name, given, parts = (description[key] for key in ("kernel", "parameters", "parts"))
    if set(parts) != _PARTS.get(name, set()):
        raise ValueError(f"a {name} kernel with wrong parts")
    return _class(name)(**given, **{key: _kernel_of(part) for key, part in parts.items()})._check()


def _plain(name: str, value: Any) -> Any:
    """Return a parameter as plain data for JSON."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _plain(name, one) for key, one in value.items()}
    if value is None or isinstance(value, (str, int, float)):
        return value
    remedies = {
        "match": "use 'exact', 'capitalization', 'factor' or a dictionary of words and classes",
        "phi": "compute the features first, and use the kernel without phi",
    }
    raise ParameterError(
        f"{name}={value!r:.60} cannot be saved, because model files contain no code; "
        f"{remedies.get(name, 'give a number or a name')}"
    )


# Structures.


def _to(thing: Any, number: int) -> Any:
    """Return plain data. A dictionary with one entry marks what JSON does not have."""
    if isinstance(thing, (np.ndarray, np.generic)):
        thing = thing.tolist()
    if thing is None or isinstance(thing, (str, int, float)):
        return thing
    if isinstance(thing, Tree) or callable(getattr(thing, "label", None)):
        return {"tree": _tree_to(as_tree(thing))}
    if isinstance(thing, Mapping):
        return {"dict": [[_to(key, number), _to(thing[key], number)] for key in thing]}
    if isinstance(thing, Sequence):
        listed = [_to(one, number) for one in thing]
        return {"tuple": listed} if isinstance(thing, tuple) else listed
    raise ParameterError(
        f"structure {number} contains {thing!r:.60}, which cannot be saved; use trees, lists, "
        "tuples, arrays and dictionaries of strings and numbers"
    )


def _of(data: Any) -> Any:
    if isinstance(data, list):
        return [_of(one) for one in data]
    if not isinstance(data, dict):
        return data
    ((kind, inner),) = data.items()
    if kind == "tree":
        return _tree_of(inner)
    if kind == "tuple":
        return tuple(_of(one) for one in inner)
    if kind == "dict":
        return {_of(key): _of(value) for key, value in inner}
    raise ValueError(f"no structure of kind {kind!r}")


def _tree_to(tree: Tree) -> Any:
    brackets = str(tree)
    try:
        if Tree.parse(brackets) == tree:
            return brackets
    except CorpusError:
        pass
    # Parents first. A node is a word, or a label with the number of its children.
    nodes: list[Any] = []
    stack: list[Any] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            nodes.append(node)
        else:
            nodes.append([node.label, len(node.children)])
            stack.extend(reversed(node.children))
    return nodes


def _tree_of(data: Any) -> Tree:
    if isinstance(data, str):
        return Tree.parse(data)
    made: list[Any] = []
    for node in reversed(data):
        if isinstance(node, str):
            made.append(node)
            continue
        label, n = str(node[0]), index(node[1])
        if not 0 <= n <= len(made):
            raise ValueError("children are missing")
        children = made[len(made) - n :][::-1]
        del made[len(made) - n :]
        made.append(Tree(label, children))
    (tree,) = made
    if not isinstance(tree, Tree):
        raise TypeError("a word, not a tree")
    return tree
