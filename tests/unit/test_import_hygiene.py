"""Imports determine the start-up time of a command: heavy modules load only where they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "duckdb",
    "hive_metastore",
    "kafka",
    "lark",
    "msgspec",
    "prompt_toolkit",
    "psycopg",
    "pyarrow",
    "pygments",
    "pyspark",
    "requests",
    "rich",
    "sqlglot",
    "thrift",
}
RARE = {
    f"hivedruid.plan.{module}"
    for module in (
        "fold_calendar", "masks", "ordered_sets", "quantified", "reasons", "refused_functions", "rules.decimals",
        "rules.distinct", "rules.join", "rules.join_logical", "rules.lateral_view", "rules.one_table", "rules.partial",
        "rules.set_op", "rules.subquery", "rules.values", "sampling", "special_functions", "time_patterns",
        "time_shapes",
    )
}  # fmt: skip
"""Modules that only some statements need."""
SCRIPT = """
import sys
from hivedruid.cli import main
code = main(sys.argv[1:])
sys.stdout.flush()
print("loaded:", *sorted(sys.modules), file=sys.stderr)
sys.exit(code)
"""


def loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that are loaded after a successful command."""
    run = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return set(run.stderr.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["sql", "--help"], ["test", "--help"]])
def test_help_and_version_load_no_parser(arguments: list[str]) -> None:
    assert loaded_by(*arguments) & (HEAVY | {"sqlite3", "hivedruid.session"}) == set()


def test_explain_loads_the_parser_alone(tmp_path: Path) -> None:
    home = ["sql", "--home", str(tmp_path)]
    create = "CREATE EXTERNAL TABLE wiki (`__time` timestamp, page string, added bigint) STORED BY 'druid'"
    loaded_by(*home, "-e", create)
    explain = "EXPLAIN SELECT page, sum(added) FROM wiki WHERE `__time` >= '2015-09-12' GROUP BY page"
    assert loaded_by(*home, "-e", explain) & (HEAVY | RARE) == {"sqlglot"}


def test_catalog_statements_load_no_engine(tmp_path: Path) -> None:
    script = "CREATE DATABASE d; USE d; CREATE TABLE t (a int); SHOW TABLES; DESCRIBE t; DROP TABLE t; SET -v"
    path = tmp_path / "script.q"
    path.write_text(script, encoding="utf-8")
    assert loaded_by("sql", "--home", str(tmp_path / "home"), "-f", str(path)) & HEAVY == {"sqlglot"}


def test_create_table_loads_what_a_plain_table_needs(tmp_path: Path) -> None:
    rare = {
        "hivedruid.actions.ddl.alter", "hivedruid.actions.ddl.removal", "hivedruid.actions.ingesting.build",
        "hivedruid.actions.recovery", "hivedruid.actions.writing.run", "hivedruid.iceberg.compaction",
        "hivedruid.ingestion.lifecycle",
    }  # fmt: skip
    loaded = loaded_by("sql", "--home", str(tmp_path), "-e", "CREATE TABLE t (a int)")
    assert "hivedruid.actions.ddl.build" in loaded
    assert loaded & (HEAVY | rare) == {"sqlglot"}


def test_the_pytest_plugin_loads_nothing_of_hivedruid_but_itself() -> None:
    code = "import pytest, hivedruid.qtest.plugin, sys; print(*(m for m in sys.modules if m.startswith('hivedruid')))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(run.stdout.split()) == {"hivedruid", "hivedruid.qtest", "hivedruid.qtest.plugin", "hivedruid.versions"}
