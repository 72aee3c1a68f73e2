"""Import circles contain at most two modules, counting imports inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import hivedruid

ROOT = Path(hivedruid.__file__).parent


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_time_imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Module and name of each import, except those for type checking only."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)
        yield from run_time_imports(node)


def imports(files: Mapping[str, str]) -> dict[str, set[str]]:
    """The modules among `files` (text by name) that each of them imports."""
    graph: dict[str, set[str]] = {}
    for name, text in files.items():
        found = {f"{m}.{n}" if f"{m}.{n}" in files else m for m, n in run_time_imports(ast.parse(text))}
        graph[name] = (found & files.keys()) - {name}
    return graph


def without_pairs(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """For two modules that import each other, one of the imports is ignored."""
    return {
        name: {other for other in found if name not in graph[other] or name < other} for name, found in graph.items()
    }


def circle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_circle_has_more_than_two_modules() -> None:
    files = {module_name(path): path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    assert circle(without_pairs(imports(files))) == []


def test_a_circle_is_found() -> None:
    files = {"a": "from b import x", "b": "def f():\n    from c import y", "c": "from a import z"}
    assert set(circle(without_pairs(imports(files)))) == {"a", "b", "c"}
