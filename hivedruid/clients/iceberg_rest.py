"""pyiceberg's client of a REST catalog, with bounded responses, and for the addresses of its properties alone."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pyiceberg.catalog.rest import RestCatalog

from hivedruid.clients.guarded import LARGEST, Bounds, GuardedAdapter, UnfitError, origin_of, parse_json, send_bounded

if TYPE_CHECKING:
    import requests

TIMEOUT = 60.0
"""Seconds for a response."""
_ADDRESSES = ("uri", "oauth2-server-uri")


class GuardedRestCatalog(RestCatalog):
    """The catalog's own configuration, `/v1/config`, may set any property. Secrets are not sent where it moves them."""

    def __init__(self, name: str, **properties: str) -> None:
        origins = {origin_of(properties[key]) for key in _ADDRESSES if properties.get(key)}
        self._bounds = Bounds(TIMEOUT, LARGEST, origins=origins)
        super().__init__(name, **properties)

    def _create_session(self) -> requests.Session:
        session = super()._create_session()
        for adapter in session.adapters.values():
            if not isinstance(adapter, GuardedAdapter):  # that of signatures
                adapter.send = partial(send_bounded, adapter.send, self._bounds)  # type: ignore[method-assign]
        session.hooks["response"].append(_check_error)
        return session

    def _config_headers(self, session: requests.Session) -> None:
        """The first step of a session, before it requests a token."""
        super()._config_headers(session)
        for scheme in ("http://", "https://"):
            session.mount(scheme, GuardedAdapter(self._bounds))


def _check_error(response: requests.Response, *_: Any, **__: Any) -> None:
    """Raise UnfitError for a 404 that is not Iceberg's: to pyiceberg any 404 is a missing namespace or table."""
    if response.status_code != 404 or response.request.method == "HEAD":
        return
    try:
        error = parse_json(response.content)["error"]
        if isinstance(error["message"], str) and isinstance(error["type"], str):
            return
    except (ValueError, KeyError, TypeError):
        pass
    raise UnfitError("has status 404, and is not an error of Iceberg", response=response)
