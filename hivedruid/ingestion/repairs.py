"""Problems as rows of SHOW PROBLEMS, and the parts of their repairs that are used everywhere. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from hivedruid.catalog.properties import has_ingestion
from hivedruid.ingestion.overview import Ingestion
from hivedruid.lazy_dataclass import dataclass
from hivedruid.parser.parameters import literal


@dataclass(frozen=True)
class Problem:
    """A problem of `subject`: a table, the id of a supervisor without a table, or a service."""

    subject: str
    problem: str
    cause: str
    evidence: str
    repair: str


COLUMNS = ("subject", "problem", "cause", "evidence", "repair")


def name_of(one: Ingestion) -> str:
    """The table as SQL."""
    parts = (one.table.database, one.table.name) if one.table is not None else (one.name,)
    return sql_name(*parts)


def sql_name(*parts: str) -> str:
    """A qualified name as SQL."""
    return ".".join(part if re.fullmatch(r"[a-z_]\w*", part, re.ASCII) else f"`{part}`" for part in parts)


def statement(verb: str, one: Ingestion) -> str:
    """The statement names the supervisor by its id if no table ingests by it."""
    named = one.table is not None and has_ingestion(one.table.properties)
    return f"{verb} INGESTION {name_of(one) if named or one.supervisor is None else literal(one.supervisor.id)}"


def show_tasks(one: Ingestion) -> str:
    return f"SHOW TASKS FOR {name_of(one)}" if one.table is not None else "SHOW TASKS"


def reset(one: Ingestion) -> str:
    return f"{statement('RESET', one)} TO EARLIEST"


def local_start(problem: Problem, down: Mapping[str, str], command: str) -> Problem:
    """The problem; if services of the home's local cluster are down and cause it, its repair is the command line that
    starts them. `down` has their addresses by name."""
    causes = {"no workers": ("indexer",), "segments unavailable": ("historical",), "unreachable": tuple(down)}
    told = f"{problem.subject} {problem.cause}"
    is_local = any(
        name in down and (problem.problem != "unreachable" or down[name] in told or "local cluster" in told)
        for name in causes.get(problem.problem, ())
    )
    return replace(problem, repair=f"-- $ {command}") if is_local else problem


def with_check(problem: Problem, command: str) -> Problem:
    """The problem; if a Kafka is unreachable that is not local, what is to be done becomes a part of the cause, and its
    repair is the command line that checks all topics."""
    hint = problem.repair.removeprefix("-- ")
    if problem.problem != "unreachable" or not problem.subject.startswith("Kafka at ") or hint.startswith("$ "):
        return problem
    return replace(problem, cause=f"{problem.cause}; {hint}", repair=f"-- $ {command}")


def pasted(problem: Problem) -> Problem:
    """The problem with a repair that runs when it is pasted at a prompt: statements end with `;`, comments do not."""
    repair = problem.repair
    return problem if not repair or repair.startswith("--") else replace(problem, repair=f"{repair.rstrip(';')};")


def adopting(one: Ingestion) -> str:
    """The statement that makes a table with the spec of the supervisor, which can then stop and start it."""
    if one.supervisor is None:
        return show_tasks(one)
    if one.table is not None:
        return statement("STOP", one)
    if one.supervisor.type != "kafka":
        kind = one.supervisor.type
        return f"-- change supervisor {one.supervisor.id} where it was posted: tables do not ingest from {kind}"
    name = re.sub(r"\W", "_", one.supervisor.id.lower(), flags=re.ASCII)
    return f"CREATE EXTERNAL TABLE `{name}` FROM SUPERVISOR {literal(one.supervisor.id)}"
