"""JSON values as Druid stores them in a column of a given type."""

from __future__ import annotations


def from_json(column: str, type_: str, handling: str | None = None) -> str:
    """SQL for a JSON column in a Druid type. Strings come as lists: a JSON array is a multi-value.

    `handling` is Druid's multiValueHandling: sorted, unless it says otherwise. Numbers drop their fraction in a LONG
    column, booleans become 1 and 0; other values are null.
    """
    if type_ == "STRING":
        return (
            f"(CASE json_type({column}) WHEN 'ARRAY' THEN {_HANDLINGS.get(handling or '', _SORTED).format(column)}"
            f" ELSE CASE WHEN {column} IS NULL OR json_type({column}) = 'NULL' THEN NULL"
            f" ELSE [druid_json_text({column})] END END)"
        )
    if type_ == "LONG":
        return f"druid_json_long({column})"
    return (
        f"druid_json_double({column})" if type_ == "DOUBLE" else f"druid_double_to_float(druid_json_double({column}))"
    )


_SORTED = "druid_sorted(druid_json_texts({}))"
_HANDLINGS = {"ARRAY": "druid_json_texts({})", "SORTED_SET": "druid_sorted_set(druid_sorted(druid_json_texts({})))"}


def is_unreadable(column: str, type_: str) -> str:
    """SQL condition: the JSON value is present, but not a number of the type."""
    return f"({column} IS NOT NULL AND json_type({column}) <> 'NULL' AND {from_json(column, type_)} IS NULL)"


JSON_MACROS: dict[str, str] = {
    "druid_json_text(j)": """
        CASE json_type(j) WHEN 'VARCHAR' THEN j ->> '$' WHEN 'DOUBLE' THEN
            druid_double_to_string(TRY_CAST(CAST(j AS VARCHAR) AS DOUBLE))
        WHEN 'NULL' THEN NULL ELSE CAST(j AS VARCHAR) END""",
    "druid_json_texts(j)": "list_transform(CAST(j AS JSON[]), lambda e: druid_json_text(e))",
    "druid_sorted(l)": "list_sort(l, 'ASC', 'NULLS FIRST')",
    "druid_sorted_set(l)": "list_filter(l, lambda e, i: i = 1 OR e IS DISTINCT FROM l[i - 1])",
    "druid_json_long(j)": r"""
        CASE json_type(j) WHEN 'BIGINT' THEN TRY_CAST(CAST(j AS VARCHAR) AS BIGINT)
            WHEN 'UBIGINT' THEN druid_string_to_long(CAST(j AS VARCHAR))
            WHEN 'DOUBLE' THEN druid_double_to_long(TRY_CAST(CAST(j AS VARCHAR) AS DOUBLE))
            WHEN 'BOOLEAN' THEN CASE WHEN CAST(j AS VARCHAR) = 'true' THEN 1 ELSE 0 END
            WHEN 'VARCHAR' THEN druid_exact_long(j ->> '$') END""",
    "druid_json_double(j)": """
        CASE json_type(j) WHEN 'VARCHAR' THEN druid_string_to_double(j ->> '$')
            WHEN 'BOOLEAN' THEN NULL ELSE TRY_CAST(CAST(j AS VARCHAR) AS DOUBLE) END""",
}
