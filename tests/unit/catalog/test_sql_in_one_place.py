"""Only the catalog, and the embedded store's manifest in the same file, use SQLite: other modules call typed
functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivedruid

PACKAGE = Path(hivedruid.__file__).parent
OWNERS = ("catalog", "embedded/manifest.py", "sqlalchemy_dialect.py", "superset.py")
"""`connection` in the dialect is that of SQLAlchemy, in Superset's engine specification that of the DB-API."""


def uses(source: str) -> Iterator[str]:
    """Names through which a module could use the catalog's connection."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr == "connection":
            yield f"line {node.lineno}: .connection"
        elif isinstance(node, ast.With):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                    if call.func.attr == "transaction" and item.optional_vars is not None:
                        yield f"line {node.lineno}: the connection of transaction()"


def modules() -> list[str]:
    names = (path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
    return sorted(name for name in names if not name.startswith(OWNERS))


@pytest.mark.parametrize("module", modules())
def test_no_other_module_uses_the_connection(module: str) -> None:
    assert list(uses((PACKAGE / module).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    ["catalog.connection.execute('SELECT 1')", "with self._catalog.transaction() as connection: pass"],
)
def test_such_a_use_is_found(source: str) -> None:
    assert len(list(uses(source))) == 1
