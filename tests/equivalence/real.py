"""The tables of the worlds and every native query on a Druid cluster, too."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hivedruid.catalog.table import TIME_COLUMN
from hivedruid.errors import HiveDruidError, ResourceError
from hivedruid.plan.physical import DruidRead
from tests.equivalence.comparison import Rows, same, shown
from tests.support.loads import ingest

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster

AT_ONCE = 6
"""Maximum number of concurrent tasks."""


class RealDruid:
    """Ingests the same rows as the embedded store, runs the same queries, and counts different results.

    Queries that Druid's vectorized engine can run also run on the other engine: the whole query determines which one is
    used, and the result must not depend on it.
    """

    def __init__(self, connect: Callable[[], DruidCluster]) -> None:
        self.connect = connect
        self.druid = connect()
        self.there: set[str] = set()
        self.made: set[str] = set()
        self.asked: set[str] = set()
        self.is_asked = True
        """Set to False while rows are removed to shrink a difference with Spark: that does not need Druid."""
        self.compared = 0
        self.refused_for_resources = 0
        self.differences: list[str] = []

    def ingest(self, tasks: Iterable[Mapping[str, Any]]) -> None:
        """Run ingestion tasks concurrently, each until its rows can be queried. Existing data sources are skipped."""
        if not self.is_asked:
            return
        by_name = {task["spec"]["dataSchema"]["dataSource"]: task for task in tasks}
        missing = set(by_name) - self.there
        if missing:
            missing -= set(self.druid.data_sources())
            self._each(sorted(missing), lambda druid, name: ingest(druid, by_name[name]))
        self.made |= missing
        self.there |= set(by_name)

    def drop(self, names: Iterable[str]) -> None:
        """Drop those of the data sources that were ingested here."""
        ours = self.made & set(names)
        self._each(sorted(ours), lambda druid, name: druid.drop(name))
        self.made -= ours
        self.there -= ours

    def _each(self, names: list[str], do: Callable[[DruidCluster, str], object]) -> None:
        def run(name: str) -> None:
            druid = self.connect()  # a client is for one thread
            try:
                do(druid, name)
            finally:
                druid.close()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(run, names))

    def check(self, read: DruidRead, embedded: Rows, sql: str) -> None:
        """Record a native query for which the cluster's result differs from the embedded store's, or is missing."""
        asked = json.dumps([read.query, [field.name for field in read.fields]], sort_keys=True)
        if asked in self.asked or not self.is_asked:
            return
        self.compared += 1
        is_same = self._compare(read, embedded, sql)
        if read.query["queryType"] != "scan":
            context = {**read.query.get("context", {}), "vectorize": "false"}
            is_same &= self._compare(replace(read, query={**read.query, "context": context}), embedded, sql)
        if is_same:  # of the others, every run must be
            self.asked.add(asked)

    def _compare(self, read: DruidRead, embedded: Rows, sql: str) -> bool:
        try:
            found = list(self.druid.rows(read))
        except ResourceError:
            self.refused_for_resources += 1
            return True
        except HiveDruidError as error:
            self._note(read, sql, [f"  Druid refuses it: {error.message}"])
            return False
        types = [field.type for field in read.fields]
        if leaves_rows_open(read.query):
            is_same = len(found) == len(embedded)
        else:
            is_same = same(found, embedded, types, ordered=is_ordered(read.query))
        if is_same and _times(read, found) == _times(read, embedded):
            return True
        extra = [row for row in found if row not in embedded]
        missing = [row for row in embedded if row not in found]
        self._note(read, sql, ["  only Druid:", shown(extra), "  only the embedded store:", shown(missing)])
        return False

    def _note(self, read: DruidRead, sql: str, lines: list[str]) -> None:
        native = json.dumps(read.query, ensure_ascii=False)
        self.differences.append("\n".join([sql[:2000], f"  native: {native[:4000]}", *lines]))

    def close(self) -> None:
        self.druid.close()


def is_ordered(query: Mapping[str, Any]) -> bool:
    """Whether a native query determines the order of its rows completely."""
    if query["queryType"] == "groupBy":
        by = {column["dimension"] for column in (query.get("limitSpec") or {}).get("columns", ())}
        return "subtotalsSpec" not in query and all(dimension["outputName"] in by for dimension in query["dimensions"])
    if query["queryType"] == "topN":
        return "dimension" in (query["metric"]["type"], *_inverted(query["metric"]))
    return bool(query["queryType"] == "timeseries")


def _inverted(metric: Mapping[str, Any]) -> list[str]:
    return [metric["metric"]["type"]] if metric["type"] == "inverted" else []


def leaves_rows_open(query: Mapping[str, Any]) -> bool:
    """Whether a native query may choose its rows: a scan with a limit and no order, also nested."""
    source = query["dataSource"]
    inner = source.get("query") if isinstance(source, Mapping) else None
    open_ = query["queryType"] == "scan" and ("limit" in query or "offset" in query) and "order" not in query
    return open_ or (query["queryType"] == "scan" and inner is not None and leaves_rows_open(inner))


def _times(read: DruidRead, rows: Rows) -> list[Any]:
    """The times of a scan by time, in their order."""
    place = next((n for n, field in enumerate(read.fields) if field.name == TIME_COLUMN), None)
    return [row[place] for row in rows] if "order" in read.query and place is not None else []
