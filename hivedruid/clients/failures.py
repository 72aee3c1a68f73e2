"""Converts Druid's error responses to exceptions."""

from __future__ import annotations

import html
import re
from http import HTTPStatus
from typing import Any

from hivedruid.clients.guarded import parse_json
from hivedruid.errors import DruidError, ExecutionError, ResourceError
from hivedruid.redaction import redact
from hivedruid.terminal import printable

RESOURCE_LIMIT = "Resource limit exceeded"
"""QueryException.RESOURCE_LIMIT_EXCEEDED_ERROR_CODE: merge buffers, dictionaries, rows of a subquery, rows queued for
ordering. Plain scans ask for none of these, so another engine over them gets the answer."""

TOO_MUCH = (
    "Exceeded memory usage when aggregating",
    "java.lang.Integer cannot be cast to class java.lang.Long",
    "null (NoSuchElementException)",
    "Unexpected end-of-input: expected close marker for Array",
    "StackOverflowError",
    "(ValueInstantiationException)",
)
"""Refusals that have no code of their own: a text too long for an aggregator; times of early 1970 in the rows of an
ordered inner scan; a null in a numeric column that is joined with `notdistinctfrom` to rows without nulls, on the
broker and on a historical (IndexedTableJoinMatcher.matchSingleRow); an expression that overflows the stack, while the
query is read or later."""

_BLOCKED = re.compile(r"^Query\[.*?\] (blocked by rule\[.*\])$")
"""The message of a query that the broker's configuration blocks (QueryLifecycle.checkQueryBlocklist of Druid 37)."""
_PATH = re.compile(r"Ambiguous URI|Suspicious Path Character")
"""Of Jetty, before Druid: a name in a path has a character that may also mean something else (UriCompliance)."""

TIMEOUT = "Query timeout"
CAPACITY = "Query capacity exceeded"
MESSAGE_LENGTH = 400
SHOWN = 80
"""The number of characters shown of a response that is not from Druid."""


class AnswerError(DruidError):
    """A successful response that is not a valid response of Druid."""


class MissingError(DruidError):
    """The requested object does not exist (404)."""


class PathError(DruidError):
    """The service refuses the path of the request, because of a name in it."""


class UnavailableError(DruidError):
    """The service is temporarily unavailable: it is starting, or a leader is being elected."""


def broken_off(broker: str, where: str) -> DruidError:
    """The error for an answer that ends early; `where` is "" or a number of rows."""
    return DruidError(
        f"Druid at {broker} ended its answer early{where}: the query reached druid.query.timeout, or a service stopped",
        hint="rerun it with more time: SET druid.query.timeout=PT1H",
    )


def refusal(status: int, body: bytes, where: str, timeout: float = 0) -> ExecutionError:
    """The error for an unsuccessful HTTP response. `where` names the service, `timeout` the query's in seconds."""
    found = _json(body)
    code, message = _code(found), _message(found, body)
    name = _phrase(status)
    if (blocked := _BLOCKED.match(message)) is not None:
        return DruidError(
            f"{where} refused the query: {blocked[1]} of the broker's configuration",
            hint="ask its operator for the rule: GET /druid/coordinator/v1/broker/config shows all of them",
        )
    if status == 400 and _PATH.search(message):
        return PathError(
            f"{where} refused the path of the request: {message}",
            hint="set druid.server.http.uriCompliance=LEGACY, the default: names with '/', '%' or '\\' need it",
        )
    if status in (401, 403):
        return DruidError(
            f"{where} refused the request: {name}{f' ({message})' if message else ''}",
            hint="set druid.auth.username and druid.auth.password, or druid.auth.token",
        )
    if code == RESOURCE_LIMIT or any(text in message for text in TOO_MUCH):
        return ResourceError(message or code)
    if code == TIMEOUT:
        limit = f" than {timeout:g} s" if timeout else " than Druid allows"
        return DruidError(f"the query took longer{limit}", hint="SET druid.query.timeout=PT1H gives queries more time")
    if code == CAPACITY:
        return DruidError(
            f"{where} has reached its limit of concurrent queries: {message or code}", hint="try again later"
        )
    text = f"{where} returned {name}{f': {message}' if message else ''}"
    if not found:
        kind = UnavailableError if status in (502, 503) else _not_found(body) if status == 404 else DruidError
        return kind(text, hint=_hint(status))
    return (MissingError if status == 404 else DruidError)(text, hint=_hint(status))


def unexpected(request: str, body: bytes | str, why: str) -> AnswerError:
    """The error for an invalid response to `request` (method and URL)."""
    text = body if isinstance(body, str) else body[: 4 * SHOWN].decode("utf-8", "replace")
    begins = printable(redact(text.strip())[:SHOWN])
    shown = f"it begins with '{begins}'" if begins else "it is empty"
    return AnswerError(
        f"the answer to {request} is not from Druid ({why}): {shown}",
        hint="a proxy, a login page or another program may be answering instead of Druid: run hivedruid doctor",
    )


def _not_found(body: bytes) -> type[DruidError]:
    """An HTML page shows that the response is not from Druid, or not from the right service."""
    return AnswerError if is_page(body) else MissingError


def is_page(body: bytes) -> bool:
    """Whether it is HTML, which Druid never returns for the requests of this client."""
    return body[:500].lstrip().lower().startswith((b"<!doctype", b"<html"))


def _hint(status: int) -> str | None:
    if status == 404:
        return (
            "set druid.coordinator.url and druid.overlord.url to the addresses of these services; a router forwards to"
            " them with druid.router.managementProxy.enabled=true"
        )
    return None


def is_busy(status: int, body: bytes) -> bool:
    """Whether a retry of the same request may succeed."""
    return status in (502, 503) or (status == 429 and _code(_json(body)) == CAPACITY)


def first_line(text: str) -> str:
    """A message of Druid's without its stack trace and the names of Java classes before it."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    line = lines[0] if lines else ""
    line = re.split(r"\s+at (?=[\w$.]+\([\w.:]*\))", line)[0]
    return _cut(re.sub(r"^(?:[a-z_]\w*\.)+[A-Z][\w$]*(?:Exception|Error|RE|ISE|IAE|UOE)?: ", "", line))


def _json(body: bytes) -> dict[str, Any]:
    try:
        found = parse_json(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _code(found: dict[str, Any]) -> str:
    context = found.get("context")
    legacy = context.get("legacyErrorCode") if isinstance(context, dict) else None
    return str(legacy or found.get("error") or "")


def _message(found: dict[str, Any], body: bytes) -> str:
    if found:
        text = str(found.get("errorMessage") or found.get("error") or "")
        java_class = str(found.get("errorClass") or "").rpartition(".")[2]
        if java_class and text.startswith(("Unhandled exception", "null")):
            text = f"{text} ({java_class})"
        return _cut(first_line(text))
    text = body.decode("utf-8", "replace").strip()
    if "<html" in text[:500].lower() or text[:9].lower() == "<!doctype":
        title = re.search(r"<title>(.*?)</title>", text, re.I | re.S)
        return _cut(" ".join(html.unescape(title[1]).split())) if title else "an HTML page"
    return first_line(text)


def _cut(text: str) -> str:
    """At most MESSAGE_LENGTH characters, whole sentences where there are some."""
    if len(text) <= MESSAGE_LENGTH:
        return text
    kept = text[:MESSAGE_LENGTH]
    sentence = kept.rfind(". ")
    return kept[: sentence + 1] if sentence > MESSAGE_LENGTH // 4 else f"{kept}…"


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
