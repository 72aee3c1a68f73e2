"""A session over a home folder: statements one by one, SOURCE, settings, the clock, clusters."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from hivedruid import defaults
from hivedruid.catalog.places import IN_HOME, Places
from hivedruid.errors import ConnectError, ExecutionError, HiveDruidError, ParseError, SemanticError
from hivedruid.session import Session
from tests.support.loads import ingest


def run(session: Session, text: str, file: str | None = None) -> list[tuple[object, ...]]:
    """The rows of the last statement."""
    rows: list[tuple[object, ...]] = []
    for statement in session.statements(text, file):
        rows = list(session.execute(statement).rows)
    return rows


def failed(session: Session, text: str) -> HiveDruidError:
    with pytest.raises(HiveDruidError) as caught:
        run(session, text)
    return caught.value


def test_a_script_that_breaks_off_runs_not_at_all(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        error = failed(session, "CREATE DATABASE a;\nSELECT 'no end")
        assert isinstance(error, ParseError)
        assert run(session, "SHOW DATABASES") == [("default",)]


def test_source_is_read_in_place_and_its_settings_stay(tmp_path: Path) -> None:
    (tmp_path / "outer.q").write_text("SOURCE inner.q; SELECT ${n};", encoding="utf-8")
    (tmp_path / "inner.q").write_text("SET hivevar:n=7;", encoding="utf-8")
    with Session(tmp_path / "home") as session:
        file = tmp_path / "outer.q"
        assert run(session, file.read_text(encoding="utf-8"), str(file)) == [(7,)]


def test_source_of_itself_ends(tmp_path: Path) -> None:
    file = tmp_path / "loop.q"
    file.write_text("SOURCE loop.q;", encoding="utf-8")
    with Session(tmp_path / "home") as session, pytest.raises(ExecutionError, match="includes itself"):
        run(session, file.read_text(encoding="utf-8"), str(file))


def test_the_clock_can_be_pinned(tmp_path: Path) -> None:
    with Session(
        tmp_path, hiveconf={"hivedruid.now": "2020-02-29 23:30:00", "hive.local.time.zone": "Asia/Kolkata"}
    ) as session:
        assert [str(v) for v in run(session, "SELECT current_date, current_timestamp")[0]] == [
            "2020-03-01",
            "2020-03-01 05:00:00",
        ]


def test_a_cluster_out_of_reach_can_be_planned_for(tmp_path: Path) -> None:
    notes: list[str] = []
    with Session(tmp_path, hiveconf={"druid.url": "http://localhost:1"}, note=notes.append) as session:
        run(session, "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid'")
        assert any("groupBy" in str(row) for row in run(session, "EXPLAIN SELECT a FROM t GROUP BY a"))
        assert [note.partition(":")[0] for note in notes] == ["planned from the catalog only"] * 2
        for statement in (
            "SELECT count(*) FROM t",
            "TRUNCATE TABLE t",
            "DROP TABLE t",
            "INSERT INTO t SELECT NULL, 'x'",
        ):
            assert isinstance(failed(session, statement), ConnectError)
        assert isinstance(failed(session, "CREATE EXTERNAL TABLE u STORED BY 'druid'"), ConnectError)
        assert run(session, "SHOW TABLES") == [("t",)]


def test_a_local_cluster_that_is_not_running(tmp_path: Path) -> None:
    defaults.write(tmp_path, {"druid.url": "local"})
    with Session(tmp_path) as session:
        run(session, "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid'")
        error = failed(session, "SELECT a FROM t")
        assert isinstance(error, ConnectError)
        assert "hivedruid local up" in str(error.hint)
    notes: list[str] = []
    with Session(tmp_path, hiveconf={"druid.url": "embedded:"}, note=notes.append) as session:
        assert run(session, "SELECT a FROM t") == []
    assert notes == ["data source default.t is not in the embedded store; this home's druid.url is local"]


def test_rows_that_are_in_another_druid_are_not_missed_in_silence(tmp_path: Path) -> None:
    """The catalog stores where the rows of a table are; for tables of older homes, when they are read."""
    notes: list[str] = []
    other = "the local cluster 0a1b of this home"
    with Session(tmp_path / "home", note=notes.append) as session:
        places = Places(session.catalog)
        ingest(session.store, _field(tmp_path, "tag"))
        for name, source in (("t", "ds"), ("gone", "gone")):
            properties = f"TBLPROPERTIES ('druid.datasource' = '{source}')"
            run(
                session, f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, tag string) STORED BY 'druid' {properties}"
            )
        assert places.all() == {}
        run(session, "SELECT count(*) FROM t; SELECT count(*) FROM gone")
        assert (places.all(), notes) == ({"ds": IN_HOME}, [])
        for source in ("ds", "gone"):
            places.remember(source, other)
        run(session, "SELECT count(*) FROM t; SELECT count(*) FROM gone; SELECT count(*) FROM gone")
        assert notes == [
            f"the rows of default.t were written to {other}; this statement reads {IN_HOME}",
            f"the rows of default.gone were written to {other}; this statement reads {IN_HOME}, which has no data source gone",
        ]
        run(session, "DROP TABLE gone")
        assert places.all() == {"ds": other}


def test_an_error_without_a_place_gets_the_statements(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(session, "CREATE DATABASE a")
        error = failed(session, "\n\n  DROP DATABASE missing")
        assert isinstance(error, SemanticError)
        assert error.span is not None
        assert error.span.line == 3


def test_fields_that_differ_in_case_do_not_keep_ddl_from_repairing_them(tmp_path: Path) -> None:
    with Session(tmp_path / "home") as session:
        ingest(session.store, _field(tmp_path, "Tag"))
        ingest(session.store, _field(tmp_path, "TAG"))
        run(
            session,
            "CREATE EXTERNAL TABLE t (`__time` timestamp, tag string) STORED BY 'druid' TBLPROPERTIES ('druid.datasource' = 'ds')",
        )
        assert "is ambiguous: it matches the fields TAG, Tag" in failed(session, "SELECT tag FROM t").message
        run(session, "ALTER TABLE t SET TBLPROPERTIES ('druid.columns.mapping' = 'Tag:tag')")
        assert run(session, "SELECT tag FROM t") == [("value of Tag",), (None,)]
        run(session, "DROP TABLE t")


def _field(folder: Path, name: str) -> dict[str, object]:
    """A task that ingests one row with one field."""
    (folder / name).mkdir()
    (folder / name / "rows.json").write_text(f'{{"__time": 0, "{name}": "value of {name}"}}\n', encoding="utf-8")
    return {
        "type": "index_parallel",
        "spec": {
            "dataSchema": {
                "dataSource": "ds",
                "timestampSpec": {"column": "__time", "format": "millis"},
                "dimensionsSpec": {"dimensions": [{"type": "string", "name": name}]},
                "metricsSpec": [],
                "granularitySpec": {"segmentGranularity": "DAY", "queryGranularity": "NONE", "rollup": False},
            },
            "ioConfig": {
                "type": "index_parallel",
                "inputSource": {"type": "local", "baseDir": str(folder / name), "filter": "*"},
                "inputFormat": {"type": "json"},
                "appendToExisting": True,
            },
        },
    }


def test_fields_that_differ_in_case_alone_are_two(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.json").write_text('{"__time": 0, "Tag": "mixed", "TAG": "upper"}\n', encoding="utf-8")
    task = _field(tmp_path, "unused")
    schema = task["spec"]["dataSchema"]  # type: ignore[index]
    schema["dimensionsSpec"] = {"dimensions": ["Tag", "TAG"]}
    task["spec"]["ioConfig"]["inputSource"]["baseDir"] = str(tmp_path / "in")  # type: ignore[index]
    with Session(tmp_path / "home") as session:
        ingest(session.store, task)
        assert session.store.schema("ds") == {"__time": "LONG", "Tag": "STRING", "TAG": "STRING"}
        mapping = "'druid.datasource' = 'ds', 'druid.columns.mapping' = 'Tag:tag,TAG:tag_2'"
        run(session, f"CREATE EXTERNAL TABLE t STORED BY 'druid' TBLPROPERTIES ({mapping})")
        assert run(session, "SELECT tag, tag_2 FROM t") == [("mixed", "upper")]


def test_an_expression_nested_too_deeply_is_a_plain_error(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(session, "CREATE EXTERNAL TABLE t (`__time` timestamp, i bigint) STORED BY 'druid'")
        assert "nested too deeply" in failed(session, f"SELECT {' + '.join(['i'] * 50_000)} FROM t").message


def test_a_condition_of_thousands_of_terms_is_pushed(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(session, "CREATE EXTERNAL TABLE t (`__time` timestamp, i bigint) STORED BY 'druid'")
        condition = " AND ".join(f"i <> {n}" for n in range(3000))
        assert run(session, f"SELECT count(*) FROM t WHERE {condition}") == [(0,)]


def test_a_dry_run_plans_what_the_script_would_do_and_does_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Session(home, dry_run=True) as session:
        run(session, "CREATE DATABASE d; USE d")
        plan = run(session, "CREATE TABLE t STORED BY 'druid' AS SELECT current_timestamp AS `__time`, 'x' AS a")
        assert any("Druid Ingest Operator" in str(line) for line in plan)
        plan = run(session, "SELECT a, count(*) FROM t GROUP BY a")
        assert plan[1] == ("-- line:1: SELECT a, count(*) FROM t GROUP BY a",)
        assert any('"queryType": "groupBy"' in str(line) for line in plan)
        assert run(session, "SHOW TABLES") == [("t",)]
        run(session, "DROP DATABASE d CASCADE")
        assert run(session, "SHOW DATABASES") == [("default",)]
    assert not home.exists()


def test_a_dry_run_over_a_home_leaves_it_as_it_is(tmp_path: Path) -> None:
    with Session(tmp_path) as session:
        run(session, "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid'")
    before = (tmp_path / "logs" / "queries.jsonl").read_bytes()
    with Session(tmp_path, dry_run=True) as session:
        run(session, "ALTER TABLE t RENAME TO u; DROP TABLE u")
        assert run(session, "SHOW TABLES") == []
    assert (tmp_path / "logs" / "queries.jsonl").read_bytes() == before
    with Session(tmp_path) as session:
        assert run(session, "SHOW TABLES") == [("t",)]


def test_settings_without_effect_are_noted_once(tmp_path: Path) -> None:
    notes: list[str] = []
    texts = (
        "SET hive.exec.parallel=true", "SET hive.exec.parallel=false", "SET hive.exec.paralel=true", "SET my.own=1",
        "SET own=1", "SET hivevar:a=1", "SET tez.queue.name=x", "SET hive.druid.sleep.time=PT1S", "SET hivedruid.x=1",
        "SET hive.druid.rolup=false", "SET hive.druid.zzzzzzzzzzzz=1",
        "SET hive.default.nulls.last=false", "SET spark.executor.memory=1g",
    )  # fmt: skip
    with Session(tmp_path, hiveconf={"hive.metastore.warehouse.dir": "/w"}, note=notes.append) as session:
        for text in texts:
            with suppress(SemanticError):
                run(session, text)
    assert notes == [
        "hive.metastore.warehouse.dir has no effect: managed tables are in the home folder (--home)",
        "hive.exec.parallel has no effect: this setting of Hive or Hadoop is not used",
        "'hive.exec.paralel' is an unknown setting and has no effect; did you mean 'hive.exec.parallel'?",
        "'my.own' is an unknown setting; it can only be used as ${hiveconf:my.own}",
        "tez.queue.name has no effect: this setting of Hive or Hadoop is not used",
        "hive.druid.sleep.time has no effect: Hive no longer uses it",
        "'hive.druid.rolup' is an unknown setting and has no effect; did you mean 'hive.druid.rollup'?",
        "'hive.druid.zzzzzzzzzzzz' is an unknown setting and has no effect",
    ]


def test_the_addresses_of_hives_druid_handler_are_used(tmp_path: Path) -> None:
    notes: list[str] = []
    given = {"hive.druid.broker.address.default": "h:8082", "hive.druid.overlord.address.default": "h:8090"}
    with Session(tmp_path, hiveconf=given, note=notes.append) as session:
        assert session.settings["druid.url"] == "http://h:8082"
        assert session.settings["druid.overlord.url"] == "http://h:8090"
        run(session, "SET hive.druid.broker.address.default=https://h:9")
        assert session.settings["druid.url"] == "https://h:9"
        assert session.settings["hive.druid.broker.address.default"] == "https://h:9"
        with pytest.raises(SemanticError, match=r"druid\.url"):
            run(session, "SET hive.druid.broker.address.default=ftp://h")
        run(session, "SET hive.druid.coordinator.address.default=")
        assert session.settings["druid.coordinator.url"] == ""
    assert [note.partition(" sets ")[2] for note in notes] == ["druid.url", "druid.overlord.url"]
    with Session(tmp_path, hiveconf={**given, "druid.url": "http://other"}) as session:
        assert session.settings["druid.url"] == "http://other"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("orders.csv", "a file is written in quotes: 'orders.csv'"), ("orders.old", "run SHOW TABLES to list the tables")],
)
def test_a_file_without_quotes(tmp_path: Path, name: str, hint: str) -> None:
    with Session(tmp_path) as session:
        assert failed(session, f"SELECT * FROM {name}").hint == hint
