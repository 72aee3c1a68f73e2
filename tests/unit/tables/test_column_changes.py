"""Which types of columns may change, and the names of new columns in Iceberg. The statements are in the goldens."""

from __future__ import annotations

import pytest

from hivedruid.catalog.table import Column
from hivedruid.catalog.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TINYINT,
    HiveType,
    decimal,
)
from hivedruid.tables.column_changes import widens, with_stored_names

VARCHAR_3, VARCHAR_5, CHAR_3 = HiveType("varchar", (3,)), HiveType("varchar", (5,)), HiveType("char", (3,))
WIDER = {
    (TINYINT, INT), (TINYINT, BIGINT), (INT, BIGINT), (FLOAT, DOUBLE), (decimal(8, 2), decimal(10, 2)),
    (VARCHAR_3, VARCHAR_5), (VARCHAR_3, STRING), (VARCHAR_5, STRING),
}  # fmt: skip
TYPES = (
    TINYINT, INT, BIGINT, FLOAT, DOUBLE, decimal(8, 2), decimal(10, 2), decimal(10, 3), VARCHAR_3, VARCHAR_5, CHAR_3, STRING,
    BOOLEAN, DATE, TIMESTAMP,
)  # fmt: skip


@pytest.mark.parametrize("before", TYPES, ids=str)
def test_types_that_have_all_values_of_another(before: HiveType) -> None:
    assert {after for after in TYPES if after != before and widens(before, after)} == {
        b for a, b in WIDER if a == before
    }


def test_a_new_column_gets_a_name_in_iceberg_that_no_other_has() -> None:
    columns = Column("a", INT), Column("c", INT, field="b"), Column("d", INT, field="e_2")
    added = Column("b", INT), Column("e", INT), Column("b_2", INT), Column("e_2", INT)
    assert [c.field_name for c in with_stored_names(columns, added)] == ["b_2", "e", "b_2_2", "e_2_2"]
    assert [c.field for c in with_stored_names(columns, [Column("f", INT)])] == [None]
