"""Avro schemas at the URLs or paths that the property avro.schema.url names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

import requests

from hivedruid.bounded_http import LARGEST_DOCUMENT
from hivedruid.catalog.avro import LITERAL, URL, parse_schema
from hivedruid.clients.guarded import MAX_REDIRECTS, Bounds, UnfitError, session
from hivedruid.errors import ConnectError, ExecutionError, SemanticError, UnsupportedError
from hivedruid.filesystems import Access, local_copy

TIMEOUT = 30.0
"""Seconds in which a server must have sent a schema."""


def schema_at(url: str, owner: str, settings: Mapping[str, str]) -> str:
    """The schema at a URL or a path; `owner` is the table with that property. Raises ConnectError, ExecutionError,
    SemanticError, UnsupportedError, without the user, password and query of a URL."""
    is_http = urlsplit(url).scheme.lower() in ("http", "https")
    shown = _shown(url) if is_http else url
    data = _of_server(url, shown, owner) if is_http else _of_file(url, owner, settings)
    try:
        text = data.decode(json.detect_encoding(data))
        parse_schema(text)
    except UnicodeDecodeError:
        raise SemanticError(f"{URL} of {owner} is not an Avro schema: {shown} is not text") from None
    except (SemanticError, UnsupportedError) as error:
        raise type(error)(f"{error.message} ({URL} of {owner}: {shown})", hint=error.hint) from None
    return text


def _of_file(url: str, owner: str, settings: Mapping[str, str]) -> bytes:
    try:
        with local_copy(url, Access.of(settings)) as path:
            return path.read_bytes()
    except OSError as error:
        raise ExecutionError(
            f"cannot read {URL} of {owner}: {error}",
            hint=f"use a path, a URI such as s3://bucket/file or https://host/file, or {LITERAL}",
        ) from None


def _of_server(url: str, shown: str, owner: str) -> bytes:
    message = f"cannot read {URL} of {owner}: {shown}"
    try:
        with session(Bounds(TIMEOUT, LARGEST_DOCUMENT, follows=MAX_REDIRECTS)) as asking:
            response = asking.fetch(url)
    except UnfitError as error:
        raise ExecutionError(f"{message} {error}", hint=f"check {URL}") from None
    except requests.Timeout:
        raise ConnectError(f"{message} did not send the schema within {TIMEOUT:g} s") from None
    except (requests.RequestException, ValueError) as error:
        raise ConnectError(f"{message} cannot be reached: {type(error).__name__}", hint=f"check {URL}") from None
    if not response.ok:
        raise ExecutionError(f"{message} returned HTTP status {response.status_code}", hint=f"check {URL}")
    return response.content


def _shown(url: str) -> str:
    """The URL without its user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
