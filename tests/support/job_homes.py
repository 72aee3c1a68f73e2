"""Homes with jobs that write to Druid, in any state, which a test can copy and continue several times."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from hivedruid.catalog.database import FILE_NAME
from hivedruid.session import Session
from tests.support import killed

if TYPE_CHECKING:
    from hivedruid.local.state import LocalServices

Row = Mapping[str, Any]
ENDED = ("cleaned", "done", "failed", "cancelled")


def conf_of(services: LocalServices) -> dict[str, str]:
    """The settings of sessions on that cluster."""
    return {
        "druid.url": services.broker, "druid.coordinator.url": services.coordinator, "druid.overlord.url": services.overlord,
    }  # fmt: skip


def create(home: Path, conf: Mapping[str, str], table: str) -> Path:
    """A new home with a table of numbers."""
    with Session(home, hiveconf=conf) as session:
        run(
            session,
            f"CREATE EXTERNAL TABLE {table} (`__time` timestamp, n bigint) STORED BY 'druid' "
            "TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY')",
        )
    return home


def values(*numbers: int) -> str:
    """Rows for such a table, each on its own day."""
    rows = ", ".join(f"(TIMESTAMP '2024-01-0{n + 1} 00:00:00', {n})" for n in numbers)
    return f"VALUES {rows}"


def staged(home: Path, conf: Mapping[str, str], statement: str) -> Path:
    """The home with a job of the statement, killed when its rows were staged."""
    outcome = killed.run(home, conf, statement, "move staged")
    assert (outcome.killed, outcome.error) == (True, ""), outcome
    return home


def numbers(session: Session, table: str) -> list[int]:
    return [row["n"] for row in run(session, f"SELECT n FROM {table} ORDER BY n")]


def clone(home: Path, to: Path, *, rename: tuple[str, str] | None = None) -> Path:
    """A copy of a home in which its jobs continue as in the original; `rename` replaces a part of names."""
    renames = {str(home): str(to), **(dict([rename]) if rename else {})}
    shutil.copytree(home, to, ignore=shutil.ignore_patterns(f"{FILE_NAME}*", "locks", "logs"))
    with closing(sqlite3.connect(home / FILE_NAME)) as source, closing(sqlite3.connect(to / FILE_NAME)) as copy:
        source.backup(copy)
        for table, columns in (("operations", ("id", '"table"', "text", "notes")), ("tables", ("name", "definition"))):
            for column in columns:
                for old, new in renames.items():
                    copy.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (old, new))
        copy.commit()
    if rename is not None and (to / "staging").exists():
        for folder in (to / "staging").iterdir():
            folder.rename(folder.with_name(folder.name.replace(*rename)))
    return to


def run(session: Session, text: str) -> list[Row]:
    (statement,) = session.statements(text)
    result = session.execute(statement)
    names = [column.name for column in result.columns]
    return [dict(zip(names, row, strict=True)) for row in result.rows]


def explained(session: Session, statement: str) -> str:
    return "\n".join(str(row["Explain"]) for row in run(session, f"EXPLAIN {statement}"))


def druid_table(session: Session, columns: str) -> str:
    """A new table of Druid, with a segment for each day."""
    name = f"d_{uuid4().hex[:12]}"
    run(
        session,
        f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, {columns}) STORED BY 'druid' TBLPROPERTIES ("
        f"'druid.datasource' = '{name}', 'druid.segment.granularity' = 'DAY', 'druid.rollup' = 'false',"
        " 'external.table.purge' = 'true')",
    )
    return name


def run_script(session: Session, script: str) -> list[Row]:
    """The rows of the last of several statements."""
    return [run(session, text) for text in script.split("; ")][-1]


def unfinished(session: Session) -> list[Row]:
    """The unfinished jobs, oldest first."""
    return [job for job in reversed(run(session, "SHOW JOBS")) if job["state"] not in ENDED]


def leftovers(home: Path) -> list[str]:
    """The staged files; none when all jobs have finished."""
    return [path.name for path in (home / "staging").iterdir()] if (home / "staging").exists() else []
