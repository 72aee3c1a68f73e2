"""The offsets of running tasks, from tasks that answer, and from others."""

from __future__ import annotations

import json

import pytest

from hivedruid.clients.task_offsets import with_task_offsets
from hivedruid.ingestion.model import ReadingTask, SupervisorStatus, Task
from tests.unit.clients.conftest import Answer, Asked, Serve


def status(*tasks: ReadingTask) -> SupervisorStatus:
    return SupervisorStatus("RUNNING", "RUNNING", suspended=False, healthy=True, active=tasks)


def task(id_: str, location: str) -> Task:
    return Task(id_, "index_kafka", "t", "RUNNING", "", location=location)


def test_tasks_whose_supervisor_does_not_know_their_offsets_are_asked(serve: Serve) -> None:
    served = serve(lambda _: Answer(b'{"0": 12, "1": 7}'))
    location = served.url.removeprefix("http://")
    known = ReadingTask("b", current_offsets={2: 5})
    found = with_task_offsets(status(ReadingTask("a/1"), known), [task("a/1", location), task("b", location)])
    assert found.active == (ReadingTask("a/1", current_offsets={0: 12, 1: 7}), known)
    assert served.paths() == ["GET /druid/worker/v1/chat/a%2F1/offsets/current"]
    assert "authorization" not in {key.lower() for key in served.asked[0].headers}


@pytest.mark.parametrize(
    "answer",
    [Answer(b"", 401), Answer(b"<html>"), Answer(b"[1]"), Answer(b'{"0": null, "x": 1}'), Answer(b"{}", 307)],
)
def test_other_answers_tell_nothing(serve: Serve, answer: Answer) -> None:
    served = serve(lambda _: answer)
    given = status(ReadingTask("a"))
    assert with_task_offsets(given, [task("a", served.url.removeprefix("http://"))]) == given
    assert len(served.asked) == 1


def test_no_more_tasks_are_asked_after_one_out_of_reach(serve: Serve) -> None:
    def respond(_: Asked) -> Answer:
        return Answer(json.dumps({"0": 1}).encode())

    served = serve(respond)
    given = status(ReadingTask("a"), ReadingTask("b"), ReadingTask("c"))
    tasks = [task("a", ""), task("b", "127.0.0.1:1"), task("c", served.url.removeprefix("http://"))]
    assert with_task_offsets(given, tasks) == given
    assert served.asked == []
