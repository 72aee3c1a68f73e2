"""Native queries to the broker of a Druid cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.druid import QUERY, DruidClient
from hivedruid.clients.failures import AnswerError, broken_off
from hivedruid.clients.fitting import Shape, fitted
from hivedruid.druid.projections import without_projections
from hivedruid.responses import answers
from hivedruid.responses.stream import JsonStream, MalformedError, TruncatedError
from hivedruid.results import Batch, Batches

if TYPE_CHECKING:
    from hivedruid.clients.version import Broker
    from hivedruid.plan.physical import DruidRead
    from hivedruid.plan.segment_files import SegmentKey


class NativeQueries:
    """Sends native queries over the connections of one client. `note` receives notes for the user."""

    def __init__(self, address: DruidAddress, note: Callable[[str], None]) -> None:
        self.address = address
        self.note = note
        self.client = DruidClient(address)
        self.see_version: Callable[[str], None] = lambda _: None
        """Receives the version of the broker, once."""
        self._broker: Broker | None = None

    def rows(self, read: DruidRead) -> Iterator[tuple[Any, ...]]:
        """The rows of a native query, streamed; see `DruidEngine.rows`."""
        is_scan = read.query.get("queryType") == "scan"
        if is_scan and answers.has_columns([str(field.type) for field in read.fields]):
            return Batches(self._batches(read))
        return self._rows(read)

    def rows_of(self, read: DruidRead, segments: Sequence[SegmentKey]) -> Iterator[tuple[Any, ...]]:
        """The rows of some segments; see `SegmentStorage.rows_of`."""
        from hivedruid.clients.segment_files import rows_of

        return rows_of(self, read, segments)

    def _rows(self, read: DruidRead) -> Iterator[tuple[Any, ...]]:
        count = 0
        with self._response(read, lambda: count) as chunks:
            for row in answers.rows(read, chunks):
                yield row
                count += 1
        if count == 0 and read.over_nothing is not None:
            yield from self.rows(read.over_nothing)

    def _batches(self, read: DruidRead) -> Iterator[Batch]:
        """The rows of a scan, by column."""
        count = 0
        names, types = [field.name for field in read.fields], [str(field.type) for field in read.fields]
        with self._response(read, lambda: count) as chunks:
            for size, columns in answers.scan_columns(names, types, chunks):
                yield Batch(size, tuple(columns))
                count += size
        if count == 0 and read.over_nothing is not None:
            rows = list(self.rows(read.over_nothing))
            yield from [Batch(len(rows), tuple(zip(*rows, strict=True)))] if rows else []

    @contextmanager
    def _response(self, read: DruidRead, count: Callable[[], int]) -> Iterator[Iterator[bytes]]:
        """The bytes of the response to a query; `count` is the number of rows that were read of it."""
        self._check()
        with closing(self.client.query(self._with_context(answers.sent(read.query)))) as chunks:
            try:
                yield chunks
            except MalformedError as error:
                raise self._malformed(error) from error
            except TruncatedError as error:
                raise broken_off(self.address.broker, f" after {count()} row(s)") from error

    def answer(self, query: Mapping[str, Any], shape: type[Shape]) -> list[Shape]:
        """The complete response of a native query: `shape` is the type of its items."""
        found: list[Shape] = []
        with closing(self.client.query(self._with_context(query))) as chunks:
            stream = JsonStream(chunks)
            try:
                for item in stream.array():
                    try:
                        found.append(fitted(item, shape))
                    except ValueError as error:
                        raise MalformedError(str(error), json.dumps(item)) from None
                stream.end()
            except MalformedError as error:
                raise self._malformed(error) from error
            except TruncatedError as error:
                raise broken_off(self.address.broker, "") from error
        return found

    def _malformed(self, error: MalformedError) -> AnswerError:
        return self.client.unexpected("POST", "broker", QUERY, error.text, error.message)

    def _with_context(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """The query with an id, for cancellation, and a timeout, unless its context already sets them."""
        timeout = round(self.address.query_timeout * 1000)
        if self._broker is None or not self._broker.version.has("projections in part"):
            query = without_projections(query)
        return {**query, "context": {"queryId": str(uuid4()), "timeout": timeout, **(query.get("context") or {})}}

    def _check(self) -> Broker:
        """Refuse, once, a Druid whose null handling differs from SQL. Raises UnsupportedError."""
        if self._broker is None:
            from hivedruid.clients.version import check_version

            self._broker = check_version(self)
        return self._broker
