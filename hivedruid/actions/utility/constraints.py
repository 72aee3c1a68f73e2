"""The constraints of a table in DESCRIBE FORMATTED, as Hive shows them, and in SHOW CREATE TABLE."""

from __future__ import annotations

from collections.abc import Iterator

from hivedruid.catalog.constraints import OF_COLUMN, Constraint, ConstraintKind
from hivedruid.catalog.table import Column, Table

Row = tuple[str, str, str]
_BLANK: Row = ("", "", "")
_HEADINGS: dict[ConstraintKind, str] = {
    "PRIMARY KEY": "# Primary Key",
    "FOREIGN KEY": "# Foreign Keys",
    "UNIQUE": "# Unique Constraints",
    "NOT NULL": "# Not Null Constraints",
    "DEFAULT": "# Default Constraints",
    "CHECK": "# Check Constraints",
}


def information(table: Table) -> list[Row]:
    """The rows of DESCRIBE FORMATTED; none without constraints."""
    rows: list[Row] = []
    for kind, heading in _HEADINGS.items():
        found = [each for each in table.constraints if each.kind == kind]
        if found:
            rows += [_BLANK, (heading, "", ""), ("Table:", table.full_name, "")]
        for each in found:
            rows += [("Constraint Name:", each.name, ""), *_rows(each)]
    return [_BLANK, ("# Constraints", "", ""), *rows] if rows else []


def _rows(constraint: Constraint) -> Iterator[Row]:
    match constraint.kind:
        case "FOREIGN KEY":
            pairs = zip(constraint.columns, constraint.parent_columns, strict=True)
            for number, (column, parent) in enumerate(pairs, 1):
                name = f"{constraint.parent}.{parent}"
                yield f"Parent Column Name:{name}", f"Column Name:{column}", f"Key Sequence:{number}"
        case "UNIQUE":
            for number, column in enumerate(constraint.columns, 1):
                yield f"Column Name:{column}", f"Key Sequence:{number}", ""
        case "DEFAULT" | "CHECK":
            column = next(iter(constraint.columns), "null")
            yield f"Column Name:{column}", f"{constraint.kind.title()} Value:{constraint.text}", ""
        case _:
            yield from (("Column Name:", column, "") for column in constraint.columns)


def of_column(table: Table, column: Column) -> str:
    """The constraints that are written after the type of a column."""
    own = [each for each in table.constraints if each.kind in OF_COLUMN and each.columns == (column.name,)]
    return "".join(f" {clause(each)}" for each in own)


def of_table(table: Table) -> list[str]:
    """The constraints that are written after the columns."""
    return [f"  {clause(each)}" for each in table.constraints if each.kind not in OF_COLUMN]


def clause(constraint: Constraint) -> str:
    """A constraint in a CREATE TABLE statement."""
    columns = f" ({_names(constraint.columns)})"
    match constraint.kind:
        case "NOT NULL":
            text = "NOT NULL"
        case "DEFAULT":
            text = f"DEFAULT {constraint.text}"
        case "CHECK":
            text = f"CHECK ({constraint.text})"
        case "FOREIGN KEY":
            database, _, table = constraint.parent.partition(".")
            parent = f"{_name(database)}.{_name(table)} ({_names(constraint.parent_columns)})"
            text = f"FOREIGN KEY{columns} REFERENCES {parent}"
        case _:
            text = constraint.kind + columns
    state = f"{'ENABLE' if constraint.enabled else 'DISABLE'} NOVALIDATE {'RELY' if constraint.rely else 'NORELY'}"
    return f"CONSTRAINT {_name(constraint.name)} {text} {state}"


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(map(_name, names))


def _name(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
