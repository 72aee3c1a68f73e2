"""The HTTP client of Druid: requests to broker, coordinator and overlord."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from http.client import HTTPException
from pathlib import Path
from time import sleep
from typing import Any, TypeVar, overload
from urllib.parse import urlsplit

import requests
from msgspec import ValidationError
from requests.auth import AuthBase, HTTPBasicAuth
from urllib3.exceptions import HTTPError

from hivedruid.clients.address import DruidAddress, Service
from hivedruid.clients.failures import AnswerError, UnavailableError, is_busy, is_page, refusal, unexpected
from hivedruid.clients.fitting import fitted
from hivedruid.clients.guarded import (
    CONNECT_TIMEOUT,
    LARGEST,
    MAX_REDIRECTS,
    Bounds,
    UnfitError,
    location_of,
    origin_of,
    parse_json,
    session,
)
from hivedruid.clients.wire import Acknowledgement, JsonObject, Status
from hivedruid.druid.versions import DruidVersion, oldest
from hivedruid.errors import ConnectError, DruidError, ExecutionError, UsageError
from hivedruid.references import readable, secret
from hivedruid.responses.queries import DruidAccess

T = TypeVar("T")
M = TypeVar("M")
_REFUSED = object()

QUERY = "/druid/v2"
CANCEL_TIMEOUT = 3.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before a request is repeated: doubled each time."""
CHUNK = 1 << 16
LEADERS: Mapping[Service, str] = {
    "coordinator": "/druid/coordinator/v1/leader",
    "overlord": "/druid/indexer/v1/leader",
}


