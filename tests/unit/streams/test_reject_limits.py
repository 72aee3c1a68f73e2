"""The limits of malformed records of a batch."""

from __future__ import annotations

import pytest

from hivedruid.catalog.streams import Stream
from hivedruid.errors import RejectLimitError
from hivedruid.streams.admission import check_rejects
from hivedruid.streams.properties import PROPERTIES, reject_limit


@pytest.mark.parametrize(
    ("properties", "records", "most"),
    [
        ({}, 1000, None),
        ({"max.rejects": "0"}, 1000, 0),
        ({"max.rejects": "7"}, 1000, 7),
        ({"max.rejects.share": "0.05"}, 1000, 50),
        ({"max.rejects.share": "0.05"}, 3, 5),
        ({"max.rejects.share": "0"}, 1000, 0),
        ({"max.rejects.share": "0.29"}, 100, 29),
        ({"max.rejects.share": "1"}, 1000, 1000),
        ({"max.rejects": "7", "max.rejects.share": "0.05"}, 1000, 7),
        ({"max.rejects": "70", "max.rejects.share": "0.05"}, 1000, 50),
    ],
)
def test_the_lower_limit_counts(properties: dict[str, str], records: int, most: int | None) -> None:
    limit = reject_limit(properties, records)
    assert (limit.most if limit is not None else None) == most


def test_a_batch_above_its_limit() -> None:
    stream = Stream("abc", "default", "s", "default.r", "default.t", "", "default", {"max.rejects": "2"})
    check_rejects(stream, 10, 2, "partition 0, offset 3: not a JSON object")
    with pytest.raises(RejectLimitError, match="3 of 10 records of the batch are malformed, more than") as error:
        check_rejects(stream, 10, 3, "partition 0, offset 3: not a JSON object")
    assert error.value.message.endswith(
        "'max.rejects' = '2' allows: the first is in partition 0, offset 3: not a JSON object"
    )
    assert error.value.hint is not None
    assert error.value.hint.startswith("ALTER STREAM default.s SET PROPERTIES ('max.rejects' = ")


@pytest.mark.parametrize(
    ("key", "valid", "invalid"),
    [
        ("rejects", ["bad", "db.bad"], ["", "a b", "a.b.c", "a-b"]),
        ("max.rejects", ["0", "12"], ["-1", "1.5", "", "²"]),
        ("max.rejects.share", ["0", "1", "0.05", "1.0"], ["5", "1.01", "5%", ".5", "-0.1", ""]),
    ],
)
def test_values(key: str, valid: list[str], invalid: list[str]) -> None:
    assert [text for text in (*valid, *invalid) if PROPERTIES[key].is_valid(text)] == valid


@pytest.mark.parametrize(
    ("database", "given", "name"), [("db", "bad", "db.bad"), ("db", "Other.Bad", "other.bad"), ("db", "", "")]
)
def test_the_rejects_table_is_in_the_database_of_the_stream(database: str, given: str, name: str) -> None:
    assert Stream("abc", database, "s", "r", "t", "", "default", {"rejects": given}).rejects == name
