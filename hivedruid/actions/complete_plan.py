"""The plan of a statement, with the facts that only its first plan names: the times that it reads of tiered tables, the
segments, the offsets of topics and the partitions in a Hive metastore that its Spark jobs read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from hivedruid.actions.build import build, rebuilt

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.actions.snapshot import Snapshot
    from hivedruid.actions.statement_plan import Note, StatementPlan
    from hivedruid.actions.topics import Ask
    from hivedruid.errors import Span
    from hivedruid.parser.statements import Statement
    from hivedruid.spark.jobs import SparkRunner


def complete_plan(
    statement: Statement, snapshot: Snapshot, note: Note | None, services: Services, topic: Ask
) -> StatementPlan:
    """Build the statement, and again if it reads archived times, segments or topics."""
    druid, catalog, names = services.druid, services.catalog, services.catalogs.names
    built, snapshot = _with_signatures(statement, snapshot, note, services.spark)
    if not built.plans:
        return built
    known = snapshot
    if names.metastore is not None:
        from hivedruid.actions.partitioning.elsewhere import needed_partitions

        if partitions := needed_partitions(built, snapshot, names.metastore):
            known = snapshot = replace(snapshot, partitions={**snapshot.partitions, **partitions})
            built = build(statement, snapshot)
    if snapshot.tiers:
        from hivedruid.actions.tiering.reading import asked_of_druid, with_segments

        tiers = asked_of_druid(built, snapshot, druid, catalog)
        if snapshot.lists_segments:
            tiers = with_segments(built, replace(snapshot, tiers=tiers or snapshot.tiers), druid)
        if tiers:
            known = snapshot = replace(snapshot, tiers=tiers)
            built = build(statement, snapshot)
    if snapshot.segments is None:
        from hivedruid.actions.segments import needed_segments

        if segments := needed_segments(built, snapshot, druid):
            known = replace(known, segments=segments)
    if any(table.kind == "kafka" for table in snapshot.tables.values()):
        from hivedruid.actions.topics import needed_topics

        if topics := needed_topics(built, snapshot, topic):
            known = replace(known, topics=topics)
    return built if known is snapshot else rebuilt(statement, built, known)


def _with_signatures(
    statement: Statement, snapshot: Snapshot, note: Note | None, spark: Callable[[], SparkRunner]
) -> tuple[StatementPlan, Snapshot]:
    """The plan, and the snapshot with what its calls of functions in Java return. Spark is asked for one call after the
    other: the arguments of one may contain another."""
    if snapshot.signatures is None or all(each.language != "java" for each in snapshot.called):
        return build(statement, snapshot, note), snapshot
    from hivedruid.plan.java_calls import UnknownSignature

    while True:
        notes: list[tuple[str, Span | None]] = []
        try:
            built = build(statement, snapshot, lambda *each: notes.append(each))  # noqa: B023
        except UnknownSignature as asked:
            known = {**(snapshot.signatures or {}), asked.question: spark().signature(asked)}
            snapshot = replace(snapshot, signatures=known)
            continue
        for each in notes:
            if note is not None:
                note(*each)
        return built, snapshot
