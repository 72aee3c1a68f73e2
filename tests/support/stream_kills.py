"""kill -9 of everything that a stream needs, at random moments: each record is in the table once, or in the rejects table
if it is malformed.

    python -m tests.support.stream_kills [--minutes 60] [--kills 1000000] [--records 5000] [--seed 1]

kills the manager, Spark's server and Kafka's broker for an hour, with 5,000 new records and 50 malformed ones before each
kill, while another session runs batches of the same stream, too. It prints what it did every tenth time, and at the end.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import monotonic, sleep

from hivedruid.actions.streaming import manager as background
from hivedruid.errors import CommitConflictError, HiveDruidError
from hivedruid.local.cluster import LocalCluster
from hivedruid.spark import server
from tests.support.kafka import topics_of
from tests.support.streams import LONG, Home, stream_home, until

LEAST = 3
"""Kills, if the time does not suffice."""


def kill_at_random(
    home: Home,
    random: Random,
    *,
    kills: int,
    seconds: float,
    records: int,
    restart_kafka: Callable[[], None] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Counter[str]:
    """Run a stream and kill what it needs, until there were as many kills, or the time is over; then check its rows.
    What was killed, and how often."""
    done: Counter[str] = Counter()
    home.create(max_records_per_batch=str(max(500, records // 3)), rejects="bad")
    home.manage()
    until(lambda: background.is_running(home.path), "the manager")
    home.run("START STREAM s")
    end = monotonic() + seconds
    while done.total() < kills and (monotonic() < end or done.total() < LEAST):
        home.send(records // 2)
        home.send_malformed(max(1, records // 100))
        home.send(records - records // 2)
        before = home.stream_record().status.rows
        until(lambda before=before: home.stream_record().status.rows > before, "a batch")  # type: ignore[misc]
        sleep(random.uniform(0, 1.0))  # the moment of the kill
        done[_kill(home, random, restart_kafka)] += 1
        if done.total() % 10 == 0:
            report(f"{done.total()} kills, {home.sent:,} records sent, {home.stream_record().status.rows:,} rows")
    settled = monotonic() + LONG
    while True:
        try:
            home.run("WAIT STREAM s")
        except HiveDruidError as error:  # the manager was waiting for what was killed last
            report(error.message)
            if monotonic() > settled:
                raise
        else:
            break
    assert home.counts() == home.expected
    rejected = home.run("SELECT count(*), count(DISTINCT `partition`, `offset`), count(DISTINCT value) FROM bad")
    assert [*rejected[0].values(), home.stream_record().status.rejects] == [home.sent_malformed] * 4
    home.run("STOP STREAM s")
    numbers = [row["batch"] for row in home.run("SHOW BATCHES s")]
    assert numbers == sorted(set(numbers), reverse=True)
    return done


def _kill(home: Home, random: Random, restart_kafka: Callable[[], None] | None) -> str:
    what = random.random()
    if what < 0.1 and restart_kafka is not None:
        restart_kafka()
        return "kafka"
    if what < 0.2:
        try:
            home.run("RUN STREAM s LIMIT 500")
        except CommitConflictError:
            return "conflict"
        except HiveDruidError:
            return "failed batch"
        return "other batch"
    known = server.find(server.shared_home(home.path))
    if what < 0.4 and known is not None:
        os.kill(known.jvm, signal.SIGKILL)
        return "spark"
    home.managers[-1].kill()
    home.managers[-1].wait()
    home.manage()
    return "manager"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kills", type=int, default=1_000_000)
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--seed", default="1")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hivedruid-soak-") as folder:
        local = LocalCluster(Path(folder) / "kafka", heap="small")

        def restart_kafka() -> None:
            (process,) = (each.pid for each in local.status() if each.name == "kafka")
            os.kill(process or 0, signal.SIGKILL)
            local.up(druid=False)

        try:
            with (
                topics_of(local.up(druid=False).kafka) as topics,
                stream_home(Path(folder) / "home", topics) as home,
            ):
                done = kill_at_random(
                    home, Random(given.seed), kills=given.kills, seconds=60 * given.minutes, records=given.records,
                    restart_kafka=restart_kafka, report=lambda text: print(text, flush=True),
                )  # fmt: skip
                status = home.stream_record().status
                print(
                    f"{home.sent:,} records and {home.sent_malformed:,} malformed ones, each once; {dict(done)};"
                    f" {status.conflicts} conflicts"
                )
                topics.made.clear()
        finally:
            local.down(clean=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
