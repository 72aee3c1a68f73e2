"""Redaction of secrets in messages of services and in specs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.redaction import redact, redact_spec
from hivedruid.secrets import MASK, is_secret

CANARY = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        f"druid.password={CANARY} was refused",
        f"'druid.password' = '{CANARY}'",
        f"'druid.password' = '{CANARY}",
        f"'kafka.sasl.jaas.config'='Module required username=\"u\" password=\"{CANARY}\";'",
        f'Module required username="u" password="{CANARY}";',
        f'{{"password": "{CANARY}", "x": 1}}',
        f"{{'druid.metadata.password': '{CANARY}'}}",
        f"GET http://admin:{CANARY}@localhost:8888/status failed",
        f"Authorization: Basic {CANARY}==",
        f"ssl.truststore.password = {CANARY}",
    ],
)
def test_secrets_are_masked(text: str) -> None:
    assert CANARY in text
    assert CANARY not in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "unexpected token: 'FROM'",
        "cannot reach http://localhost:8888/druid/v2",
        "mail to a@b:c",
        "'password' = ''",
        "unknown property 'druid.password'",
        "x = 'y', z: 1",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redact(text) == text


def test_what_stands_around_a_secret_stays() -> None:
    assert (
        redact("TBLPROPERTIES ('a.password' = 'x', 'b' = 'y')") == "TBLPROPERTIES ('a.password' = '******', 'b' = 'y')"
    )


SPEC: dict[str, Any] = {
    "type": "kafka",
    "spec": {
        "dataSchema": {"dataSource": "edits", "dimensionsSpec": {"dimensions": [{"type": "string", "name": "page"}]}},
        "ioConfig": {
            "topic": "edits",
            "consumerProperties": {
                "bootstrap.servers": "h1:9092,h2:9092",
                "security.protocol": "SASL_SSL",
                "fetch.min.bytes": 5,
                "ssl.keystore.password": "session:0123456789ab",
                "druid.dynamic.config.provider": {
                    "type": "environment",
                    "variables": {"sasl.jaas.config": "KAFKA_JAAS", "ssl.key.password": "KAFKA_KEY"},
                },
            },
            "inputFormat": {"type": "json", "password": {"type": "environment", "variable": "X"}},
            "useEarliestOffset": True,
            "lateMessageRejectionPeriod": None,
        },
    },
}


def test_a_spec_without_secrets_stays_with_its_references() -> None:
    assert redact_spec(SPEC) == SPEC


@pytest.mark.parametrize(
    "part",
    [
        {"sasl.jaas.config": f"x required password={CANARY};"},
        {"password": {"type": "default", "password": CANARY}},
        {"password": {"type": "vault", "path": CANARY}},
        {"ssl.key.password": [CANARY, {"a": CANARY}]},
        {"note": f'Plain.LoginModule required user_me="{CANARY}";'},
        {"a": f"-----BEGIN RSA PRIVATE KEY-----\n{CANARY}"},
        {"a": {"type": "mapString", "config": {"plain": CANARY}}},
        {"a": {"type": "environment", "variables": {"password": f"{CANARY}!"}, "password": CANARY}},
        {"url": f"https://me:{CANARY}@h/x"},
        {"url": f"https://me:a/b@{CANARY}@h/x"},
        {"url": [f"http://h1,http://me:{CANARY}@h2"]},
        {"url": f"http://h/?api_key={CANARY}"},
        {"headers": {"Authorization": CANARY, "X-API-Key": CANARY}},
        {"a": json.dumps({"b": [{"password": CANARY}]})},
        {"a": json.dumps({"b": json.dumps({"token": CANARY})})},
        {"a": json.dumps(json.dumps({"token": CANARY}))},
        {"a": f'{{"password": "{CANARY}", broken'},
        {"a": f"cannot read {json.dumps(json.dumps({'password': CANARY}))}"},
        {"a": f"Bearer {CANARY}"},
    ],
)
def test_secrets_in_a_spec_are_masked(part: dict[str, Any]) -> None:
    for value in (part, {"spec": [part]}, [json.dumps(part)], {"a": json.dumps({"spec": part})}):
        assert CANARY in json.dumps(value)
        shown = redact_spec(value)
        assert CANARY not in json.dumps(shown)
        assert redact_spec(shown) == shown


def test_a_number_may_be_a_secret_and_false_is_none() -> None:
    assert redact_spec({"password": 1234, "token": False, "secret": None, "passwd": ""}) == {
        "password": MASK, "token": False, "secret": None, "passwd": "",
    }  # fmt: skip


_SECRET_NAMES = st.sampled_from(
    ["password", "ssl.key.password", "sasl.jaas.config", "token", "secretKey", "basic.auth.user.info", "druid.x.key"]
)
_NAMES = st.text("abcxyz.", max_size=8).filter(lambda name: not is_secret(name))
_PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=10)


@st.composite
def _specs(draw: st.DrawFn) -> Any:
    """JSON with the canary anywhere a secret can be, directly and as JSON in strings."""
    value: Any = CANARY + draw(st.text(max_size=5))
    for _ in range(draw(st.integers(0, 2))):
        value = [value] if draw(st.booleans()) else {draw(_NAMES): value}
    value = {draw(_SECRET_NAMES): value, **draw(st.dictionaries(_NAMES, _PLAIN, max_size=2))}
    for _ in range(draw(st.integers(0, 3))):
        value = draw(
            st.sampled_from(
                [[value, 1], {"a": value, "b": "c"}, {"type": "kafka", "spec": value}, {"a": json.dumps(value)}]
            )
        )
    return value


@given(_specs())
def test_no_secret_gets_through(spec: Any) -> None:
    assert CANARY not in json.dumps(redact_spec(spec))


@given(
    st.recursive(_PLAIN.filter(lambda v: v != CANARY), lambda inner: st.lists(inner) | st.dictionaries(_NAMES, inner))
)
def test_what_is_no_secret_keeps_its_shape(value: Any) -> None:
    def shape(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: shape(inner) for key, inner in item.items()}
        return [shape(inner) for inner in item] if isinstance(item, list) else type(item)

    assert shape(redact_spec(value)) == shape(value)


@pytest.mark.parametrize(
    "text",
    [
        'error="bad: ssl.key.password=hunter2"',
        '{"errorMessage": "x {\\"sasl.jaas.config\\":\\"x password=hunter2\\"}"}',
        '"hive.sql.jdbc.url"="jdbc:x?user=a&password=hunter2"',
    ],
)
def test_a_secret_in_the_value_of_another_key(text: str) -> None:
    assert "hunter2" not in redact(text)
    assert redact(text).startswith(text[:8])
