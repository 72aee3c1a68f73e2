"""The formats of the values of Kafka tables, on a real Kafka."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from hivedruid.errors import UnsupportedError
from hivedruid.plain_json import PlainJson
from hivedruid.session import Session
from hivedruid.spark import plain_columns, topics
from tests.integration.test_goldens import settings
from tests.support.kafka_tables import KafkaTables

if TYPE_CHECKING:
    from tests.support.cluster import Cluster
    from tests.support.kafka import Topics

pytestmark = pytest.mark.spark


@pytest.fixture
def tables(cluster: Cluster, topics: Topics, tmp_path: Path) -> Iterator[KafkaTables]:
    notes: list[str] = []
    with Session(tmp_path / "home", hiveconf=settings(cluster), note=notes.append) as session:
        yield KafkaTables(session, topics, notes)


# --- JSON: the results of Hive's JsonSerDe ------------------------------------------------------------------------

JSON_COLUMNS = {
    "n": "bigint", "d": "double", "s": "string", "b": "boolean", "m": "decimal(10,2)", "l": "array<int>",
    "st": "struct<a:int,b:string>", "mp": "map<string,int>", "mi": "map<int,int>",
}  # fmt: skip
AS_IN_HIVE: dict[bytes, dict[str, Any]] = {
    b"{}": {},
    b"null": {},
    b" null\n": {},
    b'{"n": null}': {},
    b'{"x": 1}': {},
    b'{"N": 1}': {"n": "1"},
    b'{"n": 1, "N": 2}': {"n": "2"},
    b'{"N": 2, "n": 1}': {"n": "1"},
    b'{"n": 1, "n": 2}': {"n": "2"},
    b'{"n": 1} {"n": 2}': {"n": "1"},
    b'{"n": 1}{"n": 2}': {"n": "1"},
    b'{"n": 1} x': {"n": "1"},
    b'{"n": 1}]': {"n": "1"},
    b'{"n": 1},': {"n": "1"},
    b'{"n": 1}\x00': {"n": "1"},
    b'\n {\n"n": 1\n}\n': {"n": "1"},
    b'\xef\xbb\xbf{"n": 1}': {"n": "1"},
    b'{"n": "8"}': {"n": "8"},
    b'{"n": " 8 "}': {"n": "8"},
    b'{"n": 1.0}': {"n": "1"},
    b'{"n": 1e2}': {"n": "100"},
    b'{"d": "4.5"}': {"d": "4.5"},
    b'{"d": 1}': {"d": "1.0"},
    b'{"d": "NaN"}': {"d": "NaN"},
    b'{"d": "Infinity"}': {"d": "Infinity"},
    b'{"s": 1.50}': {"s": "1.5"},
    b'{"s": true}': {"s": "true"},
    b'{"s": {"a": 1, "b": [2]}}': {"s": '{"a":1,"b":[2]}'},
    b'{"s": "\\u0041\\n"}': {"s": "A\n"},
    b'{"b": "true"}': {"b": "TRUE"},
    b'{"m": 1.005}': {"m": "1.01"},
    b'{"m": "12.3"}': {"m": "12.30"},
    b'{"l": ["1", 2, null]}': {"l": [1, 2, None]},
    b'{"st": {"A": 1}}': {"st": {"a": 1, "b": None}},
    b'{"st": {"a": 1, "A": 2}}': {"st": {"a": 2, "b": None}},
    b'{"st": {"a": "7", "c": 1}}': {"st": {"a": 7, "b": None}},
    b'{"st": {}}': {"st": {"a": None, "b": None}},
    b'{"mp": {"k": 1, "K": 2}}': {"mp": {"k": 1, "K": 2}},
    b'{"mp": {"k": 1, "k": 2}}': {"mp": {"k": 2}},
    b'{"mi": {"1": 2}}': {"mi": {1: 2}},
}
"""Records that Hive 4.0.1 reads, and its values of the columns that are not NULL."""
ERRORS_IN_HIVE = (
    b"", b" ", b"[]", b'[{"n": 1}]', b"1", b'"x"', b'{"n": 1', b"x", b'{"n": NaN}', b'{"d": NaN}', b'{"d": Infinity}',
    b'{"d": -Infinity}', b'{"s": NaN}', b'{"n": [1]}', b'{"n": {"a": 1}}', b'{"s": "\xff"}', b'{"s": "a\tb"}',
    b'{"l": 1}', b'{"l": {}}', b'{"st": [1, "x"]}', b'{"st": "x"}', b'{"mp": [1]}', b"{'n': 1}", b"{n: 1}",
    b'{"n": 01}', b'{"n": +1}', b'{"n": 1,}', b'/*c*/{"n": 1}', b'{"n": 1 "s": 2}', b'{"n": 0x10}', b'{"d": .5}',
)  # fmt: skip
CHANGED_IN_HIVE = (
    b'{"n": "x"}', b'{"n": ""}', b'{"n": 1.7}', b'{"n": "1.7"}', b'{"n": true}', b'{"n": 99999999999999999999}',
    b'{"d": "x"}', b'{"d": 1e400}', b'{"d": true}', b'{"b": 1}', b'{"b": "no"}', b'{"m": 123456789012.5}',
    b'{"m": "x"}', b'{"m": true}', b'{"l": ["x"]}', b'{"l": [1.5]}', b'{"st": {"a": "x"}}', b'{"mp": {"k": "x"}}',
    b'{"mi": {"x": 2}}',
)  # fmt: skip
"""Records of which Hive reads other values than they have: 0 for text that is not a number, remainders of numbers that
are too large, fractions cut off, NULL."""


def test_json_records_as_in_hive(tables: KafkaTables) -> None:
    columns = ", ".join(f"{name} {kind}" for name, kind in JSON_COLUMNS.items())
    name = tables.create(tables.topics.new([*AS_IN_HIVE]), columns)
    shown = (c if "<" in kind else f"CAST({c} AS string)" for c, kind in JSON_COLUMNS.items())
    found = tables.values(f"SELECT {', '.join(shown)} FROM {name} ORDER BY `__offset`")
    for record, row in zip(AS_IN_HIVE, found, strict=True):
        assert {c: v for c, v in zip(JSON_COLUMNS, row, strict=True) if v is not None} == AS_IN_HIVE[record], record


def test_malformed_json_records(tables: KafkaTables) -> None:
    records = (*ERRORS_IN_HIVE, *CHANGED_IN_HIVE)
    columns = ", ".join(f"{name} {kind}" for name, kind in JSON_COLUMNS.items())
    name = tables.create(tables.topics.new([b'{"n": 7}', *records]), columns, hivedruid_malformed_rows="skip")
    assert tables.values(f"SELECT `__offset`, n FROM {name}") == [(0, 7)]
    (note,) = (note for note in tables.notes if "skipped" in note)
    assert note.startswith(f"skipped {len(records)} malformed records of default.{name}, the first in ")


def test_json_records_that_python_decodes(tables: KafkaTables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Large scans are decoded by Python workers; the values are the same, and so are the malformed records."""
    decoded: list[Any] = []

    def plain_json(fields: Any, returned: Any, moments: Any) -> PlainJson:
        decoded.append(returned)
        return PlainJson(fields, returned, moments)

    monkeypatch.setattr(topics, "PYTHON_FROM", 0)
    monkeypatch.setattr(plain_columns, "PlainJson", plain_json)
    kinds = {name: kind for name, kind in JSON_COLUMNS.items() if name in "ndsb"}
    malformed = [record for record in ERRORS_IN_HIVE if not re.search(rb'"(l|st|mp|mi|m)":', record)]
    columns = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    name = tables.create(tables.topics.new([*AS_IN_HIVE, *malformed]), columns, hivedruid_malformed_rows="skip")
    shown = ", ".join(f"CAST({column} AS string)" for column in kinds)
    found = tables.values(f"SELECT {shown} FROM {name} ORDER BY `__offset`")
    expected = [tuple(values.get(column) for column in kinds) for values in AS_IN_HIVE.values()]
    assert found == expected
    assert tables.values(f"SELECT count(*), max(`__offset`) FROM {name}") == [(len(expected), len(expected) - 1)]
    assert sum(f"skipped {len(malformed)} malformed records" in note for note in tables.notes) == 2
    assert decoded == [tuple(range(len(kinds))), ()]


