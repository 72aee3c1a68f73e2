"""Run INSERT INTO Kafka tables: at least once by Spark's workers, or exactly once in one transaction."""

from __future__ import annotations

from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from hivedruid.actions.recovery import current
from hivedruid.actions.select.reduce import reduced
from hivedruid.actions.writing import staging
from hivedruid.catalog.properties import producer_properties
from hivedruid.errors import ExecutionError, HiveDruidError, KafkaError
from hivedruid.kafka_secrets import in_files
from hivedruid.operations.operation import error_text
from hivedruid.operations.owner import owned
from hivedruid.operations.store import Operations
from hivedruid.operations.topics import TopicJob
from hivedruid.scratch import private_scratch

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.actions.writing.jobs import Origin
    from hivedruid.actions.writing.model import CancelTopicWrite, ResumeTopicWrite, WriteTable
    from hivedruid.clients.transactions import Transaction

TRIES = 3
"""Of the transaction of a job, if Kafka does not respond: its coordinator may be another broker by then."""
KNOWN_FOR = timedelta(days=1)
"""How long an offset of a consumer group certainly stays in Kafka; by default (offsets.retention.minutes) a week."""


def append(action: WriteTable, services: Services) -> None:
    """Produce the rows as records, with the guarantee of the table."""
    from hivedruid.clients.topics import check_target

    check_target(action.table)
    if action.once is not None:
        _append_once(action, action.once, services)
    else:
        _append(action, services)


def _append(action: WriteTable, services: Services) -> None:
    from hivedruid.clients.records import Produce
    from hivedruid.spark.topics import FAILED

    table = action.table
    with private_scratch(services.home) as folder:
        properties = in_files(producer_properties(table.properties), folder / "producer")
        produce = Produce(
            table.properties["kafka.bootstrap.servers"], properties, table.properties["kafka.topic"], FAILED
        )
        services.spark().produce(reduced(action.job, services), table, produce)


def _append_once(action: WriteTable, origin: Origin, services: Services) -> None:
    table, store = action.table, Operations(services.catalog)
    job_id = f"{table.name}_{uuid4().hex[:12]}"
    job = TopicJob(
        id=job_id, statement_id=job_id, statement="INSERT INTO", database=table.database, table=table.name,
        table_id=table.table_id, druid=origin.druid, text=origin.text, fingerprint=origin.fingerprint,
        target={key: value for key, value in table.properties.items() if key.startswith("kafka.")},
        folder=str(services.home / "staging" / job_id),
    )  # fmt: skip
    with owned(services.home, job, store):
        store.begin([job])
        job = store.current(job)
        try:
            rows = services.spark().stage_records(reduced(action.job, services), table, Path(job.folder))
            job = store.move(job, "staged", rows=rows)
        except BaseException as error:
            _end(store.current(job), services, "cancelled", error_text(error))
            raise
        _complete(job, services)


def resume(action: ResumeTopicWrite, services: Services) -> None:
    """Complete the job of another process."""
    with owned(services.home, action.job, Operations(services.catalog)):
        job = current(action.job, services)
        if job.has_ended:
            return
        interrupted = f"job {job.id}, which was {job.state} when it was interrupted"
        again = ": its rows are not computed again" if action.is_rerun else ""
        services.note(f"{'resuming' if action.is_rerun else 'completing'} {interrupted}{again}")
        _complete(job, services)


def cancel(action: CancelTopicWrite, services: Services) -> None:
    """End the job of another process without its records. Raises ExecutionError if they are committed."""
    with owned(services.home, action.job, Operations(services.catalog)):
        job = current(action.job, services)
        if job.has_ended:
            return
        if job.state == "submitted":
            with closing(_transaction(job)) as transaction:
                if transaction.is_committed():
                    _end(job, services, "done")
                    raise ExecutionError(
                        f"job {job.id} cannot be cancelled: its records are in topic {job.topic}",
                        hint="its staged records were deleted, the job is done",
                    )
        _end(job, services, "cancelled", job.error or "cancelled")


def _complete(job: TopicJob, services: Services) -> None:
    """Write the staged records of a job, unless they are committed."""
    from hivedruid.clients.kafka_library import is_retriable

    store = Operations(services.catalog)
    try:
        for left in reversed(range(TRIES)):
            try:
                _write(job, store)
                break
            except KafkaError as error:
                if not left or not is_retriable(error):
                    raise
                services.note(f"{error}; the transaction of job {job.id} is tried again")
    except BaseException as error:
        with suppress(HiveDruidError):
            job = store.current(job)
            store.move(job, job.state, error=error_text(error))
        if isinstance(error, HiveDruidError):
            advice = (
                f"RESUME JOB '{job.id}' writes the staged records, if they are not committed; CANCEL JOB deletes them"
            )
            error.hint = "; ".join(filter(None, (error.hint, advice)))
        raise
    _end(store.current(job), services, "done")


def _write(job: TopicJob, store: Operations) -> None:
    """Write the records of a job, unless they are committed."""
    with closing(_transaction(job)) as transaction:
        if not transaction.is_committed():
            job = store.current(job)
            _check_known(job)
            job = store.move(job, "submitted", submitted=datetime.now(UTC).isoformat(), error="")
            _commit(job, transaction)


def _transaction(job: TopicJob) -> Transaction:
    from hivedruid.clients.transactions import Transaction

    return Transaction(job.target, job.group)


def _commit(job: TopicJob, transaction: Transaction) -> None:
    from hivedruid.clients.transactions import staged_records

    transaction.write(staged_records(job.folder, job.rows))
    transaction.commit()


def _check_known(job: TopicJob) -> None:
    """Raise ExecutionError if Kafka may have deleted the offset that tells that the records are committed."""
    if job.submitted and datetime.now(UTC) - datetime.fromisoformat(job.submitted) > KNOWN_FOR:
        raise ExecutionError(
            f"it is no longer known whether the records of job {job.id} were committed: it was submitted more than a"
            " day ago",
            hint=f"look for its records in topic {job.topic}",
        )


def _end(job: TopicJob, services: Services, state: str, error: str = "") -> None:
    staging.remove(job.folder, services)
    Operations(services.catalog).move(job, state, error=error)
