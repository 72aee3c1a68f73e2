"""The values of plain JSON records, which Spark's Python workers decode: see `plain_json`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from hivedruid.lazy_dataclass import dataclass
from hivedruid.plain_json import KINDS, MOMENTS, TEXT, PlainJson, column_name, moment_name
from hivedruid.spark.cells import CellFormat

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

    from hivedruid.catalog.table import Column


@dataclass(frozen=True)
class PlainColumns:
    """The columns with plain values, by the names of the table's columns: texts, which SQL converts, and values. A
    column of times has both, of which at most one is not null."""

    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)


def have_plain_values(columns: Sequence[Column]) -> bool:
    """Whether Python decodes plain values of all these columns: each must be a field of its own."""
    names = {column.field_name.lower() for column in columns}
    return len(names) == len(columns) and all(column.type.name in KINDS for column in columns)


def decode_plain(
    records: DataFrame,
    columns: Sequence[Column],
    form: CellFormat,
    needed: Collection[str],
    kept: Mapping[str, str],
) -> tuple[DataFrame, PlainColumns]:
    """`value`, which is null where the record is plain, the columns that are `kept` by their types, and those with
    plain values. Only what is `needed` is returned by the workers: each column costs time."""
    fields = tuple((column.field_name.lower(), KINDS[column.type.name]) for column in columns)
    returned = tuple(number for number, column in enumerate(columns) if _is_returned(column, needed))
    moments = tuple(
        (number, MOMENTS[columns[number].type.name])
        for number in returned
        if columns[number].type.name in MOMENTS and not form.timestamp_formats
    )
    types = [f"{name} {type_}" for name, type_ in kept.items()]
    types += ["value BINARY", *(f"{column_name(number)} {fields[number][1]}" for number in returned)]
    types += [f"{moment_name(number)} {type_}" for number, type_ in moments]
    rows = records.select("value", *kept).mapInArrow(PlainJson(fields, returned, moments), ", ".join(types))
    texts = {columns[n].name: column_name(n) for n in returned if fields[n][1] == TEXT}
    values = {columns[n].name: column_name(n) for n in returned if fields[n][1] != TEXT}
    return rows, PlainColumns(texts, values | {columns[n].name: moment_name(n) for n, _ in moments})


def _is_returned(column: Column, needed: Collection[str]) -> bool:
    """Whether SQL needs the plain values of a column, also to check the texts of another type than a string."""
    return column.name in needed or (KINDS[column.type.name] == TEXT and not column.type.is_string)
