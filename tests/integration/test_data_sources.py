"""Every kind of column of a data source that hivedruid did not make: each statement agrees with Druid's own scan.

A statement contains as many kinds as its shape allows: all of them, or those of one type as branches of a UNION ALL.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.segments.scan import Scan, scan_file
from tests.support.data_sources import (
    KINDS,
    METRICS,
    PATHS,
    SEGMENTS,
    Kind,
    as_hive,
    hive_text,
    key_of,
    spec_of,
)
from tests.support.ingestion import ingest_all
from tests.support.publish import answer
from tests.support.segments import stored

if TYPE_CHECKING:
    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster, Run

DATA_SOURCE = "kinds_of_others"
TO_ARCHIVE = "kinds_to_archive"
EVERYTHING = "-146136543-09-08T08:23:32.096Z/146140482-04-24T15:36:27.903Z"
ALL = ", ".join(f"`{kind.column}`" for kind in KINDS)
TYPES = sorted({kind.hive for kind in KINDS})
Values = dict[str, dict[str, Any]]
"""Values by column and row."""


@pytest.fixture(scope="module")
def other(cluster: Cluster) -> Iterator[DruidCluster]:
    with closing(cluster.druid()) as druid:
        names = (DATA_SOURCE, TO_ARCHIVE)
        ingest_all(druid, [spec_of(name, number) for name in names for number in range(SEGMENTS)])
        yield druid
        for name in names:
            druid.drop(name)


@pytest.fixture(scope="module")
def run(cluster: Cluster, other: DruidCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """Runs statements in a home with the table `d` over the data source and its copy `m`."""
    with cluster.statements(tmp_path_factory.mktemp("home")) as run:
        run(f"CREATE EXTERNAL TABLE d STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = '{DATA_SOURCE}')")
        run("CREATE TABLE m AS SELECT * FROM d")
        yield run


@pytest.fixture(scope="module")
def scanned(other: DruidCluster) -> Values:
    """What Druid's own scan returns."""
    query = {
        "queryType": "scan", "dataSource": DATA_SOURCE, "intervals": [EVERYTHING], "resultFormat": "compactedList",
        "columns": ["r", *(kind.column for kind in KINDS)],
    }  # fmt: skip
    batches = other.client.post("broker", "/druid/v2", list[dict[str, Any]], query)
    rows = [row for batch in batches for row in batch["events"]]
    return {kind.column: {row[0]: as_hive(row[at], kind.hive) for row in rows} for at, kind in enumerate(KINDS, 1)}


def by_column(rows: Iterable[tuple[Any, ...]]) -> Values:
    """The values of rows that consist of `r` and ALL."""
    rows = list(rows)
    return {kind.column: {row[0]: row[at] for row in rows} for at, kind in enumerate(KINDS, 1)}


def union(run: Run, hive: str, branch: Callable[[Kind], Iterable[str]]) -> list[tuple[Any, ...]]:
    """The rows of the branches of all kinds of a type."""
    return run(" UNION ALL ".join(text for kind in KINDS if kind.hive == hive for text in branch(kind)))


def test_the_types_are_those_of_the_page(other: DruidCluster, run: Run) -> None:
    schema = other.schema(DATA_SOURCE)
    for kind in KINDS:
        differing = set(schema.differing.get(kind.column, ())) or {schema[kind.column]}
        if "ARRAY<STRING>" in kind.types and kind.types <= {"STRING", "ARRAY<STRING>"}:
            assert schema[kind.column] == "ARRAY<STRING>", kind
        else:
            assert differing == kind.types - {""}, kind
    described = {row[0]: row[1] for row in run("DESCRIBE d")}
    assert {kind.name: described[kind.column.lower()] for kind in KINDS} == {kind.name: kind.hive for kind in KINDS}


def test_rows(run: Run, scanned: Values) -> None:
    assert by_column(run(f"SELECT r, {ALL} FROM d")) == scanned


def test_rows_of_a_copy(run: Run, scanned: Values) -> None:
    assert by_column(run(f"SELECT r, {ALL} FROM m")) == scanned


def test_rows_of_files(run: Run, scanned: Values) -> None:
    run("SET hivedruid.druid.read = segments")
    try:
        statement = f"SELECT r, {ALL} FROM d WHERE soundex(concat('x', r)) IS NOT NULL"
        plan = "\n".join(str(row[0]) for row in run(f"EXPLAIN {statement}"))
        assert f"read from {SEGMENTS} files" in plan
        assert by_column(run(statement)) == scanned
    finally:
        run("SET hivedruid.druid.read = auto")


