"""Scrapes of a manager's metrics."""

from __future__ import annotations

from http.client import HTTPConnection
from urllib.parse import urlsplit


def get(url: str) -> tuple[int, str, str]:
    """The status, the content type and the text."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.request("GET", parts.path)
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read().decode()
    finally:
        connection.close()


def scraped(url: str) -> dict[str, float]:
    """The samples, by metric and labels as they are written."""
    status, _, text = get(url)
    assert status == 200, text
    pairs = (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {name: float(value) for name, value in pairs}
