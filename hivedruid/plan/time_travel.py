"""`FROM t FOR SYSTEM_VERSION AS OF id` and `FROM t FOR SYSTEM_TIME AS OF time`: a managed table as it was. Pure."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import TIMESTAMP_LTZ
from hivedruid.errors import SemanticError
from hivedruid.plan import fold
from hivedruid.plan.convert import Converter
from hivedruid.plan.rex import Literal
from hivedruid.plan.scope import Scope

if TYPE_CHECKING:
    from hivedruid.plan.build import Builder


def at_snapshot(table: Table, version: exp.Version, builder: Builder) -> Table:
    """The table as it was. Raises SemanticError and UnsupportedError, with the position."""
    span = builder.span(version.expression)
    table.check("time travel", span)
    value = version.expression
    if version.name.upper() == "VERSION":
        if not isinstance(value, exp.Literal) or not (value.is_string or value.name.isdigit()):
            raise SemanticError(
                "FOR SYSTEM_VERSION AS OF needs the id of a snapshot, or the name of a tag or branch", span=span
            )
        found = builder.snapshot.snapshot_of(table, value.name if value.is_string else int(value.name), span)
    else:
        rex = fold.cast(Converter(builder, Scope([])).convert(value), TIMESTAMP_LTZ, builder.zone)
        if not isinstance(rex, Literal) or not isinstance(rex.value, datetime):
            raise SemanticError(
                "FOR SYSTEM_TIME AS OF needs a constant time",
                span=span,
                hint="use 'yyyy-MM-dd HH:mm:ss', in hive.local.time.zone",
            )
        found = builder.snapshot.snapshot_of(table, rex.value, span)
    return table.at_snapshot(found)
