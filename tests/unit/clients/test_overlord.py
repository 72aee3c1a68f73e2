"""Answers of a real overlord that have no place in its documentation."""

from __future__ import annotations

import json

import pytest

from hivedruid.clients.address import DruidAddress
from hivedruid.clients.druid import DruidClient
from hivedruid.clients.overlord import Overlord
from tests.unit.clients.conftest import Answer, Asked, Serve

TASK = "index_kafka_t_ff0cf15f9a4a_7f5729f53c93003_aifgoiag"
NO_HANDLER = b'{"error":"Can\'t find chatHandler for handler[%s]"}' % TASK.encode()
"""What Druid 33 answers, with status 200, for a task whose process has begun and has no report yet."""


def test_a_task_without_a_report(serve: Serve) -> None:
    def respond(asked: Asked) -> Answer:
        return Answer(NO_HANDLER if asked.path.endswith("/reports") else b"{}")

    url = serve(respond).url
    overlord = Overlord(DruidClient(DruidAddress(url, url, url, url)))
    assert overlord.reports(TASK) == {}
    assert overlord.report(TASK) is None
    assert overlord.has_begun(TASK) is None


@pytest.mark.parametrize(("state", "has_begun"), [("NOT_STARTED", False), ("BUILD_SEGMENTS", True)])
def test_a_task_that_reports_its_state(serve: Serve, state: str, has_begun: bool) -> None:
    report = {"ingestionStatsAndErrors": {"taskId": TASK, "payload": {"ingestionState": state}}}

    def respond(asked: Asked) -> Answer:
        return Answer(json.dumps(report).encode() if asked.path.endswith("/reports") else b"{}")

    url = serve(respond).url
    assert Overlord(DruidClient(DruidAddress(url, url, url, url))).has_begun(TASK) is has_begun


def test_a_task_that_ends_while_tasks_are_listed(serve: Serve) -> None:
    """Druid 33 lists running and completed tasks one after the other: this one is in both."""
    both = [{"id": TASK, "statusCode": code, "createdTime": "2026-01-01T00:00:00Z"} for code in ("SUCCESS", "RUNNING")]
    other = {"id": "other", "statusCode": "RUNNING", "createdTime": "2026-01-01T00:00:01Z"}
    url = serve(lambda _: Answer(json.dumps([*both, other]).encode())).url
    tasks = Overlord(DruidClient(DruidAddress(url, url, url, url))).tasks()
    assert [(task.id, task.state) for task in tasks] == [("other", "RUNNING"), (TASK, "SUCCESS")]
