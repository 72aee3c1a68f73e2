"""Whether what the tasks of a job wrote has arrived on this machine: workers that do not share its storage write to a
folder of their own, and Spark reports success."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql.connect.dataframe import DataFrame

_TASK = "__task"
_FIRST_ROW = "monotonically_increasing_id() & 8589934591L = 0"
"""True for the first row of each task: the number of the task is in the upper bits."""
_HOST = "coalesce(try_reflect('java.net.InetAddress', 'getLocalHost'), '')"
"""`name/address` of the machine of a task."""
_PART = re.compile(r"part-(\d+)")

HINT = (
    "mount the folders of the home and of LOCATIONs on all machines of Spark, at the same paths, or SET"
    " spark.master=local[*] and spark.remote= to run Spark on this machine"
)


class Arrivals:
    """The tasks that wrote rows of a frame, as they report it. Each names its files `part-N…` after its number."""

    def __init__(self) -> None:
        from pyspark.sql.connect.observation import Observation

        self._observation = Observation()

    def followed(self, frame: DataFrame) -> DataFrame:
        """The same rows, to be written without another shuffle."""
        from pyspark.sql.connect.functions import expr

        task = expr(f"IF({_FIRST_ROW}, concat(spark_partition_id(), ' ', {_HOST}), NULL)")
        tasks = expr(f"collect_set({_TASK})").alias("tasks")
        return frame.withColumn(_TASK, task).observe(self._observation, tasks).drop(_TASK)

    def check(self, names: Iterable[str], folder: Path, count_again: Callable[[], tuple[int, int]]) -> None:
        """Raise SparkError if files of a task are not among the `names` in `folder`.

        Spark's report may arrive too late (see `writing.observed`). Then `count_again` returns the rows of the query
        and those in the files.
        """
        report = dict(self._observation.get)
        if "tasks" not in report:
            rows, arrived = count_again()
            if rows != arrived:
                raise missing(f"{arrived} of {rows} rows", folder)
            return
        hosts = {int(number): host for number, _, host in (task.partition(" ") for task in report["tasks"])}
        present = {int(match[1]) for name in names if (match := _PART.match(name))}
        if lost := sorted(hosts.keys() - present):
            where = ", ".join(sorted({hosts[number] for number in lost} - {""}))
            ran = f"; the others ran on {where}" if where else ""
            raise missing(f"the files of {len(hosts) - len(lost)} of {len(hosts)} tasks", folder, ran)


def missing(found: str, folder: Path, where: str = "") -> SparkError:
    return SparkError(f"only {found} of the Spark job are in {folder} on this machine{where}", hint=HINT)
