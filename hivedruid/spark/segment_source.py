"""A data source of Spark: rows of Druid's segments, read by Spark's executors from files or by queries.

This module is imported by Spark's Python processes, also on hosts without hivedruid, which get `PACKAGE`: it must not
import anything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

NAME = "hivedruid_segments"
PACKAGE = (
    "hivedruid/__init__.py",
    "hivedruid/arrow_buffers.py",
    "hivedruid/bounded_http.py",
    "hivedruid/druid/__init__.py",
    "hivedruid/druid/granularities.py",
    "hivedruid/druid/instants.py",
    "hivedruid/druid/interval_sets.py",
    "hivedruid/druid/paths.py",
    "hivedruid/druid/planned_segments.py",
    "hivedruid/druid/sketch_folds.py",
    "hivedruid/errors.py",
    "hivedruid/filesystems.py",
    "hivedruid/java_numbers.py",
    "hivedruid/lazy_dataclass.py",
    "hivedruid/lazy_regex.py",
    "hivedruid/references.py",
    "hivedruid/responses",
    "hivedruid/secret_commands.py",
    "hivedruid/secret_forms.py",
    "hivedruid/secret_text.py",
    "hivedruid/secret_values.py",
    "hivedruid/secrets.py",
    "hivedruid/segments",
    "hivedruid/sketches",
    "hivedruid/spark/__init__.py",
    "hivedruid/spark/segment_ranges.py",
    "hivedruid/spark/segment_source.py",
    "hivedruid/spark/segment_tasks.py",
    "hivedruid/versions.py",
)
"""The files and folders that this source needs, and `segment_tasks`."""
FAILED = "hivedruid: segment "
"""The beginning of the message of an error."""
LEAST = {"numpy": 2, "pyarrow": 22}
"""The oldest major versions of packages that read segments as they are: those of pyproject.toml."""

SPARK_TYPES = {
    "LONG": "BIGINT",
    "DOUBLE": "DOUBLE",
    "FLOAT": "DOUBLE",
    "STRING": "STRING",
    "ARRAY<STRING>": "ARRAY<STRING>",
    "ARRAY<LONG>": "ARRAY<BIGINT>",
    "ARRAY<DOUBLE>": "ARRAY<DOUBLE>",
}


def schema_of(types: tuple[str, ...]) -> str:
    """The columns of these Druid types."""
    return ", ".join(f"_{number} {SPARK_TYPES[type_]}" for number, type_ in enumerate(types))


@dataclass(frozen=True)
class FileRequest:
    """Reads files: see `segments.scan.Scan`. A partition is one `plan.segment_files.Piece`, `access` is a
    `filesystems.Access`."""

    fields: tuple[tuple[str, str], ...]
    where: Mapping[str, Any] | None
    types: Mapping[str, str]
    access: Any
    partitions: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class QueryRequest:
    """Sends queries: see `responses.queries.SegmentQueries`. A partition has several
    `plan.segment_queries.SegmentQuery`; `access` is the path of a file with a DruidAccess, or ""."""

    query: Mapping[str, Any]
    fields: tuple[tuple[str, str, str], ...]
    broker: str
    timeout: float
    access: str
    partitions: tuple[tuple[Any, ...], ...]


def to_json(request: FileRequest | QueryRequest) -> str:
    return json.dumps(asdict(request))


class SegmentSource(DataSource):  # type: ignore[misc]
    """The option `request` is a FileRequest or a QueryRequest."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def reader(self, schema: StructType) -> SegmentReader:
        del schema
        return SegmentReader(json.loads(self.options["request"]))


class SegmentReader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, request: dict[str, Any]) -> None:
        self._request = request

    def partitions(self) -> list[InputPartition]:
        return [InputPartition((number, parts)) for number, parts in enumerate(self._request["partitions"])]

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:
        """The rows of one partition. Raises RuntimeError, whose message begins with FAILED."""
        from hivedruid.errors import DruidError
        from hivedruid.segments.errors import SegmentError

        check_packages()
        number, parts = partition.value
        for place, part in enumerate(parts):
            try:
                if "query" in self._request:
                    yield from self._queried(part, f"{number}.{place}")
                else:
                    yield from self._stored(part)
            except (SegmentError, DruidError, OSError) as error:
                raise RuntimeError(f"{FAILED}{part['id']}: {error}") from None

    def _stored(self, piece: Mapping[str, Any]) -> Iterator[RecordBatch]:
        from hivedruid.filesystems import Access, local_copy
        from hivedruid.segments.scan import Scan, scan_file

        request = self._request
        scan = Scan(tuple(tuple(field) for field in request["fields"]), request["where"], request["types"])
        with local_copy(piece["location"], Access(**request["access"])) as path:
            yield from scan_file(scan, path, piece["intervals"], piece["number"], piece["of"])

    def _queried(self, part: Mapping[str, Any], number: str) -> Iterator[RecordBatch]:
        from hivedruid.responses.queries import DruidAccess, SegmentQueries

        request, path = self._request, self._request["access"]
        access = DruidAccess(**json.loads(Path(path).read_text(encoding="utf-8"))) if path else DruidAccess()
        queries = SegmentQueries(request["query"], request["fields"], request["broker"], request["timeout"], access)
        return queries.batches(part, f"{request['query']['context']['queryId']}-{number}")


def check_packages() -> None:
    """Raises RuntimeError, see `worker_python.UNSUITABLE`, if this Python lacks packages or has too old ones."""
    for name, least in LEAST.items():
        try:
            found = version(name)
        except PackageNotFoundError:
            raise RuntimeError(f"hivedruid: the Python of the worker lacks the package {name}") from None
        if int(found.partition(".")[0]) < least:
            raise RuntimeError(f"hivedruid: the Python of the worker has {name} {found}; {least} or later is required")
