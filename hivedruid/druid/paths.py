"""The paths of requests to Druid's services. Every client takes them from here."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

CANDIDATES = "/druid/v2/datasources/{}/candidates"
"""The broker's timeline of a data source, at `intervals`."""
_NOT_ENCODED = "/:,"
"""Characters of parameters that are sent as they are, such as those of intervals."""
_AMBIGUOUS = "%\\/"


def is_ambiguous(name: str) -> bool:
    """Whether Jetty 12 may refuse paths with this name: an encoded character of it may also mean something else."""
    return any(character in name for character in _AMBIGUOUS)


def path_of(template: str, *names: str, **parameters: str | Sequence[str] | None) -> str:
    """The path of an endpoint: `names` take the places of `{}`, and `parameters` follow, one that is None is left out.

    Druid decodes `%25` and `%5C` in names. From Druid 35 on it does so with the default of
    druid.server.http.uriCompliance alone (`versions`, `is_ambiguous`).
    """
    path = template.format(*(quote(name, safe="") for name in names))
    pairs = [
        f"{key}={quote(value, safe=_NOT_ENCODED)}"
        for key, given in parameters.items()
        if given is not None
        for value in ([given] if isinstance(given, str) else given)
    ]
    return f"{path}{'&' if '?' in path else '?'}{'&'.join(pairs)}" if pairs else path


def mark_unused_path(data_source: str) -> str:
    """Where the coordinator marks segments as unused."""
    return path_of("/druid/coordinator/v1/datasources/{}/markUnused", data_source)


def mark_used_path(data_source: str) -> str:
    """Where the overlord marks segments as used."""
    return path_of("/druid/indexer/v1/datasources/{}/markUsed", data_source)
