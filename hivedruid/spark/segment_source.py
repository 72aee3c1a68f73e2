"""A data source of Spark: rows of Druid's segment files, read by Spark's executors.

This module is imported by Spark's Python processes, also on hosts without hivedruid, which get `PACKAGE`: it must not
import anything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

NAME = "hivedruid_segments"
PACKAGE = (
    "hivedruid/__init__.py",
    "hivedruid/errors.py",
    "hivedruid/filesystems.py",
    "hivedruid/references.py",
    "hivedruid/secret_text.py",
    "hivedruid/secrets.py",
    "hivedruid/segments",
    "hivedruid/spark/__init__.py",
    "hivedruid/spark/segment_source.py",
)
"""The files and folders that this source needs."""
FAILED = "hivedruid: segment "
"""The beginning of the message of an error."""

SPARK_TYPES = {
    "LONG": "BIGINT",
    "DOUBLE": "DOUBLE",
    "FLOAT": "DOUBLE",
    "STRING": "STRING",
    "ARRAY<STRING>": "ARRAY<STRING>",
}


@dataclass(frozen=True)
class Request:
    """What is read: see `segments.scan.Scan`. `pieces` are values of `plan.segment_files.Piece`, `access` is a
    `filesystems.Access`."""

    fields: tuple[tuple[str, str], ...]
    where: Mapping[str, Any] | None
    types: Mapping[str, str]
    pieces: tuple[Any, ...]
    access: Any

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def schema(self) -> str:
        return ", ".join(f"_{number} {SPARK_TYPES[type_]}" for number, (_, type_) in enumerate(self.fields))


class SegmentSource(DataSource):  # type: ignore[misc]
    """The option `request` is a Request."""

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
        return [InputPartition(piece) for piece in self._request["pieces"]]

    def read(self, partition: InputPartition) -> Iterator[RecordBatch]:
        """The rows of one piece. Raises RuntimeError, whose message begins with FAILED."""
        from hivedruid.filesystems import Access, local_copy
        from hivedruid.segments.errors import SegmentError
        from hivedruid.segments.scan import Scan, scan_file

        request, piece = self._request, partition.value
        scan = Scan(tuple(tuple(field) for field in request["fields"]), request["where"], request["types"])
        try:
            with local_copy(piece["location"], Access(**request["access"])) as path:
                yield from scan_file(scan, path, piece["intervals"], piece["number"], piece["of"])
        except (SegmentError, OSError) as error:
            raise RuntimeError(f"{FAILED}{piece['id']}: {error}") from None
