"""Operations as values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hivedruid.operations.changes import ChangeNotes, IngestionJob
from hivedruid.operations.loads import LoadJob

SPEC: Mapping[str, Any] = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}


def a_job(job_id: str, **fields: Any) -> LoadJob:
    """An operation that writes to default.t on the embedded store, the only target of its statement."""
    given: dict[str, Any] = {
        "statement_id": f"statement_of_{job_id}", "statement": "INSERT INTO", "database": "default", "table": "t",
        "table_id": "id_of_t", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": SPEC,
    }  # fmt: skip
    return LoadJob(id=job_id, **{**given, **fields})


def a_change(
    verb: str, job_id: str = "c", table_id: str = "id_of_t", state: Any = "begun", **notes: Any
) -> IngestionJob:
    """A change of the ingestion into default.t."""
    return IngestionJob(
        id=job_id, statement_id=f"statement_of_{job_id}", statement=f"{verb} INGESTION", database="default", table="t",
        table_id=table_id, druid="http://druid:8888", text="", state=state, verb=verb, change=ChangeNotes(**notes),
    )  # fmt: skip
