"""Secrets that users put in wrong places are never printed: every form at every place under every name."""

from __future__ import annotations

import ast
import io
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import hivedruid
from hivedruid.cli import main
from hivedruid.diagnostics import Diagnostics
from hivedruid.errors import HiveDruidError
from hivedruid.qtest.runner import transcribe
from hivedruid.repl.history import History
from hivedruid.run import Output, run_text
from hivedruid.session import Session
from tests.support.secret_forms import texts

CANARY = "Hunter2canary"

KEYS = (
    "druid.kafka.ingestion.consumer.sasl.jaas.config",
    "druid.kafka.ingestion.consumer.ssl.keystore.pasword",
    "fs.azure.account.key.me.dfs.core.windows.net",
    "api_token",
)
"""A known key, a misspelled one, one with an unusual suffix, and a short one."""

FORMS = (
    "'{key}' = '{secret}'",
    "'{key}' '{secret}'",
    "'{key}' : '{secret}'",
    "'{key}' => '{secret}'",
    "‘{key}’ = ‘{secret}’",
    "“{key}” = “{secret}”",
    "'{key}' = “{secret}”",
    "'{key}' = {secret}",
    "'{key}' {secret}",
    "{key} = {secret}",
    "{key} = '{secret}'",
    "'{key}' = `{secret}`",
    "'{key}' = 'x' '{secret}'",
    "'{key}' = 'x'{secret}'",
    "'{key}' = 'M required username='u' password='{secret}';'",
    "'{key}' = '{secret}",
    "'{key} = '{secret}'",
    "'{key}' = {secret}'",
    "'{key}' = \"{secret}'",
    "'{key}' == '{secret}'",
    "'{key}' = N'{secret}'",
    "'{key}' = concat('x', '{secret}')",
    "'{key}' /* c */ = -- d\n '{secret}'",
    "'x.options' = '-Xmx1g -Djavax.net.ssl.keyStorePassword={secret} -Dx=y'",
    "'x.conf' = '{{\"{key}\": \"{secret}\"}}'",
    "'x.url' = 'jdbc:x://h/d?user=a&password={secret}'",
    "'x.url' = 'https://me:{secret}@h/'",
    "'x.remote' = 'sc://h:15002/;token={secret}'",
)
PLACES = (
    "CREATE EXTERNAL TABLE t{number} (`__time` timestamp, a string) STORED BY 'druid' TBLPROPERTIES ({form}, 'b' = 'c')",
    "CREATE TABLE t{number} (a string) ROW FORMAT SERDE 'x' WITH SERDEPROPERTIES ({form}) STORED AS TEXTFILE",
    "ALTER TABLE known SET TBLPROPERTIES ({form})",
    "EXPLAIN ALTER TABLE known SET TBLPROPERTIES ('b' = 'c', {form})",
)
STATEMENTS = (
    "SET {key}={secret}",
    "SET {key} {secret}",
    "SET {key}: {secret}",
    "set '{key}' = '{secret}'",
    "SET {key} = x {secret}",
    "/* c */ EXPLAIN SET {key}={secret}",
    "SET spark.hadoop.{key}={secret}; SET; SET spark.hadoop.{key}; EXPLAIN SET spark.hadoop.{key}={secret}",
    'SET druid.query.context={{"{key}": "{secret}"}}',
    "SET druid.query.tags=password={secret}; SET -v; EXPLAIN FORMATTED SELECT count(*) FROM known",
    "SET spark.driver.extraJavaOptions=-Djavax.net.ssl.keyStorePassword={secret} -Dx=y; SET",
    "SET spark.remote=sc://h:15002/;token={secret}",
    "SET druid.url=http://me:{secret}@h:1; SELECT 1; SET druid.url; RESET druid.url",
    "SET hivevar:db_password={secret}; SET; SELECT missing_${{hivevar:db_password}} FROM known",
    "SET hivevar:db_password={secret}; EXPLAIN SELECT * FROM known WHERE a = '${{db_password}}'",
    "SET hivevar:db_password={secret}; SELECT * FORM known WHERE a = '${{db_password}}'",
    "CREATE TABLE c{number} (a string COMMENT 'password={secret}') COMMENT '{key}={secret}'; DESCRIBE FORMATTED c{number}",
    "CREATE DATABASE d{number} COMMENT 'password={secret}'; DESCRIBE DATABASE EXTENDED d{number}",
    "CREATE EXTERNAL TABLE l{number} (a string) STORED AS TEXTFILE LOCATION 's3a://me:{secret}@bucket/x'",
    "SELECT * FROM known WHERE api_token = '{secret}'",
    "SELECT * FROM known WHERE api_token = '{secret}' ORDER",
    "SOURCE /nowhere?password={secret}",
    "'{key}' = '{secret}'",
    "-- {key}: {secret}\nSELEC 1",
)
SCRIPTS = (
    "ADD JAR https://me:p@{secret}@h/x.jar; LIST JARS; SET -v; DELETE JARS",
    "ADD JAR https://{secret}@h/x.jar; LIST JARS; DELETE JARS",
    "ADD JAR /x.jar?token={secret}; LIST JARS; DELETE JARS",
    "CREATE FUNCTION f{number} AS 'a.B' USING JAR 'https://me:{secret}@h/x.jar'; DESCRIBE FUNCTION EXTENDED f{number}",
    "SET druid.query.tags=token:{secret}; EXPLAIN FORMATTED SELECT count(*) FROM known; SET; RESET druid.query.tags",
    "CREATE USER u PASSWORD '{secret}'",
    "CREATE USER u IDENTIFIED BY '{secret}'",
    "!connect jdbc:hive2://h:10000 me {secret}",
    "SET password {secret}",
    "SET my.token TO '{secret}'",
    "CREATE DATABASE e{number} LOCATION 'http://me:p@{secret}@h/x'; SHOW CREATE DATABASE e{number}",
    "CREATE DATABASE f{number} WITH DBPROPERTIES ('a.token' = '{secret}'); DESCRIBE DATABASE EXTENDED f{number}",
    "CREATE DATABASE g{number} WITH DBPROPERTIES ('note' = 'https://{secret}@h'); SHOW CREATE DATABASE g{number}",
    "CREATE EXTERNAL TABLE m{number} (a string) STORED AS TEXTFILE LOCATION 's3a://{secret}@bucket/x'",
    "CREATE TABLE o{number} (a string) TBLPROPERTIES ('note' = 'token:{secret}'); SHOW TBLPROPERTIES o{number}",
    "SELECT aes_decrypt(a, '{secret}') + missing FROM known",
    "LOAD DATA INPATH 'http://me:p@{secret}@h/x' INTO TABLE known",
    "INSERT OVERWRITE DIRECTORY 'http://me:p@{secret}@h/x' SELECT a FROM known",
    "EXPORT TABLE known TO 'http://{secret}@h/x'",
    "SOURCE https://{secret}@h/x",
    "CREATE SECRET s (TYPE s3, KEY_ID 'x', SECRET '{secret}')",
)
"""Statements with a secret in a place of their own."""
LITERAL = (
    "ALTER TABLE known SET TBLPROPERTIES ('note' = '{text}'); SHOW CREATE TABLE known; SHOW TBLPROPERTIES known;"
    " ALTER TABLE known UNSET TBLPROPERTIES IF EXISTS ('note')"
)
SETTING = "SET x.note={text};\nSET x.note;\nEXPLAIN SET x.note={text};\nRESET x.note"
"""Where the forms of `tests.support.secret_forms` are planted by turns."""


