"""Run `ChangeIngestion`: confirm the loss of records, record the change in the catalog, run it, record the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import assert_never
from uuid import uuid4

from hivedruid.actions.ingesting.model import ChangeIngestion, CheckIngestion, CheckTopic, ForgetSpecs, IngestingAction
from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.druid.supervisor import supervisor_spec
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, listed_names
from hivedruid.ingestion.lifecycle import Await, IngestionChange, MoveOffsets, Request, Step
from hivedruid.ingestion.model import offset_list
from hivedruid.ingestion.offsets import Move, summary
from hivedruid.ingestion.owners import OwnerError, unowned
from hivedruid.ingestion.supervisor import SUPERVISOR, supervisor_id
from hivedruid.operations.change_store import Changes
from hivedruid.operations.changes import ChangeNotes, IngestionJob, rerun_statement, statement_name
from hivedruid.operations.owner import is_running, owned
from hivedruid.operations.store import Operations
from hivedruid.setting_types import seconds

MOST_PATHS = 8
"""The differences that a question names."""
TIMEOUT = "hivedruid.ingestion.timeout"


def run(action: Action, services: Services) -> None:
    assert isinstance(action, IngestingAction)
    match action:
        case CheckIngestion():
            from hivedruid.actions.ingesting.check import check

            check(action, services)
        case CheckTopic():
            from hivedruid.actions.ingesting.check import check_topic

            check_topic(action, services)
        case ChangeIngestion():
            change_ingestion(action, services)
        case ForgetSpecs():
            forget_specs(action, services)
        case _:
            assert_never(action)


def change_ingestion(action: ChangeIngestion, services: Services) -> None:
    from hivedruid.actions.ingesting.check import check_feed

    change = action.change
    try:
        check_feed(change, services)
        _note_differences(change, services)
        _ask(change, services)
    except HiveDruidError:
        if action.before is not None:
            services.catalog.replace(action.before)
        raise
    _record_specs(change, services)
    changes = Changes(services.catalog)
    if not change.table.table_id:  # a supervisor without a table, of which the catalog has no record
        moved = _run_steps(action, services, None)
    elif all(isinstance(step, Await) for step in change.steps):
        moved = _run_steps(action, services, None)
        if change.verb != "WAIT":
            _finish(change, services, None)
    else:
        interrupted = _interrupted(change, services)
        job = interrupted or _job(change, services)
        with owned(services.home, job, Operations(services.catalog)):
            begun = changes.begin(job) if interrupted is None else changes.resume(job, change.notes)
            moved = _run_steps(action, services, begun, is_rerun=interrupted is not None)
            _finish(change, services, job)
    if moved:
        places = offset_list({move.partition: move.after for move in moved})
        services.note(f"{change.table.full_name} continues reading at {places}; {summary(moved)}")


def _record_specs(change: IngestionChange, services: Services) -> None:
    """Record the spec before it is submitted, and before it the one of another program that it replaces."""
    if change.spec is None:
        return
    ingestions, now = Ingestions(services.catalog), datetime.now(UTC).isoformat(timespec="seconds")
    if (foreign := change.foreign) is not None:
        ingestions.record_spec(foreign.table, supervisor_spec(foreign.table, services.settings), now)
        ingestions.mark_working(change.table.table_id)
        for place, variable in foreign.variables.items():
            services.note(
                f"{place} of the former spec is a secret in plain text, which is not recorded: ROLLBACK INGESTION"
                f" restores a reference to the environment variable {variable}"
            )
    ingestions.record_spec(change.table, unowned(change.spec), now)


def _finish(change: IngestionChange, services: Services, own: IngestionJob | None, error: str = "") -> None:
    """Record the end of the change; `own` is its job, None if it has none."""

    def runs_elsewhere(job: IngestionJob) -> bool:
        return (own is None or job.id != own.id) and is_running(services.home, services.catalog, job.statement_id)

    Changes(services.catalog).finish(
        change.table.table_id, started=change.started, error=error, runs_elsewhere=runs_elsewhere
    )


def _interrupted(change: IngestionChange, services: Services) -> IngestionJob | None:
    """The interrupted change that a rerun of its statement completes."""
    job = Changes(services.catalog).unfinished().get(change.table.table_id)
    if job is None or (job.verb, job.change.target) != (change.verb, change.notes.target):
        return None
    return None if is_running(services.home, services.catalog, job.statement_id) else job


def _job(change: IngestionChange, services: Services) -> IngestionJob:
    """The change as the catalog records it."""
    table = change.table
    return IngestionJob(
        id=f"{table.name}_{uuid4().hex[:12]}", statement_id=uuid4().hex, statement=statement_name(change.verb),
        database=table.database, table=table.name, table_id=table.table_id, druid=services.setting("druid.url"),
        text=rerun_statement(change.verb, table.full_name, change.notes.rerun), verb=change.verb, change=change.notes,
        state="moved" if change.has_moved else "begun",
    )  # fmt: skip


def _run_steps(
    action: ChangeIngestion, services: Services, job: IngestionJob | None, *, is_rerun: bool = False
) -> tuple[Move, ...]:
    """Run the steps; `job` records them, None if nothing is changed. Returns the offsets that were moved."""
    change, table_id = action.change, action.table.table_id
    changes, ingestions = Changes(services.catalog), Ingestions(services.catalog)

    def on_offsets(planned: tuple[Move, ...]) -> None:
        nonlocal job
        _ask_again(change, planned, services)
        offsets = {str(move.partition): move.after for move in planned}
        job = job and changes.note(job, job.state, replace(job.change, offsets=offsets))

    def on_step() -> None:
        nonlocal job
        if isinstance(change.steps[progress.done], MoveOffsets) and job is not None:
            job = changes.note(job, "moved", job.change)
        progress.step()

    progress = Progress()
    try:
        moved = services.engine(KafkaIngestion).change_ingestion(
            change,
            patience=seconds(services.setting(TIMEOUT)),
            on_offsets=on_offsets,
            on_accepted=lambda spec: ingestions.save_accepted(table_id, spec),
            on_step=on_step,
        )
    except OwnerError as error:
        if not table_id:
            raise
        _finish(replace(change, started=False), services, job, error.message)
        raise
    except HiveDruidError as error:
        if job is not None and _is_refused(change.steps[progress.done :], progress.done, error):
            if is_rerun:
                changes.fail(job, error.message)
            else:
                changes.refuse(job, error.message)
            if action.before is not None:
                services.catalog.replace(action.before)
        elif not table_id:
            pass
        elif all(isinstance(step, Await) for step in change.steps[progress.done :]) and change.verb != "WAIT":
            # all requests were sent; Druid continues without us, or reports why not
            _finish(change, services, job)
        elif job is not None:
            changes.fail(job, error.message)
        raise
    if change.spec is not None and any(isinstance(step, Await) and step.state == "running" for step in change.steps):
        ingestions.mark_working(table_id)
    return moved


def _is_refused(left: Sequence[Step], done: int, error: HiveDruidError) -> bool:
    """Whether Druid continues as before: it refused the first request, or the new spec."""
    refuses = not isinstance(error, ConnectError) and bool(left) and isinstance(left[0], Request)
    return refuses and (done == 0 or left[0].text == f"POST {SUPERVISOR}")


class Progress:
    """The number of completed steps."""

    done = 0

    def step(self) -> None:
        self.done += 1


def _note_differences(change: IngestionChange, services: Services) -> None:
    """Note the changes of a running spec."""
    for item in change.differences:
        services.note("supervisor {}: {} {} -> {}".format(change.table.data_source, item.path, *item.texts))


def _ask(change: IngestionChange, services: Services) -> None:
    """Raises ExecutionError if the user does not confirm."""
    if not change.needs_consent:
        return
    if change.foreign is not None:
        _ask_foreign(change, services)
        return
    question = f"RESET of {change.table.full_name}: {summary(change.moves)}"
    if not services.confirm(question):
        raise ExecutionError(f"{question}; nothing was changed", hint="confirm at the prompt, or pass --yes")


def _ask_foreign(change: IngestionChange, services: Services) -> None:
    id_, paths = supervisor_id(change.table), [item.path for item in change.differences]
    question = (
        f"START of {change.table.full_name}: supervisor {id_} was started by another program, and the table would"
        f" change its spec: {listed_names(paths, MOST_PATHS)}"
    )
    if not services.confirm(question):
        raise ExecutionError(
            f"{question}; nothing was submitted",
            hint="confirm at the prompt, or pass --yes; a table with the same spec: CREATE EXTERNAL TABLE … FROM"
            f" SUPERVISOR '{id_}'",
        )


def _ask_again(change: IngestionChange, planned: tuple[Move, ...], services: Services) -> None:
    """Confirm again if more records are lost or repeated than announced: tasks have read on, or one has failed.

    Raises ExecutionError if the user does not confirm.
    """
    if any(move.lost is None for move in (*change.moves, *planned)):
        return  # the unknown loss was already announced
    if all(now <= announced for now, announced in zip(_counts(planned), _counts(change.moves), strict=True)):
        return
    name = change.table.full_name
    question = f"RESET of {name}: {summary(planned)}"
    if not services.confirm(question):
        raise ExecutionError(
            f"{question}; no offset was changed", hint=f"RESUME INGESTION {name} continues from the previous offsets"
        )


def _counts(planned: tuple[Move, ...]) -> tuple[int, int]:
    """The number of lost records, and of records that are read again."""
    return sum(move.lost or 0 for move in planned), sum(move.repeated or 0 for move in planned)


def forget_specs(action: ForgetSpecs, services: Services) -> None:
    job = None
    if action.resubmits:
        change = IngestionChange(action.table, "ALTER", (), started=True, notes=ChangeNotes(rolls_back=True))
        job = _job(change, services)
    Changes(services.catalog).roll_back(action.table.table_id, action.version, job)
