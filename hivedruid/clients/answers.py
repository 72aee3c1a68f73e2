"""The answers of a broker as rows: what `DruidEngine.rows` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from hivedruid.clients.instants import millis
from hivedruid.clients.stream import JsonStream
from hivedruid.errors import DruidError
from hivedruid.plan.physical import DruidRead, Field

Row = tuple[Any, ...]
TIMESTAMP = "timestamp"


def sent(query: Mapping[str, Any]) -> dict[str, Any]:
    """The query as it goes out: a scan's rows come as lists, whatever format it names, which is the shortest."""
    return {**query, "resultFormat": "compactedList"} if query.get("queryType") == "scan" else dict(query)


def rows(read: DruidRead, chunks: Iterable[bytes]) -> Iterator[Row]:
    """The rows of a native query, from the bytes of its answer."""
    kind = str(read.query.get("queryType"))
    if kind not in _EVENTS and kind != "scan":
        raise DruidError(f"queries of type '{kind}' have no rows")
    stream = JsonStream(chunks)
    found = _scan(stream, read.fields) if kind == "scan" else _events(stream, kind, read.fields)
    floats = [place for place, field in enumerate(read.fields) if field.type.name in ("float", "double")]
    yield from _with_floats(found, floats) if floats else found
    stream.end()


def _with_floats(found: Iterator[Row], places: Sequence[int]) -> Iterator[Row]:
    """Jackson writes NaN and the infinities as strings, which float() reads."""
    for row in found:
        for place in places:
            if isinstance(row[place], str):
                row = tuple(  # noqa: PLW2901
                    [float(v) if n in places and isinstance(v, str) else v for n, v in enumerate(row)]
                )
                break
        yield row


def _scan(stream: JsonStream, fields: Sequence[Field]) -> Iterator[Row]:
    names = [field.name for field in fields]
    stream.expect("[")
    while (following := stream.peek()) != "]":
        if following == ",":
            stream.expect(",")
        columns: list[str] = []
        for key in stream.object():
            if key == "columns":
                columns = stream.value()
            elif key == "events":
                yield from map(_picked(columns, names), stream.array())
            else:
                stream.value()
    stream.expect("]")


def _picked(columns: list[str], names: list[str]) -> Callable[[list[Any]], Row]:
    """What takes the named values out of a row of these columns."""
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


def _events(stream: JsonStream, kind: str, fields: Sequence[Field]) -> Iterator[Row]:
    names = [field.name for field in fields]
    checked = False
    for stamp, event in _EVENTS[kind](stream.array()):
        if not checked:
            _check(names, [*event, TIMESTAMP])
            checked = True
        if TIMESTAMP in names and TIMESTAMP not in event:
            event[TIMESTAMP] = None if stamp is None else millis(stamp)
        yield tuple([event[name] for name in names])


def _check(names: Iterable[str], present: Sequence[str]) -> None:
    for name in names:
        if name not in present:
            raise DruidError(f"the query has no field '{name}'; it has {', '.join(present)}")


Events = Iterator[tuple[str | None, dict[str, Any]]]


def _timeseries(items: Iterator[Any]) -> Events:
    return ((item["timestamp"], item["result"]) for item in items)


def _top_n(items: Iterator[Any]) -> Events:
    return ((item["timestamp"], event) for item in items for event in item["result"])


def _group_by(items: Iterator[Any]) -> Events:
    return ((item["timestamp"], item["event"]) for item in items)


def _time_boundary(items: Iterator[Any]) -> Events:
    for item in items:
        yield item["timestamp"], {name: millis(text) for name, text in item["result"].items()}


_EVENTS: dict[str, Callable[[Iterator[Any]], Events]] = {
    "timeseries": _timeseries,
    "topN": _top_n,
    "groupBy": _group_by,
    "timeBoundary": _time_boundary,
}
