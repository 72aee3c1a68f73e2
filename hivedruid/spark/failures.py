"""Translates Spark exceptions to one-line errors; the full text goes to the log."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.catalog.constraints import VIOLATED
from hivedruid.errors import ConstraintError, HiveDruidError, SparkError, SparkOptimizerError
from hivedruid.iceberg.home_catalog import SPARK_EXTENSIONS
from hivedruid.orc_files import MARK as ORC_FILE
from hivedruid.plan.spark_strings import NO_BASE64
from hivedruid.secret_text import redact
from hivedruid.sequence_files import MARK as SEQUENCE_FILE
from hivedruid.sketches.functions import MARK as SKETCH_FUNCTION
from hivedruid.spark import missing_jars, worker_python
from hivedruid.spark.arrivals import HINT
from hivedruid.spark.avro import UNWRITABLE
from hivedruid.spark.function_calls import MARK
from hivedruid.spark.orc_times import UNSTORABLE
from hivedruid.terminal import printable

if TYPE_CHECKING:
    from hivedruid.catalog.table import Table

_CAUSE = re.compile(r"^\s*Caused by: (.+)$", re.MULTILINE)
_JAVA_NAME = re.compile(r"^(?:[a-z_]\w*\.)+[A-Z]\w*(?:\$\w+)*: (?=\S)")
_CLASS = re.compile(r"^\[[A-Z][A-Z0-9_.]+\] ")
"""Spark's error class."""
_SQLSTATE = re.compile(r"\s*;?\s*SQLSTATE: \w{5}.*$", re.DOTALL)
_RPC = re.compile(
    r'RPC that terminated with:\s+status = StatusCode\.\w+\s+details = "(.*?)"\s+debug_error_string', re.DOTALL
)
"""gRPC's error, whose first line says nothing."""
_VALUES = (
    ("[NULL_MAP_KEY]", "a map key is NULL", "exclude such rows with WHERE, or use coalesce()"),
    (
        "PYTHON_UDF_IN_ON_CLAUSE",
        "Spark cannot evaluate a Python function over both sides of an outer join in ON",
        "compute it over one side in a subquery",
    ),
    (
        "PatternSyntaxException",
        "invalid regular expression: {}",
        "exclude such rows with WHERE",
    ),
    (
        "BrotliCodec",
        "Spark cannot read Parquet files that are compressed with Brotli",
        "write them again with another compression, such as ZSTD or Snappy",
    ),
    *(
        (sign, "unbase64() of a string that is not base64: {}", "correct such rows, or exclude them with WHERE")
        for sign in ("Input byte array has ", "Last unit does not have enough valid bits")
    ),
    (
        "Generic Avro union at field",
        "INSERT does not write unions of several types into Avro files",
        "write into a table with a record in place of the union, or without avro.schema.literal",
    ),
    (UNWRITABLE, "{}", "change such rows, or exclude them with WHERE"),
    (
        UNSTORABLE,
        f"{UNSTORABLE} with a fraction",
        "use an external table STORED AS PARQUET, or exclude such rows with WHERE",
    ),
)
"""Errors caused by values: a substring of Spark's message, the message, and the hint."""
_NO_EXTENSIONS = re.compile(
    r"Syntax error at or near '(?:FIELD|WRITE)'.*ALTER TABLE \S+ (?:(?:ADD|DROP) PARTITION FIELD|WRITE) ", re.DOTALL
)
"""Spark's own grammar rejects the statements of `layout.changes`."""
_FUNCTION = re.compile(rf"FunctionError: ({re.escape(MARK)}.*)")
_SKETCH = re.compile(rf"SketchError: ({re.escape(SKETCH_FUNCTION)}.*)")
_SEQUENCE_FILE = re.compile(rf"SequenceFileError: ({re.escape(SEQUENCE_FILE)}.*)")
_ORC_FILE = re.compile(rf"OrcFileError: {re.escape(ORC_FILE)}(.*)")
_NO_BASE64 = re.compile(rf"\[USER_RAISED_EXCEPTION\] {re.escape(NO_BASE64)}(.*?): (.*?)(?: SQLSTATE|\n|$)")
_UNREAD_FILE = re.compile(r"\[FAILED_READ_FILE\.NO_HINT\] Encountered error while reading file (\S+?)\.\s")
_MISSING = ("java.io.FileNotFoundException", "[PATH_NOT_FOUND]")
_OPTIMIZER = "[INTERNAL_ERROR] The Spark SQL phase optimization failed"
_LIMIT = 300
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large")


def full_text(error: BaseException) -> str:
    """The full text of a Spark error: the message, and the causes on the server if available."""
    causes = getattr(error, "getStackTrace", lambda: None)()
    return f"{error}\n{causes}" if causes else str(error)


