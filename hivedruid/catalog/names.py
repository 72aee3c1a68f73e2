"""Names: Hive's columns are lower case, Druid's fields are case-sensitive."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from itertools import chain, count

from hivedruid.catalog.properties import COLUMN_MAPPING, names_by_field
from hivedruid.catalog.stored_types import Schema, reading_of
from hivedruid.catalog.table import TIME_COLUMN, Column, Table
from hivedruid.errors import SemanticError, Span


def columns_by_field(
    fields: Iterable[str], properties: Mapping[str, str], *, span: Span | None = None
) -> dict[str, str]:
    """The column's name for each field: from druid.columns.mapping, else the field's name in lower case.

    Raises SemanticError if two fields map to the same column (Hive's text, HIVE-15750).
    """
    mapping = names_by_field(properties)
    result: dict[str, str] = {}
    taken: dict[str, str] = {}
    for field in fields:
        name = mapping.get(field, field.lower())
        if name in taken:
            raise SemanticError(
                f"Duplicate column name {name} in the table definition.",
                span=span,
                hint=(
                    f"fields '{taken[name]}' and '{field}' need different column names: '{COLUMN_MAPPING}' ="
                    f" '{field}:{name}_2'"
                ),
            )
        taken[name] = field
        result[field] = name
    return result


def free_name(name: str, taken: Container[str], first: int = 2) -> str:
    """The name; if it is taken, with the first number behind it, from `first` on, that is free."""
    names = chain((name,), (f"{name}_{number}" for number in count(first)))
    return next(each for each in names if each not in taken)


def with_field_names(table: Table, schema: Mapping[str, str]) -> Table:
    """The table with each column's `field` as the data source spells it, and its `reading`.

    `schema` holds the types of the data source's fields by name. Only columns of the table are looked at: two fields
    that differ only in case are an error if a column means them and druid.columns.mapping does not choose.
    Columns without a field in the data source stay as they are (they read as null).
    """
    mapping = names_by_field(table.properties)
    candidates: dict[str, list[str]] = {}
    for field in schema:
        if field not in mapping:
            candidates.setdefault(field.lower(), []).append(field)
    chosen = {name: field for field, name in mapping.items()}
    columns = tuple(_with_field(table, column, candidates.get(column.name, []), chosen) for column in table.columns)
    columns = tuple(_with_reading(column, schema) for column in columns)
    return table if columns == table.columns else replace(table, columns=columns)


def _with_reading(column: Column, schema: Mapping[str, str]) -> Column:
    stored = schema.get(column.field_name)
    if stored is None or column.name == TIME_COLUMN:
        return column
    differing = schema.differing.get(column.field_name, ()) if isinstance(schema, Schema) else ()
    return replace(column, reading=reading_of(column.type, stored, differing))


def _with_field(table: Table, column: Column, candidates: list[str], chosen: Mapping[str, str]) -> Column:
    if column.field is not None or column.name == TIME_COLUMN:
        return column
    if (field := chosen.get(column.name)) is not None:
        return replace(column, field=field)
    if len(candidates) > 1:
        raise SemanticError(
            f"column '{column.name}' of {table.full_name} is ambiguous: it matches the fields"
            f" {', '.join(sorted(candidates))}",
            hint=(
                f"choose one with ALTER TABLE {table.full_name} SET TBLPROPERTIES('{COLUMN_MAPPING}' ="
                f" '{candidates[0]}:{column.name}')"
            ),
        )
    if candidates and candidates[0] != column.name:
        return replace(column, field=candidates[0])
    return column