def planted() -> Iterator[tuple[str, str]]:
    """Each script with a unique secret, so that a leak shows where it was planted."""
    number = 0
    for place, form, key in product(PLACES, FORMS, KEYS):
        number += 1
        secret = f"{CANARY}{number:04}"
        yield secret, place.format(number=number, form=form.format(key=key, secret=secret))
    for statement, key in (*product(STATEMENTS, KEYS), *product(SCRIPTS, KEYS[:1])):
        number += 1
        secret = f"{CANARY}{number:04}"
        yield secret, statement.format(number=number, key=key, secret=secret)
    for index in range(len(texts())):
        number += 1
        place = (LITERAL, SETTING)[index % 2]
        secret = f"{CANARY}{number:04}"
        text = texts(secret)[index]
        escaped = text.replace("\\", "\\\\").replace("'", "\\'")
        yield secret, place.format(text=escaped if place == LITERAL else text.replace(";", "\\;"))


PLANTED = tuple(planted())


def assert_nowhere(outputs: dict[str, str], home: Path) -> None:
    for path in home.rglob("*"):
        if path.is_file():
            outputs[str(path)] = path.read_bytes().decode("utf-8", "replace")
    leaks = [
        f"{where}: {script!r}"
        for where, text in outputs.items()
        if CANARY in text
        for secret, script in PLANTED
        if secret in text
    ]
    assert not leaks, "\n".join([f"{len(leaks)} leaks", *leaks[:20]])


