"""Spark's rows of a query over rows in Python, computed independently of Druid: the reference for all other engines.

An answer that Spark has confirmed is not computed again: a file holds the digest of each one, made of the version of
Spark, the query, the rows that it reads, and its result. If any of them changes, Spark is asked. `make equivalence`
always asks Spark; `make update-references` writes the files, as the option `--references update` does.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.cells import padded
from hivedruid.plan.physical import SparkJob, TableInput
from hivedruid.spark.relations import query, used
from hivedruid.spark.rows import stream
from tests.equivalence.comparison import Rows, same, sort_key
from tests.equivalence.local import in_utc

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession

_EXCHANGES = re.compile(r"\b(GROUP BY|ORDER BY|JOIN|OVER|DISTINCT|FILTER)\b")
"""Operators before which Spark exchanges rows, unless they are one partition."""
_HEADING = "# What Spark has confirmed (tests/support/reference.py); `make update-references` writes it."


class Confirmed:
    """Digests of what Spark has confirmed in former runs, and in this one."""

    def __init__(self, digests: Iterable[str] = ()) -> None:
        self._before = frozenset(digests)
        self.now: set[str] = set()
        """Those of this run, with those of former runs that occurred in it."""

    @classmethod
    def read(cls, file: Path) -> Confirmed:
        lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
        return cls(line for line in lines if not line.startswith("#"))

    def write(self, file: Path) -> None:
        file.write_text("\n".join([_HEADING, *sorted(self.now), ""]), encoding="ascii")

    def recall(self, digest: str) -> bool:
        """Whether Spark has confirmed it; what it has belongs to this run, too."""
        if digest in self._before:
            self.now.add(digest)
        return digest in self.now

    def add(self, digest: str) -> None:
        self.now.add(digest)


def digest(*parts: object) -> str:
    """Of values with the same `repr` in every process, and of the version of Spark."""
    import pyspark

    return hashlib.sha256(repr((pyspark.__version__, *parts)).encode()).hexdigest()[:20]


class _Rows(NamedTuple):
    """The rows of a table as a query of constants, and the hash of its text."""

    text: str
    hash: str


class Reference:
    """The tables of a test module, and Spark's answers over them.

    `spark` returns the session, and is called only when Spark must compute an answer.
    """

    def __init__(self, spark: Callable[[], SparkSession], confirmed: Confirmed) -> None:
        self._spark = spark
        self.confirmed = confirmed
        self._rows: dict[str, _Rows] = {}
        self._views: dict[str, _Rows] = {}
        """The rows of each view that the current Spark session has."""
        self._session: SparkSession | None = None
        self.computed = 0
        """The number of answers that Spark has computed."""

    def load(self, table: Table, rows: Iterable[Sequence[Any]]) -> None:
        """Replace the rows of a table: times are milliseconds since the epoch or strings."""
        text = _query_text(table, rows)
        self._rows[table.name] = _Rows(text, hashlib.sha256(text.encode()).hexdigest())

    def rows(self, job: SparkJob, found: Rows, types: list[HiveType], *, ordered: bool) -> Rows:
        """Spark's rows, instants in UTC; they are `found` itself if Spark has confirmed it."""
        found = in_utc(found)
        key = self._digest(job, found, ordered=ordered)
        if not self.confirmed.recall(key):
            self.computed += 1
            expected = in_utc(list(padded(types, iter(self._answer(job)))))
            if not same(found, expected, types, ordered=ordered):
                return expected
            self.confirmed.add(key)
        return found

    def _digest(self, job: SparkJob, found: Rows, *, ordered: bool) -> str:
        texts = [job.sql, *(f"{part.view}: {part.sql}" for part in job.computed)]
        tables = [
            f"{item.view}: {item.columns} of {self._rows[item.table.name].hash}"
            for item in job.inputs
            if isinstance(item, TableInput)
        ]
        rows = [tuple(map(_nine_digits, row)) for row in (found if ordered else sorted(found, key=sort_key))]
        return digest(texts, tables, ordered, rows)

    def _answer(self, job: SparkJob) -> Rows:
        """The rows of a job over the views of its tables. Without parts that are computed first, it is one request.

        Spark's optimizer filters and projects the rows of the views itself. For other operators, rows that are known to
        be one partition need no exchange, which is half of the time.
        """
        spark = self._spark()
        if spark is not self._session:
            self._session, self._views = spark, {}
        frames = {}
        is_one = _EXCHANGES.search(" ".join([job.sql, *(part.sql for part in job.computed)])) is not None
        for item in job.inputs:
            assert isinstance(item, TableInput)
            rows = spark.table(self._view(spark, item.table))
            frames[item.view] = (rows.coalesce(1) if is_one else rows).select(*item.columns)
        for part in job.computed:
            query(spark, part.sql, used(frames, part.sql)).createOrReplaceTempView(part.view)
        return list(stream(query(spark, job.sql, used(frames, job.sql)), [column.type for column in job.columns]))

    def _view(self, spark: SparkSession, table: Table) -> str:
        """The view over the rows of a table; Spark parses them once."""
        name, rows = f"{table.name}_raw", self._rows[table.name]
        if self._views.get(name) != rows:
            spark.sql(rows.text).createOrReplaceTempView(name)
            self._views[name] = rows
        return name


def _nine_digits(value: Any) -> Any:
    """The value as comparisons see it: doubles to nine digits, without the sign of zero."""
    if isinstance(value, list | tuple):
        return [_nine_digits(item) for item in value]
    return (float(f"{value:.9g}") or 0.0) if isinstance(value, float) else value


def _query_text(table: Table, rows: Iterable[Sequence[Any]]) -> str:
    columns = table.columns
    listed = ", ".join(
        "(" + ", ".join(spark_value(v, c.type) for v, c in zip(row, columns, strict=True)) + ")" for row in rows
    )
    names = ", ".join(f"`{c.name}`" for c in columns)
    nulls = ", ".join(f"{spark_value(None, c.type)} AS `{c.name}`" for c in columns)
    return f"SELECT * FROM VALUES {listed} AS v({names})" if listed else f"SELECT {nulls} WHERE FALSE"


def spark_value(value: Any, type_: HiveType) -> str:
    """A typed constant, rendered independently of the planner."""
    kind = spark_type(type_)
    if value is None:
        return f"CAST(NULL AS {kind})"
    if type_.is_timestamp and isinstance(value, int):
        return f"CAST(timestamp_millis({value}) AS {kind})"
    if isinstance(value, list | tuple):
        if list(value) in ([], [None]):  # as Druid stores them
            return f"CAST(NULL AS {kind})"
        return f"array({', '.join(spark_value(item, type_.children[0]) for item in value)})"
    if isinstance(value, str):
        return f"CAST(CAST(X'{value.encode().hex()}' AS STRING) AS {kind})"
    return f"CAST('{value}' AS {kind})"
