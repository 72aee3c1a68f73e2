"""Which files of a table can have rows that satisfy a condition, as Iceberg's scan planning decides it. Pure.

Only conditions count that Spark passes to Iceberg: comparisons of a column with constants, IN, IS NULL, LIKE with a
prefix, and their combinations by AND and OR. For everything else a file can have rows, so that the number of files is
an upper bound of those that are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from hivedruid.catalog.layout import PartitionField
from hivedruid.iceberg.bucket_hash import bucket_of
from hivedruid.iceberg.files import TableFile, TableFiles
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.rex import Call, Literal, Ref, Rex, walk
from hivedruid.plan.spark_times import is_before_gregorian

_FLIPPED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=", "<=>": "<=>"}
_INTEGERS = ("int", "bigint", "date", "timestamp", "timestamp with local time zone")
"""The types whose bounds are integers. TINYINT and SMALLINT are INT in Iceberg, and Spark does not pass conditions
through the cast back."""
_MOST_ITEMS = 200
"""Iceberg does not compare more items of IN with bounds."""
_EPOCH = date(1970, 1, 1)


def matching(files: TableFiles, condition: Rex, names: Mapping[str, str]) -> tuple[TableFile, ...] | None:
    """The files with rows that can satisfy the condition, whose columns have these names by their ids; None if nothing
    in it is decided by files."""
    if not any(_term(rex, names) is not None for rex in walk(condition)):
        return None
    return tuple(file for file in files.data if _can_match(condition, names, _Known(file, files)))


@dataclass(frozen=True)
class _Term:
    """A condition on one column: `op` is a comparison with each of the `values`, `is_null`, `is_not_null`, `like` with
    a prefix, or `within` a half-open range. The values have the form of bounds; one that the column cannot have may be
    among them."""

    column: str
    type: str
    op: str
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class _Known:
    """What is known of the values in a file."""

    file: TableFile
    files: TableFiles

    def bounds(self, term: _Term) -> tuple[Any, Any]:
        """The lower and the upper bound of a column; None if it is not known."""
        id_ = self.files.columns.get(term.column, -1)
        return _decoded(self.file.lower.get(id_), term.type), _decoded(self.file.upper.get(id_), term.type)

    def partitions(self, column: str) -> Iterator[tuple[PartitionField, Any]]:
        """The partition fields of a column, and their values."""
        fields = self.files.specs.get(self.file.spec, {})
        for name, value in self.file.partition:
            if (field := fields.get(name)) is not None and field.column == column:
                yield field, value

    def is_truncated(self, term: _Term) -> bool:
        """Whether Spark does not pass an upper bound, since Iceberg's truncate overflows; see `plan.spark_pruning`."""
        every = (field for fields in self.files.specs.values() for field in fields.values())
        columns = {field.column for field in every if field is not None and field.transform == "truncate"}
        return term.op in ("<", "<=") and term.type in ("int", "bigint") and term.column in columns

    def nulls(self, column: str) -> tuple[bool, bool]:
        """Whether a column can be null, and whether it can be another value."""
        id_ = self.files.columns.get(column)
        if id_ is None:
            return True, True
        nulls, values = self.file.nulls.get(id_), self.file.values.get(id_)
        can_be_null = nulls is None or nulls > 0
        can_be_value = nulls is None or values is None or nulls < values
        for _, value in self.partitions(column):
            can_be_null, can_be_value = (can_be_null and value is None), (can_be_value and value is not None)
        return can_be_null, can_be_value


def _can_match(rex: Rex, names: Mapping[str, str], known: _Known) -> bool:
    if isinstance(rex, Literal):
        return bool(rex.value)
    if isinstance(rex, Call) and rex.op in ("and", "or"):
        parts = (_can_match(arg, names, known) for arg in rex.args)
        return all(parts) if rex.op == "and" else any(parts)
    term = _term(rex, names)
    if term is None:
        return True
    can_be_null, can_be_value = known.nulls(term.column)
    if term.op == "is_null":
        return can_be_null
    if term.op == "is_not_null":
        return can_be_value
    if known.is_truncated(term):
        return can_be_value
    return can_be_value and _by_bounds(term, known) and _by_partitions(term, known)


def _by_bounds(term: _Term, known: _Known) -> bool:
    lower, upper = known.bounds(term)
    if len(term.values) > _MOST_ITEMS:
        return True
    return any(_overlaps(term.op, value, lower, upper) for value in term.values)


def _overlaps(op: str, value: Any, lower: Any, upper: Any) -> bool:
    """Whether a value between the bounds satisfies the comparison."""
    if op == "like":
        above = lower is not None and lower[: len(value)] > value[: len(lower)]
        below = upper is not None and upper[: len(value)] < value[: len(upper)]
        return not above and not below
    if op == "within":
        begin, end = value
        return not (lower is not None and lower >= end) and not (upper is not None and upper < begin)
    if op in ("=", "<", "<=") and lower is not None and (value < lower or (op == "<" and value == lower)):
        return False
    return not (op in ("=", ">", ">=") and upper is not None and (value > upper or (op == ">" and value == upper)))


def _by_partitions(term: _Term, known: _Known) -> bool:
    """The bounds decide for other transforms: they are inside the partition."""
    for field, value in known.partitions(term.column):
        if field.transform == "identity" and not _in_partition(term, value):
            return False
        if field.transform == "bucket" and term.op == "=" and field.number is not None:
            buckets = {bucket_of(each, field.number) for each in term.values}
            if None not in buckets and value not in buckets:
                return False
    return True


