"""The definition of secrets, and how they are hidden."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import hivedruid
from hivedruid.catalog.properties import PROPERTIES
from hivedruid.secret_text import mask_text, ranges, redact, reference_places, remember_statement
from hivedruid.secrets import MASK, is_secret, masked, referenced, secret_in
from hivedruid.settings import SETTINGS
from tests.support.secret_forms import CANARY, harmless, texts


@pytest.mark.parametrize(
    ("key", "secret"),
    [
        ("druid.kafka.ingestion.consumer.ssl.key.password", True),
        ("kafka.consumer.sasl.jaas.config", True),
        ("hive.druid.metadata.password", True),
        ("spark.hadoop.fs.s3a.secret.key", True),
        ("spark.hadoop.fs.s3a.access.key", True),
        ("my.api_key", True),
        ("kafka.consumer.ssl.keystore.key", True),
        ("auth-token", True),
        ("primary_key", False),
        ("mapkey.delim", False),
        ("kafka.consumer.sasl.oauthbearer.token.endpoint.url", False),
        ("key.serializer", False),
        ("druid.datasource", False),
        ("hive.groupby.position.alias", False),
        ("a.pässword", True),
        ("ｐａｓｓｗｏｒｄ", True),
        ("数据库密码", True),
        ("client-key", True),
        ("consumerKey", True),
        ("ssl.client_pem", True),
        ("keytab.base64", True),
        ("DB_PASS_PROD", True),
        ("first_pass_config", False),
        ("primary.key", False),
        ("partition.keys", False),
        ("kafka.key.format", False),
        ("consumer.key.deserializer", False),
        ("spark.sql.timeTravelVersionKey", False),
        ("fs.azure.secure.mode", False),
        ("dfs.block.access.token.lifetime", False),
        ("yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs", False),
        ("hive.server2.thrift.http.cookie.domain", False),
    ],
)
def test_is_secret(key: str, secret: bool) -> None:
    assert is_secret(key) is secret


def test_known_names_are_secret_only_if_their_values_are() -> None:
    names = (Path(hivedruid.__file__).parent / "hive_setting_names.txt").read_text(encoding="utf-8").split()
    assert {name for name in names if is_secret(name) and not name.lower().endswith("password")} == {
        "hive.cluster.delegation.token.store.zookeeper.connectString",
        "hive.llap.auto.auth",
        "hive.llap.external.client.cloud.jwt.shared.secret",
        "hive.metastore.event.db.notification.api.auth",
        "hive.metastore.properties.servlet.auth",
        "hive.metastore.token.signature",
        "hive.server2.saml2.sp.force.auth",
        "hive.server2.thrift.http.cookie.path",
        "hive.session.id",
    }
    own = {*SETTINGS, *PROPERTIES}
    assert {name for name in own if is_secret(name)} == {
        "avro.schema.registry.credentials",
        "druid.auth.password",
        "druid.auth.token",
        "hive.druid.metadata.password",
        "hivedruid.catalog.password",
        "hivedruid.clear.text.secrets",
        "hivedruid.s3.access.key",
        "hivedruid.s3.secret.key",
        "hivedruid.s3.session.token",
        "hivedruid.secrets.over.http",
        "spark.authenticate.secret",
        "spark.remote.token",
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hive.metastore.properties.servlet.auth", "jwt"),
        ("hive.server2.thrift.http.cookie.path", "/x"),
        ("spark.authenticate.secret.file", "/run/secrets/x"),
        ("tls.key", "/etc/x/tls.key"),
        ("client_key", "5"),
    ],
)
def test_values_of_secret_keys_that_are_no_secrets(key: str, value: str) -> None:
    assert masked(key, value) == value
    assert masked(key, "Hunter2") == MASK


@pytest.mark.parametrize(
    ("key", "shown", "hidden"),
    [
        ("druid.spec.tuningConfig.newKey", ["-5", "1.5", "[1]", "{}", '""', '{"a": 1, "type": "b"}'], ['"x"', '{"a": ["x"]}']),
        ("druid.spec.context.clientKey", ['{"type": "environment", "variable": "X"}'], ['{"password": 1}', "{", "x"]),
        ("druid.spec.context.password", ["{}", "[true]", '{"a": {"type": "environment", "variable": "X"}}'], ["1", "[1]"]),
    ],
)  # fmt: skip
def test_json_of_a_secret_key_is_hidden_if_a_value_in_it_is_one(key: str, shown: list[str], hidden: list[str]) -> None:
    assert [masked(key, value) for value in shown] == shown
    assert {masked(key, value) for value in hidden} == {MASK}


def test_masked() -> None:
    assert masked("a.password", "hunter2") == MASK
    assert masked("a.password", "") == ""
    assert masked("a.password", "env:DRUID_PASSWORD") == "env:DRUID_PASSWORD"
    assert masked("a.password", "session:0123456789ab") == "session:0123456789ab"
    assert masked("a.password", "session:hunter2") == MASK
    assert masked("druid.url", "http://me:hunter2@host:8888/x") == f"http://{MASK}@host:8888/x"
    assert masked("druid.url", "http://host:8888") == "http://host:8888"
    assert masked("spark.remote", "sc://host:15002/;token=hunter2;x=y") == f"sc://host:15002/;token={MASK};x=y"


@pytest.mark.parametrize(
    "text",
    [
        "TBLPROPERTIES ('a.password' = 'hunter2', 'b' = 'c')",
        'TBLPROPERTIES ("a.password"="hunter2", "b"=\'c\')',
        "TBLPROPERTIES ('a.password' =\n 'it\\'s hunter2 ', 'b' = 'c')",
        "SET hive.druid.metadata.password=hunter2",
        "  set a.token = hunter2 and hunter2",
        "TBLPROPERTIES ('a.password' = 'hunter2",
        "SET spark.remote='sc://host:15002/;Token=hunter2;use_ssl=true'",
        """('a' = '{"x": {"a.password" : "hunter2"}, "b": 1}')""",
        """('a' = "{\\"token\\":\\"hunter2\\"}")""",
        """('a' = '{"password": "x\\\\"hunter2", "b": [{"secret": "hunter2"}]}')""",
        """('a' = '{"password": "hunter2""",
        "TBLPROPERTIES ('registry' = 'http://me:hunter2@h:8081', 'b' = 'http://me:x/hunter2@h')",
    ],
)
def test_mask_text(text: str) -> None:
    hidden = mask_text(text)
    assert "hunter2" not in hidden
    assert len(hidden) == len(text)
    assert hidden.count("\n") == text.count("\n")


