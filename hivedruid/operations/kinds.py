"""The kinds of operations. A new kind is a subclass of `Operation`, a row here, and a row in `actions/recovery.py`."""

from __future__ import annotations

from collections.abc import Mapping

from hivedruid.operations.archives import ArchiveJob
from hivedruid.operations.changes import IngestionJob
from hivedruid.operations.compactions import CompactionJob
from hivedruid.operations.loads import LoadJob, ViewJob
from hivedruid.operations.operation import Operation
from hivedruid.operations.partitions import PartitionJob
from hivedruid.operations.rewrites import RewriteJob
from hivedruid.operations.topics import TopicJob
from hivedruid.operations.views import ManagedViewJob

KINDS: Mapping[str, type[Operation]] = {
    kind.kind: kind
    for kind in (
        LoadJob, ViewJob, ManagedViewJob, IngestionJob, CompactionJob, RewriteJob, TopicJob, ArchiveJob, PartitionJob,
    )
}  # fmt: skip
"""By the name that the catalog stores."""
STATES: tuple[str, ...] = tuple(dict.fromkeys(state for kind in KINDS.values() for state in kind.transitions))
"""The states of all kinds."""
