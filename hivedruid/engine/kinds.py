"""The kinds of engines, and the one place that decides which has which capability: a row of `KINDS` for each kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TypeVar

from hivedruid.engine.capabilities import (
    Archiving,
    Compaction,
    DeepStorage,
    KafkaIngestion,
    Loading,
    Merging,
    Retention,
    SegmentLists,
    SegmentPublishing,
    SegmentStorage,
    Tasks,
)
from hivedruid.engine.engine import DruidEngine
from hivedruid.errors import CapabilityError, Span
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import EMBEDDED

C = TypeVar("C")

CAPABILITIES: tuple[type, ...] = (
    Loading,
    DeepStorage,
    SegmentPublishing,
    SegmentLists,
    Archiving,
    Retention,
    SegmentStorage,
    Merging,
    Tasks,
    KafkaIngestion,
    Compaction,
)
HINT = "a Druid cluster is required: run hivedruid local up, or set druid.url to a router"


@dataclass(frozen=True)
class EngineKind:
    """A kind of engine: it has every capability except those that it `lacks`, each with the reason in messages.

    `is_in_home`: it runs in this process, on the home folder, and no service is involved.
    `is_transactional`: rows and the catalog change in one transaction, one statement at a time.
    """

    name: str
    lacks: Mapping[type, str] = field(default_factory=dict)
    is_in_home: bool = False
    is_transactional: bool = False

    def has(self, capability: type) -> bool:
        return capability not in self.lacks

    def check(self, what: str, *capabilities: type, span: Span | None = None) -> None:
        """Raise CapabilityError if a capability is missing; `what` begins the message: `SHOW TASKS is not
        supported`."""
        for capability in capabilities:
            if not self.has(capability):
                raise CapabilityError(f"{what}: {self.name} {self.lacks[capability]}", span=span, hint=HINT)


EMBEDDED_STORE = EngineKind(
    "the embedded store",
    lacks={
        Retention: "has no retention rules",
        DeepStorage: "deletes replaced segments itself",
        SegmentStorage: "has no segment files of Druid",
        SegmentPublishing: "writes its own segments",
        Tasks: "does not ingest from Kafka or run tasks",
        KafkaIngestion: "does not ingest from Kafka",
        Compaction: "does not run compaction tasks",
    },
    is_in_home=True,
    is_transactional=True,
)
CLUSTER = EngineKind("the Druid cluster", lacks={Merging: "merges segments with tasks"})

KINDS: Mapping[str, EngineKind] = {EMBEDDED: EMBEDDED_STORE}
"""The kinds by druid.url. Every other URL, and `local`, is a cluster."""


def kind_of(url: str) -> EngineKind:
    """The kind of the engine at a druid.url."""
    return KINDS.get(url.rstrip("/"), CLUSTER)


def session_kind(settings: Mapping[str, str]) -> EngineKind:
    """The kind of the session's engine; no engine is opened."""
    return kind_of(settings.get("druid.url", EMBEDDED))


def find(engine: DruidEngine, capability: type[C]) -> C | None:
    """The engine as this capability; None if it does not have it."""
    if not kind_of(engine.url).has(capability):
        return None
    assert isinstance(engine, capability)
    return engine


def require(engine: DruidEngine, capability: type[C]) -> C:
    """The engine as this capability. Raises CapabilityError if it does not have it."""
    kind_of(engine.url).check("the statement is not supported", capability)
    found = find(engine, capability)
    assert found is not None
    return found
