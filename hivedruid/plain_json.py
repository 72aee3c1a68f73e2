"""Decodes the plain ones of JSON records in Spark's Python workers, many times as fast as Spark's JSON parser.

A record is plain if its value of each column is certain without the rules of Hive's JsonSerDe: an object of valid JSON
in which each column has at most one name, and a value that is null or of its JSON type. Every other record is left to
the SQL of `spark/inputs.json_rows`, which defines the values of all records.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hivedruid.lazy_dataclass import dataclass
from hivedruid.uniform_json import UniformJson

if TYPE_CHECKING:
    from pyarrow import Array, DataType, RecordBatch

TEXT = "STRING"
KINDS = {
    **dict.fromkeys(("string", "varchar", "char", "binary"), TEXT),
    **dict.fromkeys(("date", "timestamp", "timestamp with local time zone"), TEXT),
    "tinyint": "TINYINT", "smallint": "SMALLINT", "int": "INT", "bigint": "BIGINT", "double": "DOUBLE",
    "boolean": "BOOLEAN",
}  # fmt: skip
"""The Spark type of the plain values of a Hive type. TEXT is the text of a JSON string, which SQL converts."""

_CLOCK = r"[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?"
MOMENTS = {"date": "DATE", "timestamp": "TIMESTAMP_NTZ"}
"""The Spark type of the times that are read from TEXT here, by the name of the Hive type."""
_USUAL = {
    "DATE": "^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}$",
    "TIMESTAMP_NTZ": f"^[1-9][0-9]{{3}}-[0-9]{{2}}-[0-9]{{2}}{_CLOCK}Z?$",
}
"""The usual forms of times, which Arrow reads as Spark does. SQL reads all others."""

_SHORT, _LONG = 1_000, 50_000
"""Bytes up to which a record cannot exceed the limits of Spark's parser on the length of numbers and the depth of
values, and above which it may exceed those on the length of names."""
_DIGITS = bytes(48 if chr(code) in "0123456789+-.eE" else 32 for code in range(256))
"""Translates each character of a number into `0`, and the others into blanks."""
_NOT_PLAIN: dict[str, Any] = {}
"""Stands for a record that is not plain."""


@dataclass(frozen=True)
class PlainJson:
    """Replaces `value` in batches by null where the record is plain. A column is appended for each of `fields`, which
    are given by name and kind, if its number is among those that are `returned`: its values in the plain records,
    otherwise null.

    `moments` are numbers of returned fields of the kind TEXT with their types, those of MOMENTS: of such a field the
    texts in the usual form are null, and another column has their times."""

    fields: tuple[tuple[str, str], ...]
    returned: tuple[int, ...]
    moments: tuple[tuple[int, str], ...] = ()

    def __call__(self, batches: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
        import pyarrow as pa

        documents = _Documents([name for name, _ in self.fields])
        uniform = UniformJson({name: _types()[kind][0] for name, kind in self.fields})
        names = [column_name(number) for number in range(len(self.fields))]
        for batch in batches:
            values = batch["value"]
            arrays = None if _some_may_exceed_limits(values) else uniform.columns(values)
            if arrays is None:
                left, columns = self._one_by_one(values.to_pylist(), documents)
            else:
                left, columns = pa.nulls(len(values), pa.binary()), dict(zip(names, arrays, strict=True))
            kept = {name: batch[name] for name in batch.schema.names if name != "value"}
            found = {names[number]: columns[names[number]] for number in self.returned}
            for number, type_ in self.moments:
                found[names[number]], found[moment_name(number)] = _moments(found[names[number]], type_)
            yield pa.RecordBatch.from_pydict({**kept, "value": left, **found})

    def _one_by_one(self, values: list[bytes | None], documents: _Documents) -> tuple[Array, dict[str, Array]]:
        """The values that are not plain, and the columns of the others."""
        import pyarrow as pa

        found = [documents.plain(value) for value in values]
        columns = self._columns(found)
        left = [value if each is _NOT_PLAIN else None for value, each in zip(values, found, strict=True)]
        return pa.array(left, pa.binary()), columns

    def _columns(self, found: list[dict[str, Any]]) -> dict[str, Array]:
        """The columns of these documents. One with a value that does not fit becomes _NOT_PLAIN."""
        while True:
            misfits: set[int] = set()
            columns = {}
            for number, (name, kind) in enumerate(self.fields):
                cells = [document.get(name) for document in found]
                columns[column_name(number)], rows = _column(cells, kind)
                misfits.update(rows)
            if not misfits:
                return columns
            for row in misfits:
                found[row] = _NOT_PLAIN


def column_name(number: int) -> str:
    """The column with the plain values of a field."""
    return f"_plain{number}"


def moment_name(number: int) -> str:
    """The column with the times of a field."""
    return f"_moment{number}"


class _Documents:
    """Decodes records. What the names of an object mean is remembered by the tuple of the names."""

    def __init__(self, names: Sequence[str]) -> None:
        from msgspec.json import Decoder

        self._decode: Callable[[bytes], Any] = Decoder().decode
        self._names = frozenset(names)
        self._known: dict[tuple[str, ...], tuple[str, ...] | None] = {}

    def plain(self, value: bytes | None) -> dict[str, Any]:
        """The values of a record by the names of the columns; _NOT_PLAIN if it is not plain."""
        if value is None or _may_exceed_limits(value):
            return _NOT_PLAIN
        try:
            document = self._decode(value)
        except (ValueError, RecursionError):  # msgspec's and Python's errors of decoding
            return _NOT_PLAIN
        if type(document) is not dict:
            return _NOT_PLAIN
        given = tuple(document)
        if given not in self._known:
            if len(self._known) >= _SHORT:  # names that are data
                self._known.clear()
            self._known[given] = self._in_lower_case(given)
        names = self._known[given]
        if names is None:
            return _NOT_PLAIN
        return document if names == given else dict(zip(names, document.values(), strict=True))

    def _in_lower_case(self, given: tuple[str, ...]) -> tuple[str, ...] | None:
        """The names in lower case; None if two of them are those of the same column, or one has letters outside of
        ASCII, whose lower case depends on the library."""
        if not all(map(str.isascii, given)):
            return None
        names = tuple(map(str.lower, given))
        of_columns = [name for name in names if name in self._names]
        return names if len(of_columns) == len(set(of_columns)) else None


def _some_may_exceed_limits(values: Array) -> bool:
    from pyarrow import compute

    long = values.filter(compute.greater(compute.binary_length(values), _SHORT))
    return any(map(_may_exceed_limits, long.to_pylist()))


def _may_exceed_limits(value: bytes | None) -> bool:
    if value is None or len(value) <= _SHORT:
        return False
    if len(value) > _LONG or value.count(b"{") + value.count(b"[") >= _SHORT:
        return True
    return b"0" * _SHORT in value.translate(_DIGITS)


def _moments(texts: Array, kind: str) -> tuple[Array, Array]:
    """The texts that are not in the usual form, and the times of the others. Nulls are in neither."""
    import pyarrow as pa
    from pyarrow import compute

    type_ = pa.date32() if kind == "DATE" else pa.timestamp("us")
    is_usual = compute.match_substring_regex(texts, _USUAL[kind])
    usual = compute.if_else(is_usual, texts, None)
    try:
        return compute.if_else(is_usual, None, texts), compute.ascii_rtrim(usual, "Z").cast(type_)
    except pa.ArrowInvalid:  # a time that does not exist
        return texts, pa.nulls(len(texts), type_)


def _types() -> dict[str, tuple[DataType, frozenset[type]]]:
    """Arrow's type of each kind, and the types of its values in Python."""
    import pyarrow as pa

    return {
        TEXT: (pa.string(), frozenset({str})),
        "BOOLEAN": (pa.bool_(), frozenset({bool})),
        "DOUBLE": (pa.float64(), frozenset({float, int})),
        "TINYINT": (pa.int8(), frozenset({int})),
        "SMALLINT": (pa.int16(), frozenset({int})),
        "INT": (pa.int32(), frozenset({int})),
        "BIGINT": (pa.int64(), frozenset({int})),
    }


def _column(cells: list[Any], kind: str) -> tuple[Array, list[int]]:
    """The cells as an array, and the rows that do not fit, which are null."""
    import pyarrow as pa

    type_, expected = _types()[kind]
    allowed = {*expected, type(None)}

    def array(some: list[Any]) -> Array | None:
        try:
            return pa.array(some, type_) if set(map(type, some)) <= allowed else None
        except (pa.ArrowInvalid, OverflowError):  # a number out of range, or that a DOUBLE does not represent
            return None

    whole = array(cells)
    if whole is not None:
        return whole, []
    rows = [row for row, cell in enumerate(cells) if array([cell]) is None]
    fitting = list(cells)
    for row in rows:
        fitting[row] = None
    return array(fitting), rows
