"""Changes of ingestions in the catalog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hivedruid.actions.watching.run import known
from hivedruid.catalog.ingestions import IngestionRecord, Ingestions
from hivedruid.catalog.store import Catalog
from hivedruid.catalog.table import Table
from hivedruid.operations.change_store import Changes
from hivedruid.operations.changes import ChangeNotes
from hivedruid.operations.owner import owned
from hivedruid.operations.store import Operations
from tests.support.jobs import a_change


@pytest.fixture
def table(catalog: Catalog) -> Table:
    return catalog.add(Table("default", "t", "druid", (), properties={"kafka.topic": "k"}))


def states(catalog: Catalog) -> dict[str, str]:
    return {job.id: job.state for job in Operations(catalog).all()}


def test_a_change_from_begin_to_finish(catalog: Catalog, table: Table) -> None:
    changes = Changes(catalog)
    begun = changes.begin(a_change("RESET", table_id=table.table_id, was="RUNNING", target="TO LATEST"))
    assert changes.unfinished() == {table.table_id: begun}
    assert Ingestions(catalog).all() == {table.table_id: IngestionRecord()}
    noted = changes.note(begun, "moved", replace(begun.change, offsets={"0": 7}))
    assert changes.unfinished() == {table.table_id: noted}
    assert noted.change == ChangeNotes(was="RUNNING", target="TO LATEST", offsets={"0": 7})
    changes.finish(table.table_id, started=True)
    assert changes.unfinished() == {}
    assert Ingestions(catalog).find(table.table_id) == IngestionRecord(started=True)
    assert states(catalog) == {"c": "done"}


def test_the_last_of_several_interrupted_changes_counts_and_its_rerun_completes_all(
    catalog: Catalog, table: Table
) -> None:
    changes = Changes(catalog)
    changes.begin(a_change("START", "first", table.table_id))
    changes.begin(a_change("STOP", "second", table.table_id))
    assert changes.unfinished()[table.table_id].verb == "STOP"
    changes.finish(table.table_id, started=False)
    assert states(catalog) == {"first": "done", "second": "done"}


def test_a_rerun_continues_the_interrupted_change(catalog: Catalog, table: Table) -> None:
    changes = Changes(catalog)
    first = changes.begin(a_change("ALTER", "first", table.table_id))
    changes.fail(first, "timed out")
    failed = changes.unfinished()[table.table_id]
    resumed = changes.resume(failed, ChangeNotes(runs=True))
    assert (failed.error, resumed.error, resumed.change.runs) == ("timed out", "", True)
    assert changes.unfinished() == {table.table_id: resumed}


def test_a_change_that_runs_in_another_session_is_left_to_it(catalog: Catalog, table: Table) -> None:
    changes = Changes(catalog)
    changes.begin(a_change("RESET", "other", table.table_id))
    changes.begin(a_change("START", "own", table.table_id))
    changes.finish(table.table_id, started=True, runs_elsewhere=lambda job: job.id == "other")
    assert states(catalog) == {"other": "begun", "own": "done"}


def test_a_change_that_is_refused_leaves_the_earlier_one(catalog: Catalog, table: Table) -> None:
    changes = Changes(catalog)
    first = changes.begin(a_change("STOP", "first", table.table_id))
    changes.refuse(changes.begin(a_change("START", "second", table.table_id)), "refused")
    assert changes.unfinished() == {table.table_id: first}
    assert states(catalog) == {"first": "begun", "second": "cancelled"}


def test_a_rollback_begins_with_the_specs_that_it_discards(catalog: Catalog, table: Table) -> None:
    ingestions = Ingestions(catalog)
    for number in range(3):
        ingestions.record_spec(replace(table, properties={"n": str(number)}), {"n": number}, "now")
    Changes(catalog).roll_back(table.table_id, 1, a_change("ALTER", table_id=table.table_id, rolls_back=True))
    Changes(catalog).roll_back(table.table_id, 1, a_change("ALTER", "rerun", table.table_id, rolls_back=True))
    assert states(catalog) == {"c": "begun"}
    assert [sent.version for sent in ingestions.specs(table.table_id)] == [1]
    assert Changes(catalog).unfinished()[table.table_id].change.rolls_back


def test_an_interrupted_change_goes_with_the_table(catalog: Catalog, table: Table) -> None:
    Changes(catalog).begin(a_change("START", table_id=table.table_id))
    catalog.remove(table)
    assert states(catalog) == {}


@pytest.mark.parametrize(
    ("verb", "rerun", "statement"),
    [
        ("START", "", "START INGESTION default.t"),
        ("DROP", "", "DROP TABLE default.t"),
        ("DROP", "DROP TABLE default.t PURGE", "DROP TABLE default.t PURGE"),
        ("ALTER", "", ""),
    ],
)
def test_the_statement_that_completes_it(verb: str, rerun: str, statement: str) -> None:
    assert a_change(verb, rerun=rerun).rerun == statement


def test_a_change_that_a_process_runs_now(catalog: Catalog, table: Table, tmp_path: Path) -> None:
    operations = Operations(catalog)
    job = Changes(catalog).begin(a_change("SUSPEND", table_id=table.table_id))
    assert known(catalog, tmp_path).changing == frozenset()
    with owned(tmp_path, job, operations):
        assert known(catalog, tmp_path).changing == {table.table_id}
    assert known(catalog, tmp_path).changing == frozenset()
