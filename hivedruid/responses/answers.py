"""Converts the broker's responses to the rows of `DruidEngine.rows`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hivedruid.druid.instants import millis
from hivedruid.errors import DruidError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.responses.stream import JsonStream, MalformedError
from hivedruid.responses.values import REAL, TEXT, WHOLE, Reader, reader_of

if TYPE_CHECKING:
    import pyarrow as pa

    from hivedruid.plan.physical import DruidRead

Row = tuple[Any, ...]
Part: TypeAlias = "tuple[int, Sequence[Sequence[Any] | pa.Array]]"
"""A number of rows, and their columns."""
BLOCK = 1 << 20
"""Bytes that are read at a time by column: they, and what is made of them, fit into the processor's cache."""
GROUP = 4096
"""Rows that become columns at a time where they are read by row."""
TIMESTAMP = "timestamp"


def sent(query: Mapping[str, Any]) -> dict[str, Any]:
    """The query as it is sent: a scan always requests compactedList, the shortest format."""
    return {**query, "resultFormat": "compactedList"} if query.get("queryType") == "scan" else dict(query)


def rows(read: DruidRead, chunks: Iterable[bytes]) -> Iterator[Row]:
    """The rows of a native query, from the bytes of its response. Raises MalformedError for an invalid response."""
    kind = str(read.query.get("queryType"))
    names, types = [field.name for field in read.fields], [str(field.type) for field in read.fields]
    if kind == "scan":
        return scan_rows(names, types, chunks)
    if kind not in _EVENTS:
        raise DruidError(f"queries of type '{kind}' do not return rows")
    stream = JsonStream(chunks)
    return _complete(stream, _events(stream, kind, names), types)


def scan_rows(names: Sequence[str], types: Sequence[str], chunks: Iterable[bytes]) -> Iterator[Row]:
    """The rows of a scan: the values of the fields `names`; `types` are the texts of their Hive types."""
    stream = JsonStream(chunks)
    return _complete(stream, _scan(stream, list(names)), types)


def has_columns(types: Sequence[str]) -> bool:
    """Whether `scan_columns` can read the fields of these types by column."""
    return bool(types) and all(reader_of(type_) in (WHOLE, REAL, TEXT) for type_ in types)


def scan_columns(names: Sequence[str], types: Sequence[str], chunks: Iterable[bytes]) -> Iterator[Part]:
    """The same rows as `scan_rows`, by column. Those of large responses are Arrow arrays, except where values have
    other types than their fields."""
    stream = JsonStream(chunks)
    large = _LargeScan(names, types)
    for columns in _parts(stream):
        yield from large.arrays(stream, columns)
        yield from _grouped(_typed(_rows_of(stream, columns, list(names)), _readers(types)))
    stream.end()


@dataclass
class _LargeScan:
    """Reads by column from the first array of rows on that has so many bytes that the import of Arrow is worth its
    time."""

    names: Sequence[str]
    types: Sequence[str]
    is_large: bool = False

    def arrays(self, stream: JsonStream, columns: Sequence[str]) -> Iterator[Part]:
        """The rows of an array up to those that are not read by column; the stream continues with the others."""
        if sorted(columns) != sorted(self.names) or len(set(columns)) != len(columns):
            return
        stream.expect("[")
        text = stream.take(BLOCK)
        self.is_large = self.is_large or len(text) >= BLOCK
        try:
            while self.is_large and text.startswith(b"["):
                from hivedruid.responses.columns import arrow_type, columns_of

                found = columns_of(text, list(map(columns.index, self.names)), list(map(arrow_type, self.types)))
                if found is None:
                    break
                text = text[found.end :]
                yield found.size, found.arrays
                if not text.startswith(b"]"):
                    text = (text + stream.take(BLOCK - len(text))).removeprefix(b",")
        finally:
            stream.give_back(b"[" + text)


def _grouped(rows: Iterator[Row]) -> Iterator[Part]:
    """Rows as columns; those before an error first."""
    group: list[Row] = []
    try:
        for row in rows:
            group.append(row)
            if len(group) == GROUP:
                yield len(group), tuple(zip(*group, strict=True))
                group = []
    except DruidError:
        if group:
            yield len(group), tuple(zip(*group, strict=True))
        raise
    if group:
        yield len(group), tuple(zip(*group, strict=True))


def _complete(stream: JsonStream, found: Iterator[Row], types: Sequence[str]) -> Iterator[Row]:
    """The rows with values of the types of their fields, up to the end of the response."""
    yield from _typed(found, _readers(types))
    stream.end()


def _readers(types: Sequence[str]) -> dict[int, Reader]:
    return {place: reader for place, type_ in enumerate(types) if (reader := reader_of(type_))}


