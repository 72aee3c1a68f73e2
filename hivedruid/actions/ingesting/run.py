"""Run `ChangeIngestion`: confirm the loss of records, record the change in the catalog, run it, record the outcome."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, assert_never

from hivedruid.actions.ingesting.model import ChangeIngestion, CheckIngestion, ForgetSpecs, IngestingAction
from hivedruid.actions.model import Action
from hivedruid.actions.services import Services
from hivedruid.catalog.ingestions import Ingestions
from hivedruid.engine.capabilities import KafkaIngestion
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError
from hivedruid.ingestion import lifecycle
from hivedruid.ingestion.lifecycle import Await, IngestionChange, MoveOffsets, OwnerError, Request, Step
from hivedruid.ingestion.offsets import Move, summary
from hivedruid.ingestion.supervisor import SUPERVISOR
from hivedruid.settings import seconds

TIMEOUT = "hivedruid.ingestion.timeout"


def run(action: Action, services: Services) -> None:
    assert isinstance(action, IngestingAction)
    match action:
        case CheckIngestion():
            from hivedruid.actions.ingesting.check import check

            check(action, services)
        case ChangeIngestion():
            change_ingestion(action, services)
        case ForgetSpecs():
            forget_specs(action, services)
        case _:
            assert_never(action)


def change_ingestion(action: ChangeIngestion, services: Services) -> None:
    change = action.change
    _note_differences(change, services)
    _ask(change, services)
    ingestions = Ingestions(services.catalog)
    table_id = change.table.table_id
    before = ingestions.find(table_id)
    changes = any(not isinstance(step, Await) for step in change.steps)
    pending: dict[str, Any] = {"verb": change.verb, **change.pending}
    if change.spec is not None:
        bare = {key: value for key, value in change.spec.items() if key not in ("context", "suspended")}
        ingestions.record_spec(change.table, bare, datetime.now(UTC).isoformat(timespec="seconds"))

    def on_offsets(planned: tuple[Move, ...]) -> None:
        _ask_again(change, planned, services)
        pending["offsets"] = {str(move.partition): move.after for move in planned}
        ingestions.begin(table_id, pending)

    def on_step() -> None:
        if isinstance(change.steps[progress.done], MoveOffsets):
            ingestions.begin(table_id, {**pending, "moved": True})
        progress.step()

    if changes:
        ingestions.begin(table_id, pending)
    engine = services.engine(KafkaIngestion)
    progress = Progress()
    try:
        moved = engine.change_ingestion(
            change,
            patience=seconds(services.setting(TIMEOUT)),
            on_offsets=on_offsets,
            on_accepted=lambda spec: ingestions.save_accepted(table_id, spec),
            on_step=on_step,
        )
    except OwnerError:
        ingestions.finish(table_id, started=False)
        raise
    except HiveDruidError as error:
        if changes and _is_refused(change.steps[progress.done :], progress.done, error):
            ingestions.restore(table_id, before)
            if action.before is not None:
                services.catalog.replace(action.before)
        elif all(isinstance(step, Await) for step in change.steps[progress.done :]) and change.verb != "WAIT":
            ingestions.finish(
                table_id, started=change.started
            )  # all requests were sent; Druid continues without us, or reports why not
        raise
    if change.spec is not None and any(isinstance(step, Await) and step.state == "running" for step in change.steps):
        ingestions.mark_working(table_id)
    if change.verb != "WAIT":
        ingestions.finish(table_id, started=change.started)
    if moved:
        places = ", ".join(f"{move.partition}:{move.after}" for move in moved)
        services.note(f"{change.table.full_name} continues reading at {places}; {summary(moved)}")


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
    question = f"RESET of {change.table.full_name}: {summary(change.moves)}"
    if not services.confirm(question):
        raise ExecutionError(f"{question}; nothing was changed", hint="confirm at the prompt, or pass --yes")


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
    pending = {"verb": "ALTER", **lifecycle.ROLLBACK} if action.resubmits else None
    Ingestions(services.catalog).roll_back(action.table.table_id, action.version, pending)
