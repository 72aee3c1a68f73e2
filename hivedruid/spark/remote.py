"""`spark.remote`: an external Spark Connect server."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hivedruid.errors import ConnectError, ExecutionError, UsageError
from hivedruid.references import SECURITY_PAGE
from hivedruid.secret_text import remember
from hivedruid.secrets import ENVIRONMENT_PREFIX, masked
from hivedruid.spark.failures import first_line

if TYPE_CHECKING:
    from pyspark.sql.connect.client import ChannelBuilder
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.client import Session

_CONNECTING = re.compile(r"^failed to connect to all addresses; last error: (?:[A-Z]+: )?")
PATIENCE = 4
"""Retries of a call that fails to connect: about ten seconds in total, with pauses that grow fourfold."""

RECONNECT = 2000
"""The longest time in milliseconds between attempts to connect. gRPC's default is two minutes, in which calls fail
without an attempt: a server that was restarted would still be reported as unreachable."""


def open_session(settings: Mapping[str, str]) -> Session:
    """A session on the server. Raises UsageError for an invalid URL or token."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    from hivedruid.spark.client import Session

    spark = Session(channel_builder(settings["spark.remote"], settings.get("spark.remote.token", "")))
    spark.client.set_retry_policies([DefaultPolicy(max_retries=PATIENCE)])
    return spark


def channel_builder(url: str, reference: str) -> ChannelBuilder:
    """The way to a server; `reference` is that of its token, or empty. Raises UsageError for an invalid URL or
    token."""
    from pyspark.sql.connect.client import DefaultChannelBuilder

    builder = DefaultChannelBuilder(_checked(url), channelOptions=[("grpc.max_reconnect_backoff_ms", RECONNECT)])
    token = _token(reference)
    if token:
        builder.set("token", token)
    return builder


def is_unreachable(error: BaseException) -> bool:
    """Whether the error means that the server is unreachable or rejects the token."""
    return _status(error) in ("UNAVAILABLE", "UNAUTHENTICATED")


_ENDED = ("[NO_ACTIVE_SESSION]", "No active Spark session found", "[INVALID_HANDLE.SESSION_")


def has_lost_session(text: str) -> bool:
    """Whether an error means that the server no longer has the session: it was restarted, or has ended the session."""
    return any(sign in text for sign in _ENDED)


def lost_session(settings: Mapping[str, str]) -> ConnectError:
    url = masked("spark.remote", settings["spark.remote"])
    return ConnectError(
        f"the Spark Connect server {url} was restarted, or has ended the session",
        hint="rerun the statement, which opens a new session; SHOW JOBS lists writes that were interrupted",
    )


def _status(error: BaseException) -> str:
    return getattr(getattr(error, "getGrpcStatusCode", lambda: None)(), "name", "")


def unreachable(settings: Mapping[str, str], error: BaseException) -> ConnectError:
    """The error for one that `is_unreachable`."""
    url = masked("spark.remote", settings["spark.remote"])
    instead = "or SET spark.remote= to use the local Spark server"
    if _status(error) == "UNAUTHENTICATED":
        problem = "rejected the token" if settings.get("spark.remote.token") else "requires a token"
        return ConnectError(
            f"the Spark Connect server {url} {problem}",
            hint=f"SET spark.remote.token=env:NAME or file:PATH to the token of the server, {instead}",
        )
    reason = _CONNECTING.sub("", first_line(str(error)))
    return ConnectError(
        f"cannot reach the Spark Connect server {url}: {reason}", hint=f"check spark.remote and the server, {instead}"
    )


def _checked(url: str) -> str:
    parts = urlsplit(url)
    parameters = parts.path.lstrip("/").lstrip(";").split(";")
    if any(parameter.lower().startswith("token=") for parameter in parameters):
        raise UsageError(
            "spark.remote must not contain a token: its value is displayed and logged",
            hint=f"remove it, and set spark.remote.token to env:NAME or file:PATH; {SECURITY_PAGE}",
        )
    try:
        well_formed = parts.scheme == "sc" and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        well_formed = False
    if not well_formed:
        raise UsageError(
            f"spark.remote is not a valid address of a Spark Connect server: '{masked('spark.remote', url)}'",
            hint="for example sc://spark.example.com:15002",
        )
    return url


def _token(reference: str) -> str:
    """The token to which the reference (env:NAME, file:PATH) refers."""
    if not reference:
        return ""
    if reference.startswith(ENVIRONMENT_PREFIX):
        name = reference.removeprefix(ENVIRONMENT_PREFIX)
        if name not in os.environ:
            raise UsageError(f"spark.remote.token names the environment variable {name}, which is not set")
        return _sendable(os.environ[name].strip())
    try:
        return _sendable(Path(reference.removeprefix("file:")).read_text(encoding="utf-8").strip())
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"spark.remote.token: cannot read {reference}: {why}") from None


def _sendable(token: str) -> str:
    if not (token.isascii() and token.isprintable()):
        raise UsageError("the token in spark.remote.token must contain only printable ASCII characters")
    remember([token])
    return token


SHIPPED_LIMIT = 256 * 1024 * 1024
"""Maximum bytes of one native query's rows that are sent to a Spark server without access to this machine's files."""


def uploaded_rows(spark: SparkSession, parquet: Path) -> Any:
    """The rows of a local Parquet file as a DataFrame on a Spark server that cannot read the file."""
    from pyarrow import parquet as files
    from pyspark.sql.pandas.types import from_arrow_schema

    with files.ParquetFile(parquet) as file:
        size = sum(file.metadata.row_group(group).total_byte_size for group in range(file.metadata.num_row_groups))
        if size > SHIPPED_LIMIT:
            raise ExecutionError(
                f"the query needs {size / 1e6:.0f} MB of rows from Druid on a remote Spark; the limit is"
                f" {SHIPPED_LIMIT / 1e6:.0f} MB",
                hint="filter or aggregate more in the query, or use the local Spark server: SET spark.remote=,"
                " SET spark.master=local[*]",
            )
        rows = file.read()
        # PySpark does not take the types of a table without rows
        return spark.createDataFrame(rows, from_arrow_schema(rows.schema) if rows.num_rows == 0 else None)