def test_results_from_files(run: Run, scanned: Values) -> None:
    """Each column that this process reads from the files, without Spark; the others are queried."""
    run("SET hivedruid.druid.read = segments")
    try:
        queried = set()
        for kind in KINDS:
            statement = f"SELECT r, `{kind.column}` FROM d"
            if f"read from {SEGMENTS} files" not in "\n".join(str(row[0]) for row in run(f"EXPLAIN {statement}")):
                queried.add(kind.name)
            rows = run(statement)
            assert len(rows) == len(scanned[kind.column]), kind.name
            assert dict(rows) == scanned[kind.column], kind.name
        assert queried == {kind.name for kind in KINDS if kind.hive == "binary"}
        several = ", ".join(f"`{kind.column}`" for kind in KINDS if kind.name not in queried)
        every = run(f"SELECT r, {several} FROM d")
    finally:
        run("SET hivedruid.druid.read = auto")
    assert sorted(map(repr, every)) == sorted(map(repr, run(f"SELECT r, {several} FROM d")))


def test_files_have_the_values_of_scans(other: DruidCluster, scanned: Values) -> None:
    """Without the queries that replace files which cannot be read."""
    fields = (("r", "STRING"), *((kind.column, kind.read_as) for kind in KINDS))
    rows = [
        tuple(row.values())
        for path in stored(other, DATA_SOURCE)
        for batch in scan_file(Scan(fields, None, {}), path, ((-(1 << 62), 1 << 62),))
        for row in batch.to_pylist()
    ]
    found = by_column(rows)
    for kind in KINDS:
        values = {r: as_hive(value, kind.hive) for r, value in found[kind.column].items()}
        assert values == scanned[kind.column], kind.name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_conditions_on_files(kind: Kind, run: Run, scanned: Values) -> None:
    """Spark evaluates those on columns whose segments have different types."""
    run("SET hivedruid.druid.read = segments")
    try:
        rows = run(f"SELECT r FROM d WHERE `{kind.column}` IS NULL AND soundex(concat('x', r)) IS NOT NULL")
        assert {row[0] for row in rows} == {r for r, value in scanned[kind.column].items() if value is None}
    finally:
        run("SET hivedruid.druid.read = auto")


@pytest.mark.parametrize("hive", TYPES)
def test_groups(hive: str, run: Run, scanned: Values) -> None:
    rows = union(
        run, hive, lambda kind: [f"SELECT '{kind.name}', `{kind.column}`, count(*) FROM d GROUP BY `{kind.column}`"]
    )
    expected = {
        (kind.name, value): number
        for kind in KINDS
        if kind.hive == hive
        for value, number in Counter(map(repr, scanned[kind.column].values())).items()
    }
    assert {(name, repr(value)): number for name, value, number in rows} == expected


@pytest.mark.parametrize("hive", TYPES)
def test_aggregates(hive: str, run: Run, scanned: Values) -> None:
    rows = union(
        run, hive,
        lambda kind: [
            f"SELECT '{kind.name}', count({x}), count(DISTINCT {x}), count(*), min({x}), max({x}) FROM d"
            for x in (f"`{kind.column}`",)
        ],
    )  # fmt: skip
    found = {row[0]: row[1:] for row in rows}
    for kind in KINDS:
        if kind.hive == hive:
            present = [value for value in scanned[kind.column].values() if value is not None]
            extremes = min(present, key=key_of), max(present, key=key_of)
            counts = len(present), len(set(map(repr, present))), len(scanned[kind.column])
            assert found[kind.name] == (*counts, *extremes), kind.name


@pytest.mark.parametrize("hive", TYPES)
def test_conditions(hive: str, run: Run, scanned: Values) -> None:
    """IS NULL and comparisons with one of the values; of an array, whether it contains an element."""
    expected: Counter[tuple[str, str, str]] = Counter()

    def branches(kind: Kind) -> Iterator[str]:
        x, values = f"`{kind.column}`", scanned[kind.column]
        sample = next(value for value in values.values() if value not in (None, []))
        matches: dict[str, Iterable[Any]] = {f"{x} IS NULL": [None]}
        present = [value for value in values.values() if value is not None]
        if isinstance(sample, list):
            item = next(each for each in sample if each is not None)
            matches[f"array_contains({x}, {_literal(item, hive[6:-1])})"] = [v for v in present if item in v]
        else:
            for op, holds in (("=", operator.eq), (">=", operator.ge), ("<>", operator.ne)):
                matches[f"{x} {op} {_literal(sample, hive)}"] = [v for v in present if holds(v, sample)]
        for number, (condition, found) in enumerate(matches.items()):
            expected.update((kind.name, str(number), r) for r, value in values.items() if value in found)
            yield f"SELECT '{kind.name}', '{number}', r FROM d WHERE {condition}"

    assert Counter(union(run, hive, branches)) == expected


