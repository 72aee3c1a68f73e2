"""What a Java class of CREATE FUNCTION is, by the class files of its jars and of Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from struct import unpack
from zipfile import BadZipFile, ZipFile

from hivedruid.catalog.functions import Kind, UserFunction
from hivedruid.catalog.types import UNKNOWN
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.local.artifacts import pyspark_folder
from hivedruid.settings import JARS
from hivedruid.spark.server import CATALOG_IMPLEMENTATION

_KINDS: Mapping[str, Kind] = {
    "org/apache/hadoop/hive/ql/exec/UDF": "function",
    "org/apache/hadoop/hive/ql/udf/generic/GenericUDF": "function",
    "org/apache/hadoop/hive/ql/exec/UDAF": "aggregate",
    "org/apache/hadoop/hive/ql/udf/generic/AbstractGenericUDAFResolver": "aggregate",
    "org/apache/hadoop/hive/ql/udf/generic/GenericUDTF": "generator",
}
"""The classes that Spark accepts, which a function extends."""
_REFUSED = {
    "org/apache/hadoop/hive/ql/udf/generic/GenericUDAFResolver": "it must extend AbstractGenericUDAFResolver",
    "org/apache/hadoop/hive/ql/udf/ptf/TableFunctionResolver": "Spark has no PTF; only windows and UDTF are supported",
}


def java_function(
    database: str, name: str, code: str, jars: tuple[str, ...], settings: Mapping[str, str]
) -> UserFunction:
    """A function of Hive, of the jars of USING, else of those of ADD JAR. Raises UnsupportedError for a class that
    Spark cannot run, or not as it is started."""
    added = tuple(settings.get(JARS, "").splitlines())
    for jar in jars:
        if not Path(jar).is_file():
            raise SemanticError(f"no file {jar}", hint="USING JAR takes the path of a jar on this machine")
    _check_support(name, code, settings)
    present = tuple(jar for jar in (*jars, *added) if Path(jar).is_file())
    own = sorted((pyspark_folder() / "jars").glob("hive-exec-*.jar"))
    class_name = code.replace(".", "/")
    kind = _kind(class_name, [*map(Path, present), *own])
    if kind is None:
        missing = [jar for jar in added if jar not in present]
        hint = "check the name of the class, which includes its package"
        hint = hint if jars or present else f"use ADD JAR, or add USING JAR 'path' to CREATE FUNCTION {name}"
        hint = "ADD JAR takes the path of a jar on this machine" if missing else hint
        unread = f", and {', '.join(missing)} cannot be read" if missing else ""
        raise SemanticError(f"no Java class {code} in the jars{unread}", hint=hint)
    if not jars and _class_file(class_name, own) is not None:
        present = ()
    return UserFunction(database, name, code, "java", UNKNOWN, resources=present, kind=kind)


def _check_support(name: str, code: str, settings: Mapping[str, str]) -> None:
    """hivedruid's own servers get Hive support when a statement calls such a function."""
    given = settings.get(CATALOG_IMPLEMENTATION, "")
    if given not in ("", "hive"):
        raise UnsupportedError(
            f"the Java function {code} requires Spark with Hive support, but {CATALOG_IMPLEMENTATION} is {given}",
            hint=f"RESET {CATALOG_IMPLEMENTATION}, or write it in Python: CREATE FUNCTION {name} AS 'module.function'",
        )
    if settings.get("spark.remote") and given != "hive":
        raise UnsupportedError(
            f"the Java function {code} requires a Spark Connect server with Hive support",
            hint=f"SET {CATALOG_IMPLEMENTATION}=hive if the server of spark.remote has it",
        )


def _kind(name: str, jars: Iterable[Path]) -> Kind | None:
    """What a class is, None if there is none of that name. Raises UnsupportedError for what Spark cannot run."""
    jars, seen, waiting = tuple(jars), set[str](), [name]
    reason = "it is not a UDF, UDAF or UDTF of Hive"
    while waiting:
        current = waiting.pop()
        if current in _KINDS:
            return _KINDS[current]
        reason = _REFUSED.get(current, reason)
        data = _class_file(current, jars) if current not in seen else None
        seen.add(current)
        if data is not None:
            waiting += _parents(data)
        elif current == name:
            return None
    raise UnsupportedError(
        f"Spark cannot run the Java class {name.replace('/', '.')}: {reason}",
        hint="use the built-in functions: run SHOW FUNCTIONS",
    )


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
