"""Schemas of Avro records from a schema registry, by Confluent's REST interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

import msgspec
import requests

from hivedruid.catalog.properties import REGISTRY, REGISTRY_CREDENTIALS
from hivedruid.catalog.table import Table
from hivedruid.errors import ConnectError, ExecutionError, UnsupportedError
from hivedruid.references import check_transport, secret

TIMEOUT = 30.0
"""Seconds to wait for a response."""


class StoredSchema(msgspec.Struct):
    """A schema as `/schemas/ids/…` returns it; a schema of Avro has no type."""

    schema: str
    schemaType: str = "AVRO"  # noqa: N815
    references: tuple[object, ...] = ()


def schemas_of(table: Table, ids: Iterable[int], settings: Mapping[str, str]) -> dict[int, str]:
    """The schemas with these ids, without those that the table's registry does not have. Raises ConnectError,
    ExecutionError, UnsupportedError, UsageError."""
    url, reference = table.properties[REGISTRY].rstrip("/"), table.properties.get(REGISTRY_CREDENTIALS, "")
    if reference:
        check_transport(url, REGISTRY_CREDENTIALS, settings)
    found = {number: _schema(url, number, reference) for number in ids}
    return {number: schema for number, schema in found.items() if schema is not None}


@lru_cache(maxsize=1024)
def _schema(url: str, number: int, reference: str) -> str | None:
    """The schema of an id, which never changes. The credentials are `user:password`."""
    user, _, password = secret(REGISTRY_CREDENTIALS, reference).partition(":") if reference else ("", "", "")
    try:
        response = requests.get(
            f"{url}/schemas/ids/{number}", auth=(user, password) if reference else None, timeout=TIMEOUT
        )
    except requests.RequestException as error:
        raise ConnectError(f"cannot reach the schema registry at {url}: {type(error).__name__}") from None
    if response.status_code == 404:
        return None
    if not response.ok:
        raise ExecutionError(
            f"the schema registry at {url} refuses schema {number}: HTTP status {response.status_code}",
            hint=f"check {REGISTRY} and {REGISTRY_CREDENTIALS}" if response.status_code in (401, 403) else None,
        )
    try:
        stored = msgspec.json.decode(response.content, type=StoredSchema)
    except msgspec.MsgspecError as error:
        raise ExecutionError(f"unexpected response of the schema registry at {url}: {error}") from None
    if stored.schemaType != "AVRO" or stored.references:
        kind = "has references to other schemas" if stored.references else f"is of type {stored.schemaType}"
        raise UnsupportedError(f"schema {number} of the registry at {url} {kind}, which is not supported")
    return stored.schema