def test_mask_text_leaves_the_rest() -> None:
    text = "CREATE TABLE t (a int) TBLPROPERTIES ('druid.datasource' = 'x')"
    assert mask_text(text) == text
    assert mask_text("SET x=y") == "SET x=y"
    text = "SELECT token, a.password FROM a JOIN b ON a.token = b.token WHERE token IS NULL GROUP BY token"
    assert mask_text(text) == text
    text = """('druid.transformSpec' = '{"filter": "token == \\'x\\'", "name": "token"}')"""
    assert mask_text(text) == text
    text = "SELECT 'http://h:80/x', 'a@b', 'http://h/x@y' FROM t"
    assert mask_text(text) == text
    text = """('a' = '{"type": "path", "name": "password_hint_x"}', 'b' = '{"a": {"b": "c"}}')"""
    assert mask_text(text) == text


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("env:X_1", "X_1"),
        ("${env:X}", "X"),
        ("env:", None),
        ("env:1X", None),
        ("env:a b", None),
        ("${env:X}y", None),
        ("${env:${X}}", None),
        ("hunter2", None),
    ],
)
def test_referenced(value: str, name: str | None) -> None:
    assert referenced(value) == name


def test_secret_in() -> None:
    assert secret_in('{"a": [1, {"ssl.key.password": "x"}]}') == "ssl.key.password"
    assert secret_in('{"password": {"type": "environment", "variable": "X"}, "token": "", "b": "c"}') is None
    assert secret_in('{"urls": ["http://h", "http://me:hunter2@h"]}') == "urls"
    assert secret_in("no JSON") is None


def test_reference_places() -> None:
    text = "('a.password' = '${env:X}', 'b' = '${env:X}', \"c.token\"=\"${env:Y}\", 'd.token' = 'x${env:Z}')"
    assert {text[place : place + 8] for place in reference_places(text)} == {"${env:X}", "${env:Y}"}
    assert text.index("${env:X}") in reference_places(text)
    assert len(reference_places(text)) == 2


@pytest.mark.parametrize("gap", ["/* c */ =", "= /* c */", " -- c\n = -- d\n"])
def test_a_comment_beside_the_equals_sign_hides_nothing(gap: str) -> None:
    text = f"TBLPROPERTIES ('x.sasl.jaas.config' {gap} 'a hunter2')"
    assert "hunter2" not in mask_text(text)
    assert len(mask_text(text)) == len(text)


