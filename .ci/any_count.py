"""Count the parameters of src/eigentext whose annotation mentions Any, in each room and in all.

    python .ci/any_count.py [folder]

Not counted are `self`, `cls`, `*args`, `**kwargs`, the parameters of lambdas, and those of compiled
loops, which have no annotations. Other parameters without an annotation are counted as having none.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "eigentext"
COMPILED = ("_loops", "_kernels")  # how files of compiled loops end


def parameters(tree: ast.Module) -> list[ast.arg]:
    """The parameters of all functions that are not compiled."""
    found: list[ast.arg] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
            "jit" in ast.unparse(decorator) for decorator in node.decorator_list
        ):
            found += [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [one for one in found if one.arg not in ("self", "cls")]


def mentions_any(parameter: ast.arg) -> bool:
    """Whether the annotation is Any or contains it."""
    if parameter.annotation is None:
        return False
    return "Any" in re.findall(r"\w+", ast.unparse(parameter.annotation))


def main(folder: Path) -> None:
    """Print a line for each room, the one with most Any first, and the sum."""
    total, with_any = Counter[str](), Counter[str]()
    for path in sorted(folder.rglob("*.py")):
        if not path.stem.endswith(COMPILED):
            found = parameters(ast.parse(path.read_text(encoding="utf-8")))
            room = path.relative_to(folder).parts[0].removesuffix(".py")
            total[room] += len(found)
            with_any[room] += sum(map(mentions_any, found))
    for room, n in with_any.most_common():
        if total[room]:
            print(f"{n:5} of {total[room]:5}  {room}")
    print(f"{with_any.total():5} of {total.total():5}  all")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
