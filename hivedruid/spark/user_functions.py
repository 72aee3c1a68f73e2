"""Functions of users in Spark's sessions.

A Python function travels by value: its code and that of its module are pickled, so that Spark's Python workers do not
import the module. Other modules that it imports must be installed where the workers run.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hivedruid.catalog import types as t
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.types import HiveType, spark_type
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.spark import failures, function_calls
from hivedruid.user_code import load

if TYPE_CHECKING:
    from pyspark.sql.connect.session import SparkSession
    from pyspark.sql.types import DataType

    from hivedruid.plan.java_calls import Signature, UnknownSignature


_UNHANDLED = re.compile(r"^No handler for UDF/UDAF/UDTF '[^']*': (?:[\w.$]+: )?|; line \d+ pos \d+$")
"""What Spark adds to the message of a class."""
_NO_CLASS = re.compile(r"(?:[\w$]+/)+[\w$]+")
"""The whole message of Java's NoClassDefFoundError."""


def register(spark: SparkSession, functions: Iterable[UserFunction]) -> None:
    """Create temporary functions of Spark that run these. They last as long as the session."""
    for function in functions:
        if function.language == "java":
            _register_java(spark, function)
        else:
            _register_python(spark, function)


def _register_python(spark: SparkSession, function: UserFunction) -> None:
    from pyspark import cloudpickle
    from pyspark.sql.connect.types import UnparsedDataType
    from pyspark.util import PythonEvalType

    file = function.resources[0] if function.resources else ""
    _, code = load(function.code, file)
    by_value = [function_calls]
    if not file:
        by_value.append(sys.modules[function.code.partition(".")[0]])
    for each in by_value:
        cloudpickle.register_pickle_by_value(each)
    try:
        checked = function_calls.Checked(function.name, code, function_calls.layout(function.returns))
        spark.client.register_udf(
            checked, UnparsedDataType(spark_type(function.returns)), function.spark_name,
            PythonEvalType.SQL_BATCHED_UDF, function.is_deterministic,
        )  # fmt: skip
    finally:
        for each in by_value:
            cloudpickle.unregister_pickle_by_value(each)


def _register_java(spark: SparkSession, function: UserFunction) -> None:
    from hivedruid.plan.spark_text import quote_string

    jars = ", ".join(f"JAR {quote_string(jar)}" for jar in function.resources)
    using = f" USING {jars}" if jars else ""
    name = function.spark_name
    spark.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {name} AS {quote_string(function.code)}{using}").collect()


def signature(spark: SparkSession, asked: UnknownSignature) -> Signature:
    """The names and types of the columns that a call of a function in Java returns. Spark analyzes the question, and
    runs nothing. Raises SemanticError for a call that the class refuses, UnsupportedError if another class is missing.
    """
    from pyspark.errors import AnalysisException, PySparkException

    try:
        fields = spark.sql(asked.question).schema.fields
    except AnalysisException as error:
        given = ", ".join(map(str, asked.types))
        reason = _UNHANDLED.sub("", failures.first_line(failures.full_text(error)))
        raise SemanticError(
            f"{asked.function.name}({given}) is not a valid call: {reason}",
            span=asked.span,
            hint=f"check the arguments: {asked.function.described}",
        ) from error
    except PySparkException as error:
        missing = failures.first_line(failures.full_text(error))
        if not _NO_CLASS.fullmatch(missing):
            raise
        raise UnsupportedError(
            f"Spark cannot run the Java function {asked.function.name}(): it needs the class"
            f" {missing.replace('/', '.')}, which is not in the jars",
            span=asked.span,
            hint="name the jar with that class in ADD JAR, and create the function again; Spark has the classes of"
            " Hive 2.3",
        ) from error
    return tuple((field.name.lower(), _hive_type(field.dataType)) for field in fields)


def _hive_type(given: DataType) -> HiveType:
    """Hive's classes have one type of timestamps, which Spark's TIMESTAMP is for them."""
    from pyspark.sql import types as spark

    match given:
        case spark.ArrayType():
            return t.array_of(_hive_type(given.elementType))
        case spark.MapType():
            return HiveType("map", children=(_hive_type(given.keyType), _hive_type(given.valueType)))
        case spark.StructType():
            children = tuple(_hive_type(field.dataType) for field in given.fields)
            return HiveType("struct", children=children, fields=tuple(field.name.lower() for field in given.fields))
        case spark.DecimalType():
            return t.decimal(given.precision, given.scale)
    name = given.simpleString()
    return HiveType(name) if name in t.TYPES else t.UNKNOWN
