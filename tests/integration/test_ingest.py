"""One ingestion on a cluster: interrupted anywhere and rerun, and compared with the staged rows."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from hivedruid.clients import segments, task_spec, wire
from hivedruid.clients.overlord import TASK, Overlord
from hivedruid.clients.segments import ETERNITY, Segments
from hivedruid.druid.ingestion import Replaces
from hivedruid.errors import ConnectError, DruidError
from hivedruid.jobs.load import NoJournal
from hivedruid.jobs.staged import Sum
from tests.support.ingestion import until
from tests.support.loads import MakeLoad, ingest, load
from tests.support.staged import DAY, NEW_YEAR, NewDataSource, stage, task, values

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster
from tests.support.journals import Killed, Notebook, dies_at, does_at, raise_error

# --- killed anywhere ---------------------------------------------------------------------------------------------

KILLS: dict[str, tuple[dict[str, str], str]] = {
    "before the task is handed over": ({}, "submitting"),
    "when the task has ended": ({"dies_before": "published"}, ""),
    "when that is written down": ({"dies_after": "published"}, ""),
    "while its segments are loaded": ({}, "are loaded"),
    "before they are checked": ({}, "verifying the rows"),
    "while the old rows go": ({}, "old segments"),
    "before it counts": ({"dies_before": "verified"}, ""),
}


@pytest.mark.parametrize(
    ("kill", "replaces"),
    [
        (kill, way)
        for kill in KILLS
        for way in ("nothing", "all")
        if (kill, way) != ("while the old rows go", "nothing")
    ],
)
def test_what_was_broken_off_goes_on(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad, kill: str, replaces: Replaces
) -> None:
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1, 40: 2}), NoJournal())
    new = load_of(name, {0: 3, 3: 4}, replaces)
    dies, words = KILLS[kill]
    book = Notebook(**dies)
    if words:
        druid.progress = dies_at(words)
    with pytest.raises(Killed):
        druid.ingest(new, book)
    again = Notebook()
    report = druid.ingest(book.resumed(new), again)
    assert (report.rows, report.segments) == (2, 2)
    assert report.size > 0
    assert again.state == "verified"
    assert values(druid, name) == ([3, 4] if replaces == "all" else [1, 2, 3, 4])


def _wait_for_end(druid: DruidCluster, task_id: str) -> None:
    overlord = Overlord(druid.client)
    until(lambda: (found := overlord.task(task_id)) is not None and found.is_complete, "the end of the task")


def test_what_a_forgotten_task_has_published_is_not_published_again(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    """The overlord does not list the id, and segments with its mark exist."""
    name = new_data_source("t")
    new = load_of(name, {0: 1, 1: 2})
    forgotten = f"forgotten_{uuid4().hex}"
    druid.client.post("overlord", TASK, wire.TaskId, {**task_spec.completed(new, ()), "id": forgotten})
    _wait_for_end(druid, forgotten)
    book = Notebook()
    druid.ingest(replace(new, state="submitted"), book)
    assert book.state == "verified"
    assert values(druid, name) == [1, 2]


@pytest.mark.parametrize("replaces", ["nothing", "all"])
def test_what_was_submitted_is_rolled_back(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad, replaces: Replaces
) -> None:
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1, 40: 2}), NoJournal())
    new, book = load_of(name, {0: 3, 3: 4}, replaces), Notebook()
    druid.progress = dies_at("verifying the rows")
    with pytest.raises(Killed):
        druid.ingest(new, book)
    druid.progress = dies_at("rolling back")
    with pytest.raises(Killed):
        druid.roll_back(book.resumed(new), book)
    assert json.loads(book.notes)["rolls_back"] == "cancelled"
    with pytest.raises(DruidError, match="were rolled back: cancelled"):
        druid.ingest(book.resumed(new), book)
    assert (book.state, book.reason) == ("staged", "cancelled")
    assert values(druid, name) == [1, 2]


def test_no_rows_in_place_of_all_are_rolled_back(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    """A resumed load uses that id."""
    name, book = new_data_source("t"), Notebook(dies_before="verified")
    druid.ingest(load_of(name, {0: 1, 40: 2}), NoJournal())
    new = load_of(name, {}, "all")
    with pytest.raises(Killed):
        druid.ingest(new, book)
    assert values(druid, name) == []
    druid.progress = dies_at("rolling back")
    with pytest.raises(Killed):
        druid.roll_back(book.resumed(new), book)
    with pytest.raises(DruidError, match="were rolled back: cancelled"):
        druid.ingest(book.resumed(new), book)
    assert book.state == "staged"
    assert values(druid, name) == [1, 2]
    notes = list[str]()
    druid.note, druid.progress = notes.append, does_at("dropping", lambda: raise_error(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        druid.ingest(new, book)
    assert (book.state, notes) == ("staged", ["nothing was changed"])
    assert values(druid, name) == [1, 2]


def test_a_request_that_arrives_after_the_rollback(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the task is submitted: the overlord may process the request after it was asked for the task."""
    name, book, sent = new_data_source("t"), Notebook(), list[Any]()
    submit = Overlord.submit

    def interrupted(overlord: Overlord, spec: Any, **options: Any) -> None:
        if spec["type"] == "noop":
            submit(overlord, spec, **options)
        else:
            sent.append(spec)
            raise KeyboardInterrupt

    ours = load_of(name, {0: 1, 3: 2})
    monkeypatch.setattr(Overlord, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        druid.ingest(ours, book)
    monkeypatch.undo()
    assert book.state == "staged"
    with pytest.raises(DruidError, match="already exists"):
        Overlord(druid.client).submit(sent[0])
    druid.ingest(replace(ours, task=f"{ours.task}_2"), NoJournal())
    assert values(druid, name) == [1, 2]


def test_what_others_have_written_over_is_not_rolled_back(
    druid: DruidCluster,
    other: DruidCluster,
    new_data_source: NewDataSource,
    load_of: MakeLoad,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in compaction: the rows are kept, and their former segments become unused when Druid has processed this."""
    monkeypatch.setattr(segments, "REPLACED", 0.5)
    name, notes = new_data_source("t"), list[str]()
    book, again = Notebook(dies_before="published"), Notebook()
    ours = load_of(name, {0: 1, 3: 2})
    with pytest.raises(Killed):
        druid.ingest(ours, book)
    other.ingest(load_of(name, {0: 1, 3: 2}, "intervals", segment="MONTH"), NoJournal())
    known = Segments(druid.client, name)
    known.mark_unused([s for s in known.used() if s.task == ours.task][:1])
    with pytest.raises(DruidError, match="replaced by a later write") as found:
        druid.roll_back(book.resumed(ours), again)
    assert (again.state, found.value.hint) == ("", "complete the job with RESUME JOB")
    druid.note = notes.append
    druid.ingest(book.resumed(ours), again)
    assert again.state == "verified"
    assert "2 of its 2 segments were replaced by a later write" in notes[0]
    assert values(druid, name) == [1, 2]


def test_what_others_have_written_over_since_need_not_come_back(
    druid: DruidCluster, other: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    name, book, again = new_data_source("t"), Notebook(dies_after="published"), Notebook()
    druid.ingest(load_of(name, {0: 1, 40: 2}), NoJournal())
    new = load_of(name, {0: 3, 3: 4}, "all")
    with pytest.raises(Killed):
        druid.ingest(new, book)
    other.ingest(load_of(name, {40: 5}, "intervals"), NoJournal())
    druid.roll_back(book.resumed(new), again)
    assert again.state == "staged"
    assert values(druid, name) == [1, 5]


# --- verification ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("replaces", ["nothing", "all", "intervals"])
@pytest.mark.parametrize(
    ("claims", "message"),
    [
        ({"sums": {"x": Sum(8)}}, "the sum of x was 8 and is 7"),
        ({"rows": 3}, "Druid ingested 2 of 3 rows"),
    ],
)
def test_other_rows_than_were_staged_are_taken_back(
    druid: DruidCluster,
    new_data_source: NewDataSource,
    load_of: MakeLoad,
    replaces: Replaces,
    claims: dict[str, Any],
    message: str,
) -> None:
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1, 40: 2}), NoJournal())
    new, book = load_of(name, {0: 3, 3: 4}, replaces), Notebook()
    with pytest.raises(DruidError, match=message):
        druid.ingest(replace(new, staged=replace(new.staged, **claims)), book)
    assert book.state == "staged"
    assert message in book.reason
    assert values(druid, name) == [1, 2]


def test_sums_of_every_kind(druid: DruidCluster, new_data_source: NewDataSource, tmp_path: Path) -> None:
    """Overflowing, out of order, not a number, infinite; with rollup, where rows are not counted."""
    columns = {"l": "long", "d": "double", "f": "float"}
    rows: list[dict[str, Any]] = [
        {"__time": NEW_YEAR + n, "l": 2**62, "d": 0.1 * n, "f": 1 / (n + 1)} for n in range(1000)
    ]
    rows += [{"__time": NEW_YEAR + DAY, "l": -5, "d": "NaN", "f": "Infinity"}, {"__time": NEW_YEAR}]
    spec = task(new_data_source("t"), stage(tmp_path / "plain", rows), columns=columns)
    assert ingest(druid, spec).rows == 1002
    rolled = task(new_data_source("t"), stage(tmp_path / "rolled", rows[:-2]), columns={})
    schema = rolled["spec"]["dataSchema"]
    schema["granularitySpec"] |= {"rollup": True, "queryGranularity": "DAY"}
    schema["metricsSpec"] = [{"type": f"{t}Sum", "name": n, "fieldName": n} for n, t in columns.items()]
    found = load(rolled)
    assert druid.ingest(found, NoJournal()).rows == 1000
    wrong = replace(found.staged, sums={**found.staged.sums, "d": Sum(49951.0, 49951.0)})
    with pytest.raises(DruidError, match=r"the sum of d was 49951.0 and is 49950"):
        druid.ingest(replace(found, task=f"again_{uuid4().hex}", staged=wrong), NoJournal())


def test_a_failed_task_says_why(druid: DruidCluster, new_data_source: NewDataSource, tmp_path: Path) -> None:
    name, book = new_data_source("t"), Notebook()
    folder = stage(tmp_path / "bad", [{"__time": NEW_YEAR, "x": "abc"}])
    with pytest.raises(DruidError, match=r"Could not convert value \[abc\] to long"):
        druid.ingest(load(task(name, folder, columns={"x": "long"})), book)
    assert book.state == "staged"
    assert "Could not convert value [abc] to long" in book.reason


# --- missing rows ------------------------------------------------------------------------------------------------


def test_no_free_task_slot(druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad) -> None:
    name, book, lines = new_data_source("t"), Notebook(), list[str]()
    druid.progress, druid.slot_patience = lines.append, 5.0  # by then the overlord has scheduled the task
    overlord = Overlord(druid.client)
    slots = sum(worker.capacity for worker in overlord.workers())
    noops = [f"noop_{uuid4().hex}" for _ in range(slots)]
    for noop in noops:
        druid.client.post("overlord", TASK, wire.TaskId, {"type": "noop", "id": noop, "runTime": 900_000})
    try:
        until(lambda: all(w.used >= w.capacity for w in overlord.workers()), "no free slot")
        with pytest.raises(
            DruidError,
            match=rf"timed out after 5 s waiting for ingestion task .* to get a task slot \({slots} of {slots} in use\)",
        ):
            druid.ingest(load_of(name, {0: 1}), book)
    finally:
        for noop in noops:
            overlord.kill(noop)
    assert any(f"waiting for a free task slot ({slots} of {slots} in use)" in line for line in lines)
    assert book.state == "staged"
    assert values(druid, name) == []


def test_an_extension_that_druid_lacks(druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad) -> None:
    given, book = load_of(new_data_source("t"), {0: 1}), Notebook()
    inner = given.spec["spec"]
    source = {"type": "s3", "prefixes": ["s3://bucket/staging/"]}
    spec = {**given.spec, "spec": {**inner, "ioConfig": {**inner["ioConfig"], "inputSource": source}}}
    with pytest.raises(DruidError, match="input source 's3' needs the extension druid-s3-extensions"):
        druid.ingest(replace(given, spec=spec), book)
    assert book.state == ""


def test_a_druid_that_does_not_answer_says_nothing_to_the_journal(
    cluster: Cluster, druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    from hivedruid.clients.cluster import DruidCluster

    given, book = load_of(new_data_source("t"), {0: 1}), Notebook("submitted")
    with pytest.raises(Killed):
        druid.ingest(given, book)
    address = replace(druid.address, overlord="http://127.0.0.1:9", tries=1)
    with closing(DruidCluster(address, progress=lambda _: None, note=lambda _: None)) as lost:
        for do in (lost.ingest, lost.roll_back):
            with pytest.raises(ConnectError):
                do(book.resumed(given), book)
    assert book.state == "submitted"


def test_eternity_is_no_interval_to_count(
    druid: DruidCluster, new_data_source: NewDataSource, load_of: MakeLoad
) -> None:
    """Days instead of one segment for all times, in one task."""
    name = new_data_source("t")
    druid.ingest(load_of(name, {0: 1, 900: 2}, "all", segment="ALL"), NoJournal())
    assert [(s.start, s.end) for s in Segments(druid.client, name).used()] == [ETERNITY]
    druid.ingest(load_of(name, {1: 3, 5: 4}, "all"), NoJournal())
    assert values(druid, name) == [3, 4]
