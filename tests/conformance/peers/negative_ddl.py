"""Hive's negative tests of Druid tables: refused here, too, with the same message. Its test handlers are replaced by
ours.
"""

from __future__ import annotations

import pytest

from tests.conformance.cases import folder, read_json
from tests.unit.actions.ddl_world import World


def cases() -> list[tuple[str, str]]:
    """Statements and messages. No broker address is needed here, and managed Druid tables are allowed."""
    made = []
    for case in read_json(folder() / "hive" / "negative_ddl.json"):
        if "broker address" in case["message"] or "strict managed" in case["message"]:
            continue
        name = "twice" if "Handler2" in case["sql"] else "wikiticker"
        text = case["sql"].replace("QTestDruidStorageHandler2", "DruidStorageHandler")
        text = text.replace("QTestDruidStorageHandler", "DruidStorageHandler").replace('"wikipedia"', f'"{name}"')
        expected = case["message"].removesuffix(")").rpartition("message:")[2]
        expected = expected.rpartition("Exception: ")[2].rpartition("Exception ")[2]
        made.append((text, expected.replace("anonymous", "a")))
    return made


@pytest.mark.parametrize(("text", "message"), cases())
def test_refused_in_the_same_words(text: str, message: str) -> None:
    assert World().refused(text).message == message
