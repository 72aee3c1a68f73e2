"""Parses batches of JSON records with Arrow's parser, several times as fast as one record after the other.

Arrow parses a batch only as a whole, and only by a schema with every name that occurs. The schema of names that are not
columns is learned from the first records of a batch. A batch that does not match it, or has a record whose meaning
depends on the rules of Hive's JsonSerDe, is left to `plain_json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyarrow import Array, Buffer, DataType, Field, Schema, Table

_SAMPLE = 500
"""Records from which names that are not columns are learned. Each of their names could be different."""
_MOST_OTHERS = 200
"""Fields that are not columns, nested ones included: each costs time and memory in every batch."""
_MOST_BYTES = 1 << 30
"""Bytes of a batch with its lines: Arrow counts them with 32 bits."""
_SPACE = " \t\r\n"


class UniformJson:
    """Parses batches of records into columns, given by name in lower case and type."""

    def __init__(self, columns: Mapping[str, DataType]) -> None:
        import pyarrow as pa

        self._columns: Schema = pa.schema(list(columns.items()))
        self._spelling = {name: name for name in columns}
        """The name in the records by the name of the column."""
        self._schema: Schema | None = self._columns
        """The fields of the records; None if they have too many names."""

    def columns(self, values: Array) -> list[Array] | None:
        """The values of each column, null where a record does not have it; None if this batch is not uniform.
        `values` are records, of Arrow's type binary."""
        text = _joined(values)
        if text is None or self._schema is None:
            return None
        rows = _parsed(text, self._schema, len(values))
        if rows is None and self._learn(values[:_SAMPLE]):
            rows = _parsed(text, self._schema, len(values))
        if rows is None:
            return None
        found = {name: rows[name].combine_chunks() for name in rows.schema.names}
        return [found[name] for name in self._spelling.values()] if all(map(_is_exact, found.values())) else None

    def _learn(self, values: Array) -> bool:
        """Whether these records have another schema than the present one, which then is theirs."""
        import pyarrow as pa

        text = _joined(values)
        rows = None if text is None else _parsed(text, self._columns, len(values), infers=True)
        if rows is None:
            return False
        others = [field for field in rows.schema if field.name not in self._columns.names]
        spelling = dict.fromkeys(self._columns.names, "")
        for field in others:
            name = field.name.lower()
            if not field.name.isascii() or spelling.get(name):
                return False
            if name in spelling:
                spelling[name] = field.name
        if any(rows[name].null_count < len(rows) for name, other in spelling.items() if other):
            return False  # two spellings of a column
        self._spelling = {name: other or name for name, other in spelling.items()}
        own = [field.with_name(self._spelling[field.name]) for field in self._columns]
        known, self._schema = self._schema, None
        try:
            others = [_loose(field) for field in others if field.name.lower() not in spelling]
            if sum(_fields(field.type) for field in others) <= _MOST_OTHERS:
                self._schema = pa.schema([*own, *others])
        except RecursionError:  # of values in values
            pass
        return self._schema is not None and not self._schema.equals(known)


def _joined(values: Array) -> Buffer | None:
    """The records as lines; None if they are not all objects in UTF-8.

    An object ends at each line then: within one, no line could end with `}` before another that begins with `{`.
    """
    import pyarrow as pa
    from pyarrow import compute

    if not len(values) or values.null_count or values.nbytes >= _MOST_BYTES:
        return None
    try:
        records = values.cast(pa.string())
    except pa.ArrowInvalid:  # not in UTF-8
        return None
    if not _are_enclosed(records):
        records = compute.ascii_trim(records, _SPACE)
        if not _are_enclosed(records):
            return None
    lines = pa.ListArray.from_arrays([0, len(records)], records)
    return compute.binary_join(lines, "\n")[0].as_buffer()


def _are_enclosed(records: Array) -> bool:
    """Whether each record begins with `{` and ends with `}`."""
    from pyarrow import compute

    ends = compute.and_(compute.starts_with(records, "{"), compute.ends_with(records, "}"))
    return compute.all(ends).as_py() is True


def _parsed(text: Buffer, schema: Schema | None, count: int, *, infers: bool = False) -> Table | None:
    """That many objects; None if Arrow refuses one, or one has a name that is not in the schema and not inferred."""
    from pyarrow import ArrowException, BufferReader, json

    unexpected = "infer" if infers else "error"
    parsing = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=unexpected)
    try:
        rows = json.read_json(BufferReader(text), json.ReadOptions(False, text.size + 1), parsing)
    except ArrowException:
        return None
    return rows if len(rows) == count else None


def _is_exact(values: Array) -> bool:
    """Whether all numbers are in the range of a DOUBLE. NaN and Infinity are no JSON, and -0 is 0 but -0.0 is not."""
    from pyarrow import compute, types

    if types.is_struct(values.type):
        return all(map(_is_exact, values.flatten()))
    if types.is_list(values.type):
        return _is_exact(values.flatten())
    if not types.is_floating(values.type):
        return True
    negative_zeros = compute.equal(compute.divide(1.0, values), float("-inf"))
    return compute.all(compute.and_not(compute.is_finite(values), negative_zeros)).as_py() is not False


def _loose(field: Field) -> Field:
    """A field that is not a column, as others of its name would be: 1 may be 1.5, and text need not be a time."""
    import pyarrow as pa

    type_ = field.type
    if pa.types.is_integer(type_):
        return field.with_type(pa.float64())
    if pa.types.is_temporal(type_):
        return field.with_type(pa.string())
    if pa.types.is_struct(type_):
        return field.with_type(pa.struct([_loose(type_.field(n)) for n in range(type_.num_fields)]))
    if pa.types.is_list(type_):
        return field.with_type(pa.list_(_loose(type_.value_field)))
    return field


def _fields(type_: DataType) -> int:
    return 1 + sum(_fields(type_.field(number).type) for number in range(type_.num_fields))
