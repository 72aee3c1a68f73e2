"""The optional capabilities of an engine, beside answering native queries and storing rows; checked before planning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hivedruid.errors import Span, UnsupportedError
from hivedruid.settings import EMBEDDED

Capability = Literal["ingestion", "tasks", "compaction", "one commit"]
"""`ingestion`: it reads from Kafka; `tasks`: it runs tasks that can be listed and stopped; `compaction`: it merges segments.
`one commit`: rows and the catalog change in one transaction, one statement at a time."""

_CLUSTER: frozenset[Capability] = frozenset({"ingestion", "tasks", "compaction"})
_EMBEDDED: frozenset[Capability] = frozenset({"one commit"})


def is_embedded(url: str) -> bool:
    """Whether a druid.url refers to the embedded store of the home."""
    return url.rstrip("/") == EMBEDDED


def can(url: str, capability: Capability) -> bool:
    """Whether the engine at a druid.url has the capability."""
    return capability in (_EMBEDDED if is_embedded(url) else _CLUSTER)


def session_can(settings: Mapping[str, str], capability: Capability) -> bool:
    """Whether the engine of the session has the capability."""
    return can(settings.get("druid.url", EMBEDDED), capability)


def require_cluster(settings: Mapping[str, str], what: str, span: Span | None = None) -> None:
    """Raise UnsupportedError if the session uses the embedded store; `what` is the statement."""
    if not session_can(settings, "tasks"):
        raise UnsupportedError(
            f"{what} is not supported: the embedded store does not ingest from Kafka or run tasks",
            span=span,
            hint="set druid.url to the router of a Druid cluster, or run hivedruid local up",
        )
