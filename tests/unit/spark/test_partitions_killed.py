"""INSERT OVERWRITE … PARTITION is killed -9 at its effects: the partitions have all of their old rows, or all new ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from hivedruid.session import Session
from tests.support import killed
from tests.support.job_homes import run, unfinished

STATEMENT = "INSERT OVERWRITE TABLE t PARTITION (k) SELECT 10 * x.a, x.a FROM (SELECT explode(array(1, 2, 3)) AS a) x"
OLD = {"1": ["1"], "2": ["2"]}
NEW = {"1": ["10"], "2": ["20"], "3": ["30"]}


def rows(session: Session, data: Path) -> dict[str, list[str]]:
    """The lines of each partition of the catalog, which the statement may complete before."""
    names = [row["partition"] for row in run(session, "SHOW PARTITIONS t")]
    files = {name: sorted((data / name).glob("[!._]*")) for name in names}
    return {name.removeprefix("k="): [f.read_text().strip() for f in found] for name, found in files.items()}


@pytest.mark.parametrize(("moment", "expected"), [("stage", OLD), ("begin", NEW), ("move_files", NEW)])
def test_a_killed_insert_leaves_old_or_new(tmp_path: Path, moment: str, expected: dict[str, list[str]]) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for k in OLD:
        (data / f"k={k}").mkdir(parents=True)
        (data / f"k={k}" / "f").write_text(f"{k}\n")
    with Session(home) as session:
        run(session, f"CREATE EXTERNAL TABLE t (a INT) PARTITIONED BY (k INT) LOCATION '{data}'")
        run(session, "MSCK REPAIR TABLE t")
    outcome = killed.run(home, {}, STATEMENT, moment)
    assert (outcome.killed, outcome.error) == (True, ""), outcome
    with Session(home) as session:
        assert rows(session, data) == expected
        assert unfinished(session) == []
    if expected is OLD:
        again = killed.run(home, {}, STATEMENT)
        assert (again.killed, again.error) == (False, "")
        with Session(home) as session:
            assert rows(session, data) == NEW
    assert list(data.glob(".*")) == []
