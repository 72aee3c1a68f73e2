"""How the statements that list what is on a Druid cluster scale with data sources, supervisors and partitions: CPU
seconds of this process, and requests to Druid.

The exponents are fitted; 1 is linear. Without options it prints how to run it; --start starts a cluster of its own and
removes it, --home uses a running local cluster, where the data sources stay. Some ten minutes.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Any
from uuid import uuid4

from benchmarks.ingestion import Bench, cluster, in_state, requests, until
from benchmarks.statement_growth import MOST, exponent
from hivedruid.catalog.store import to_json
from hivedruid.clients.overlord import ACTION, Overlord
from hivedruid.commands.top import Watcher
from hivedruid.engine.segments import Segment
from hivedruid.ingestion.supervisor import SUPERVISOR

DAY = 86_400_000
SEGMENTS = 10
"""Of each data source."""
SOURCES = (50, 150, 500)
SUPERVISORS = (5, 15, 50)
PARTITIONS = (10, 100, 400)
TASK_SLOTS = 4
INGESTIONS = ("SHOW INGESTIONS", "SHOW PROBLEMS", "SHOW TASKS", "top")


class Axis:
    """The CPU seconds and requests of some statements, by size."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._sizes: list[int] = []
        self._found: dict[str, list[tuple[float, int]]] = {}

    def measure(self, bench: Bench, size: int, statements: Sequence[str]) -> None:
        self._sizes.append(size)
        watcher = Watcher(bench.session)
        for text in statements:
            work: Callable[[], object] = watcher.prepared() if text == "top" else lambda text=text: bench.run(text)  # type: ignore[misc]
            self._found.setdefault(text, []).append(cost(work))
        watcher.close()

    def show(self) -> bool:
        """Whether all exponents are within the limit."""
        met = True
        for text, found in self._found.items():
            seconds, sent = [item[0] for item in found], [item[1] for item in found]
            fitted, of_requests = exponent(self._sizes, seconds), exponent(self._sizes, sent)
            met &= max(fitted, of_requests) <= MOST
            shown = " ".join(
                f"{size:>5,}: {1000 * time:7.1f} ms {count:4} requests"
                for size, (time, count) in zip(self._sizes, found, strict=True)
            )
            print(f"{self._name:24} {text:18} {fitted:5.2f} {of_requests:5.2f}  {shown}", flush=True)
        return met


def cost(work: Callable[[], object]) -> tuple[float, int]:
    """CPU seconds and requests of the best of three runs after the first."""
    work()
    found = []
    for _ in range(3):
        gc.collect()
        with requests() as sent:
            begin = process_time()
            work()
            found.append((process_time() - begin, len(sent)))
    return min(found)


# --- data sources ------------------------------------------------------------------------------------------------


class Publisher:
    """Publishes segments as tasks do, with the overlord's actions. They all have the file of one segment."""

    def __init__(self, bench: Bench) -> None:
        self._overlord = Overlord(bench.druid.client)
        seed = f"seed_{uuid4().hex[:12]}"
        time = "TIMESTAMP '1970-01-01 00:00:00' AS `__time`"
        bench.run(f"CREATE TABLE {seed} STORED BY 'druid' AS SELECT {time}, 'a' AS k")
        data_source = bench.session.catalog.get("default", seed).data_source
        path = f"/druid/coordinator/v1/metadata/datasources/{data_source}/segments?full"
        (self._segment,) = bench.druid.client.get("coordinator", path, list[Any])
        self._holder = f"holder_{uuid4().hex[:12]}"
        """The task that holds the locks; the overlord compares only its id."""
        self._overlord.submit({**self._task("holder"), "runTime": 3_600_000})
        until(lambda: (task := self._overlord.task(self._holder)) is not None and task.state == "RUNNING")

    def _task(self, data_source: str) -> dict[str, Any]:
        return {"type": "noop", "id": self._holder, "groupId": self._holder, "dataSource": data_source}

    def _act(self, data_source: str, action: dict[str, Any]) -> Any:
        body = {"task": self._task(data_source), "action": action}
        return self._overlord.client.post("overlord", ACTION, dict[str, Any], body)["result"]

    def publish(self, data_source: str) -> None:
        span = {"interval": interval(0, SEGMENTS)}
        lock = self._act(data_source, {"type": "lockTryAcquire", "lockType": "EXCLUSIVE", **span})
        common = {key: value for key, value in self._segment.items() if key != "identifier"}
        segments = [
            {**common, "dataSource": data_source, "version": lock["version"],
             "interval": interval(n, n + 1)}
            for n in range(SEGMENTS)
        ]  # fmt: skip
        self._act(data_source, {"type": "segmentTransactionalInsert", "segments": segments})
        self._act(data_source, {"type": "lockRelease", **span})

    def close(self) -> None:
        self._overlord.kill(self._holder)


