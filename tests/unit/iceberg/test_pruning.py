"""Buckets and bounds, by examples. That the rules are Iceberg's is tested against its scans (unit/spark/test_partitions)."""

from __future__ import annotations

import pytest

from hivedruid.catalog.layout import PartitionField
from hivedruid.catalog.types import BIGINT, BOOLEAN, STRING
from hivedruid.iceberg.bucket_hash import _murmur3, bucket_of
from hivedruid.iceberg.files import TableFile, TableFiles
from hivedruid.iceberg.pruning import matching
from hivedruid.plan.rex import Call, Literal, Ref, Rex

ID, TEXT = Ref(BIGINT, "c0"), Ref(STRING, "c1")
NAMES = {"c0": "id", "c1": "s"}


def long(value: int) -> bytes:
    return value.to_bytes(8, "little", signed=True)


FILES = TableFiles(
    (
        TableFile("a", 2, 9, 1, (("s", "x"),), {1: long(-5), 2: b"x"}, {1: long(5), 2: b"x"}, {1: 2, 2: 2}, {1: 0, 2: 0}),
        TableFile("b", 2, 9, 1, (("s", None),), {1: long(6)}, {1: long(7)}, {1: 2, 2: 2}, {1: 0, 2: 2}),
        TableFile("c", 2, 9, 0),
    ),
    columns={"id": 1, "s": 2},
    specs={1: {"s": PartitionField("s")}},
)  # fmt: skip


def call(op: str, *args: Rex) -> Call:
    return Call(BOOLEAN, op, args)


def number(value: float) -> Literal:
    return Literal(BIGINT, value)


@pytest.mark.parametrize(("value", "hashed"), [
    (long(34), 2017239379), (b"iceberg", 1210000089), (long(17486), -653330422 & 0xFFFFFFFF),
    (long(1510871468000000), -2047944441 & 0xFFFFFFFF), (b"\x00\x01\x02\x03", -188683207 & 0xFFFFFFFF),
])  # fmt: skip
def test_hashes_of_the_specification(value: bytes, hashed: int) -> None:
    assert _murmur3(value) == hashed


def test_buckets() -> None:
    assert bucket_of(34, 100) == 79
    assert bucket_of(b"iceberg", 16) == (1210000089 % 16)
    assert bucket_of(1 << 63, 16) is None


@pytest.mark.parametrize(("condition", "left"), [
    (call("=", ID, number(5)), "ac"),
    (call("<", number(5), ID), "bc"),
    (call(">=", ID, Literal(BIGINT, 5.0)), "abc"),
    (call("in", ID, number(-6), number(7)), "bc"),
    (call("=", ID, number(1 << 70)), "c"),
    (call("is_null", TEXT), "bc"),
    (call("is_not_null", TEXT), "ac"),
    (call("is_null", ID), "c"),
    (call("=", TEXT, Literal(STRING, "y")), "c"),
    (call("like", TEXT, Literal(STRING, "x%")), "ac"),
    (call("and", call("=", ID, number(6)), call("=", TEXT, Literal(STRING, "x"))), "c"),
    (call("or", call("=", ID, number(6)), call("=", TEXT, Literal(STRING, "x"))), "abc"),
    (call("or", call("=", ID, number(6)), call("=", call("length", TEXT), number(1))), "abc"),
])  # fmt: skip
def test_files_that_can_have_rows(condition: Rex, left: str) -> None:
    found = matching(FILES, condition, NAMES)
    assert found is not None
    assert "".join(file.path for file in found) == left


def test_nothing_is_decided_by_files() -> None:
    assert matching(FILES, call("=", call("length", TEXT), number(1)), NAMES) is None
    assert matching(FILES, call("=", ID, Literal(BIGINT, 5.5)), NAMES) is None