def test_values_that_are_remembered_are_hidden_where_no_key_stands() -> None:
    remember_statement(
        "ALTER TABLE t SET TBLPROPERTIES ('a.password' = 'only-remembered-here', 'b.token' = 'druid', 'c.secret' = '12')"
    )
    assert redact("found 'only-remembered-here', not druid 12") == f"found '{MASK}', not druid 12"
    remember_statement("SELECT 1")
    assert redact("found 'only-remembered-here'") == "found 'only-remembered-here'"


def _literal(text: str, quote: str) -> str:
    escaped = text.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    return f"ALTER TABLE t SET TBLPROPERTIES ('note' = {quote}{escaped}{quote}, 'b' = 'c')"


CONTEXTS: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "literal": lambda text: _literal(text, "'"),
    "double-quoted literal": lambda text: _literal(text, '"'),
    "JSON": lambda text: json.dumps({"note": text, "x": 1}),
    "JSON in JSON": lambda text: json.dumps({"m": json.dumps({"note": text})}),
    "message": lambda text: f"cannot read x: {text}",
    "quoted message": lambda text: f"invalid value '{text}' of 'x'",
    "Python": lambda text: repr({"note": text}),
    "SET": lambda text: f"SET a.b={text}",
    "comment": lambda text: f"-- {text}\nSELECT 1",
    "a line of a plan": lambda text: f"Plan\n{' ' * 60}{json.dumps(text)}\n{' ' * 58}}}",
}


@pytest.mark.parametrize("context", CONTEXTS)
def test_every_form_of_a_secret_is_found_in_every_context(context: str) -> None:
    found = [CONTEXTS[context](text) for text in texts()]
    assert all(CANARY in text for text in found)
    assert [text for text in found if CANARY in mask_text(text)] == []
    assert [text for text in found if CANARY in redact(text)] == []


def test_secrets_have_their_positions_in_a_text_with_margins() -> None:
    lines = (f"{' ' * depth}{line}" for depth in range(0, 300, 30) for line in ("{", "'a.password': 'hunter2',", "'b'"))
    text = "\n".join(lines)
    assert [text[start:end] for start, end in ranges(text, statement=False)] == ["hunter2"] * 10
    assert redact(text) == text.replace("hunter2", MASK)


@pytest.mark.parametrize("text", harmless())
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_text(text) == text
    assert redact(text) == text


HOSTILE = (
    "a=--", "a=/*", "password=--", "a = -- ",
    "a://", "a://b:c@", "password=[", "password={'a':", "password: - ", "password:\n  ", "Cookie: a=b; ", "cookie",
    'Authorization: Digest a="b", ', "a.b-cookie", "Bearer x", "--password ", "-u a:", "curl ", "mysql -p", "<password>",
    "<password", "<name>password</name>", "aes_encrypt(", "PASSWORD '", "IDENTIFIED BY ", "-----BEGIN PRIVATE KEY-----",
    "'pass' ", "'\\", "option('a','", "eyJhb", "jdbc:oracle:thin:a/", "- ", "\n- x", "=", "(", "{", "[", '"', '\\"', "?",
    "?sig=", "secrets:\n  a:\n", "data:\n  kind: Secret", "secrets:\n  a: b\n", "password=<<A\n", "password=a\\\n", "[secrets]\n",
    "[secrets]\na=b\n", "s3('", "mysql('a',", "SET a.token TO ", "; SET ", ";SET a", "variable \"password\" {", "A_TOKEN '",
    "connect('a',", "?key=", "-u a -p ", "-u a ", "-x a:", "--key ", "vault kv put a b=c ", "secrets set a=b ", "echo a | ",
    "echo -n ", "a:1234:", "*:*:", "mysqladmin ", "isql -a ", "mc alias set a b ", "setuser a on ", "secret set ", "AUTH a ",
    "redis-cli ", "conn a/", "sqlplus -a ", "config --a ", "--from-literal=a=b ", "<<<", "kinit", "key%", "password** ",
    "<key>password</key><string>", "\"kty\" \"d\":", "password = a({", "`", "/*", "--", "--\n", "</", "sk-a", "AKIA", "login a password ", "! connect ", "x.",
)  # fmt: skip


@pytest.mark.parametrize("text", ["TBLPROPERTIES ({})", "{}"])
def test_looking_for_secrets_takes_time_linear_in_the_text(text: str) -> None:
    for part in (
        "'",
        "password ",
        "a",
        "password='",
        "x /* ",
        "\\",
        "'token' ",
        "LoginModule required ",
        "://",
        "a = 'b', ",
        *HOSTILE,
    ):
        begun = time.process_time()
        ranges(text.format(part * (40_000 // len(part))), statement=True)
        assert time.process_time() - begun < 1
