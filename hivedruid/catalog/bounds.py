"""The text of the bounds of columns that are stored in the binary form of Parquet or Iceberg.

The functions raise ValueError for damaged values, and OverflowError for times before year 1 or after 9999.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from struct import unpack

from hivedruid.catalog.footers import ColumnFacts

_EPOCH = datetime(1970, 1, 1)


def bounded(
    nulls: int | None, kind: str, text: Callable[[bytes], str], low: bytes | None, high: bytes | None
) -> ColumnFacts:
    """The facts of a column with these bounds; without them if one is unknown, not a number, or has no text."""
    if low is None or high is None:
        return ColumnFacts(nulls)
    try:
        texts = text(low), text(high)
    except (ValueError, OverflowError):
        return ColumnFacts(nulls)
    return ColumnFacts(nulls) if "nan" in texts else ColumnFacts(nulls, kind, *texts)


def integer(bound: bytes) -> int:
    return int.from_bytes(bound, "little", signed=True)


def integer_text(bound: bytes) -> str:
    return str(integer(bound))


def real_text(bound: bytes) -> str:
    """A column that was widened has bounds of both sizes."""
    if len(bound) not in (4, 8):
        raise ValueError("not a number")
    return repr(unpack("<f" if len(bound) == 4 else "<d", bound)[0])


def decimal_text(unscaled: int, scale: int) -> str:
    return str(Decimal(unscaled).scaleb(-scale))


def date_text(bound: bytes) -> str:
    """Days since 1970."""
    return (_EPOCH + timedelta(days=integer(bound))).date().isoformat()


def timestamp_text(micros: int) -> str:
    """Microseconds since 1970."""
    return (_EPOCH + timedelta(microseconds=micros)).isoformat(" ", "microseconds")
