"""SQLAlchemy's suite, without what assumes indexes, generated keys, or names that Hive's tables cannot have."""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import suite

LEFT_OUT = {
    "BizarroCharacterTest": "names of tables have letters, digits and underscores",
    "QuotedNameArgumentTest": "names of tables have letters, digits and underscores",
    "DistinctOnTest": "compares with SQL whose names are not quoted",
    "PostCompileParamsTest": "compares with SQL whose names are not quoted",
    "LongNameBlowoutTest": "names of indexes and constraints",
}
"""Classes that have no requirement of their own, and why they do not apply."""

globals().update({name: case for name, case in vars(suite).items() if isinstance(case, type) and name not in LEFT_OUT})


class ComponentReflectionTest(suite.ComponentReflectionTest):  # type: ignore[misc]
    @classmethod
    def define_reflected_tables(cls, metadata: Any, schema: str | None) -> None:
        super().define_reflected_tables(metadata, schema)
        for table in metadata.tables.values():
            table.indexes.clear()


class CTETest(suite.CTETest):  # type: ignore[misc]
    test_select_recursive_round_trip = None  # Hive has no recursive queries


class InsertBehaviorTest(suite.InsertBehaviorTest):  # type: ignore[misc]
    test_insert_from_select_autoinc = None  # Hive does not generate keys
    test_no_results_for_non_returning_insert = None
