"""Functions that users create: values, and their records in the catalog."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from hivedruid.catalog.store import type_json, type_of_json
from hivedruid.catalog.types import HiveType
from hivedruid.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hivedruid.catalog.connection import Connection
    from hivedruid.catalog.store import Catalog

TEMPORARY = ""
"""The database of temporary functions."""
DETERMINISTIC_PREFIX, VARYING_PREFIX = "udf_", "varying_udf_"
Kind = Literal["function", "aggregate", "generator"]
JAVA_PREFIXES: Mapping[Kind, str] = {"function": "java_udf_", "aggregate": "java_udaf_", "generator": "java_udtf_"}
OF_JAVA = tuple(JAVA_PREFIXES.values())
SPARK_PREFIXES = (DETERMINISTIC_PREFIX, VARYING_PREFIX, *OF_JAVA)
"""The names of these functions in Spark, and as operators of expressions, begin with one of them; no built-in
function's does. Those with the second one are not deterministic."""


@dataclass(frozen=True)
class UserFunction:
    """A function that CREATE FUNCTION added.

    `code` is `module.function` of Python, or the class of a Hive function in Java, whose `kind` it is; `resources` are
    the files of USING: one Python file, or jars. `parameters` and `returns` are the types of a Python function; those
    of a Java class depend on the call, and Spark returns them. `least` is the number of arguments without defaults;
    with `is_variadic` the last parameter stands for any number of arguments. `stamp` is the hash of the Python file
    when the function was created.
    """

    database: str
    name: str
    code: str
    language: Literal["python", "java"]
    returns: HiveType
    parameters: tuple[HiveType, ...] = ()
    least: int = 0
    is_variadic: bool = False
    is_deterministic: bool = True
    resources: tuple[str, ...] = ()
    help: str = ""
    stamp: str = ""
    kind: Kind = "function"

    @property
    def full_name(self) -> str:
        return f"{self.database}.{self.name}" if self.database else self.name

    @property
    def spark_name(self) -> str:
        """Its name in Spark, which differs for another definition. A Python file counts by its content."""
        counted = replace(self, database="", resources=self.resources if self.language == "java" else ())
        import hashlib

        digest = hashlib.sha256(_definition(counted).encode()).hexdigest()[:8]
        prefix = DETERMINISTIC_PREFIX if self.is_deterministic else VARYING_PREFIX
        prefix = JAVA_PREFIXES[self.kind] if self.language == "java" else prefix
        return f"{prefix}{re.sub(r'[^a-z0-9_]', '_', self.name)}_{digest}"

    @property
    def signature(self) -> str:
        """The call with the types of its arguments: `clean(string[, bigint])`."""
        if self.language == "java":
            return f"{self.name}(…)"
        names = [str(each) for each in self.parameters]
        if self.is_variadic:
            names[-1] += ", …"
        least = min(self.least, len(names))
        shown = ", ".join(names[:least])
        for each in names[least:]:
            shown += f"[, {each}" if shown else f"[{each}"
        return f"{self.name}({shown}{']' * (len(names) - least)})"

    @property
    def described(self) -> str:
        """`signature returns type: Python module.function`."""
        if self.language == "java":
            return f"{self.signature}: Java {'class' if self.kind == 'function' else self.kind} {self.code}"
        return f"{self.signature} returns {self.returns}: Python {self.code}"


def shown_name(op: str) -> str:
    """The name of an operator in messages: that of a user's function as the user wrote it."""
    for prefix in SPARK_PREFIXES:
        if op.startswith(prefix):
            return op.removeprefix(prefix).rpartition("_")[0]
    return op


Functions = Mapping[tuple[str, str], UserFunction]
"""By (database, name); the database of temporary functions is ""."""


def named(functions: Functions, database: str | None, current: str, name: str) -> UserFunction | None:
    """The function of that name: with a database that one's, else a temporary one or one of the current database."""
    if database is not None:
        return functions.get((database.lower(), name))
    return functions.get((TEMPORARY, name)) or functions.get((current, name))


def all_functions(catalog: Catalog) -> dict[tuple[str, str], UserFunction]:
    rows = catalog.connection.execute("SELECT database, name, definition FROM functions").fetchall()
    return {(database, name): _from_json(database, name, text) for database, name, text in rows}


def add_function(catalog: Catalog, function: UserFunction) -> None:
    with catalog.transaction() as connection:
        _delete(connection, function.database, function.name)
        connection.execute(
            "INSERT INTO functions (database, name, definition) VALUES (?, ?, ?)",
            (function.database, function.name, _definition(function)),
        )


def remove_function(catalog: Catalog, database: str, name: str) -> None:
    with catalog.transaction() as connection:
        _delete(connection, database, name)


def _delete(connection: Connection, database: str, name: str) -> None:
    connection.execute("DELETE FROM functions WHERE database = ? AND name = ?", (database, name))


def _definition(function: UserFunction) -> str:
    value: dict[str, Any] = {
        "code": function.code, "language": function.language, "returns": type_json(function.returns),
        "parameters": [type_json(each) for each in function.parameters], "least": function.least,
        "is_variadic": function.is_variadic, "is_deterministic": function.is_deterministic,
        "resources": list(function.resources), "help": function.help, "stamp": function.stamp,
    }  # fmt: skip
    if function.kind != "function":
        value["kind"] = function.kind
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _from_json(database: str, name: str, text: str) -> UserFunction:
    value = json.loads(text)
    value["returns"] = type_of_json(value["returns"])
    value["parameters"] = tuple(map(type_of_json, value["parameters"]))
    value["resources"] = tuple(value["resources"])
    return UserFunction(database, name, **value)
