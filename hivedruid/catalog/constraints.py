"""Constraints of tables: frozen values, and their form in the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, Literal

from hivedruid.lazy_dataclass import dataclass

ConstraintKind = Literal["PRIMARY KEY", "FOREIGN KEY", "UNIQUE", "NOT NULL", "DEFAULT", "CHECK"]
OF_COLUMN: frozenset[ConstraintKind] = frozenset(("NOT NULL", "DEFAULT"))
"""Those of one column. The others can be declared with a column, too."""
ENFORCED: frozenset[ConstraintKind] = frozenset(("NOT NULL", "DEFAULT", "CHECK"))
"""Those that can be enabled: the rows that are written satisfy or use them."""
VIOLATED = "hivedruid: violated constraint "
"""The beginning of the message of Spark for a row that violates a constraint; its name follows."""
PREFIXES: Mapping[ConstraintKind, str] = {
    "PRIMARY KEY": "pk", "FOREIGN KEY": "fk", "UNIQUE": "uk", "NOT NULL": "nn", "DEFAULT": "dc", "CHECK": "cc",
}  # fmt: skip
"""How the names of constraints without one begin."""


@dataclass(frozen=True)
class Constraint:
    """A constraint; `text` is the expression of CHECK or DEFAULT as written. A FOREIGN KEY refers to the
    `parent_columns` of `parent`. `enabled`: writes are checked, or use the default."""

    kind: ConstraintKind
    name: str
    columns: tuple[str, ...] = ()
    text: str = ""
    parent: str = ""
    parent_columns: tuple[str, ...] = ()
    enabled: bool = False
    rely: bool = False


def constraints_json(constraints: Iterable[Constraint]) -> list[dict[str, Any]]:
    return [{key: value for key, value in asdict(each).items() if value} for each in constraints]


def constraints_of_json(value: Iterable[Mapping[str, Any]]) -> tuple[Constraint, ...]:
    """The inverse of `constraints_json`."""
    return tuple(
        Constraint(
            each["kind"], each["name"], tuple(each.get("columns", ())), each.get("text", ""), each.get("parent", ""),
            tuple(each.get("parent_columns", ())), each.get("enabled", False), each.get("rely", False),
        )
        for each in value
    )  # fmt: skip
