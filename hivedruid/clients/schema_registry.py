"""Schemas of Avro records from a schema registry, by Confluent's REST interface."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from urllib.parse import quote

import msgspec
import requests

from hivedruid.bounded_http import LARGEST_DOCUMENT
from hivedruid.catalog.avro_references import self_contained
from hivedruid.catalog.properties import REGISTRY, REGISTRY_CREDENTIALS
from hivedruid.clients.fitting import Exact, fitted
from hivedruid.clients.guarded import MAX_REDIRECTS, Bounds, UnfitError, parse_json, session
from hivedruid.errors import ConnectError, ExecutionError, SemanticError, UnsupportedError
from hivedruid.lazy_dataclass import dataclass
from hivedruid.references import check_transport, secret

TIMEOUT = 30.0
"""Seconds to wait for a response."""
MOST_REFERENCES = 200
"""Schemas that one schema may refer to, directly and indirectly."""


class Reference(msgspec.Struct):
    """A version of a subject, whose types a schema uses; `name` is that of one of them."""

    name: str
    subject: str
    version: int


class StoredSchema(msgspec.Struct):
    """A schema as `/schemas/ids/…` and `/subjects/…` return it; a schema of Avro has no type."""

    schema: str
    schemaType: Exact[str | None] = "AVRO"  # noqa: N815
    references: Exact[list[Reference] | None] = None


@dataclass(frozen=True)
class Registry:
    """The URL of a registry, and the reference to its credentials, `user:password`."""

    url: str
    credentials: str


def schemas_of(properties: Mapping[str, str], ids: Iterable[int], settings: Mapping[str, str]) -> dict[int, str]:
    """The schemas with these ids, without those that a table's registry does not have. Raises ConnectError,
    ExecutionError, UnsupportedError, UsageError."""
    registry = _registry(properties, settings)
    found = {}
    for number in ids:
        with suppress(_MissingError):
            found[number] = _schema(registry, number)
    return found


def latest_schema(properties: Mapping[str, str], settings: Mapping[str, str]) -> str:
    """The latest schema of the values of a topic, by the name that Confluent's serializers register by default. Raises
    the same errors."""
    registry = _registry(properties, settings)
    subject = f"{properties['kafka.topic']}-value"
    name = f"the schema of subject '{subject}'"
    try:
        return _resolved(registry, _get(registry, f"subjects/{quote(subject, safe='')}/versions/latest", name), name)
    except _MissingError:
        raise ExecutionError(
            f"the schema registry at {registry.url} has no subject '{subject}'",
            hint=f"specify the columns, or use CREATE EXTERNAL TABLE … LIKE TOPIC '{properties['kafka.topic']}', which"
            " reads the ids of the records' schemas",
        ) from None


def _registry(properties: Mapping[str, str], settings: Mapping[str, str]) -> Registry:
    url, reference = properties[REGISTRY].rstrip("/"), properties.get(REGISTRY_CREDENTIALS, "")
    if reference:
        check_transport(url, REGISTRY_CREDENTIALS, settings)
    return Registry(url, reference)


class _MissingError(Exception):
    """The registry does not have a schema."""


@lru_cache(maxsize=1024)
def _schema(registry: Registry, number: int) -> str:
    """The schema of an id, which never changes, with all types that it uses. Raises _MissingError."""
    name = f"schema {number}"
    return _resolved(registry, _get(registry, f"schemas/ids/{number}", name), name)


@lru_cache(maxsize=1024)
def _version(registry: Registry, subject: str, version: int) -> StoredSchema:
    """A version of a subject, which never changes and may have been deleted. Raises _MissingError."""
    path = f"subjects/{quote(subject, safe='')}/versions/{version}?deleted=true"
    return _get(registry, path, f"version {version} of subject '{subject}'")


def _resolved(registry: Registry, stored: StoredSchema, name: str) -> str:
    """The schema with the types of the schemas that it refers to. Raises ExecutionError, UnsupportedError."""
    if not stored.references:
        return stored.schema
    others = list(_referenced(registry, stored, name, set()))
    try:
        return self_contained(stored.schema, others)
    except SemanticError as error:
        raise ExecutionError(f"{name} of the registry at {registry.url}: {error.message}") from None


def _referenced(registry: Registry, stored: StoredSchema, name: str, found: set[str]) -> Iterator[str]:
    """The schemas that a schema refers to, each after those that it refers to. As in Confluent's client, the first
    version of a type counts."""
    for reference in stored.references or ():
        if reference.name in found:
            continue
        found.add(reference.name)
        if len(found) > MOST_REFERENCES:
            raise ExecutionError(
                f"{name} of the registry at {registry.url} refers to more than {MOST_REFERENCES} other schemas",
                hint="a schema with all its types in one document can be given with avro.schema.literal",
            )
        try:
            other = _version(registry, reference.subject, reference.version)
        except _MissingError:
            raise ExecutionError(
                f"{name} of the registry at {registry.url} refers to version {reference.version} of subject"
                f" '{reference.subject}', which the registry does not have"
            ) from None
        yield from _referenced(registry, other, name, found)
        yield other.schema


def _get(registry: Registry, path: str, name: str) -> StoredSchema:
    """A schema. Raises _MissingError if the registry does not have it."""
    url, reference = registry.url, registry.credentials
    user, _, password = secret(REGISTRY_CREDENTIALS, reference).partition(":") if reference else ("", "", "")
    try:
        with session(Bounds(TIMEOUT, LARGEST_DOCUMENT, MAX_REDIRECTS)) as asking:
            response = asking.fetch(f"{url}/{path}", auth=(user, password) if reference else None)
    except UnfitError as error:
        raise ExecutionError(f"the answer of the schema registry at {url} {error}", hint=f"check {REGISTRY}") from None
    except requests.RequestException as error:
        raise ConnectError(f"cannot reach the schema registry at {url}: {type(error).__name__}") from None
    if response.status_code == 404:
        raise _MissingError
    if not response.ok:
        raise ExecutionError(
            f"the schema registry at {url} refuses {name}: HTTP status {response.status_code}",
            hint=f"check {REGISTRY} and {REGISTRY_CREDENTIALS}" if response.status_code in (401, 403) else None,
        )
    try:
        stored = fitted(parse_json(response.content), StoredSchema)
    except ValueError as error:
        raise ExecutionError(f"unexpected response of the schema registry at {url}: {error}") from None
    if stored.schemaType not in (None, "AVRO"):
        raise UnsupportedError(
            f"{name} of the registry at {url} is of type {stored.schemaType}, which is not supported",
            hint="register a schema of Avro",
        )
    return stored
