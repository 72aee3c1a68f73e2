"""Avro schemas at the URLs or paths that the property avro.schema.url names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import monotonic
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError

from hivedruid.catalog.avro import LITERAL, URL, parse_schema
from hivedruid.errors import ConnectError, ExecutionError, SemanticError, UnsupportedError
from hivedruid.filesystems import Access, local_copy

TIMEOUT = 30.0
"""Seconds in which a server must have sent a schema."""
LARGEST = 16 << 20
"""Bytes of the largest schema that is read."""
_READ = 1 << 16
"""Bytes read at once."""


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
    deadline, data = monotonic() + TIMEOUT, b""
    try:
        with requests.get(url, timeout=TIMEOUT, stream=True) as response:
            if not response.ok:
                raise ExecutionError(f"{message} returned HTTP status {response.status_code}", hint=f"check {URL}")
            while part := response.raw.read1(_READ, decode_content=True):
                data += part
                if len(data) > LARGEST:
                    raise ExecutionError(f"{message} has more than {LARGEST >> 20} MB, which no schema has")
                if monotonic() > deadline:
                    raise ConnectError(f"{message} did not send the schema within {TIMEOUT:.0f} s")
            return data
    except requests.Timeout:
        raise ConnectError(f"{message} did not respond within {TIMEOUT:.0f} s") from None
    except (requests.RequestException, HTTPError, ValueError) as error:
        raise ConnectError(f"{message} cannot be reached: {type(error).__name__}", hint=f"check {URL}") from None


def _shown(url: str) -> str:
    """The URL without its user, password and query, which may be secrets."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
