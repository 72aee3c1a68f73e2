"""The problems of tiered tables: a table of rules over a `WatchedTier`. Pure.

Interrupted jobs are among the problems of jobs. A repair is a statement to run; if no statement helps, it is a comment
that describes the repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from hivedruid.actions.tiering.decisions import is_read
from hivedruid.catalog.archives import Batch
from hivedruid.catalog.table import Table
from hivedruid.catalog.tiers import fits_orc, granularity, hot_period
from hivedruid.druid import granularities
from hivedruid.druid.interval_sets import iso
from hivedruid.druid.retention import Rule, dropping, text
from hivedruid.engine.segments import Segment
from hivedruid.iceberg.history import Snapshot, TableHistory
from hivedruid.ingestion.problems import shown
from hivedruid.ingestion.repairs import Problem, sql_name
from hivedruid.lazy_dataclass import dataclass
from hivedruid.setting_types import seconds


@dataclass(frozen=True)
class WatchedTier:
    """A tiered table, and what is known of it now.

    `segments` are those that queries of Druid read, in order of time, and `rules` the retention rules; None if Druid is
    not reachable. `history` is that of the cold part; None if it has none, or is in another catalog. `is_archived`:
    whether a process runs ARCHIVE TABLE now.
    """

    table: Table
    now: datetime
    batches: Sequence[Batch] = ()
    segments: Sequence[Segment] | None = None
    rules: Sequence[Rule] | None = None
    history: TableHistory | None = None
    is_archived: bool = False

    @property
    def millis(self) -> int:
        return round(self.now.timestamp() * 1000)

    @property
    def due(self) -> list[Segment]:
        """The segments that ARCHIVE TABLE moves now."""
        return self._before(self.unit(0)[1])

    @property
    def late(self) -> list[Segment]:
        return self._before(self.unit(2)[1])

    def _before(self, edge: int) -> list[Segment]:
        old = [s for s in self.segments or () if s.end <= edge and not s.is_tombstone]
        return [segment for segment in old if fits_orc(segment.start, segment.end)]

    def unit(self, units_ago: int) -> tuple[int, int]:
        """The span of archiving that many units before the youngest one that is due."""
        name = granularity(self.table).upper()
        due = granularities.number(self.millis - round(seconds(hot_period(self.table)) * 1000), name) - 1
        return granularities.interval(due - units_ago, name)


def problems(tiers: Iterable[WatchedTier]) -> tuple[Problem, ...]:
    return tuple(shown(problem) for one in tiers for rule in RULES for problem in rule(one))


def _behind(one: WatchedTier) -> Iterator[Problem]:
    late = one.late
    if late and not one.is_archived:
        cause = f"its oldest rows are older than {hot_period(one.table)}, and were not archived"
        evidence = f"{len(late)} segment(s) from {iso(late[0].start)} to {iso(max(s.end for s in late))}"
        yield Problem(one.table.full_name, "archive behind", cause, evidence, f"ARCHIVE TABLE {_name(one)}")


def _dropped(one: WatchedTier) -> Iterator[Problem]:
    """Rules change their effect only at their bounds: the units there, and the first and last ones, are examined."""
    rules, now = one.rules or (), one.millis
    name = granularity(one.table).upper()
    oldest, newest = granularities.number(one.unit(0)[0], name), granularities.number(now, name)
    at_bounds = {granularities.number(bound, name) for rule in rules for bound in rule.bounds(now)}
    bounds = at_bounds | {each - 1 for each in at_bounds}
    for number in sorted({oldest, newest, *(each for each in bounds if oldest <= each <= newest)}):
        span = granularities.interval(number, name)
        rule = dropping(rules, *span, now)
        if rule is not None:
            cause = f"rows are archived after {hot_period(one.table)}, and Druid drops some of them before"
            evidence = f"{iso(span[0])}/{iso(span[1])} is dropped by {rule} of the rules {text(rules)}"
            repair = f"-- change the retention rules of {one.table.data_source} in Druid: rows are lost otherwise"
            yield Problem(one.table.full_name, "rows dropped before they are archived", cause, evidence, repair)
            return


def _read_again(one: WatchedTier) -> Iterator[Problem]:
    found = [b.id for b in one.batches if b.state == "done" and is_read(b, one.segments or ())]
    if found:
        cause = "archived segments were marked as used again: queries of both parts are refused"
        repair = f"-- mark the segments of {one.table.data_source} that were archived as unused in Druid"
        yield Problem(
            one.table.full_name, "archived segments are read", cause, f"those of job(s) {', '.join(found)}", repair
        )


def _changed(one: WatchedTier) -> Iterator[Problem]:
    found = foreign(one.history, one.batches) if one.history is not None else []
    if found:
        cause = "another tool has changed its cold part"
        evidence = f"{len(found)} commit(s), the last one: {found[-1].operation} at {iso(found[-1].at)}"
        yield Problem(one.table.full_name, "cold part changed", cause, evidence, f"VERIFY TABLE {_name(one)}")


def foreign(history: TableHistory, batches: Sequence[Batch] = ()) -> list[Snapshot]:
    """The commits that hivedruid did not make, oldest first.

    Compaction changes no row. Spark cannot mark every deletion: one of as many rows as an earlier commit of hivedruid
    added is taken for that of a batch that was cancelled or repeated, and one of as many rows as a DELETE has recorded
    for that of the statement. If it is another one, VERIFY TABLE shows it.
    """
    added = [sum(batch.deleted.values()) for batch in batches if batch.deleted and batch.state != "cancelled"]
    found: list[Snapshot] = []
    for each in reversed(list(history.ancestors())):
        more = int(each.summary.get("added-records", 0))
        fewer = int(each.summary.get("deleted-records", 0)) - more
        if "hivedruid.commit" in each.summary:
            if each.operation == "append":
                added.append(more)
        elif each.operation != "replace":
            if fewer in added:
                added.remove(fewer)
            else:
                found.append(each)
    return found


def _name(one: WatchedTier) -> str:
    return sql_name(one.table.database, one.table.name)


RULES: tuple[Callable[[WatchedTier], Iterator[Problem]], ...] = (_read_again, _dropped, _behind, _changed)