def _typed(found: Iterator[Row], readers: Mapping[int, Reader]) -> Iterator[Row]:
    expected = tuple([(place, reader.expected) for place, reader in readers.items()])
    for row in found:
        for place, types in expected:
            if type(row[place]) not in types:
                row = tuple([_value(readers.get(n), v) for n, v in enumerate(row)])  # noqa: PLW2901
                break
        yield row


def _value(reader: Reader | None, value: Any) -> Any:
    if reader is None or type(value) in reader.expected:
        return value
    try:
        return reader.convert(value)
    except (ValueError, TypeError):
        raise _malformed("a numeric field has a value that is not a number", value) from None


def _malformed(why: str, value: Any) -> MalformedError:
    return MalformedError(why, json.dumps(value, ensure_ascii=False))


def _scan(stream: JsonStream, names: list[str]) -> Iterator[Row]:
    for columns in _parts(stream):
        yield from _rows_of(stream, columns, names)


def _rows_of(stream: JsonStream, columns: list[str], names: list[str]) -> Iterator[Row]:
    return map(_picked(columns, names), _lists(stream.array(), len(columns)))


def _parts(stream: JsonStream) -> Iterator[list[str]]:
    """The names of the columns of each array of rows, at which the stream is then; the caller must read it."""
    stream.expect("[")
    while (following := stream.peek()) != "]":
        if following == ",":
            stream.expect(",")
        columns: list[str] = []
        has_events = False
        for key in stream.object():
            if key == "columns":
                columns = stream.value()
                if not isinstance(columns, list) or not all(isinstance(column, str) for column in columns):
                    raise _malformed("the columns are not a list of names", columns)
            elif key == "events":
                has_events = True
                yield columns
            else:
                stream.value()
        if not has_events:
            raise _malformed("an item without 'events'", {"columns": columns})
    stream.expect("]")


def _lists(items: Iterator[Any], size: int) -> Iterator[list[Any]]:
    for item in items:
        if type(item) is not list or len(item) != size:
            raise _malformed(f"a row is not a list of {size} values", item)
        yield item


def _picked(columns: list[str], names: list[str]) -> Callable[[list[Any]], Row]:
    """A function that picks the named values from a row of these columns."""
    if names == columns:
        return tuple
    _check(names, columns)
    places = [columns.index(name) for name in names]
    if not places:
        return lambda _: ()
    if len(places) == 1:
        place = places[0]
        return lambda row: (row[place],)
    return itemgetter(*places)


def _events(stream: JsonStream, kind: str, names: Sequence[str]) -> Iterator[Row]:
    checked = False
    for stamp, event in _EVENTS[kind](stream.array()):
        if not checked:
            _check(names, [*event, TIMESTAMP])
            checked = True
        if TIMESTAMP in names and TIMESTAMP not in event:
            event[TIMESTAMP] = None if stamp is None else _instant(stamp)
        try:
            yield tuple([event[name] for name in names])
        except KeyError:
            raise _malformed("a row is missing a field", event) from None


def _check(names: Iterable[str], present: Sequence[str]) -> None:
    for name in names:
        if name not in present:
            raise DruidError(f"the query has no field '{name}'; its fields are {', '.join(present)}")


Events = Iterator[tuple[str | None, dict[str, Any]]]


def _part(item: Any, name: str, kind: type) -> Any:
    """A part of an item of the response."""
    part = item.get(name) if type(item) is dict else None
    if type(part) is not kind:
        raise _malformed(f"an item without '{name}'", item)
    return part


def _instant(text: Any) -> int:
    try:
        return millis(text)
    except (DruidError, TypeError):
        raise _malformed("not a valid instant", text) from None


def _timeseries(items: Iterator[Any]) -> Events:
    for item in items:
        event = _part(item, "result", dict)
        yield item.get("timestamp"), event


def _top_n(items: Iterator[Any]) -> Events:
    for item in items:
        for event in _part(item, "result", list):
            if type(event) is not dict:
                raise _malformed("an item that is not an object", event)
            yield item.get("timestamp"), event


def _group_by(items: Iterator[Any]) -> Events:
    for item in items:
        event = _part(item, "event", dict)
        yield item.get("timestamp"), event


def _time_boundary(items: Iterator[Any]) -> Events:
    for item in items:
        result = _part(item, "result", dict)
        yield item.get("timestamp"), {name: _instant(text) for name, text in result.items()}


_EVENTS: dict[str, Callable[[Iterator[Any]], Events]] = {
    "timeseries": _timeseries,
    "topN": _top_n,
    "groupBy": _group_by,
    "timeBoundary": _time_boundary,
}