def known(session: Session) -> None:
    for statement in session.statements(
        "CREATE EXTERNAL TABLE known (`__time` timestamp, a string, api_token string) STORED BY 'druid'"
    ):
        session.execute(statement)


@pytest.mark.parametrize("dry_run", [False, True])
def test_no_secret_comes_out_of_a_session(tmp_path: Path, capsys: pytest.CaptureFixture[str], dry_run: bool) -> None:
    errors = io.StringIO()
    diagnostics = Diagnostics(errors)
    with Session(tmp_path) as session:
        known(session)
    session = Session(tmp_path, dry_run=dry_run, note=diagnostics.note, info=diagnostics.info)
    history = History(tmp_path / "history")
    with session:
        for _, script in PLANTED:
            run_text(session, script, Output(), diagnostics, fail_at_end=True)
            history.store_string(script)
        outputs = {"stdout": capsys.readouterr().out, "stderr": errors.getvalue()}
        assert_nowhere(outputs, tmp_path)  # including what SQLite has not removed from its log yet
    assert "internal error" not in outputs["stderr"]


def test_no_secret_comes_out_of_a_transcript_or_an_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outputs = {}
    script = tmp_path / "script.q"
    for secret, text in PLANTED[:: len(KEYS) + 1]:
        if text.startswith("SELECT"):
            continue  # the literals of a valid query are data: the converted script contains them
        script.write_text(text, encoding="utf-8")
        outputs[f"transcript of {secret}"] = transcribe(script, scratch=tmp_path).text
        main(["import-hive", str(script)])
        main(["import-hive", "--check", str(script)])
        shown = capsys.readouterr()
        outputs[f"import of {secret}"] = shown.out + shown.err
        assert "internal error" not in shown.err
    script.unlink()
    assert_nowhere(outputs, tmp_path)


def test_no_secret_comes_out_of_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = CANARY
    for option, value in product(
        ("--hivevar", "--hiveconf"), ("db_pasword", "x.api_token", "druid.auth.token", "druid.url", "spark.remote")
    ):
        text = f"SET; SELECT missing_${{hivevar:{value}}}; EXPLAIN SELECT '${{hivevar:{value}}}'; SET -v"
        main(
            [
                "sql",
                "--home",
                str(tmp_path),
                option,
                f"{value}=http://me:{secret}@h/;token={secret}",
                "--fail-at-end",
                "-e",
                text,
            ]
        )
        main(["sql", "--home", str(tmp_path), option, f"{value}:{secret}", "-e", "SELECT 1"])
    shown = capsys.readouterr()
    assert_nowhere({"stdout": shown.out, "stderr": shown.err}, tmp_path)
    assert "internal error" not in shown.err


SETTINGS_WITH_SECRETS = {
    "spark.remote": "sc://h:15002/;token={secret}",
    "druid.url": "https://{secret}@h:1",
    "druid.coordinator.url": "https://me:p@{secret}@h:1",
    "druid.query.tags": "token:{secret}",
    "spark.hadoop.fs.s3a.secret.key": "{secret}",
    "hivedruid.catalog.url": "postgresql://me:{secret}@h/d",
}


