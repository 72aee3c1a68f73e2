"""The removal of segments whose rows are stored elsewhere, in one transaction of the manifest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hivedruid import instants
from hivedruid.druid.interval_sets import Cover
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.storage import Storage
from hivedruid.engine.archiving import Held, HeldInterval, Holding, NotRemovedError, Span, within


@contextmanager
def hold(data_source: str, spans: Sequence[Span], task_id: str, storage: Storage, manifest: Manifest) -> Iterator[Held]:
    """See `EmbeddedStore.hold`."""
    there = manifest.segments(data_source, spans)
    inside, left_out = within(there, spans)
    cover = Cover(inside)
    segments = tuple(segment for segment in there if cover.contains(segment.start, segment.end))
    version = instants.now()
    intervals = tuple(HeldInterval(*span, version) for span in inside)
    yield _Held(Holding(data_source, task_id, intervals, segments, tuple(left_out)), storage, manifest)


class _Held(Held):
    def __init__(self, holding: Holding, storage: Storage, manifest: Manifest) -> None:
        self._holding = holding
        self._storage = storage
        self._manifest = manifest

    @property
    def holding(self) -> Holding:
        return self._holding

    def remove(self) -> None:
        """See `Held.remove`."""
        holding = self._holding
        if not holding.segments:
            return
        if not self._manifest.remove(holding.task, holding.segments, holding.spans):
            raise NotRemovedError(
                f"the segments of {holding.data_source} were not removed: others have changed them",
                hint="rerun the statement",
            )
        self._storage.clean()

    def drop(self) -> None:
        """See `Held.drop`."""
        self.remove()
