"""Writes rows that were evaluated in this process to managed tables of the home, if the files have exactly the values
that Spark would write."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.tiers import SKETCHED
from hivedruid.errors import ExecutionError
from hivedruid.evaluation.exactness import Unsure
from hivedruid.iceberg import appends, home_catalog
from hivedruid.iceberg.catalog import is_own
from hivedruid.iceberg.schemas import arrow_type, fields_of
from hivedruid.private import is_read_only
from hivedruid.settings import ICEBERG_CATALOG
from hivedruid.spark.orc_times import is_orc

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.actions.services import Services
    from hivedruid.actions.writing.model import WriteTable
    from hivedruid.catalog.table import Column, Table
    from hivedruid.evaluation.relations import Rows
    from hivedruid.iceberg.schemas import Field

_FIRST_DAY, _FIRST_TIME = date(1582, 10, 15), datetime(1583, 1, 1)
"""Before these, ORC files also say in which calendar days and times are."""
_EPOCH = datetime(1970, 1, 1)
"""Before it, orc-core reads times with a fraction of a second as another second if Arrow has written them."""


def is_suitable(action: WriteTable, settings: Mapping[str, str]) -> bool:
    """Whether rows of this write can be appended to its table, as far as its definition decides."""
    table = action.table
    return (
        table.kind == "iceberg"
        and not action.overwrite
        and is_own(settings, table)
        and not _has_own_settings(settings)
        and not any(each.enabled and each.kind in ("NOT NULL", "CHECK") for each in table.constraints)
        and not (table.partition_spec or table.sort_order or SKETCHED in table.properties)
        and is_orc(table)
        and fields_of(table.columns) is not None
        and [column.type for column in action.job.columns] == [column.type for column in table.columns]
    )


def _has_own_settings(settings: Mapping[str, str]) -> bool:
    """Whether Iceberg gets properties of a user for its catalog."""
    return any(
        key.startswith(ICEBERG_CATALOG) and key != f"{ICEBERG_CATALOG}type" and value for key, value in settings.items()
    )


def write(rows: Rows, table: Table, services: Services) -> bool:
    """Append the rows, with the table's columns in their order, in one commit; False if that is left to Spark, before
    anything is changed."""
    fields = fields_of(table.columns)
    if not rows or fields is None or is_read_only(services.home):
        return False
    home_catalog.prepare(services.home)
    if table.is_written and not home_catalog.exists(services.home, table.table_id):
        return False  # its rows are lost
    try:
        target = appends.target(services.home, table.table_id, fields)
        if target is None:
            return False
        columns = _columns(rows, table, target.fields)
    except (OSError, ValueError, OverflowError, Unsure):
        return False
    try:
        appends.append(target, columns)
    except appends.GoneError:
        raise ExecutionError(
            f"{table.full_name} was concurrently dropped or altered by another session", hint="rerun the statement"
        ) from None
    except OSError as error:
        raise ExecutionError(
            f"cannot write to {table.full_name} at {target.folder}: {error.strerror or error}",
            hint="free up disk space there, or check the permissions; nothing was changed",
        ) from error
    return True


def _columns(rows: Rows, table: Table, fields: Sequence[Field]) -> list[pa.Array]:
    """The columns of the rows in the order of the fields. Raises Unsure for a value that Spark stores otherwise."""
    by_name = {
        column.field_name: (column, values)
        for column, values in zip(table.columns, zip(*rows, strict=True), strict=True)
    }
    return [_column(*by_name[field.name], field) for field in fields]


def _column(column: Column, values: Sequence[Any], field: Field) -> pa.Array:
    from pyarrow import ArrowException

    from hivedruid.arrow_buffers import array

    for value in values:
        if value is not None and not _is_storable(value):
            raise Unsure(f"column {column.name} has a time that Spark checks or stores otherwise")
    try:
        made = array(values, arrow_type(field.type))
    except (ArrowException, AttributeError, TypeError, ValueError, OverflowError) as error:
        raise Unsure(str(error)) from error
    if field.type == "float" and any(
        value is not None and not math.isnan(value) and value != stored
        for value, stored in zip(values, made.to_pylist(), strict=True)
    ):
        raise Unsure(f"column {column.name} has a number with more digits than a FLOAT")
    return made


def _is_storable(value: Any) -> bool:
    if isinstance(value, datetime):
        moment = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        return moment >= _EPOCH or (moment >= _FIRST_TIME and not moment.microsecond)
    return not isinstance(value, date) or value >= _FIRST_DAY