@pytest.mark.parametrize("source", ["file", "option"])
@pytest.mark.parametrize("key", SETTINGS_WITH_SECRETS)
def test_no_secret_comes_out_of_commands_about_settings(
    key: str, source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    value = SETTINGS_WITH_SECRETS[key].format(secret=CANARY)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    options = ["--hiveconf", f"{key}={value}"] if source == "option" else []
    if source == "file":
        (tmp_path / "hivedruid").mkdir()
        (tmp_path / "hivedruid" / "hivedruid.toml").write_text(f'[settings]\n{key} = "{value}"\n', encoding="utf-8")
    home = ["--home", str(tmp_path / "home")]
    for layout in ("table", "json", "tsv"):
        main(["config", *home, *options, "--changed", "--format", layout])
    if source == "file":
        main(["doctor", *home, "--format", "json"])
    main(["sql", *home, *options, "-e", "SET -v; SHOW TABLES"])
    shown = capsys.readouterr()
    assert CANARY not in shown.out + shown.err
    assert "internal error" not in shown.err


@pytest.mark.parametrize(
    "text", ["SET password {secret}", "SET a.b=token:{secret}", "ADD JAR https://{secret}@h/x.jar"]
)
def test_no_secret_comes_out_of_the_reports_of_scripts(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "script.q").write_text(text.format(secret=CANARY) + ";\n", encoding="utf-8")
    script = str(tmp_path / "script.q")
    main(["lint", script])
    for name in ("report.json", "report.txt"):
        main(["import-hive", script, "--check", "--report", str(tmp_path / name)])
        assert CANARY not in (tmp_path / name).read_text(encoding="utf-8")
    shown = capsys.readouterr()
    assert CANARY not in shown.out + shown.err


SINKS = ("print", "click.echo", "click.secho", "text_result", "Result", "sys.stdout.write", "sys.stdout.writelines")
RULE = ("hivedruid.secret_text", "hivedruid.redaction", "hivedruid.secrets")
WITHOUT_SECRETS = {
    "actions/compacting/run.py": "tasks, compactions, segments: ids, times and numbers",
    "actions/execute.py": "rows of queries",
    "actions/explain.py": "Session redacts each plan",
    "actions/explain_tables.py": "names of tables",
    "actions/select/run.py": "rows of queries",
    "actions/streaming/run.py": "rows of describe.py, which masks settings",
    "actions/tiering/run.py": "names and numbers of tiers",
    "actions/tiering/verify.py": "names and numbers of batches",
    "actions/watching/data_sources.py": "names and numbers of data sources",
    "actions/watching/run.py": "rows of overview.py and problems.py, which redact messages",
    "actions/watching/topics.py": "names and numbers of topics",
    "api.py": "rows of queries",
    "cli.py": "help",
    "commands/config.py": "settings.shown masks each value",
    "commands/fmt.py": "the script, which is rewritten in place",
    "commands/local.py": "services of this machine, and their own logs",
    "commands/sample.py": "names of samples",
    "commands/segments.py": "what segment files contain",
    "commands/spark.py": "processes of Spark's server",
    "commands/streams.py": "names, and errors that the manager has stored redacted",
    "druid/versions.py": "a page of the documentation",
    "local/artifacts.py": "paths of jars",
    "local/samples.py": "paths of samples",
    "plan/differences.py": "a page of the documentation",
    "repl/display.py": "rendered results",
    "repl/shell.py": "help of the prompt",
    "results.py": "the type itself",
    "spark/keeper.py": "the protocol between two processes of hivedruid",
}
"""Modules that write, and why they need not hide anything themselves."""


def test_each_module_that_writes_hides_secrets_or_is_known_not_to_have_any() -> None:
    root = Path(hivedruid.__file__).parent
    writing = set()
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        hides = any(node.module in RULE or "one_line" in {each.name for each in node.names} for node in imports)
        if calls & {*SINKS} and not hides:
            writing.add(path.relative_to(root).as_posix())
    assert writing == {*WITHOUT_SECRETS}


def test_errors_of_the_api_have_no_secrets(tmp_path: Path) -> None:
    with Session(tmp_path, hivevar={"db_password": CANARY}) as session:
        known(session)
        (statement,) = session.statements(f"SELECT missing_{CANARY} FROM known")
        with pytest.raises(HiveDruidError) as raised:
            session.execute(statement)
    assert "unknown column" in raised.value.message
    assert CANARY not in f"{raised.value}{raised.value.message}{raised.value.hint}"