def _literal(value: Any, hive: str) -> str:
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    return _quoted(value) if isinstance(value, str) else f"CAST({value!r} AS {hive})"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_order(kind: Kind, run: Run, scanned: Values) -> None:
    x = f"`{kind.column}`"
    ordered = [row[0] for row in run(f"SELECT {x} FROM d ORDER BY {x} NULLS LAST")]
    assert ordered == sorted(scanned[kind.column].values(), key=key_of)


def test_nulls_are_pushed(run: Run, scanned: Values) -> None:
    items = (
        f"count({x}), sum(if({x} IS NULL, 1, 0)), max(CASE WHEN {x} IS NOT NULL THEN r END)"
        for x in (f"`{kind.column}`" for kind in KINDS)
    )
    statement = f"SELECT {', '.join(items)} FROM d"
    assert "Spark" not in "\n".join(str(row[0]) for row in run(f"EXPLAIN {statement}"))
    (row,) = run(statement)
    for at, kind in enumerate(KINDS):
        present = [r for r, value in scanned[kind.column].items() if value is not None]
        nulls = len(scanned[kind.column]) - len(present)
        assert row[3 * at : 3 * at + 3] == (len(present), nulls, max(present)), kind.name


def test_sizes_of_arrays(run: Run, scanned: Values) -> None:
    arrays = [kind.column for kind in KINDS if kind.hive.startswith("array")]
    for row in run(f"SELECT r, {', '.join(f'size(`{column}`)' for column in arrays)} FROM d"):
        values = [scanned[column][row[0]] for column in arrays]
        assert list(row[1:]) == [-1 if value is None else len(value) for value in values]


def test_statistics(other: DruidCluster, run: Run, scanned: Values) -> None:
    run("ANALYZE TABLE d COMPUTE STATISTICS FOR COLUMNS")
    found = other.analysed(DATA_SOURCE, {kind.column: kind.druid for kind in KINDS}).columns
    for kind in KINDS:
        values = scanned[kind.column].values()
        present = [value for value in values if value is not None]
        statistics = found[kind.column]
        assert statistics.has_nulls == (len(present) < len(values)), kind.name
        if kind.druid in ("LONG", "DOUBLE") and "FLOAT" not in kind.types:
            assert (statistics.low, statistics.high) == (str(min(present)), str(max(present))), kind.name
        if kind.types in ({"STRING"}, {"LONG"}, {"DOUBLE"}):
            assert statistics.distinct == len({None if v == "" else v for v in values}), kind.name


def test_statistics_of_a_copy(run: Run) -> None:
    """Bytes are counted; they have no bounds that a text could contain."""
    run("ANALYZE TABLE m COMPUTE STATISTICS FOR COLUMNS thetasketch, `long`")
    figures = "\n".join(str(row[0]) for row in run("EXPLAIN EXTENDED SELECT thetasketch, `long` FROM m"))
    assert "thetasketch 4 values" in figures


def test_archive_and_back(other: DruidCluster, run: Run, scanned: Values) -> None:
    written = [kind for kind in KINDS if kind.is_written]
    columns = ", ".join(f"`{kind.column}` {kind.hive}" for kind in written)
    sketches = ", ".join(f"{kind.column.lower()}:{kind.parts[0].spec}" for kind in written if kind.hive == "binary")
    run(
        f"CREATE EXTERNAL TABLE t (`__time` timestamp, r string, {columns}) STORED BY 'druid' TBLPROPERTIES"
        f" ('druid.datasource' = '{TO_ARCHIVE}', 'druid.columns.aggregators' = '{sketches}'); ALTER TABLE t SET TIERED"
    )
    statement = f"SELECT r, {', '.join(f'`{kind.column}`' for kind in written)} FROM t"
    any_row = {"queryType": "scan", "dataSource": TO_ARCHIVE, "intervals": [EVERYTHING], "limit": 1, "columns": ["r"]}
    multi_values = [kind.column for kind in written if kind.hive == "array<string>"]
    for move, is_here in (("ARCHIVE TABLE t UP TO '2026-01-04'", False), ("UNARCHIVE TABLE t", True)):
        run(move)
        assert bool(answer(other, any_row)) == is_here
        rows = run(statement)
        for at, kind in enumerate(written, 1):
            expected = scanned[kind.column]
            if is_here and kind.column in multi_values:  # Druid stores no empty multi-value
                expected = {r: None if value in ([], [None]) else value for r, value in expected.items()}
            assert {row[0]: row[at] for row in rows} == expected, (kind.name, move)
    stored = {name.lower(): type_ for name, type_ in other.schema(TO_ARCHIVE).items()}
    for kind in written:
        if kind.hive == "binary" or kind.hive in ("array<bigint>", "array<double>"):
            assert stored[kind.column.lower()] == kind.druid, kind.name