# --- whole values -------------------------------------------------------------------------------------------------


def test_binary_values(tables: KafkaTables) -> None:
    """Every value is itself: bytes that are not text, text that is valid base64 or has separators, nothing, a tombstone."""
    stored = [b"\x00\xff\x01", b"abcd", b"a\x01b\n", b""]
    topic = tables.topics.new(stored)
    name = tables.create(topic, "v binary", kafka_serde_class="binary")
    assert tables.values(f"SELECT v FROM {name} ORDER BY `__offset`") == [(value,) for value in stored]
    tables.run(f"INSERT INTO {name} (v, `__key`) SELECT v, CAST('k' AS binary) FROM {name} WHERE `__offset` = 0")
    tables.run(f"INSERT INTO {name} (v, `__key`) SELECT NULL, CAST('k' AS binary)")
    assert tables.topics.values(topic) == [*stored, stored[0], None]
    assert tables.values(f"SELECT v FROM {name} WHERE `__offset` > 3 ORDER BY `__offset`") == [(stored[0],), (None,)]


def test_text_values(tables: KafkaTables) -> None:
    topic = tables.topics.new(["é, x\n".encode(), b"", b"\xff"])
    name = tables.create(topic, "v string", kafka_serde_class="text", hivedruid_malformed_rows="skip")
    assert tables.values(f"SELECT v FROM {name} ORDER BY `__offset`") == [("é, x\n",), ("",)]
    assert any("offset 2: not valid UTF-8" in note for note in tables.notes)
    tables.run(f"INSERT INTO {name} (v) VALUES ('ü')")
    assert tables.topics.values(topic)[-1] == "ü".encode()
    other = tables.create(tables.topics.new(), "v string, n int", kafka_serde_class="text")
    with pytest.raises(UnsupportedError, match=r"text of .* requires a single column of type string"):
        tables.run(f"INSERT INTO {other} (v) VALUES ('x')")
