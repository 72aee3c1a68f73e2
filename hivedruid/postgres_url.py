"""The address of a catalog on PostgreSQL: `postgresql://[user@]host[:port]/database[?option=value&…]`. Pure."""

from __future__ import annotations

from dataclasses import field
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from hivedruid.lazy_dataclass import dataclass
from hivedruid.lazy_regex import regex

PORT = 5432
SCHEMA = "hivedruid"
"""The schema with the catalog if the address names none."""

JDBC_NAMES = {
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "connect_timeout": "connectTimeout",
    "application_name": "ApplicationName",
}
"""The options of libpq that an address may have, by the names of PostgreSQL's JDBC driver. `schema` is ours."""
_SECRET = ("password", "passfile", "sslpassword")
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_$-]{0,62}")


@dataclass(frozen=True)
class PostgresUrl:
    """A database and the schema in it. It contains no password."""

    host: str
    port: int
    database: str
    user: str = ""
    schema: str = SCHEMA
    options: dict[str, str] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> str:
        """The address in messages."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"postgresql://{host}:{self.port}/{quote(self.database)} (schema {self.schema})"

    @property
    def jdbc(self) -> str:
        """The URL of the same schema for the JDBC driver, without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        options = {JDBC_NAMES[key]: value for key, value in self.options.items()} | {
            "currentSchema": f'"{self.schema}"'
        }
        text = "&".join(f"{key}={quote(value, safe='')}" for key, value in options.items())
        return f"jdbc:postgresql://{host}:{self.port}/{quote(self.database, safe='')}?{text}"


class UrlError(ValueError):
    """Why a text is not such an address, without its secrets."""


class PasswordError(UrlError):
    """An address with a password."""


def parse(url: str) -> PostgresUrl:
    """Raises UrlError."""
    try:
        parts = urlsplit(url)
    except ValueError as error:  # brackets without an IPv6 address
        raise UrlError(f"its host is not valid: {error}") from None
    if parts.scheme not in ("postgresql", "postgres"):
        raise UrlError("it must be postgresql://host:port/database")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.password is not None or options.keys() & {*_SECRET}:
        raise PasswordError("it must not contain a password")
    try:
        host, port = parts.hostname, parts.port or PORT
    except ValueError:
        raise UrlError("the port is not a number up to 65535") from None
    database = unquote(parts.path.removeprefix("/"))
    if not host or not database or "/" in database or parts.fragment:
        raise UrlError("it must be postgresql://host:port/database")
    schema = options.pop("schema", SCHEMA)
    if not _NAME.fullmatch(schema):
        raise UrlError("the name of the schema must consist of letters, digits, '_', '$' and '-'")
    if unknown := sorted(options.keys() - JDBC_NAMES.keys()):
        raise UrlError(f"'{unknown[0]}' is not one of its options: schema, {', '.join(JDBC_NAMES)}")
    return PostgresUrl(host, port, database, unquote(parts.username or ""), schema, options)
