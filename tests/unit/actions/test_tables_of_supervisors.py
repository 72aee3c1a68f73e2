"""CREATE EXTERNAL TABLE … FROM SUPERVISOR: the errors say where the supervisor is named."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hivedruid.actions.ddl.new_table import new_table
from hivedruid.errors import HiveDruidError
from hivedruid.parser import parse
from hivedruid.parser.statements.ddl import CreateTable
from hivedruid.script import SourceStatement
from tests.support.planning import snapshot

NO_SERVERS = {"type": "kafka", "spec": {"dataSchema": {"dataSource": "w"}, "ioConfig": {"topic": "t"}}}


@pytest.mark.parametrize(
    ("running", "message"),
    [
        (None, "there is no supervisor 'theirs'"),
        ({"type": "kinesis", "spec": {}}, "supervisor 'theirs' is of type kinesis, not kafka"),
        (NO_SERVERS, "the spec of supervisor 'theirs' has no bootstrap.servers that can be read"),
    ],
)
def test_what_no_table_can_have(running: Mapping[str, Any] | None, message: str) -> None:
    statement = parse(SourceStatement("CREATE EXTERNAL TABLE t FROM SUPERVISOR 'theirs'"))
    assert isinstance(statement, CreateTable)
    with pytest.raises(HiveDruidError) as caught:
        new_table(statement, replace(snapshot(), supervisor=running))
    assert caught.value.message == message
    assert caught.value.span is not None
    assert (caught.value.span.column, caught.value.span.length) == (41, len("'theirs'"))
