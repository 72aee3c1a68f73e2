"""What a Druid can do besides answering native queries and storing rows: one table, asked before anything is planned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from hivedruid.errors import Span, UnsupportedError
from hivedruid.settings import EMBEDDED

Capability = Literal["ingestion", "tasks", "compaction", "one commit"]
"""`ingestion`: it reads from Kafka; `tasks`: it runs tasks that can be listed and ended; `compaction`: it merges segments.
`one commit`: rows and the catalog change together, one statement after the other."""

_CLUSTER: frozenset[Capability] = frozenset({"ingestion", "tasks", "compaction"})
_EMBEDDED: frozenset[Capability] = frozenset({"one commit"})


def is_embedded(url: str) -> bool:
    """Whether a druid.url means the embedded store of the home."""
    return url.rstrip("/") == EMBEDDED


def can(url: str, capability: Capability) -> bool:
    """Whether the Druid that a druid.url names has the capability."""
    return capability in (_EMBEDDED if is_embedded(url) else _CLUSTER)


def session_can(settings: Mapping[str, str], capability: Capability) -> bool:
    """The same of the session's Druid."""
    return can(settings.get("druid.url", EMBEDDED), capability)


def require_cluster(settings: Mapping[str, str], what: str, span: Span | None = None) -> None:
    """Raise UnsupportedError where the session's Druid is the embedded store; `what` is the statement."""
    if not session_can(settings, "tasks"):
        raise UnsupportedError(
            f"{what} is not supported: the embedded store does not ingest from Kafka or run tasks",
            span=span,
            hint="set druid.url to the router of a Druid cluster, or run hivedruid local up",
        )
