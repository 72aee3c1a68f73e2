"""Hive's types, and their names in Spark, Druid and DuckDB, in one table."""

from __future__ import annotations

from functools import cache

from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True, eq=False)
class HiveType:
    """A Hive type: `name` as Hive prints it, `params` (length, or precision and scale), and what it nests.

    `children` are the element of an array, key and value of a map, the members of a struct (named by `fields`).
    """

    name: str
    params: tuple[int, ...] = ()
    children: tuple[HiveType, ...] = ()
    fields: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        """As of any dataclass, but most types are the same object or have another name, and planning compares many."""
        return self is other or (
            isinstance(other, HiveType)
            and self.name == other.name
            and self.params == other.params
            and self.children == other.children
            and self.fields == other.fields
        )

    def __hash__(self) -> int:
        return hash((self.name, self.params))

    def __str__(self) -> str:
        if self.params:
            return f"{self.name}({','.join(map(str, self.params))})"
        if self.name == "struct":
            return "struct<" + ",".join(f"{f}:{t}" for f, t in zip(self.fields, self.children, strict=True)) + ">"
        if self.children:
            return f"{self.name}<{','.join(map(str, self.children))}>"
        return self.name

    @property
    def is_known(self) -> bool:
        """Whether the type and all of its components are known while planning."""
        return self.name != "unknown" and all(child.is_known for child in self.children)

    @property
    def is_integer(self) -> bool:
        return self.name in INTEGERS

    @property
    def is_approximate(self) -> bool:
        return self.name in ("float", "double")

    @property
    def is_numeric(self) -> bool:
        return self.name in INTEGERS or self.name in ("float", "double", "decimal")

    @property
    def is_string(self) -> bool:
        return self.name in ("string", "varchar", "char")

    @property
    def is_timestamp(self) -> bool:
        return self.name in ("timestamp", "timestamp with local time zone")

    @property
    def is_time(self) -> bool:
        return self.name == "date" or self.is_timestamp


VOID = HiveType("void")
BOOLEAN = HiveType("boolean")
TINYINT = HiveType("tinyint")
SMALLINT = HiveType("smallint")
INT = HiveType("int")
BIGINT = HiveType("bigint")
FLOAT = HiveType("float")
DOUBLE = HiveType("double")
STRING = HiveType("string")
BINARY = HiveType("binary")
DATE = HiveType("date")
TIMESTAMP = HiveType("timestamp")
TIMESTAMP_LTZ = HiveType("timestamp with local time zone")
INTERVAL_YEAR_MONTH = HiveType("interval_year_month")
INTERVAL_DAY_TIME = HiveType("interval_day_time")
UNKNOWN = HiveType("unknown")
"""The type of a value is not known to hivedruid; the expression is evaluated by Spark."""

INTEGERS = ("tinyint", "smallint", "int", "bigint")


@dataclass(frozen=True)
class TypeNames:
    """One Hive type in the other systems; `druid` is None if Druid has no exact column type for it.

    Druid's column for a boolean is LONG 0/1: what index_parallel stores for JSON true and false (as STRING, Hive's own
    choice, a scan reads every value as false).
    """

    spark: str
    druid: str | None


TYPES: dict[str, TypeNames] = {
    "void": TypeNames("VOID", None),
    "boolean": TypeNames("BOOLEAN", "LONG"),
    "tinyint": TypeNames("TINYINT", "LONG"),
    "smallint": TypeNames("SMALLINT", "LONG"),
    "int": TypeNames("INT", "LONG"),
    "bigint": TypeNames("BIGINT", "LONG"),
    "float": TypeNames("FLOAT", "FLOAT"),
    "double": TypeNames("DOUBLE", "DOUBLE"),
    "decimal": TypeNames("DECIMAL", None),
    "string": TypeNames("STRING", "STRING"),
    "varchar": TypeNames("VARCHAR", "STRING"),
    "char": TypeNames("CHAR", "STRING"),
    "binary": TypeNames("BINARY", None),
    "date": TypeNames("DATE", None),
    "timestamp": TypeNames("TIMESTAMP_NTZ", None),
    "timestamp with local time zone": TypeNames("TIMESTAMP", None),
    "interval_year_month": TypeNames("INTERVAL YEAR TO MONTH", None),
    "interval_day_time": TypeNames("INTERVAL DAY TO SECOND", None),
    "array": TypeNames("ARRAY", None),
    "map": TypeNames("MAP", None),
    "struct": TypeNames("STRUCT", None),
}


def spark_type(hive: HiveType) -> str:
    """The type's name in Spark SQL: `timestamp` is TIMESTAMP_NTZ, `… with local time zone` is TIMESTAMP."""
    name = TYPES[hive.name].spark
    if hive.name in ("varchar", "char"):
        return "STRING"
    if hive.params:
        return f"{name}({','.join(map(str, hive.params))})"
    if hive.name == "struct":
        return (
            "STRUCT<"
            + ", ".join(f"`{f}`: {spark_type(t)}" for f, t in zip(hive.fields, hive.children, strict=True))
            + ">"
        )
    if hive.children:
        return f"{name}<{', '.join(map(spark_type, hive.children))}>"
    return name


@cache
def array_of(element: HiveType) -> HiveType:
    return HiveType("array", children=(element,))


def decimal(precision: int = 10, scale: int = 0) -> HiveType:
    return HiveType("decimal", (precision, scale))


ALIKE_IN_PARQUET = frozenset({
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "date",
    "string", "varchar", "char",
})  # fmt: skip
"""The types whose values Spark and Arrow read alike in Parquet files."""
