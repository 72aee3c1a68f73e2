"""Which snapshots of an Iceberg table expire, and which never do. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from hivedruid.iceberg.history import Snapshot, TableHistory
from hivedruid.lazy_dataclass import dataclass

PREFIX, OFFSETS = "hivedruid.", ".offsets"
"""Properties of snapshots with the offsets of streams are `hivedruid.….offsets` (`streams/position.py`)."""


@dataclass(frozen=True)
class Expiry:
    """The snapshots that EXPIRE_SNAPSHOTS names: those from `since` and `before` a time in milliseconds, all but the
    `retain` newest of the table, or those in `ids`."""

    before: int | None = None
    since: int | None = None
    retain: int | None = None
    ids: Collection[int] = ()


def named(history: TableHistory, expiry: Expiry) -> tuple[Snapshot, ...]:
    """The snapshots that an expiry names, oldest first."""
    snapshots = _oldest_first(history)
    if expiry.ids:
        return tuple(each for each in snapshots if each.id in expiry.ids)
    if expiry.retain is not None:
        newest = {each.id for each, _ in zip(history.ancestors(), range(expiry.retain), strict=False)}
        return tuple(each for each in snapshots if each.id not in newest)
    return tuple(
        each
        for each in snapshots
        if (expiry.since is None or each.at >= expiry.since) and (expiry.before is None or each.at < expiry.before)
    )


def kept(history: TableHistory) -> dict[int, str]:
    """The snapshots that never expire, with the reason: those of branches and tags, and of each property with offsets
    the newest snapshot. Streams find that one by walking from a branch, so all snapshots between them are kept, too.
    """
    reasons: dict[int, str] = {}
    snapshots = _oldest_first(history)
    for name in sorted({name for each in snapshots for name in _offsets(each)}):
        for head in history.refs.values():
            reasons |= dict.fromkeys(_down_to(name, history.chain(head)), f"leads to {name}")
        newest = next(each for each in reversed(snapshots) if name in _offsets(each))
        reasons[newest.id] = f"newest {name}"
    for ref, head in history.refs.items():
        reasons[head] = f"{ref} refers to it"
    return reasons


def _oldest_first(history: TableHistory) -> list[Snapshot]:
    return sorted(history.snapshots.values(), key=lambda each: each.at)


def _offsets(snapshot: Snapshot) -> list[str]:
    return [key for key in snapshot.summary if key.startswith(PREFIX) and key.endswith(OFFSETS)]


def _down_to(name: str, snapshots: Iterable[Snapshot]) -> list[int]:
    """The snapshots up to the first one with the property; none if none has it."""
    passed: list[int] = []
    for each in snapshots:
        passed.append(each.id)
        if name in each.summary:
            return passed
    return []
