"""What SQLAlchemy's suite may expect of the dialect: the names are those of sqlalchemy.testing.requirements."""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

SUPPORTED = (
    "boolean_col_expressions", "comment_reflection", "comment_reflection_full_unicode", "ctes", "date_historic",
    "datetime_historic", "datetime_literals", "datetime_timezone", "except_", "has_temp_table", "infinity_floats",
    "intersect", "mod_operator_as_percent_sign", "nullsordering", "order_by_label_with_expression",
    "precision_numerics_enotation_small", "precision_numerics_many_significant_digits",
    "precision_numerics_retains_significant_digits", "regexp_match", "regexp_replace", "schema_create_delete",
    "supports_bitwise_and", "supports_bitwise_not", "supports_bitwise_or", "supports_bitwise_shift",
    "supports_bitwise_xor", "table_ddl_if_exists", "timestamp_microseconds", "tuple_in", "views",
    "window_functions",
)  # fmt: skip
"""Supported, although the suite does not expect it of every dialect."""

_KEYS = "Hive does not enforce keys, and they are not reflected"
_INDEXES = "Hive has no indexes"
_GENERATED = "Hive does not generate keys"
_TIME = "Hive has no type for the time of a day"
_CONSTANT = "Hive's LIMIT and OFFSET are constants"

UNSUPPORTED = {
    "foreign_keys": _KEYS,
    "self_referential_foreign_keys": _KEYS,
    "on_update_cascade": _KEYS,
    "recursive_fk_cascade": _KEYS,
    "primary_key_constraint_reflection": _KEYS,
    "foreign_key_constraint_reflection": _KEYS,
    "duplicate_key_raises_integrity_error": _KEYS,
    "unique_constraint_reflection": _KEYS,
    "named_constraints": _KEYS,
    "implicitly_named_constraints": _KEYS,
    "index_reflection": _INDEXES,
    "temp_table_reflect_indexes": _INDEXES,
    "indexes_with_ascdesc": _INDEXES,
    "reflect_indexes_with_ascdesc": _INDEXES,
    "autoincrement_insert": _GENERATED,
    "autoincrement_without_sequence": _GENERATED,
    "implements_get_lastrowid": _GENERATED,
    "temp_table_reflection": "NOT NULL of temporary tables is not enforced, and not reflected",
    "time": _TIME,
    "time_microseconds": _TIME,
    "time_implicit_bound": _TIME,
    "sql_expression_limit_offset": _CONSTANT,
    "symbol_names_w_double_quote": "names of tables have letters, digits and underscores",
    "unicode_ddl": "names of tables have letters, digits and underscores",
    "datetime_interval": "columns cannot be intervals",
}


class Requirements(SuiteRequirements):  # type: ignore[misc]
    """The requirements of the suite with the two tables above."""


def _unsupported(reason: str) -> property:
    def skip(self: Requirements) -> Any:
        return exclusions.skip_if(exclusions.BooleanPredicate(True, reason))

    return property(skip)


for _name in SUPPORTED:
    setattr(Requirements, _name, property(lambda self: exclusions.open()))
for _name, _reason in UNSUPPORTED.items():
    setattr(Requirements, _name, _unsupported(_reason))
