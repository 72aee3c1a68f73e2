"""What a Java class of CREATE FUNCTION is, by the class files of its jars and of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from struct import unpack
from zipfile import BadZipFile, ZipFile

from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.types import UNKNOWN
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.local.artifacts import pyspark_folder

SETTING = "spark.sql.catalogImplementation"
_UDF = {"org/apache/hadoop/hive/ql/exec/UDF", "org/apache/hadoop/hive/ql/udf/generic/GenericUDF"}
_OTHERS = {
    "org/apache/hadoop/hive/ql/exec/UDAF": "an aggregate function",
    "org/apache/hadoop/hive/ql/udf/generic/GenericUDAFResolver": "an aggregate function",
    "org/apache/hadoop/hive/ql/udf/generic/GenericUDTF": "a table-generating function",
}
"""The classes and interfaces of Hive's other kinds of functions."""


def java_function(database: str, name: str, code: str, jars: tuple[str, ...], catalog: str) -> UserFunction:
    """A Hive UDF. `catalog` is the value of SETTING. Raises UnsupportedError for a class that Spark cannot run as a
    function of one row, or not as it is started."""
    if catalog != "hive":
        raise UnsupportedError(
            f"the Java function {code} requires Spark with Hive support",
            hint=f"SET {SETTING}=hive before the first Spark job, or write it in Python: CREATE FUNCTION {name} AS"
            " 'module.function'",
        )
    for jar in jars:
        if not Path(jar).is_file():
            raise SemanticError(f"no file {jar}", hint="USING JAR takes the path of a jar on this machine")
    own = sorted((pyspark_folder() / "jars").glob("hive-exec-*.jar"))
    kind = _kind(code.replace(".", "/"), [*map(Path, jars), *own])
    if kind is None:
        hint = "check the name of the class, which includes its package" if jars else "add USING JAR 'path of its jar'"
        raise SemanticError(f"no Java class {code} in the jars", hint=hint)
    if kind:
        raise UnsupportedError(
            f"the Java class {code} is {kind}; only UDF and GenericUDF classes are supported",
            hint="use the built-in functions: run SHOW FUNCTIONS",
        )
    return UserFunction(database, name, code, "java", UNKNOWN, resources=jars)


def _kind(name: str, jars: Iterable[Path]) -> str | None:
    """ "" for a function of one row, what else it is, or None if there is no such class."""
    jars, seen, waiting = tuple(jars), set[str](), [name]
    while waiting:
        current = waiting.pop()
        if current in _UDF:
            return ""
        if current in _OTHERS:
            return _OTHERS[current]
        data = _class_file(current, jars) if current not in seen else None
        seen.add(current)
        if data is not None:
            waiting += _parents(data)
        elif current == name:
            return None
    return "not a function of Hive"


def _class_file(name: str, jars: Iterable[Path]) -> bytes | None:
    for jar in jars:
        try:
            with ZipFile(jar) as file:
                return file.read(f"{name}.class")
        except KeyError:
            continue
        except (OSError, BadZipFile) as error:
            raise SemanticError(f"cannot read the jar {jar}: {error}") from error
    return None


_SIZES = {3: 4, 4: 4, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}
"""The bytes of constants by their tag (JVM specification 4.4), except those with a special rule."""


def _parents(data: bytes) -> Iterator[str]:
    """The superclass and the interfaces in a class file."""
    texts: dict[int, str] = {}
    classes: dict[int, int] = {}
    (count,) = unpack(">H", data[8:10])
    index, position = 1, 10
    while index < count:
        tag, at = data[position], position + 1
        if tag == 1:
            (length,) = unpack(">H", data[at : at + 2])
            texts[index] = data[at + 2 : at + 2 + length].decode("utf-8", "replace")
            position = at + 2 + length
        elif tag == 7:
            (classes[index],) = unpack(">H", data[at : at + 2])
            position = at + 2
        else:
            position = at + (8 if tag in (5, 6) else 2 if tag == 8 else _SIZES[tag])
            index += tag in (5, 6)  # a long or double takes two places
        index += 1
    above, number = unpack(">HH", data[position + 4 : position + 8])
    ids = [above, *unpack(f">{number}H", data[position + 8 : position + 8 + 2 * number])]
    return (texts[classes[each]] for each in ids if each)
