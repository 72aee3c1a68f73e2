"""The rules of constraints, as those of Hive. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hivedruid.catalog.constraints import ENFORCED, PREFIXES, Constraint
from hivedruid.errors import SemanticError, UnsupportedError, did_you_mean

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table
    from hivedruid.parser.statements.ddl import ConstraintDef


def with_constraints(table: Table, given: Iterable[ConstraintDef]) -> tuple[Constraint, ...]:
    """The constraints of a table and new ones. Raises SemanticError and UnsupportedError, with the position."""
    found = list(table.constraints)
    for each in given:
        _check(each, table)
        names = {constraint.name for constraint in found}
        if each.name in names:
            raise SemanticError(
                f"Constraint name already exists: {table.full_name}.{each.name}", span=each.span,
                hint="choose another name",
            )  # fmt: skip
        if each.kind == "PRIMARY KEY" and any(constraint.kind == "PRIMARY KEY" for constraint in found):
            raise SemanticError(
                "Cannot exist more than one primary key definition for the same table", span=each.span,
                hint="remove it, or use UNIQUE",
            )  # fmt: skip
        parent = ""
        if each.parent is not None:
            parent = f"{each.parent.database or table.database}.{each.parent.name}"
        found.append(
            Constraint(
                each.kind, each.name or _free_name(each, table, names), tuple(c.name for c in each.columns), each.text,
                parent, tuple(c.name for c in each.parent_columns), each.enabled, each.rely,
            )
        )  # fmt: skip
    return tuple(found)


def _free_name(given: ConstraintDef, table: Table, names: set[str]) -> str:
    prefix = f"{PREFIXES[given.kind]}_{table.name}"
    return next(name for number in range(1, len(names) + 2) if (name := f"{prefix}_{number}") not in names)


def refuse_enabled(given: ConstraintDef, table: Table | None) -> None:
    """Raises UnsupportedError for an enabled constraint that is not enforced for the table, which may be unknown."""
    if not given.enabled:
        return
    if given.kind not in ENFORCED:
        why = "is not enforced, so that it cannot be enabled"
    elif table is not None and not table.has_snapshots:
        why = f"is enforced for managed tables only: {table.full_name} is not one"
    else:
        return
    hint = "remove it, or add DISABLE NOVALIDATE to store it"
    raise UnsupportedError(f"{given.kind} {why}", span=given.span, hint=hint)


def _check(given: ConstraintDef, table: Table) -> None:
    refuse_enabled(given, table)
    for column in given.columns:
        if table.column(column.name) is None:
            raise SemanticError(
                f"Invalid column reference {column.name}: {table.full_name} has no such column", span=column.span,
                hint=did_you_mean(column.name, [c.name for c in table.columns]),
            )  # fmt: skip
    if given.parent is not None and len(given.columns) != len(given.parent_columns):
        raise SemanticError(
            f"the FOREIGN KEY has {len(given.columns)} columns, and refers to {len(given.parent_columns)}",
            span=given.span,
            hint="name as many columns of the other table",
        )