class DruidClient:
    """A client of one Druid cluster. Creating one is cheap: the first request reads secrets and opens connections.

    All methods raise ConnectError if a service cannot be reached, DruidError if it refuses a request, and UsageError
    for settings that refer to missing files or variables.
    """

    def __init__(self, address: DruidAddress) -> None:
        self.address = address
        self._open: requests.Session | None = None
        self._leaders: dict[Service, str] = {}
        self._waiting_for = ""
        """The id of the query that a thread is waiting for."""

    @cached_property
    def version(self) -> DruidVersion:
        """That of the oldest service, read once; a service that does not respond, or refuses, is left out."""
        services: tuple[Service, ...] = ("broker", "coordinator", "overlord")
        found: list[str] = []
        for service in {self.address.base(service): service for service in services}.values():
            try:
                found.append(self.get(service, "/status", Status).version)
            except AnswerError:
                raise
            except (DruidError, ConnectError):
                continue
        return oldest(found)

    @overload
    def get(self, service: Service, path: str, shape: type[T]) -> T: ...
    @overload
    def get(self, service: Service, path: str, shape: type[T], *, missing: M, no_content: bool = False) -> T | M: ...
    def get(
        self, service: Service, path: str, shape: type[Any], *, missing: Any = _REFUSED, no_content: bool = False
    ) -> Any:
        """The JSON at a path, as a type of `wire`; `missing`, if given, is returned for 404, and for 204 (which some
        endpoints send instead) if `no_content`."""
        response = self._send("GET", service, path)
        absent = (404, 204) if no_content else (404,)
        if missing is not _REFUSED and response.status_code in absent and not is_page(response.content):
            return missing
        return self._value("GET", service, path, response, shape)

    def text(self, service: Service, path: str) -> str:
        """The text at a path; "" if there is none."""
        response = self._send("GET", service, path)
        if is_page(response.content):
            raise self.unexpected("GET", service, path, response.content, "an HTML page")
        if response.status_code == 404:
            return ""
        if not response.ok:
            raise self._refusal(service, response)
        return response.content.decode("utf-8", "replace")

    def post(
        self,
        service: Service,
        path: str,
        shape: type[T],
        body: Any = None,
        *,
        repeatable: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """The response, as a type of `wire`. `repeatable`: whether the request is idempotent."""
        response = self._send("POST", service, path, body, repeatable=repeatable, headers=headers)
        return self._value("POST", service, path, response, shape)

    def delete(self, service: Service, path: str) -> None:
        """Delete a path; it need not exist."""
        response = self._send("DELETE", service, path)
        if response.status_code != 404 or is_page(response.content):
            self._value("DELETE", service, path, response, Acknowledgement)

    def query(self, query: Mapping[str, Any]) -> Generator[bytes, None, None]:
        """The bytes of a native query's response, streamed; its context needs a `queryId`.

        If the caller stops reading early, also by Ctrl-C, the query is cancelled in Druid.
        """
        finished = False
        response: requests.Response | None = None
        query_id = str(query["context"]["queryId"])
        try:
            with self._waiting(query_id):
                response = self._send("POST", "broker", QUERY, query, stream=True, silence=self._patience())
            if not response.ok:
                raise self._refusal("broker", response)
            chunks = response.raw.stream(CHUNK, decode_content=True)
            while (chunk := self._next(query_id, chunks)) is not None:
                yield chunk
            finished = True
        except UnfitError as error:
            raise self._unfit("broker", error) from error
        except (HTTPError, HTTPException, requests.RequestException, ValueError) as error:
            raise DruidError(
                f"the answer of {self._where('broker')} ended early: {_reason(error)}",
                hint="rerun the statement; `druid.query.timeout` limits how long a query may take",
            ) from error
        except ExecutionError:
            finished = True
            raise
        finally:
            if response is not None:
                response.close()
            if not finished:
                self.cancel(query_id)

    def _next(self, query_id: str, chunks: Iterator[bytes]) -> bytes | None:
        with self._waiting(query_id):
            return next(chunks, None)

    @contextmanager
    def _waiting(self, query_id: str) -> Iterator[None]:
        self._waiting_for = query_id
        try:
            yield
        finally:
            self._waiting_for = ""

    def interrupt(self) -> None:
        """Cancel the query that another thread is waiting for."""
        if query_id := self._waiting_for:
            self.cancel(query_id)

    def cancel(self, query_id: str) -> None:
        """Cancel a query in Druid. Errors are ignored."""
        with suppress(requests.RequestException, ExecutionError, UsageError):
            url = f"{self.address.broker}/druid/v2/{query_id}"
            self._session().request("DELETE", url, timeout=CANCEL_TIMEOUT, allow_redirects=False).close()

    def access(self) -> DruidAccess:
        """What other processes need for requests to this Druid."""
        address = self.address
        request = requests.Request("GET", address.broker, auth=_auth(address)).prepare()
        files = [
            str(Path(path).absolute()) if path else ""
            for path in (address.ca_file, address.certificate_file, address.key_file)
        ]
        return DruidAccess(request.headers.get("Authorization", ""), *files)

    def close(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    # --- one request -------------------------------------------------------------------------------------------

    def _send(
        self,
        method: str,
        service: Service,
        path: str,
        body: Any = None,
        *,
        stream: bool = False,
        silence: float | None = None,
        repeatable: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """The response, whatever its status. Retries idempotent requests while the service or its leader is
        unavailable."""
        if not self.address.base(service):  # a stopped service of a local cluster
            raise ConnectError(f"the local cluster's {service} is not running", hint="run hivedruid local up")
        tries = self.address.tries if repeatable else 1
        for attempt in range(1, tries + 1):
            if attempt > 1:
                sleep(min(FIRST_PAUSE * 2 ** (attempt - 2), LONGEST_PAUSE))
            try:
                response = self._to_leader(method, service, path, body, stream, silence, headers)
            except UnfitError as error:
                raise self._unfit(service, error) from error
            except (requests.exceptions.SSLError, requests.Timeout) as error:
                raise self._unreachable(service, error) from error
            except requests.ConnectionError as error:
                self._leaders.pop(service, None)
                if attempt == tries:
                    raise self._unreachable(service, error) from error
            except (requests.RequestException, HTTPError) as error:
                raise self._unreachable(service, error) from error
            else:
                if response.ok or attempt == tries or not is_busy(response.status_code, response.content):
                    return response
                self._leaders.pop(service, None)
        raise AssertionError("not reached: the last attempt returns or raises")

    def _to_leader(
        self,
        method: str,
        service: Service,
        path: str,
        body: Any,
        stream: bool,
        silence: float | None,
        headers: Mapping[str, str] | None,
    ) -> requests.Response:
        """Send a request, and follow redirects to the leader of the service, but to no other address."""
        base = self._leaders.get(service) or self.address.base(service)
        url = base + path
        for _ in range(MAX_REDIRECTS):
            response = self._session().request(
                method,
                url,
                data=None if body is None else json.dumps(body).encode(),
                timeout=(CONNECT_TIMEOUT, self.address.read_timeout if silence is None else silence or None),
                stream=stream,
                headers=headers,
                allow_redirects=False,
            )
            if not response.is_redirect and response.status_code not in (307, 308):
                return response
            target = location_of(response)
            if not self._is_known(service, target):
                raise DruidError(
                    f"{self._where(service)} redirects to {origin_of(target)}, which is not the address of its leader",
                    hint="SET druid.url, druid.coordinator.url and druid.overlord.url to the addresses of the services",
                )
            if service in LEADERS:
                self._leaders[service] = origin_of(target)
            url = target
        raise UnavailableError(
            f"{self._where(service)} redirects in a loop: no leader is elected", hint="try again later"
        )

    def _is_known(self, service: Service, target: str) -> bool:
        """Whether a redirect leads to an address that may receive credentials: a configured one, or the leader's."""
        origin = origin_of(target)
        if origin in {origin_of(self.address.base(known)) for known in ("broker", "coordinator", "overlord")}:
            return True
        if service not in LEADERS or (
            self.address.base(service).startswith("https:") and not origin.startswith("https:")
        ):
            return False
        response = self._session().get(
            self.address.base(service) + LEADERS[service],
            timeout=(CONNECT_TIMEOUT, self.address.read_timeout or None),
            allow_redirects=False,
        )
        return response.ok and origin_of(response.text.strip()) == origin

    def _patience(self) -> float:
        """The read timeout of queries: slightly longer than the query's own timeout."""
        address = self.address
        if not address.query_timeout or not address.read_timeout:
            return 0
        return max(address.read_timeout, address.query_timeout + 5)

    def _longest(self) -> float:
        """The seconds in which a response that is not streamed must be complete: what a query may take, at least."""
        address = self.address
        return max(address.read_timeout, address.query_timeout) if address.read_timeout and address.query_timeout else 0

    def _session(self) -> requests.Session:
        if self._open is None:
            address = self.address
            found = session(Bounds(self._longest(), LARGEST, follows=None))
            nearby = urlsplit(address.broker).hostname in ("localhost", "127.0.0.1", "::1")
            found.trust_env = not nearby  # localhost is not reachable through a proxy
            found.headers["Accept-Encoding"] = "identity" if nearby else "gzip"
            found.headers["Content-Type"] = "application/json"
            found.auth = _auth(address)
            if address.ca_file:
                found.verify = str(readable("druid.tls.ca.file", address.ca_file))
            if address.certificate_file:
                certificate = str(readable("druid.tls.certificate.file", address.certificate_file))
                key = address.key_file and str(readable("druid.tls.key.file", address.key_file))
                found.cert = (certificate, key) if key else certificate
            self._open = found
        return self._open

    # --- responses ---------------------------------------------------------------------------------------------

    def _value(self, method: str, service: Service, path: str, response: requests.Response, shape: type[T]) -> T:
        """The response as its type. Raises AnswerError if it does not match, and the error of `refusal` for a
        refusal."""
        if not response.ok:
            raise self._refusal(service, response)
        return self.value(method, service, path, response.content, shape)

    def value(self, method: str, service: Service, path: str, body: bytes | str, shape: type[T]) -> T:
        """The content of a response as its type. Raises AnswerError if it does not match."""
        is_acknowledged = shape is Acknowledgement
        if is_acknowledged and not body.strip():
            return shape()
        try:
            found = parse_json(body)
            if is_acknowledged:
                fitted(found, JsonObject)
                return shape()
            return fitted(found, shape)
        except ValueError as error:
            why = str(error) if isinstance(error, ValidationError) else "not JSON"
            raise self.unexpected(method, service, path, body, why) from None

    def unexpected(self, method: str, service: Service, path: str, body: bytes | str, why: str) -> AnswerError:
        """The error for a response to this request that is not from Druid; `body` is its beginning."""
        base = self._leaders.get(service) or self.address.base(service)
        return unexpected(f"{method} {base}{path}", body, why)

    def _refusal(self, service: Service, response: requests.Response) -> ExecutionError:
        return refusal(response.status_code, response.content, self._where(service), self.address.query_timeout)

    def _where(self, service: Service) -> str:
        """The service as shown in messages."""
        base = self._leaders.get(service) or self.address.base(service)
        is_shared = base == self.address.broker and service != "broker"
        return f"Druid at {base}" if is_shared else f"Druid's {service} at {base}"

    def _unfit(self, service: Service, error: UnfitError) -> DruidError:
        return DruidError(
            f"the answer of {self._where(service)} {error}",
            hint="a proxy or another program may be answering instead of Druid: run hivedruid doctor",
        )

    def _unreachable(self, service: Service, error: Exception) -> ConnectError:
        if isinstance(error, requests.exceptions.SSLError):
            return ConnectError(
                f"no secure connection to {self._where(service)}: {_reason(error)}",
                hint=(
                    "set druid.tls.ca.file to the certificates to trust, and druid.tls.certificate.file to the client"
                    " certificate"
                ),
            )
        hint = (
            "check what is running: hivedruid local status"
            if self.address.url == "local"
            else "set druid.url to the address of Druid"
        )
        return ConnectError(f"cannot reach {self._where(service)}: {_reason(error)}", hint=hint)


class _Bearer(AuthBase):
    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


class _Nobody(AuthBase):
    """No authentication, not even from a .netrc."""

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        return request


def _auth(address: DruidAddress) -> AuthBase:
    if address.token:
        return _Bearer(secret("druid.auth.token", address.token))
    if address.username:
        if not address.password:
            raise UsageError("druid.auth.username is set, but druid.auth.password is not")
        password = secret("druid.auth.password", address.password)
        return HTTPBasicAuth(address.username.encode(), password.encode())
    return _Nobody()


def _reason(error: BaseException) -> str:
    """The innermost cause of a failed request, with the system's message."""
    seen: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in seen:
        seen.append(current)
        inner = getattr(current, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((a for a in current.args if isinstance(a, BaseException)), None)
        current = inner or current.__cause__ or current.__context__
    for cause in reversed(seen):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
    if isinstance(error, requests.Timeout):
        return "timed out"
    return str(seen[-1]) or type(seen[-1]).__name__
