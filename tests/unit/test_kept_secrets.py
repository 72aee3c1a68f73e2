"""Plain-text secrets that a session keeps: where the references to them appear, and the secrets do not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hivedruid.catalog.store import to_json
from hivedruid.errors import SemanticError
from hivedruid.kept_secrets import KeptSecrets
from hivedruid.parser import parse
from hivedruid.parser.statements import Explain
from hivedruid.parser.statements.ddl import CreateTable, SetTableProperties
from hivedruid.script import SourceStatement
from hivedruid.secrets import is_kept
from hivedruid.session import Session

SECRET = "hunter2 and more"
JAAS = f'org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="{SECRET}";'
CONSUMER = "druid.kafka.ingestion.consumer."
CREATE = (
    "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid' "
    "TBLPROPERTIES ('kafka.topic' = 'x', 'kafka.bootstrap.servers' = 'h:1', '{}' = '{}')"
)
ALTER = f"ALTER TABLE t SET TBLPROPERTIES ('{CONSUMER}ssl.key.password' = '{{}}', '{CONSUMER}client.id' = 'me')"


def test_a_reference_says_nothing_and_stays_the_same() -> None:
    kept = KeptSecrets()
    first, second = kept.keep(SECRET), kept.keep("other")
    assert first != second
    assert kept.keep(SECRET) == first
    assert is_kept(first)
    assert KeptSecrets().keep(SECRET) != first


def test_a_spec_is_filled_and_hidden_again() -> None:
    kept = KeptSecrets()
    spec = {"a": [{"consumerProperties": {"password": kept.keep("json"), "n": 1}}], "type": "json", "x": None}
    filled = {"a": [{"consumerProperties": {"password": "json", "n": 1}}], "type": "json", "x": None}
    assert kept.filled(spec) == filled
    assert kept.hidden(filled) == spec
    assert KeptSecrets().hidden(filled) == filled
    assert kept.filled(None) is None
    assert kept.hidden(None) is None


def test_a_reference_of_another_session_is_named() -> None:
    spec = {"consumerProperties": {"sasl.jaas.config": KeptSecrets().keep(SECRET), "group.id": "me"}}
    with pytest.raises(
        SemanticError, match=f"the value of '{CONSUMER}sasl.jaas.config' was given in plain text in another"
    ):
        KeptSecrets().filled(spec)


def test_secrets_of_consumers_are_replaced_in_statements() -> None:
    kept = KeptSecrets()
    for text in (ALTER.format(SECRET), f"EXPLAIN {ALTER.format(SECRET)}"):
        found = kept.without_secrets(parse(SourceStatement(text)))
        inner = found.statement if isinstance(found, Explain) else found
        assert isinstance(inner, SetTableProperties)
        assert [item.value for item in inner.properties] == [kept.keep(SECRET), "me"]


@pytest.mark.parametrize(
    "text",
    [
        ALTER.format("env:KEY"),
        ALTER.format(KeptSecrets().keep(SECRET)),
        ALTER.format(""),
        f"ALTER TABLE t SET TBLPROPERTIES ('my.password' = '{SECRET}')",
        "SELECT 1",
    ],
)
def test_everything_else_stays(text: str) -> None:
    statement = parse(SourceStatement(text))
    assert KeptSecrets().without_secrets(statement) is statement


def test_a_login_module_that_is_not_known_is_refused_at_its_place() -> None:
    text = CREATE.format(f"{CONSUMER}sasl.jaas.config", "com.sun.security.auth.module.JndiLoginModule required;")
    statement = parse(SourceStatement(text))
    assert isinstance(statement, CreateTable)
    with pytest.raises(SemanticError, match="names the login module com") as error:
        KeptSecrets().without_secrets(statement)
    assert error.value.span == statement.properties[2].value_span


def run(session: Session, text: str) -> str:
    return "\n".join(str(row) for statement in session.statements(text) for row in session.execute(statement).rows)


def test_without_the_setting_clear_text_is_refused(tmp_path: Path) -> None:
    with (
        Session(tmp_path) as session,
        pytest.raises(SemanticError, match="is a secret, which would be stored in plain text in the catalog"),
    ):
        run(session, CREATE.format(CONSUMER + "sasl.jaas.config", JAAS))


def test_a_secret_is_in_no_file_and_in_no_answer(tmp_path: Path) -> None:
    shown: list[str] = []
    with Session(tmp_path, hiveconf={"hivedruid.clear.text.secrets": "true"}, note=shown.append) as session:
        create = CREATE.format(CONSUMER + "sasl.jaas.config", JAAS)
        for text in (f"EXPLAIN {create}", f"EXPLAIN FORMATTED {create}", create, "SHOW CREATE TABLE t"):
            shown.append(run(session, text))
        shown += [
            run(session, text) for text in ("DESCRIBE FORMATTED t", "SHOW TBLPROPERTIES t", "EXPLAIN DROP TABLE t")
        ]
        shown.append(run(session, ALTER.format(SECRET)))
        table = session.catalog.get("default", "t")
        assert is_kept(table.properties[CONSUMER + "sasl.jaas.config"])
        assert is_kept(table.properties[CONSUMER + "ssl.key.password"])
        shown.append(json.dumps(to_json(table)))
    assert "hunter2" not in "".join(shown)
    assert "session:" in shown[0]
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name.startswith("catalog.sqlite") for path in files)
    for path in files:
        assert b"hunter2" not in path.read_bytes(), path


def test_other_secrets_stay_refused(tmp_path: Path) -> None:
    with Session(tmp_path, hiveconf={"hivedruid.clear.text.secrets": "true"}) as session:
        for key in ("my.password", "kafka.password"):
            with pytest.raises(SemanticError):
                run(session, CREATE.format(key, SECRET))
        with pytest.raises(SemanticError, match="is a secret"):
            run(session, CREATE.format("my.password", KeptSecrets().keep(SECRET)))
