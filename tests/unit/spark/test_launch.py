"""The properties of the JVM that hivedruid starts for Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hivedruid.errors import SemanticError, UsageError
from hivedruid.settings import Settings
from hivedruid.spark import launch
from hivedruid.spark.server import Wanted

CLUSTER = {"spark.master": "spark://h:7077"}


def configuration(given: dict[str, str]) -> Any:
    return launch.configuration(
        Wanted("1", launch.start_settings(given)), Path("java"), "pyspark", idle=60, log=Path("spark.log")
    )


@pytest.mark.parametrize("given", [{}, {"spark.master": "local[2]", "spark.authenticate": "false"}])
def test_a_local_server_is_authenticated_on_loopback(given: dict[str, str]) -> None:
    found = configuration({**given, "spark.driver.bindAddress": "192.0.2.1", launch.SECRET: "env:NOT_SET"})
    properties = found["properties"]
    assert properties["spark.authenticate"] == "true"
    assert properties["spark.network.crypto.enabled"] == "false", "it can block the first job"
    assert (properties["spark.driver.host"], properties["spark.driver.bindAddress"]) == ("localhost", "127.0.0.1")
    assert launch.SECRET not in properties
    assert not found["private"]


def test_a_cluster_receives_the_secret_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_SECRET", "sesame")
    found = configuration({**CLUSTER, launch.SECRET: "env:TEST_SECRET"})
    assert found["properties"][launch.SECRET] == "sesame"
    assert found["properties"]["spark.authenticate"] == found["properties"]["spark.network.crypto.enabled"] == "true"
    assert "spark.driver.host" not in found["properties"]
    assert found["settings"][launch.SECRET] == "env:TEST_SECRET"
    assert "sesame" not in str(found["options"])


def test_a_secret_that_is_no_reference() -> None:
    with pytest.raises(SemanticError, match="must be env:NAME or file:PATH"):
        Settings({launch.SECRET: "sesame"})
    with pytest.raises(UsageError, match="NOT_SET_AT_ALL, which is not set"):
        configuration({**CLUSTER, launch.SECRET: "env:NOT_SET_AT_ALL"})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, None),
        ({"spark.master": "local[4]", "spark.authenticate": "false"}, None),
        ({**CLUSTER, "spark.remote": "sc://h"}, None),
        (CLUSTER, "spark.authenticate.secret is not set"),
        ({**CLUSTER, "spark.authenticate.secret": "env:X"}, None),
        ({**CLUSTER, "spark.authenticate": "true"}, None),  # Spark requires the secret
        ({"spark.master": "yarn"}, None),
        ({"spark.master": "k8s://https://h"}, None),
        ({"spark.master": "yarn", "spark.authenticate": "False"}, "spark.authenticate is false"),
    ],
)
def test_a_driver_that_answers_everyone(given: dict[str, str], reason: str | None) -> None:
    assert launch.open_driver(given) == reason


@pytest.mark.parametrize(
    ("given", "authenticate"),
    [
        (CLUSTER, None),
        ({"spark.master": "yarn"}, "true"),
        ({"spark.master": "yarn", "spark.authenticate": "false"}, "false"),
    ],
)
def test_authentication_on_a_cluster(given: dict[str, str], authenticate: str | None) -> None:
    assert configuration(given)["properties"].get("spark.authenticate") == authenticate
