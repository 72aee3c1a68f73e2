"""Writes that change both parts of a tiered table, killed -9 at any moment: a query then returns the rows before or after
the statement, and afterwards the job is resumed, cancelled, or the statement is run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.support import killed
from tests.support.tier_histories import History, only_verb

Numbers = set[int]
OLD_DAY, OTHER_DAY, NEW_DAY = "2026-01-01", "2026-01-02", "2026-01-09"


@dataclass
class Written:
    """The table of a history, and the numbers that it has on each day. `made` are the numbers so far."""

    history: History
    days: dict[str, Numbers] = field(default_factory=dict)
    made: int = 100

    def rows(self, *days: str) -> tuple[str, dict[str, Numbers]]:
        """New rows, one on each day: as VALUES, and by day."""
        numbers = {}
        for day in days:
            self.made += 1
            numbers[day] = {self.made}
        values = ", ".join(f"('{day} 10:00:00', 'k', {number})" for day, some in numbers.items() for number in some)
        return f"VALUES {values}", numbers

    def numbers(self) -> Numbers:
        found = [row["n"] for row in self.history.run("SELECT n FROM t")]
        assert len(found) == len({*found}), found
        return {*found}

    def expected(self, days: Mapping[str, Numbers]) -> Numbers:
        return {number for some in days.values() for number in some}

    def check(self) -> None:
        assert self.numbers() == self.expected(self.days)


def begin(history: History) -> Written:
    """Two archived days, and one in Druid."""
    history.run("TRUNCATE TABLE t")
    written = Written(history)
    values, numbers = written.rows(OLD_DAY, OTHER_DAY, NEW_DAY)
    history.run(f"INSERT INTO t {values}")
    history.run("ARCHIVE TABLE t UP TO '2026-01-05'")
    written.days = {day: {*some} for day, some in numbers.items()}
    written.check()
    return written


def insert(written: Written) -> tuple[str, dict[str, Numbers]]:
    values, numbers = written.rows(OLD_DAY, NEW_DAY)
    return f"INSERT INTO t {values}", {day: some | numbers.get(day, set()) for day, some in written.days.items()}


def unarchive(written: Written) -> tuple[str, dict[str, Numbers]]:
    """A day is archived again first."""
    written.history.run("ARCHIVE TABLE t UP TO '2026-01-05'")
    return f"UNARCHIVE TABLE t FROM '{OTHER_DAY}'", written.days


def overwrite_day(written: Written) -> tuple[str, dict[str, Numbers]]:
    written.history.run("ARCHIVE TABLE t UP TO '2026-01-05'")
    written.history.run("SET hivedruid.overwrite.mode=dynamic")
    values, numbers = written.rows(OLD_DAY)
    return f"INSERT OVERWRITE TABLE t {values}", {**written.days, **numbers}


def overwrite_all(written: Written) -> tuple[str, dict[str, Numbers]]:
    written.history.run("ARCHIVE TABLE t UP TO '2026-01-05'")
    values, numbers = written.rows(OLD_DAY, OTHER_DAY, NEW_DAY)
    return f"INSERT OVERWRITE TABLE t {values}", numbers


def delete(written: Written) -> tuple[str, dict[str, Numbers]]:
    """The rows of the first day, of which there is one more."""
    values, numbers = written.rows(OLD_DAY)
    written.history.run(f"INSERT INTO t {values}")
    written.history.run("ARCHIVE TABLE t UP TO '2026-01-05'")
    written.days[OLD_DAY] = written.days.get(OLD_DAY, set()) | numbers[OLD_DAY]
    return f"DELETE FROM t WHERE `__time` < '{OTHER_DAY}'", {**written.days, OLD_DAY: set()}


def update(written: Written) -> tuple[str, dict[str, Numbers]]:
    after = {**written.days, OLD_DAY: {-number for number in written.days[OLD_DAY]}}
    return f"UPDATE t SET n = -n WHERE `__time` < '{OTHER_DAY}'", after


WRITES: Mapping[str, Callable[[Written], tuple[str, dict[str, Numbers]]]] = {
    "insert": insert,
    "unarchive": unarchive,
    "overwrite a day": overwrite_day,
    "overwrite": overwrite_all,
    "delete": delete,
    "update": update,
}


def killed_at(written: Written, write: str, moment: int | str, verb: str) -> bool:
    """Kill a write at a moment, check, and RESUME or CANCEL its job where both are possible; whether it was killed."""
    history = written.history
    statement, after = WRITES[write](written)
    conf = {**history.conf, **({"hivedruid.overwrite.mode": "dynamic"} if write == "overwrite a day" else {})}
    outcome = killed.run(history.path, conf, statement, moment)
    assert not outcome.error, outcome
    allowed = (written.expected(written.days), written.expected(after))
    assert written.numbers() in allowed, (moment, outcome.effects)
    if not outcome.killed:
        assert written.numbers() == written.expected(after)
        written.days = after
        return False
    for job in history.unfinished():
        history.run(f"{only_verb(job) or verb} JOB '{job.id}'")
    assert not history.unfinished()
    found = written.numbers()
    assert found in allowed, (moment, outcome.effects, found)
    if found != allowed[1]:
        history.run(statement)
    assert written.numbers() == allowed[1], (moment, outcome.effects)
    written.days = after
    return True
