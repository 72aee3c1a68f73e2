"""EXPLAIN of the statements that monitor Druid: the requests and their purpose."""

from __future__ import annotations

from typing import assert_never

from hivedruid.actions.model import Action
from hivedruid.actions.operators import Fields, operator_explainer
from hivedruid.actions.watching.model import (
    DescribeTask,
    ListDataSources,
    ListIngestions,
    ListOffsets,
    ListProblems,
    ListTasks,
    ListTopics,
    ShutDownTask,
    WatchingAction,
)
from hivedruid.actions.watching.run import AFTERWARDS, tasks_request
from hivedruid.clients import observe, segment_list
from hivedruid.clients.overlord import task_path
from hivedruid.druid.retention import RULES_PATH


def _describe(action: Action) -> tuple[str, Fields]:
    assert isinstance(action, WatchingAction)
    match action:
        case ListIngestions():
            return "Show Ingestions Operator", [("like", action.like), ("requests", observe.REQUESTS)]
        case ListTasks():
            name = action.table.full_name if action.table is not None else None
            requests = {f"GET {tasks_request(action)}": "all tasks"}
            return "Show Tasks Operator", [("table", name), ("state", action.state), ("requests", requests)]
        case DescribeTask():
            parts = {"status": "state", "reports": "rows and parse errors", "log": "end of the log"}
            requests = {f"GET {task_path(action.task, part)}": what for part, what in parts.items()}
            return "Show Task Operator", [("task", action.task), ("requests", requests)]
        case ListProblems():
            requests = {**observe.REQUESTS, **observe.REQUESTS_FOR_PROBLEMS} if action.has_ingestions else {}
            requests |= observe.REQUESTS_OF_KAFKA
            return "Show Problems Operator", [("requests", requests)]
        case ListOffsets():
            properties = action.table.properties
            return "Show Offsets Operator", [
                ("table", action.table.full_name),
                ("topic", properties["kafka.topic"]),
                ("brokers", properties["kafka.bootstrap.servers"]),
            ]
        case ListTopics():
            brokers = action.brokers or "those that tables name"
            return "Show Topics Operator", [("like", action.like), ("brokers", brokers)]
        case ListDataSources():
            requests = {**segment_list.REQUESTS, f"GET {RULES_PATH}": "retention rules"} if action.asks else {}
            return "Show Data Sources Operator", [("like", action.like), ("requests", requests)]
        case ShutDownTask():
            status = f"GET {task_path(action.task, 'status')}"
            requests = {status: "until it has ended", f"POST {task_path(action.task, 'shutdown')}": "once"}
            return "Kill Task Operator", [("task", action.task), ("effect", AFTERWARDS), ("requests", requests)]
        case _:
            assert_never(action)


EXPLAINER = operator_explainer(_describe)
