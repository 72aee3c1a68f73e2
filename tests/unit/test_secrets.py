"""What counts as a secret, and how it is hidden."""

from __future__ import annotations

import pytest

from hivedruid.secrets import MASK, is_secret, mask_text, masked


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
        ("key.serializer", False),
        ("druid.datasource", False),
        ("hive.groupby.position.alias", False),
    ],
)
def test_is_secret(key: str, secret: bool) -> None:
    assert is_secret(key) is secret


def test_masked() -> None:
    assert masked("a.password", "hunter2") == MASK
    assert masked("a.password", "") == ""
    assert masked("a.password", "env:DRUID_PASSWORD") == "env:DRUID_PASSWORD"
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
