"""Backslash commands, paging, layouts and Ctrl-C at the prompt."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hivedruid.errors import UsageError
from hivedruid.parser import parse
from hivedruid.repl.commands import COMMANDS, Command, markdown, parse_command
from hivedruid.repl.shell import ACTIONS, head, inputs, is_finished
from hivedruid.script import split
from hivedruid.session import Session
from tests.support.embedded_tables import create
from tests.support.prompt import PROMPT, Prompt


@pytest.fixture
def prompt(tmp_path: Path) -> Iterator[Prompt]:
    prompt = Prompt(tmp_path / "home", env={"PAGER": "less", "LESS": "-SRX", "EDITOR": "sed -i s/DATABASES/TABLES/"})
    yield prompt
    prompt.end()


# --- the table --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_a_command_is_a_statement_or_an_action(command: Command) -> None:
    if command.statement is None:
        assert command.name in ACTIONS or command.name == "\\q"
        return
    for argument in ("", "o'x") if "pattern" in command.argument else ("t",):
        (statement,) = split(command.statement(argument) + ";")
        parse(statement)


def test_the_documentation_has_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "cli.md"
    assert markdown() in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("\\tming", "unknown command '\\tming'", "did you mean '\\timing'?"),
        ("\\zzzz", "unknown command '\\zzzz'", "run \\? to list them"),
        ("\\c", "\\c requires an argument", "use \\c database"),
        ("\\dj x", "\\dj has no argument, found 'x'", "use \\dj"),
        ("\\x maybe", "invalid argument 'maybe' of \\x", "use \\x [on|off|auto]"),
    ],
)
def test_a_wrong_command(line: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as found:
        parse_command(line)
    assert (found.value.message, found.value.hint) == (message, hint)


@pytest.mark.parametrize(
    ("text", "finished"),
    [
        ("SELECT 1;", True),
        ("SELECT 1\\G", True),
        ("SELECT 1 \\G  ", True),
        ("SELECT '\\G", False),
        ("SELECT 1", False),
        ("\\d", True),
        ("quit", True),
        ("", True),
    ],
)
def test_what_enter_runs(text: str, finished: bool) -> None:
    assert is_finished(text) is finished


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("embedded:", "embedded"),
        ("local", "local"),
        ("https://router.example:8888", "router.example:8888"),
        ("http://localhost:8082/druid", "localhost:8082"),
    ],
)
def test_the_prompt_names_the_druid_in_use(tmp_path: Path, url: str, place: str) -> None:
    with Session(tmp_path, hiveconf={"druid.url": url}) as session:
        assert head(session) == f"hivedruid (default@{place})> "


def test_inputs_of_a_script_keep_their_lines() -> None:
    script = "SET a=1;\n\n\\x on\nSELECT 1,\n 2;\nSELECT 3"
    assert list(inputs(script)) == ["SET a=1;\n", "\n\n\\x on\n", "\n\n\nSELECT 1,\n 2;\n", "\n\n\n\n\nSELECT 3"]


# --- on a terminal ----------------------------------------------------------------------------------------------------


def test_commands(prompt: Prompt, tmp_path: Path) -> None:
    prompt.run("CREATE TABLE edits (page string, delta bigint);")
    assert "| delta    | bigint    |         |" in prompt.run("\\d edits")
    assert "| edits    |" in prompt.run("\\dt e*")
    assert prompt.run("\\dd")[1:] == ["error: unknown command '\\dd'", "hint: did you mean '\\d'?"]
    assert prompt.run("\\timing off")[1:] == ["\\timing is off"]
    assert prompt.run("SELECT 1 a\\G")[1:] == ["-[ RECORD 1 ]-", "a | 1", "1 row"]
    prompt.run(f"\\o {tmp_path}/rows.txt")
    assert prompt.run("SHOW TABLES;")[1:] == ["1 row"]
    prompt.run("\\o")
    assert "| edits    |" in (tmp_path / "rows.txt").read_text(encoding="utf-8")
    prompt.run("SHOW DATABASES;")
    prompt.send("\\e\r")
    prompt.wait(lambda lines: lines[-1] == f"{PROMPT} SHOW TABLES;")
    prompt.send("\r")
    assert "| edits    |" in prompt.ready()


def test_wide_results_are_vertical(prompt: Prompt) -> None:
    query = "SELECT repeat('a', 60) x, repeat('b', 60) y;"
    assert prompt.run(query)[1] == "-[ RECORD 1 ]-"
    prompt.run("\\x off")
    prompt.send(query + "\r")
    prompt.wait(lambda lines: lines[-1] == "(END)" and any(line.startswith("| aaa") for line in lines))
    prompt.send("q")
    prompt.ready()
    prompt.run("\\x on")
    assert prompt.run("SELECT 1 a;")[1:3] == ["-[ RECORD 1 ]-", "a | 1"]


def test_long_results_are_paged(prompt: Prompt) -> None:
    prompt.ready()
    prompt.send("SHOW FUNCTIONS;\r")
    first = prompt.wait(lambda lines: lines[-1] == ":")
    assert any(line.startswith("| abs ") for line in first)
    prompt.send("\x03")  # a key of the pager, which drops the keys that it has not read

    def at_end(lines: list[str]) -> bool:
        prompt.send("G")
        return "(END)" in lines[-1]

    prompt.wait(at_end)
    prompt.send("q")
    shown = prompt.ready()
    assert shown[-2].startswith("Time taken:")
    assert "| default       |" in prompt.run("SHOW DATABASES;")


def test_watch_repeats_a_query(prompt: Prompt) -> None:
    prompt.run("SELECT 'x' AS seen;")
    prompt.send("\\watch 0.1\r")
    prompt.wait(lambda lines: sum("Ctrl-C: stop" in line for line in lines) > 2)
    prompt.send("\x03")
    prompt.ready()
    prompt.run("CREATE DATABASE d1;")
    assert prompt.run("\\watch")[1] == "error: \\watch repeats queries, SHOW, DESCRIBE and EXPLAIN only"


def test_the_plan_of_the_last_statement(prompt: Prompt, tmp_path: Path) -> None:
    assert prompt.run("\\gv")[1] == "error: \\gv shows the plan of the last statement, and there is none"
    prompt.run("CREATE TABLE t (`__time` TIMESTAMP, page STRING, added BIGINT) STORED BY 'druid';")
    prompt.run("SELECT page, sum(added) FROM t GROUP BY page;")
    shown = prompt.run("\\gv")
    assert any("groupBy" in line for line in shown)
    picture = tmp_path / "plan.svg"
    assert "".join(prompt.run(f"\\gv {picture}")).endswith("plan.svg: the plan of the statement")
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_a_chart_of_the_last_query(prompt: Prompt) -> None:
    prompt.run(
        "SELECT timestamp '2026-01-01 00:00:00' AS t, 7 AS n UNION ALL SELECT timestamp '2026-01-09 00:00:00', 9;"
    )
    shown = prompt.run("\\chart")
    assert any("2026-01-01" in line and "2026-01-09" in line for line in shown)
    assert any("⢕⢕ n" in line for line in shown)
    prompt.run("SELECT 'x' AS s;")
    assert prompt.run("\\chart")[1] == "error: the result has no numeric column to draw"
    prompt.run("CREATE DATABASE d1;")
    assert prompt.run("\\chart")[1] == "error: \\chart draws queries, SHOW, DESCRIBE and EXPLAIN only"


def test_the_init_file_runs_first(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "init.sql").write_text("\\timing off\nSET hive.cli.print.header=false;\n\nSELECT nope;\n", encoding="utf-8")
    prompt = Prompt(home)
    try:
        shown = prompt.ready()
        assert any(line.endswith("init.sql:4:8") for line in shown)
        assert prompt.run("SELECT 1;")[1:] == ["+---+", "| 1 |", "+---+", "1 row"]
    finally:
        prompt.end()


def test_a_thousand_lines_are_pasted(prompt: Prompt) -> None:
    prompt.ready()
    lines = "".join(f"  -- line {number}\r" for number in range(1000))
    prompt.send(f"\x1b[200~SELECT\r{lines}  1001 AS pasted;\x1b[201~")
    prompt.wait(lambda shown: shown[-1].endswith("AS pasted;"))
    prompt.send("\r")
    assert "|   1001 |" in prompt.ready()


def test_the_prompt_follows_the_size_of_the_terminal(prompt: Prompt) -> None:
    prompt.ready()
    prompt.resize(40, 12)
    prompt.send("SELECT 'abcdefghijklmnopqrstuvwxyz' AS a, 'the second' AS b;")
    prompt.wait(lambda lines: any(line.endswith("b;") for line in lines))
    prompt.send("\r")
    prompt.wait(lambda lines: "a | abcdefghijklmnopqrstuvwxyz" in lines and lines[-1] == PROMPT)


SLOW = "SELECT sum(length(regexp_replace(repeat(page, 6000), '(k|0|1|2)*k', 'zz'))) FROM edits;"


def test_control_c_cancels_a_query_of_the_embedded_store(tmp_path: Path) -> None:
    rows = ({"__time": number * 1000, "page": f"k{number % 3}", "added": number} for number in range(60_000))
    prompt = Prompt(create(tmp_path / "home", rows=rows))
    try:
        prompt.run("SELECT count(*) FROM edits;")
        prompt.send(SLOW + "\r")
        prompt.wait_busy(2.0)
        prompt.send("\x03\x03\x03")
        prompt.wait(lambda lines: "interrupted" in lines and lines[-1] == PROMPT)
        assert "| 60000 |" in prompt.run("SELECT count(*) FROM edits;")
        assert not (tmp_path / "home" / "spark").exists()  # a pushed query starts no Spark
    finally:
        prompt.end()
