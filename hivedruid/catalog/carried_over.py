"""SQL functions for the migrations that carry unfinished work of earlier versions over to the table `operations`.

They read JSON as Python writes it: SQLite's own functions refuse NaN and Infinity, which sums of doubles may be.
"""

from __future__ import annotations

import json
import sqlite3

LOAD_NOTES = {
    "number", "fingerprint", "spec", "replaces", "staged", "attempt", "definition", "report",
}  # fmt: skip


def job_field(definition: str, name: str) -> str:
    """A text of a job, or of a pending change; "" if it is missing."""
    return str(json.loads(definition).get(name, ""))


def load_notes(definition: str) -> str:
    """The notes of a load from the job that an earlier version stored: the engine's own notes have another name now."""
    job = json.loads(definition)
    journal = dict(job.get("notes") or {})
    if "withdraws" in journal:
        journal["rolls_back"] = journal.pop("withdraws")
    return json.dumps({**{name: job[name] for name in LOAD_NOTES if name in job}, "journal": journal})


def change_notes(pending: str) -> str:
    """The notes of a change of an ingestion from what an earlier version stored as pending."""
    old = json.loads(pending)
    names = {
        "again": "rerun",
        "runs": "runs",
        "rollback": "rolls_back",
        "was": "was",
        "asked": "target",
        "offsets": "offsets",
    }
    change = {new: old[name] for name, new in names.items() if name in old}
    return json.dumps({"verb": old["verb"], "change": change})


def add_functions(connection: sqlite3.Connection) -> None:
    """Make the functions known to a connection."""
    connection.create_function("job_field", 2, job_field, deterministic=True)
    connection.create_function("load_notes", 1, load_notes, deterministic=True)
    connection.create_function("change_notes", 1, change_notes, deterministic=True)
