from __future__ import annotations

import pytest

from hivedruid.redaction import redact

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
