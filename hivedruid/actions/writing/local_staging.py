"""Stages rows that were evaluated in this process for a task of Druid: the same file format and the same measures as
those of `spark.staging`."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN, Table
from hivedruid.catalog.types import BIGINT, HiveType
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import merged
from hivedruid.errors import ExecutionError
from hivedruid.evaluation.exactness import Unsure
from hivedruid.evaluation.numbers import single
from hivedruid.java_numbers import double_text, float_text
from hivedruid.jobs.staged import NumberType, StagedRows, Sum, granularity_of, summed_fields
from hivedruid.plan.fold import wrap
from hivedruid.staging_folder import no_time, prepare

if TYPE_CHECKING:
    from hivedruid.evaluation.relations import Rows

FILE = "part-00000.json.gz"
"""The name of the only file."""


def stage(
    rows: Rows,
    table: Table,
    types: Sequence[HiveType],
    spec: Mapping[str, Any],
    folder: Path,
    *,
    skip_timeless: bool = False,
    shared: bool = False,
) -> StagedRows:
    """Write the rows, with the table's columns in their order, for the index_parallel task of `spec`; `types` are those
    of their values. Arguments, files and errors are those of `spark.staging.stage`.

    Raises Unsure, before anything is written, for a text that is not valid Unicode and for a number whose value as a
    FLOAT is in doubt.
    """
    fields = [column.field_name for column in table.columns]
    place = [column.name for column in table.columns].index(TIME_COLUMN)
    timed = [row for row in rows if row[place] is not None]
    timeless = len(rows) - len(timed)
    if timeless and not skip_timeless:
        raise no_time(timeless, len(rows))
    content, schema = _json_lines(timed, fields, types), spec["spec"]["dataSchema"]
    sums = _sums(timed, fields, types, summed_fields(schema))
    granularity = granularity_of(schema)
    buckets = {granularities.number(row[place], granularity) for row in timed}
    intervals = merged(granularities.interval(bucket, granularity) for bucket in buckets)
    prepare(folder, shared=shared)
    size = _write(folder / FILE, content) if timed else 0
    return StagedRows(str(folder), len(timed), size, intervals, sums, timeless)


def _write(path: Path, content: bytes) -> int:
    """Returns the size of the file."""
    try:
        path.write_bytes(gzip.compress(content, compresslevel=1))
    except OSError as error:
        raise ExecutionError(
            f"cannot write to the staging folder {path.parent}: {error.strerror}",
            hint="free up disk space there, or SET hivedruid.staging.root to another folder; nothing was changed",
        ) from error
    return path.stat().st_size


# --- JSON ---------------------------------------------------------------------------------------------------------


def _json_lines(rows: Rows, fields: Sequence[str], types: Sequence[HiveType]) -> bytes:
    """An object for each row, without its nulls."""
    names = [json.dumps(field, ensure_ascii=False) for field in fields]
    texts = [_TEXTS.get(type_.name, _any_text) for type_ in types]
    lines = []
    for row in rows:
        members = [
            f"{name}:{text(value)}" for name, text, value in zip(names, texts, row, strict=True) if value is not None
        ]
        lines.append(f"{{{','.join(members)}}}\n")
    try:
        return "".join(lines).encode()
    except UnicodeEncodeError as error:
        raise Unsure("a text that is not valid Unicode") from error


def _any_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _number(text: Callable[[Any], str]) -> Callable[[Any], str]:
    """JSON has no NaN and no infinities: they are strings, which Druid parses."""
    return lambda value: text(value) if math.isfinite(value) else json.dumps(text(value))


_TEXTS: Mapping[str, Callable[[Any], str]] = {"double": _number(double_text), "float": _number(float_text)}
"""The JSON of numbers with a fraction."""


# --- sums ---------------------------------------------------------------------------------------------------------


def _sums(
    rows: Rows, fields: Sequence[str], types: Sequence[HiveType], wanted: Mapping[str, NumberType]
) -> dict[str, Sum]:
    """The sums of fields with numbers, each as Druid reads it. Druid parses other values with its own rules."""
    places = {field: place for place, field in enumerate(fields)}
    sums = {}
    for name, number in wanted.items():
        place = places.get(name)
        if place is None:
            continue
        values = [row[place] for row in rows if row[place] is not None]
        if number == "LONG" and types[place].is_integer:
            sums[name] = Sum(wrap(sum(values), BIGINT))
        elif number != "LONG" and types[place].is_numeric:
            numbers = [_read(value, types[place], number) for value in values]
            sums[name] = Sum(sum(numbers), sum(map(abs, numbers)))
    return sums


def _read(value: Any, type_: HiveType, number: NumberType) -> float:
    """The value of a number that Druid parses from JSON as a FLOAT or DOUBLE."""
    if number == "FLOAT":
        return single(value)
    return float(float_text(value)) if type_.name == "float" else float(value)
