from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import hivedruid
from hivedruid.cli import LAYOUTS, main
from hivedruid.versions import TESTED

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "hivedruid"]


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[str]:
        return self.out.splitlines()


Sql = Callable[..., Outcome]


@pytest.fixture
def sql(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Sql:
    """Run `hivedruid sql` in a separate home; csv without header by default."""

    def run(*arguments: str, plain: bool = True) -> Outcome:
        layout = ["--format", "csv", "--no-header"] if plain else []
        code = main(["sql", "--home", str(tmp_path / "home"), *layout, *arguments])
        return Outcome(code, *capsys.readouterr())

    return run


@pytest.fixture
def show(tmp_path: Path) -> str:
    script = tmp_path / "show.q"
    script.write_text("SHOW DATABASES;\n")
    return str(script)


def test_version_is_the_package_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"hivedruid {project['version']}"
    assert hivedruid.__version__ == project["version"]
    assert second.startswith("tested with Druid 33.0.0, Kafka ")


def test_the_tested_versions_are_those_of_the_pinned_libraries() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    revisions = {
        artifact["name"]: artifact["rev"]
        for group in ("druid", "kafka", "spark")
        for artifact in json.loads((ROOT / "hivedruid" / "local" / f"{group}.json").read_text(encoding="utf-8"))
    }
    assert {
        "Druid": revisions["druid-server"],
        "Kafka": revisions["kafka-server"],
        "Spark": re.findall(r"^pyspark==(\S+)", lock, re.MULTILINE)[0],
        "Iceberg": revisions["iceberg-spark-runtime-4.1_2.13"],
    } == TESTED


@pytest.mark.parametrize("arguments", [["--help"], ["-H"], ["sql", "-h"], ["sql", "-H"], ["test", "--help"]])
def test_help(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Usage: hivedruid")
    assert captured.err == ""


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["SELECT 1"], "hivedruid sql -e"),
        (["select 'a'"], "hivedruid sql -e"),
        (["sql", "SELECT 1"], "hivedruid sql -e"),
        (["load.q"], "hivedruid sql -f load.q"),
        (["sql", "load.hql"], "hivedruid sql -f load.hql"),
        (["load"], "hivedruid --help"),
    ],
)
def test_statements_and_scripts_in_the_wrong_place(
    arguments: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert hint in capsys.readouterr().err


def test_files_and_texts_run_in_the_order_given(sql: Sql, show: str) -> None:
    outcome = sql("-e", "CREATE DATABASE d1", "-f", show, "-e", "CREATE DATABASE d2", "-f", show)
    assert outcome.code == 0
    assert outcome.rows == ["d1", "default", "d1", "d2", "default"]


def test_every_file_is_read_before_the_first_statement_runs(sql: Sql, show: str, tmp_path: Path) -> None:
    missing = tmp_path / "missing.q"
    outcome = sql("-e", "CREATE DATABASE d1", "-f", str(missing))
    assert outcome.code == 2
    assert outcome.err == f"error: cannot read {missing}: No such file or directory\n"
    assert sql("-f", show).rows == ["default"]


@pytest.mark.parametrize("arguments", [["sql"], [], ["sql", "-f", "-"]])
def test_standard_input(arguments: list[str], tmp_path: Path) -> None:
    run = subprocess.run(
        [*COMMAND, *arguments],
        input="SHOW\nDATABASES; -- the end",
        env={**os.environ, "HIVEDRUID_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "default" in run.stdout
    assert run.stderr == "1 row\n"


def test_a_script_with_byte_order_mark_and_crlf(sql: Sql, tmp_path: Path) -> None:
    script = tmp_path / "bom.q"
    script.write_bytes(b"\xef\xbb\xbfSHOW\r\nDATABASES;\r\n")
    assert sql("-f", str(script)).rows == ["default"]


@pytest.mark.parametrize("text", ["", "  \n-- nothing\n", ";;"])
def test_nothing_to_do(text: str, sql: Sql) -> None:
    assert sql("-e", text) == Outcome(0, "", "")


def test_the_options_of_hives_command_line(sql: Sql, show: str, tmp_path: Path) -> None:
    init = tmp_path / "init.q"
    init.write_text("CREATE TABLE ${name} (a INT); SHOW TABLES;\n")
    assert sql("-e", "CREATE DATABASE d").code == 0
    arguments = ("-S", "-e", "SHOW TABLES", "-f", show, "-i", str(init), "-d", "name=t", "--database", "d")
    outcome = sql(*arguments, "--define", "other=u")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.rows == ["t", "t", "d", "default"]
    assert sql("--database", "none", "-e", "SHOW TABLES").code == 1
    assert sql("-i", str(tmp_path / "none"), "-e", "SHOW TABLES").code == 2


def test_variables(sql: Sql) -> None:
    outcome = sql(
        "--hivevar", "a=def", "--hivevar", "b=ault", "--hiveconf", "my.text=fault",
        "-e", "SHOW DATABASES LIKE '${a}${hivevar:b}'; SHOW DATABASES LIKE 'de${hiveconf:my.text}'",
    )  # fmt: skip
    assert outcome.rows == ["default", "default"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-e", "DESCRIBE nope"], 1, "nope"),
        (["-e", "SELEC 1"], 2, "SELEC"),
        (["-e", "SELECT 'a"], 2, "unterminated string"),
        (["--bad"], 2, "No such option"),
        (["--format", "xml", "-e", ""], 2, "xml"),
        (["--hivevar", "a", "-e", ""], 2, "'a' must have the form KEY=VALUE"),
        (["--hiveconf", "druid.ulr=embedded:", "-e", ""], 2, "druid.ulr"),
        (["--druid", "ftp://x", "-e", ""], 2, "druid.url"),
        (["-f", "/"], 2, "cannot read /: Is a directory"),
    ],
)
def test_exit_codes(arguments: list[str], code: int, message: str, sql: Sql) -> None:
    outcome = sql(*arguments)
    assert outcome.code == code
    assert outcome.out == ""
    assert outcome.err.startswith("error: ")
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sqll"]) == 2
    assert "sqll" in capsys.readouterr().err


def test_a_service_that_cannot_be_reached(tmp_path: Path) -> None:
    """Java is such a dependency: without it no Spark job can run."""
    run = subprocess.run(
        [*COMMAND, "sql", "--home", str(tmp_path), "-e", "CREATE TABLE t (a int); INSERT OVERWRITE TABLE t SELECT 1"],
        env={"PATH": str(tmp_path), "JAVA_HOME": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("error: ")
    assert "Java" in run.stderr


def test_text_that_is_not_utf8_is_refused_with_its_place(sql: Sql, tmp_path: Path) -> None:
    script = tmp_path / "latin1.q"
    script.write_bytes(b"SHOW DATABASES;\nSELECT '\xe4';\n")
    outcome = sql("-f", str(script))
    assert outcome.code == 2
    assert outcome.err.splitlines()[:2] == [f"error: {script} is not UTF-8 text", f"  --> {script}:2:9"]


def test_an_error_names_file_line_and_column(sql: Sql, tmp_path: Path) -> None:
    script = tmp_path / "a.q"
    script.write_text("SHOW DATABASES;\n\n  DESCRIBE nope;\n")
    outcome = sql("-f", str(script))
    lines = outcome.err.splitlines()
    assert lines[1] == f"  --> {script}:3:12"
    assert lines[2:4] == ["    DESCRIBE nope", "             ^^^^"]


def test_the_first_error_stops_everything(sql: Sql, show: str) -> None:
    outcome = sql("-e", "SHOW DATABASES; DESCRIBE nope; SHOW DATABASES", "-f", show)
    assert outcome.code == 1
    assert outcome.rows == ["default"]


def test_fail_at_end_goes_on_and_answers_with_the_first_error(sql: Sql, show: str) -> None:
    outcome = sql("--fail-at-end", "-e", "SHOW DATABASES; DESCRIBE nope; SELEC; SHOW DATABASES", "-f", show)
    assert outcome.code == 1
    assert outcome.rows == ["default"] * 3
    assert outcome.err.count("error: ") == 2
    assert sql("--fail-at-end", "-e", "SELEC; DESCRIBE nope").code == 2


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_format(layout: str, sql: Sql) -> None:
    outcome = sql("--format", layout, "-e", "SHOW DATABASES", plain=False)
    assert outcome.code == 0
    assert "default" in outcome.out
    if layout in ("json", "jsonl"):
        rows = json.loads(outcome.out)
        assert (rows[0] if layout == "json" else rows) == {"database_name": "default"}


def test_table_is_the_default_format(sql: Sql) -> None:
    outcome = sql("-e", "SHOW DATABASES", plain=False)
    assert outcome.out == sql("--format", "table", "-e", "SHOW DATABASES", plain=False).out
    assert outcome.rows[0].startswith("+--")
    assert outcome.err == "1 row\n"


def test_header_can_be_left_out_by_option_and_by_hives_setting(sql: Sql) -> None:
    assert sql("--format", "csv", "-e", "SHOW DATABASES", plain=False).rows == ["database_name", "default"]
    assert sql("--format", "csv", "--no-header", "-e", "SHOW DATABASES", plain=False).rows == ["default"]
    script = "SET hive.cli.print.header=false; SHOW DATABASES; SET hive.cli.print.header=true; SHOW DATABASES"
    assert sql("--format", "csv", "-e", script, plain=False).rows == ["default", "database_name", "default"]


def test_quiet_and_time(sql: Sql) -> None:
    assert sql("--quiet", "-e", "SHOW DATABASES", plain=False).err == ""
    timed = sql("--time", "-e", "SHOW DATABASES; CREATE DATABASE d").err.splitlines()
    assert [line.split()[:2] for line in timed] == [["Time", "taken:"]] * 2
    assert timed[0].endswith("Fetched: 1 row(s)")
    assert timed[1].endswith("seconds")


def test_a_reader_that_has_gone_ends_the_run_quietly(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        run = subprocess.run(
            [*COMMAND, "sql", "--home", str(tmp_path), "-e", "SHOW DATABASES; CREATE DATABASE d"],
            stdout=write,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(write)
    assert (run.returncode, run.stderr) == (141, "")


@pytest.mark.parametrize("layout", ["table", "arrow"])
def test_a_full_disk_is_an_error(layout: str, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [*COMMAND, "sql", "--home", str(tmp_path), "--format", layout, "-e", "SHOW DATABASES"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (run.returncode, run.stderr) == (1, "error: cannot write to standard output: No space left on device\n")


EXIT = """
import atexit, os, sys
from hivedruid.__main__ import main

file = open(2, "w", closefd=False)
file.write("freed\\n")  # written when the object is freed
if sys.argv.pop() == "other":
    atexit.register(os.write, 2, b"other\\n")
code = main()
atexit.register(os.write, 2, b"own\\n")
sys.stdout.write("x" * 200_000)
sys.exit(code)
"""


@pytest.mark.parametrize(("first", "handlers"), [("none", ["own"]), ("other", ["own", "other", "freed"])])
@pytest.mark.parametrize(("statement", "code"), [("SHOW DATABASES", 0), ("USE nowhere", 1)])
def test_the_process_ends_after_its_output_and_all_exit_handlers(
    first: str, handlers: list[str], statement: str, code: int, tmp_path: Path
) -> None:
    """Objects are only freed if a handler remains that runs after that of hivedruid."""
    command = [sys.executable, "-c", EXIT, "sql", "--home", str(tmp_path), "-q", "-e", statement, first]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == code
    assert run.stdout.count("x") == 200_000
    assert [line for line in run.stderr.splitlines() if line in ("own", "other", "freed")] == handlers


@pytest.mark.parametrize(("closed", "code"), [("<&-", 2), ("2>&-", 0)])
def test_closed_streams(closed: str, code: int, tmp_path: Path) -> None:
    shell = f'"{sys.executable}" -m hivedruid sql --home "{tmp_path}" {closed}'
    run = subprocess.run(["bash", "-c", shell], input="SHOW DATABASES", capture_output=True, text=True, check=False)
    assert run.returncode == code, run.stderr
    assert run.stderr in ("", "error: standard input is not available\nhint: specify statements with -f or -e\n")


def test_interrupted(tmp_path: Path) -> None:
    fifo = tmp_path / "script.q"
    os.mkfifo(fifo)
    command = [*COMMAND, "sql", "--home", str(tmp_path), "-f", str(fifo)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, text=True, **pipes) as process, fifo.open("w"):  # opens when the other side reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_a_lone_surrogate_and_a_narrow_encoding_end_no_statement(tmp_path: Path) -> None:
    run = subprocess.run(
        [*COMMAND, "sql", "--home", str(tmp_path), "--hivevar", "x=日", "-e", "SET my.text=${x}; SET my.text"],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "\\u65e5" in run.stdout


def test_module_and_command_are_the_same() -> None:
    run = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[0] == f"hivedruid {hivedruid.__version__}"


def test_verbose_shows_each_statement_and_what_it_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = (
        "CREATE EXTERNAL TABLE t (`__time` timestamp, a string, n bigint) STORED BY 'druid' TBLPROPERTIES ('druid.rollup'='false');"
        "SELECT a, sum(n) AS s FROM t WHERE a <> 'x' GROUP BY a ORDER BY s DESC, a LIMIT 3; SELECT 1 + 1;"
        "SELECT floor_day(`__time`), count(*) FROM t WHERE `__time` >= '2015-01-01' GROUP BY floor_day(`__time`)"
    )
    assert main(["sql", "-v", "--home", str(tmp_path), "-e", script, "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert "SELECT" not in shown.out
    told = [line for line in shown.err.splitlines() if line.startswith(("SELECT", "CREATE", "  ->"))]
    assert [line[:9] for line in told] == [
        "CREATE EX",
        "SELECT a,",
        "  -> one ",
        "SELECT 1 ",
        "  -> answ",
        "SELECT fl",
        "  -> one ",
    ]
    assert told[2] == "  -> one native query: groupBy over default.t by a: longSum(n), filtered, 3 rows"
    assert told[6].startswith(
        "  -> one native query: timeseries over default.t each P1D: count(*), from 2015-01-01T00:00"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--home", "HOME", "sql", "-e", "SHOW DATABASES", "--format", "csv"],
        ["--home=HOME", "--format", "csv", "sql", "-e", "SHOW DATABASES"],
        ["--format", "csv", "-e", "SHOW DATABASES", "--home", "HOME"],
        ["-qe", "SHOW DATABASES", "--format", "csv", "sql", "--home", "HOME"],
    ],
)
def test_options_before_the_command(arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    assert main([argument.replace("HOME", str(home)) for argument in arguments]) == 0
    assert capsys.readouterr() == ("database_name\ndefault\n", "")
    assert home.is_dir()


def test_options_before_a_command_with_subcommands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HIVEDRUID_SPARK_HOME", raising=False)
    assert main(["--home", str(tmp_path), "spark", "status"]) == 0
    assert capsys.readouterr().out == f"no Spark server is running for {tmp_path}\n"
    assert main(["--home", str(tmp_path), "nothing"]) == 2
    assert "unexpected extra argument (nothing)" in capsys.readouterr().err
    assert main(["--home", str(tmp_path), "--no-such", "sql"]) == 2
    assert "No such option" in capsys.readouterr().err
