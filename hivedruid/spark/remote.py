"""`spark.remote`: an external Spark Connect server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hivedruid.errors import ConnectError, ExecutionError, UsageError
from hivedruid.secret_text import remember
from hivedruid.secrets import ENVIRONMENT_PREFIX, masked

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

    from hivedruid.spark.client import Session

PATIENCE = 4
"""Retries of a call that fails to connect: about ten seconds in total, with pauses that grow fourfold."""


def open_session(settings: Mapping[str, str]) -> Session:
    """A session on the server. Raises UsageError for an invalid URL or token."""
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.client.retries import DefaultPolicy

    from hivedruid.spark.client import Session

    url = _checked(settings["spark.remote"])
    builder = DefaultChannelBuilder(url)
    token = _token(settings.get("spark.remote.token", ""))
    if token:
        builder.set("token", token)
    spark = Session(builder)
    spark.client.set_retry_policies([DefaultPolicy(max_retries=PATIENCE)])
    return spark


def is_unreachable(error: BaseException) -> bool:
    """Whether the error means that the server is unreachable or rejects the token."""
    status = getattr(error, "getGrpcStatusCode", lambda: None)()
    return getattr(status, "name", "") in ("UNAVAILABLE", "UNAUTHENTICATED")


def unreachable(settings: Mapping[str, str]) -> ConnectError:
    url = masked("spark.remote", settings["spark.remote"])
    return ConnectError(
        f"the Spark Connect server {url} cannot be reached or rejected the token",
        hint="check spark.remote and spark.remote.token, or SET spark.remote= to use the local Spark server",
    )


def _checked(url: str) -> str:
    parts = urlsplit(url)
    parameters = parts.path.lstrip("/").lstrip(";").split(";")
    if any(parameter.lower().startswith("token=") for parameter in parameters):
        raise UsageError(
            "spark.remote must not contain a token: its value is shown and logged",
            hint="use SET spark.remote.token=env:NAME or file:PATH",
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

    with files.ParquetFile(parquet) as file:
        size = sum(file.metadata.row_group(group).total_byte_size for group in range(file.metadata.num_row_groups))
        if size > SHIPPED_LIMIT:
            raise ExecutionError(
                f"the query needs {size / 1e6:.0f} MB of rows from Druid on a remote Spark; the limit is"
                f" {SHIPPED_LIMIT / 1e6:.0f} MB",
                hint="filter or aggregate more in the query, or use the local Spark server: SET spark.remote=,"
                " SET spark.master=local[*]",
            )
        return spark.createDataFrame(file.read())
