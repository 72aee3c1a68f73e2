"""Answers of a real overlord that have no place in its documentation."""

from __future__ import annotations

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
    assert not overlord.has_begun(TASK)
