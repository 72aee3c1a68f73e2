"""The tasks that the executors of a Spark have run, by the logs of its events."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path


def logged(folder: Path) -> dict[str, str]:
    """The settings of a driver that writes its events into a folder."""
    return {
        "spark.eventLog.enabled": "true", "spark.eventLog.dir": folder.as_uri(),
        "spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false",
    }  # fmt: skip


@dataclass
class Events:
    """The tasks that executors have run, by the logs in a folder."""

    folder: Path
    read: Counter[str] = field(default_factory=Counter)
    stages: dict[tuple[str, int], list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    """The executor and the time of each task, by log and stage."""

    def forget(self) -> None:
        self.follow()
        self.stages.clear()

    def follow(self) -> None:
        for path in self.folder.iterdir():
            name = path.name.removesuffix(".inprogress")
            with path.open("rb") as log:
                log.seek(self.read[name])
                lines = log.read().rpartition(b"\n")[0]
            self.read[name] += len(lines) + 1 if lines else 0
            for line in lines.splitlines():
                event = json.loads(line)
                if event["Event"] == "SparkListenerTaskEnd":
                    spent = event.get("Task Metrics", {}).get("Executor Run Time", 0)
                    self.stages[name, event["Stage ID"]].append((event["Task Info"]["Executor ID"], spent))

    def longest(self, least_tasks: int = 1) -> Counter[str]:
        """The number of tasks of each executor in the stage that took the most time, of those with so many tasks."""
        self.follow()
        stages = [tasks for tasks in self.stages.values() if len(tasks) >= least_tasks]
        if not stages:
            return Counter()
        tasks = max(stages, key=lambda tasks: sum(spent for _, spent in tasks))
        return Counter(executor for executor, _ in tasks)