def _in_partition(term: _Term, value: Any) -> bool:
    if term.type == "decimal" or isinstance(value, bytes):
        return True
    own = value.encode() if isinstance(value, str) else value
    return any(_overlaps(term.op, each, own, own) for each in term.values)


def _decoded(bound: bytes | None, type_: str) -> Any:
    """A bound in Iceberg's binary form."""
    if bound is None:
        return None
    if type_ in _INTEGERS:
        return int.from_bytes(bound, "little", signed=True)
    if type_.startswith("decimal"):
        return Decimal(int.from_bytes(bound, "big", signed=True)).scaleb(-int(type_.partition(",")[2]))
    return bound


# --- conditions ------------------------------------------------------------------------------------------------


def _term(rex: Rex, names: Mapping[str, str]) -> _Term | None:
    """The condition as a term; None if Iceberg does not evaluate it."""
    if not isinstance(rex, Call):
        return None
    op, args = rex.op, rex.args
    if op in ("is_null", "is_not_null"):
        return _null_term(args[0], op, names)
    if op == "like":
        return _like_term(args, names)
    if op == "in":
        return _compared("=", args[0], args[1:], names)
    if op in _FLIPPED and len(args) == 2:
        left, right = args
        if isinstance(left, Literal):
            op, left, right = _FLIPPED[op], right, left
        if op == "<=>":
            op = "="
        return _compared(op, left, (right,), names) or _day_term(op, left, right, names)
    return None


def _column(rex: Rex, names: Mapping[str, str]) -> tuple[str, str] | None:
    """The name and the type of a column whose bounds are known."""
    if not isinstance(rex, Ref) or rex.id not in names:
        return None
    hive = rex.type
    if hive.name == "decimal":
        return names[rex.id], f"decimal,{hive.params[1]}"
    return (names[rex.id], hive.name) if hive.name in (*_INTEGERS, "string") else None


def _null_term(rex: Rex, op: str, names: Mapping[str, str]) -> _Term | None:
    return _Term(names[rex.id], rex.type.name, op) if isinstance(rex, Ref) and rex.id in names else None


def _like_term(args: tuple[Rex, ...], names: Mapping[str, str]) -> _Term | None:
    """`s LIKE 'prefix%'`, which Spark passes as a prefix."""
    column, pattern = _column(args[0], names), args[1]
    if column is None or column[1] != "string" or not isinstance(pattern, Literal) or len(args) > 2:
        return None
    text = pattern.value
    if not isinstance(text, str) or text[-1:] != "%" or len(text) < 2 or any(c in text[:-1] for c in "%_\\"):
        return None
    return _Term(*column, "like", (text[:-1].encode(),))


def _compared(op: str, left: Rex, values: tuple[Rex, ...], names: Mapping[str, str]) -> _Term | None:
    column = _column(left, names)
    if column is None:
        return None
    found = [_value(each, column[1]) for each in values]
    return None if None in found else _Term(*column, op, tuple(found))


def _day_term(op: str, left: Rex, right: Rex, names: Mapping[str, str]) -> _Term | None:
    """`CAST(timestamp AS DATE) = date`, which Spark passes as a range of times, and so on."""
    if not (isinstance(left, Call) and left.op == "cast" and left.type.name == "date" and isinstance(right, Literal)):
        return None
    column, day = _column(left.args[0], names), right.value
    if (
        column is None
        or column[1] != "timestamp"
        or type(day) is not date
        or day == date.max
        or is_before_gregorian(day)
    ):
        return None
    begin, end = (_micros(datetime.combine(each, datetime.min.time())) for each in (day, day + timedelta(days=1)))
    return {
        "<": _Term(*column, "<", (begin,)), ">=": _Term(*column, ">=", (begin,)),
        "<=": _Term(*column, "<", (end,)), ">": _Term(*column, ">=", (end,)),
        "=": _Term(*column, "within", ((begin, end),)),
    }.get(op)  # fmt: skip


def _value(rex: Rex, type_: str) -> Any:
    """A constant in the form of the bounds of a column; None if it is not comparable with them."""
    value = rex.value if isinstance(rex, Literal) else None
    if isinstance(value, bool) or is_before_gregorian(value):  # Spark is not to pass such conditions
        return None
    if type_ in ("int", "bigint"):
        if isinstance(value, float):  # Spark passes whole numbers
            return int(value) if value.is_integer() and abs(value) < 1 << 53 else None
        return value if isinstance(value, int | Decimal) else None
    if type_.startswith("decimal"):
        return Decimal(value) if isinstance(value, int | Decimal) else None
    if type_ == "string":
        return value.encode() if isinstance(value, str) else None
    if type_ == "date":
        return (value - _EPOCH).days if type(value) is date else None
    if isinstance(value, datetime) and (value.tzinfo is not None) == type_.endswith("zone"):
        return _micros(value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo is not None else value)
    return None


def _micros(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def is_decided_by_files(condition: Rex) -> bool:
    """Whether Iceberg deletes exactly the rows of a condition if it deletes the files all of whose rows satisfy it, by
    their metadata. There a null is different from every value, and NOT of a null is true, unlike in Hive."""
    if not isinstance(condition, Call):
        return False
    if condition.op in ("and", "or"):
        return all(map(is_decided_by_files, condition.args))
    return condition.op in _BY_FILES and all(
        (isinstance(a, Ref) or (isinstance(a, Literal) and a.value is not None)) and not a.type.is_approximate
        for a in condition.args
    )


_BY_FILES = frozenset({"=", "<", "<=", ">", ">=", "in", "is_null", "is_not_null"})