def translate(error: BaseException, log: Path, *, is_elsewhere: bool = False) -> HiveDruidError:
    """The error as a HiveDruidError. Its full text is appended to the log file named in the hint. `is_elsewhere`: Spark
    runs on other machines.
    """
    text = full_text(error)
    keep(text, log)
    hint = f"see Spark's log: {log}"
    if _OPTIMIZER in text:
        return SparkOptimizerError(f"Spark could not plan the query: {first_line(text)}", hint=hint)
    if is_full_disk(error):
        return SparkError("the disk is full: Spark could not write its files", hint=f"free up disk space; {hint}")
    if "Java heap space" in text or "OutOfMemoryError" in text:
        return out_of_memory(log)
    if is_elsewhere and any(sign in text for sign in _MISSING):
        worker = worker_python.WORKER.search(text)
        where = f"worker {worker[1]}" if worker else "its machines"
        return SparkError(f"Spark cannot find a file on {where}: {first_line(text)}", hint=f"{HINT}; {hint}")
    lacking = worker_python.problem(text) or (worker_python.unseen(text) if is_elsewhere else None)
    if lacking:
        return SparkError(lacking[0], hint=f"{lacking[1]}; {hint}")
    if "FileSystem" in text and (jars := missing_jars.missing(text)):
        return SparkError(jars[0], hint=f"{jars[1]}; {hint}")
    if function := _FUNCTION.search(text) or _SKETCH.search(text):
        return SparkError(function[1], hint=hint)
    if (file := _of_a_file(text, hint)) is not None:
        return file
    if stored := _NO_BASE64.search(text):
        advice = "declare it as STRING in another table over the data source, or correct the rows"
        return SparkError(
            f"the value '{printable(redact(stored[2]))}' of {stored[1]} is not base64, and the column is BINARY",
            hint=f"{advice}; {hint}",
        )
    for sign, message, advice in _VALUES:
        if sign in text:
            return SparkError(message.format(first_line(text)), hint=f"{advice}; {hint}")
    if _NO_EXTENSIONS.search(text):
        return SparkError(
            "the Spark Connect server lacks Iceberg's SQL extensions, which partition fields and sort orders need",
            hint=f"start it with spark.sql.extensions={SPARK_EXTENSIONS}; {hint}",
        )
    if _is_refusal(error):
        return SparkError(
            f"Spark rejected the planned query: {first_line(text)}",
            hint=f"run EXPLAIN to see the Spark SQL; CAST the arguments to the types that Hive expects; {hint}",
        )
    return SparkError(f"a Spark job failed: {first_line(text)}", hint=hint)


def _of_a_file(text: str, hint: str) -> SparkError | None:
    """The error of a file that cannot be read."""
    if file := _SEQUENCE_FILE.search(text):
        return SparkError(file[1], hint=f"write it again in Hive, with a supported compression or none; {hint}")
    if orc := _ORC_FILE.search(text):
        return SparkError(f"cannot read an ORC file: {orc[1]}", hint=f"write it again, in UTC; {hint}")
    unread = _UNREAD_FILE.search(text)
    if unread is None or any(sign in text for sign, *_ in _VALUES):
        return None
    reason = first_line(text)
    told = "" if unread[1] in reason else f": {reason}"
    advice = "it may be incomplete, damaged or of another format: replace it, or move it to another folder"
    return SparkError(f"Spark cannot read the file {printable(unread[1])}{told}", hint=f"{advice}; {hint}")


def violation(text: str, table: Table) -> ConstraintError | None:
    """The error of a row that violates a constraint of the table, in the text of a Spark error; None for others."""
    mark = f"[USER_RAISED_EXCEPTION] {VIOLATED}"
    constraint = next((c for c in table.constraints if f"{mark}{c.name} " in text), None)
    if constraint is None:
        return None
    rule = f"CHECK ({constraint.text})" if constraint.kind == "CHECK" else f"NOT NULL of {constraint.columns[0]}"
    return ConstraintError(
        f"a row violates the constraint {constraint.name} of {table.full_name}, {rule}",
        hint="no row was written; change the rows, or drop the constraint with ALTER TABLE … DROP CONSTRAINT",
    )


def _is_refusal(error: BaseException) -> bool:
    """Whether Spark rejected the query before a job started: unresolved names or types that the planner accepted."""
    from pyspark.errors import AnalysisException, ParseException

    return isinstance(error, AnalysisException | ParseException)


def is_full_disk(error: BaseException) -> bool:
    """Whether a write failed for lack of space, on this machine or where Spark runs: a full disk, a quota, or a limit
    on files."""
    text = full_text(error)
    return any(words in text for words in _NO_ROOM)


def out_of_memory(log: Path) -> SparkError:
    return SparkError(
        "Spark ran out of memory", hint=f"rerun with --hiveconf spark.driver.memory=4g; see Spark's log: {log}"
    )


def first_line(text: str) -> str:
    """The useful line of an exception's text: its deepest cause, without Java's class names and stack."""
    if called := _RPC.search(text):
        text = called[1].replace('\\"', '"')
    causes = [cause for cause in _CAUSE.findall(text) if _JAVA_NAME.match(cause)]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = causes[-1] if causes else (lines or ["no message"])[0]
    line = _SQLSTATE.sub("", _CLASS.sub("", _JAVA_NAME.sub("", line))).strip()
    return line if len(line) <= _LIMIT else line[: _LIMIT - 1] + "…"


def keep(text: str, log: Path) -> None:
    """Append the error to the log."""
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8", errors="replace") as file:
            file.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} failed: {redact(text)}\n")
    except OSError:  # the error matters more than its log
        return
