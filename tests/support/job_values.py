"""Jobs as values, to test with."""

from __future__ import annotations

from typing import Any

from hivedruid.jobs.job import Job

SPEC = {"type": "index_parallel", "spec": {"dataSchema": {"dataSource": "default.t"}}}


def a_job(job_id: str, **changes: Any) -> Job:
    """A planned INSERT INTO default.t."""
    given: dict[str, Any] = {
        "statement_id": f"statement_of_{job_id}", "number": 0, "kind": "INSERT INTO", "database": "default", "table": "t",
        "table_id": "1", "druid": "embedded:", "fingerprint": "f", "text": "INSERT INTO t SELECT 1", "spec": SPEC,
    }  # fmt: skip
    return Job(job_id, **{**given, **changes})