def interval(first: int, until: int) -> str:
    """Days since the epoch as an interval of Druid."""
    return Segment("", first * DAY, until * DAY, "", 0).interval


def tables(bench: Bench, names: Sequence[str]) -> None:
    """A table for each data source."""
    first, *others = names
    bench.run(f"CREATE EXTERNAL TABLE {first} (`__time` timestamp, k string) STORED BY 'druid' "
              f"TBLPROPERTIES ('druid.datasource' = '{first}')")  # fmt: skip
    definition = to_json(bench.session.catalog.get("default", first))
    with bench.session.catalog.transaction() as connection:
        connection.executemany(
            "INSERT INTO tables (table_id, database, name, definition) VALUES (?, 'default', ?, ?)",
            [(f"id_{name}", name, definition.replace(first, name)) for name in others],
        )


def data_sources(bench: Bench) -> Iterator[Axis]:
    axis, publisher = Axis("data sources"), Publisher(bench)
    prefix = f"many_{uuid4().hex[:8]}"
    made = 0
    for size in SOURCES:
        names = [f"{prefix}_{n}" for n in range(made, size)]
        for name in names:
            publisher.publish(name)
        tables(bench, names)
        made = size
        axis.measure(bench, size, ("SHOW SEGMENTS", f"SHOW SEGMENTS FOR {prefix}_0", "SHOW COMPACTIONS", *INGESTIONS))
    publisher.close()
    yield axis


# --- supervisors -------------------------------------------------------------------------------------------------


def supervise(bench: Bench, count: int, *, suspended: bool, partitions: int = 1) -> list[str]:
    """New supervisors of one topic, each of a table."""
    topic = bench.topic(records=0, partitions=partitions)
    names = [bench.table(topic) for _ in range(count)]
    for name in names:
        bench.druid.client.post("overlord", SUPERVISOR, Any, bench.spec(name, suspended=suspended))
    return names


def supervisors(bench: Bench) -> Iterator[Axis]:
    for state in ("SUSPENDED", "RUNNING"):
        axis, made = Axis(f"supervisors, {state.lower()}"), 0
        for size in SUPERVISORS:
            supervise(bench, size - made, suspended=state == "SUSPENDED")
            made = size
            until(lambda: in_state(bench, state) == made, pause=1)  # noqa: B023 - called at once
            axis.measure(bench, size, INGESTIONS)
        bench.end(bench.sources)
        yield axis


def partitions(bench: Bench) -> Iterator[Axis]:
    """Of the topics of as many supervisors as there are task slots."""
    axis = Axis("partitions")
    for size in PARTITIONS:
        names = supervise(bench, TASK_SLOTS, suspended=False, partitions=size)
        until(lambda: are_running(bench, names), pause=1)  # noqa: B023 - called at once
        axis.measure(bench, size, INGESTIONS)
        bench.end(names)
    yield axis


def are_running(bench: Bench, names: Sequence[str]) -> bool:
    return sum(task.data_source in names and task.state == "RUNNING" for task in bench.overlord.tasks()) == len(names)


def main() -> bool:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--start", action="store_true", help="start a cluster")
    parser.add_argument("--home", type=Path, help="whose local cluster; it keeps running")
    given = parser.parse_args()
    if not given.start and given.home is None:
        parser.print_help()
        return True
    met = True
    with tempfile.TemporaryDirectory() as folder, cluster(given.home, Path(folder) / "cluster") as services:
        for part in (supervisors, partitions, data_sources):
            bench = Bench(Path(folder) / part.__name__, services)
            try:
                for axis in part(bench):
                    met &= axis.show()
            finally:
                bench.close()
    return met


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