def test_sketches_that_are_only_read(run: Run) -> None:
    for kind in KINDS:
        if not kind.is_written:
            with pytest.raises(UnsupportedError, match=f"cannot store column '{kind.column.lower()}' in Druid"):
                run(f"CREATE TABLE x STORED BY 'druid' AS SELECT `__time`, `{kind.column}` FROM d")
    with pytest.raises(UnsupportedError, match="cannot be archived: its sketches are only read"):
        run("ALTER TABLE d SET TIERED")
    with pytest.raises(
        UnsupportedError,
        match=r"cannot write to default[.]d: the sketches of its column 'kll_of_doubles' are only read",
    ):
        run("INSERT INTO d SELECT * FROM d")


def test_a_sketch_is_no_number_and_no_text(run: Run) -> None:
    for expression in ("thetaSketch + 1", "sum(thetaSketch)", "thetaSketch LIKE 'a'", "thetaSketch RLIKE 'a'"):
        with pytest.raises(SemanticError, match=r"not (take )?binary") as error:
            run(f"SELECT {expression} FROM d")
        assert "ds_theta_estimate" in (error.value.hint or "")
    assert run("SELECT length(thetaSketch), base64(thetaSketch) FROM d WHERE r = 'r00'") == [
        (16, "AQMDAAA6zJMXwR1ShQcBew==")
    ]


@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind.types == {"COMPLEX<json>"}], ids=lambda kind: kind.name
)
def test_paths_of_nested_data(kind: Kind, run: Run, scanned: Values) -> None:
    x, documents = f"`{kind.column}`", scanned[kind.column]
    values = [f"get_json_object({x}, '{path}')" for path in PATHS]
    plan = "\n".join(str(row[0]) for row in run(f"EXPLAIN SELECT r, {', '.join(values)} FROM d"))
    assert "json_query" in plan
    assert "Spark" not in plan
    rows = run(f"SELECT r, {', '.join(values)} FROM d")
    expected = {r: [hive_text(text, path) for path in PATHS] for r, text in documents.items()}
    assert {row[0]: list(row[1:]) for row in rows} == expected
    for at, value in enumerate(values[:6]):
        texts = Counter(row[at] for row in expected.values())
        assert dict(run(f"SELECT {value}, count(*) FROM d GROUP BY {value}")) == texts
        counted = run(f"SELECT count({value}), sum(CAST({value} AS BIGINT)), max({value}) FROM d")
        present = [text for text in texts.elements() if text is not None]
        whole = [int(float(t)) for t in present if re.fullmatch(r"-?\d+([.]\d*)?", t) and abs(float(t)) < 2**63]
        assert counted == [(len(present), sum(whole) if whole else None, max(present, default=None))]
        for text in {*present, "other"}:
            literal = _quoted(text)
            found = {row[0] for row in run(f"SELECT r FROM d WHERE {value} = {literal}")}
            assert found == {r for r, row in expected.items() if row[at] == text}
            others = {row[0] for row in run(f"SELECT r FROM d WHERE NOT {value} = {literal}")}
            assert others == {r for r, row in expected.items() if row[at] not in (text, None)}


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


DECLARED: dict[str, tuple[str, Any]] = {
    "l": ("bigint", 1), "d": ("double", 1.0), "s": ("string", "1.0"), "b": ("boolean", True), "x": ("double", 1.0),
}  # fmt: skip
"""Columns of the table `p` that are values in nested data: type, and CAST('1.0' AS type)."""


@pytest.fixture(scope="module")
def declared(run: Run) -> Run:
    """The table `p`, some of whose columns are values in nested data, and its copy `c`."""
    nested, paths = "json_of_several_types", "l:{0}.long, d:{0}.double, s:{0}.text, b:{0}.yes, x:{0}.object.x"
    columns = ", ".join(f"{name} {type_}" for name, (type_, _) in DECLARED.items())
    run(
        f"CREATE EXTERNAL TABLE p (`__time` timestamp, r string, {nested} string, thetasketch binary, {columns}) STORED BY 'druid'"
        f" TBLPROPERTIES ('druid.datasource' = '{DATA_SOURCE}', 'druid.columns.path' = '{paths.format(nested)}')"
    )
    run("CREATE TABLE c AS SELECT * FROM p")
    return run


