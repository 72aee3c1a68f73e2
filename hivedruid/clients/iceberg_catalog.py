"""The Iceberg catalogs of databases: their tables and schemas, without Spark. This module and `iceberg_rest` alone
import pyiceberg."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from hivedruid.catalog.iceberg_place import IcebergPlace
from hivedruid.catalog.table import Table
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, UsageError
from hivedruid.iceberg.catalog import resolved
from hivedruid.iceberg.tables import table_of
from hivedruid.secret_text import redact
from hivedruid.terminal import printable

if TYPE_CHECKING:
    from pyiceberg.catalog import Catalog as Client

T = TypeVar("T")
_SHOWN = 400
"""Characters that are shown of an error."""
_REST = "hivedruid.clients.iceberg_rest.GuardedRestCatalog"
_SQL_DRIVERS = {"sqlite:": "sqlite:///", "postgresql:": "postgresql+psycopg2:", "mysql:": "mysql+pymysql:"}
"""JDBC's addresses of databases, after jdbc:, and those of SQLAlchemy."""


class IcebergNamespace:
    """The namespace of a database's Iceberg catalog. It connects with the first request."""

    def __init__(self, place: IcebergPlace, settings: Mapping[str, str]) -> None:
        self._place = place
        self._settings = settings
        self._client: Client | None = None

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
        self._client = None

    def table_names(self) -> tuple[str, ...]:
        return tuple(sorted(name.lower() for name in self._names()))

    def table(self, name: str) -> Table | None:
        found = self._load(name)
        if found is None:  # other programs may have created it with capital letters
            same = [each for each in self._names() if each.lower() == name.lower() and each != name]
            found = self._load(name := same[0]) if same else None
        return None if found is None else table_of(found, self._place.table(name))

    def make_namespace(self) -> None:
        self._request(lambda client: client.create_namespace_if_not_exists(self._place.namespace))

    def _names(self) -> list[str]:
        from pyiceberg.exceptions import NoSuchNamespaceError

        def listed(client: Client) -> list[str]:
            try:
                return [identifier[-1] for identifier in client.list_tables(self._place.namespace)]
            except NoSuchNamespaceError:
                return []

        return self._request(listed)

    def _load(self, name: str) -> dict[str, Any] | None:
        """The metadata of a table, as Iceberg's specification defines it."""

        def loaded(client: Client) -> dict[str, Any] | None:
            from pyiceberg.exceptions import NoSuchIcebergTableError, NoSuchNamespaceError, NoSuchTableError

            try:
                table = client.load_table((*self._place.namespace, name))
            except (NoSuchTableError, NoSuchIcebergTableError, NoSuchNamespaceError):
                return None
            found: dict[str, Any] = json.loads(table.metadata.model_dump_json(by_alias=True))
            return found

        return self._request(loaded)

    def _request(self, ask: Callable[[Client], T]) -> T:
        try:
            if self._client is None:
                self._client = _connected(self._place, self._settings)
            return ask(self._client)
        except UsageError:
            raise
        except Exception as error:
            raise _failure(self._place, error) from error


def _connected(place: IcebergPlace, settings: Mapping[str, str]) -> Client:
    from pyiceberg.catalog import load_catalog

    given = resolved(dict(place.properties), "", settings)
    kind = place.type
    if kind == "jdbc":
        kind, given = "sql", _of_sqlalchemy(given)
    if kind == "rest":
        return load_catalog(place.catalog, **{**given, "py-catalog-impl": _REST})
    return load_catalog(place.catalog, **{**given, "type": kind})


def _of_sqlalchemy(given: Mapping[str, str]) -> dict[str, str]:
    """The properties of a JDBC catalog, with the database as SQLAlchemy addresses it."""
    from sqlalchemy.engine import make_url

    address = given["uri"].removeprefix("jdbc:")
    scheme = next((scheme for scheme in _SQL_DRIVERS if address.startswith(scheme)), None)
    if scheme is not None:
        address = _SQL_DRIVERS[scheme] + address.removeprefix(scheme).removeprefix("file:")
    if scheme == "sqlite:":
        address = address.partition("?")[0]
    url = make_url(address)
    if user := given.get("jdbc.user"):
        url = url.set(username=user, password=given.get("jdbc.password"))
    return {**given, "uri": url.render_as_string(hide_password=False)}


def _failure(place: IcebergPlace, error: Exception) -> HiveDruidError:
    text = printable(redact(str(error)).partition("\n")[0][:_SHOWN]) or type(error).__name__
    if isinstance(error, ImportError) or (not isinstance(error, OSError) and "not installed" in text):
        extra = {"jdbc": " 'pyiceberg[sql-postgres]'", "glue": " 'pyiceberg[glue]'"}.get(place.type, "")
        return UsageError(
            f"{place} requires Python packages that are not installed: {text}",
            hint=f"install them: pip install 'hivedruid[metastore]'{extra}",
        )
    hint = f"check the DBPROPERTIES of database {place.database}, and that its catalog runs"
    uri = dict(place.properties).get("uri", "")
    where = f"{place}{f', {uri}' if uri else ''}"
    if place.type == "rest" and _is_unfit(error):
        return ExecutionError(f"the answer of {where} {text}", hint=hint)
    if isinstance(error, _unreachable(place)):
        return ConnectError(f"cannot reach {where}: {_cause(error) or text}", hint=hint)
    return ExecutionError(f"{place} refused a request: {text}", hint=hint)


def _is_unfit(error: Exception) -> bool:
    from hivedruid.clients.guarded import UnfitError

    return isinstance(error, UnfitError)


def _unreachable(place: IcebergPlace) -> tuple[type[Exception], ...]:
    """The errors of clients that cannot connect."""
    if place.type == "jdbc":
        from sqlalchemy.exc import OperationalError

        return (OperationalError,)
    from requests import ConnectionError as NoConnection
    from requests import Timeout

    return NoConnection, Timeout


def _cause(error: BaseException) -> str:
    """What the operating system reports of a connection."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror
        reason = getattr(seen, "reason", None) or next((a for a in seen.args if isinstance(a, BaseException)), None)
        seen = reason if isinstance(reason, BaseException) else seen.__cause__ or seen.__context__
    return ""
