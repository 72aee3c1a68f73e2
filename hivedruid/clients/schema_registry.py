"""Schemas of Avro records from a schema registry, by Confluent's REST interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote

import msgspec
import requests

from hivedruid.catalog.properties import REGISTRY, REGISTRY_CREDENTIALS
from hivedruid.errors import ConnectError, ExecutionError, UnsupportedError
from hivedruid.references import check_transport, secret

TIMEOUT = 30.0
"""Seconds to wait for a response."""


class StoredSchema(msgspec.Struct):
    """A schema as `/schemas/ids/…` and `/subjects/…` return it; a schema of Avro has no type."""

    schema: str
    schemaType: str = "AVRO"  # noqa: N815
    references: tuple[object, ...] = ()


def schemas_of(properties: Mapping[str, str], ids: Iterable[int], settings: Mapping[str, str]) -> dict[int, str]:
    """The schemas with these ids, without those that a table's registry does not have. Raises ConnectError,
    ExecutionError, UnsupportedError, UsageError."""
    url, reference = _registry(properties, settings)
    found = {number: _schema(url, number, reference) for number in ids}
    return {number: schema for number, schema in found.items() if schema is not None}


def latest_schema(properties: Mapping[str, str], settings: Mapping[str, str]) -> str:
    """The latest schema of the values of a topic, by the name that Confluent's serializers register by default. Raises
    the same errors."""
    url, reference = _registry(properties, settings)
    subject = f"{properties['kafka.topic']}-value"
    found = _get(
        url, f"subjects/{quote(subject, safe='')}/versions/latest", f"the schema of subject '{subject}'", reference
    )
    if found is None:
        raise ExecutionError(
            f"the schema registry at {url} has no subject '{subject}'",
            hint=f"specify the columns, or use CREATE EXTERNAL TABLE … LIKE TOPIC '{properties['kafka.topic']}', which"
            " reads the ids of the records' schemas",
        )
    return found


def _registry(properties: Mapping[str, str], settings: Mapping[str, str]) -> tuple[str, str]:
    """The URL of the registry, and the reference to its credentials."""
    url, reference = properties[REGISTRY].rstrip("/"), properties.get(REGISTRY_CREDENTIALS, "")
    if reference:
        check_transport(url, REGISTRY_CREDENTIALS, settings)
    return url, reference


@lru_cache(maxsize=1024)
def _schema(url: str, number: int, reference: str) -> str | None:
    """The schema of an id, which never changes."""
    return _get(url, f"schemas/ids/{number}", f"schema {number}", reference)


def _get(url: str, path: str, name: str, reference: str) -> str | None:
    """A schema, or None if the registry does not have it. The credentials are `user:password`."""
    user, _, password = secret(REGISTRY_CREDENTIALS, reference).partition(":") if reference else ("", "", "")
    try:
        response = requests.get(f"{url}/{path}", auth=(user, password) if reference else None, timeout=TIMEOUT)
    except requests.RequestException as error:
        raise ConnectError(f"cannot reach the schema registry at {url}: {type(error).__name__}") from None
    if response.status_code == 404:
        return None
    if not response.ok:
        raise ExecutionError(
            f"the schema registry at {url} refuses {name}: HTTP status {response.status_code}",
            hint=f"check {REGISTRY} and {REGISTRY_CREDENTIALS}" if response.status_code in (401, 403) else None,
        )
    try:
        stored = msgspec.json.decode(response.content, type=StoredSchema)
    except msgspec.MsgspecError as error:
        raise ExecutionError(f"unexpected response of the schema registry at {url}: {error}") from None
    if stored.schemaType != "AVRO" or stored.references:
        kind = "has references to other schemas" if stored.references else f"is of type {stored.schemaType}"
        raise UnsupportedError(f"{name} of the registry at {url} {kind}, which is not supported")
    return stored.schema