def test_declared_paths(declared: Run, scanned: Values) -> None:
    run, documents = declared, scanned["json_of_several_types"]
    texts = {r: [hive_text(text, f"$.{path}") for path in ("text", "double")] for r, text in documents.items()}
    assert {row[0]: list(row[1:]) for row in run("SELECT r, s, CAST(d AS string) FROM p WHERE d = 1.0")} == {
        r: row for r, row in texts.items() if row[1] == "1.0"
    }
    copied = run(f"SELECT r, {', '.join(DECLARED)}, thetasketch FROM c")
    assert Counter(run(f"SELECT r, {', '.join(DECLARED)}, thetasketch FROM p")) == Counter(copied)
    assert {row[0]: row[2 + list(DECLARED).index("s")] for row in copied}.keys() == texts.keys()
    assert {row[0]: row[-1] for row in copied} == scanned["thetaSketch"]
    for at, (name, (type_, least)) in enumerate(DECLARED.items(), 1):
        values = {row[0]: row[at] for row in copied}
        present = [value for value in values.values() if value is not None]
        assert Counter(run(f"SELECT {name}, count(*) FROM p GROUP BY {name}")) == Counter(
            Counter(values.values()).items()
        )
        assert run(f"SELECT count({name}), count(DISTINCT {name}), min({name}), max({name}) FROM p") == [
            (len(present), len(set(present)), min(present), max(present))
        ]
        ordered = [row[0] for row in run(f"SELECT {name} FROM p ORDER BY {name} DESC NULLS LAST")]
        assert ordered == sorted(present, reverse=True) + [None] * (len(values) - len(present))
        null = {r for r, value in values.items() if value is None}
        large = {r for r, value in values.items() if value is not None and value >= least}
        assert {row[0] for row in run(f"SELECT r FROM p WHERE {name} IS NULL")} == null
        assert {row[0] for row in run(f"SELECT r FROM p WHERE {name} >= CAST('1.0' AS {type_})")} == large


def test_files_are_not_read_for_declared_paths(declared: Run) -> None:
    statement = "SELECT r, l FROM {} WHERE soundex(concat('x', r)) IS NOT NULL"
    declared("SET hivedruid.druid.read = segments")
    try:
        assert Counter(declared(statement.format("p"))) == Counter(declared(statement.format("c")))
    finally:
        declared("SET hivedruid.druid.read = auto")


def test_declared_paths_are_described(declared: Run) -> None:
    declared("ANALYZE TABLE p COMPUTE STATISTICS FOR COLUMNS")
    assert ("l", "json_of_several_types.long") in [row[:2] for row in declared("DESCRIBE EXTENDED p")]
    shown = "\n".join(row[0] for row in declared("SHOW CREATE TABLE p"))
    assert "'druid.columns.path'='l:json_of_several_types.long" in shown
    declared("ALTER TABLE p ADD COLUMNS (y bigint)")
    with pytest.raises(SemanticError, match="column 'z'"):
        declared("ALTER TABLE p SET TBLPROPERTIES ('druid.columns.path' = 'z:json_of_several_types.yes')")
    declared("ALTER TABLE p SET TBLPROPERTIES ('druid.columns.path' = 'y:json_of_several_types.long')")
    assert declared("SELECT max(y) FROM p") == declared("SELECT max(l) FROM c")
    with pytest.raises(UnsupportedError, match=r"its column 'y' is the value at json_of_several_types[.]long"):
        declared("INSERT INTO p SELECT * FROM p")


def test_values_of_subqueries_are_those_of_rows(run: Run, scanned: Values) -> None:
    for column in ("json", "array_of_long"):
        inner = f"(SELECT r, {column} x FROM d LIMIT 100) t"
        found = run(f"SELECT x, count(*) FROM {inner} GROUP BY x")
        assert Counter({repr(row[0]): row[1] for row in found}) == Counter(map(repr, scanned[column].values()))


def test_mixed_types_are_described(run: Run) -> None:
    text = "\n".join(" ".join(map(str, row)) for row in run("DESCRIBE EXTENDED d"))
    assert "DOUBLE in 2 segments, LONG in 1 segment" in text


def test_every_metric_has_a_kind() -> None:
    assert {part.spec for kind in KINDS for part in kind.parts} >= METRICS
