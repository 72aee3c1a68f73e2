"""Avro schemas in files, which the property avro.schema.url names."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.catalog.avro import LITERAL, URL
from hivedruid.errors import ExecutionError
from hivedruid.filesystems import Access, local_copy


def schema_file(url: str, owner: str, settings: Mapping[str, str]) -> str:
    """The text of the file at a path or URI; `owner` is the table with that property. Raises ExecutionError."""
    try:
        with local_copy(url, Access.of(settings)) as path:
            return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ExecutionError(
            f"cannot read {URL} of {owner}: {error}", hint=f"use a path, a URI such as s3://bucket/file, or {LITERAL}"
        ) from None
