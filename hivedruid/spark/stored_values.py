"""The values of columns in ORC and Parquet files as the types that a table declares for them, by the rules of Hive,
which `tests/hive/stored_types.jsonl` has. Pure: Spark's types and SQL in, SQL out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, Literal

from hivedruid.catalog.types import BIGINT, DOUBLE, HiveType, decimal, spark_type
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.spark_casts import decimal_text
from hivedruid.spark.cells import CellFormat, fit, identifier, literal, value

if TYPE_CHECKING:
    from pyspark.sql.types import DataType

Form = Literal["orc", "parquet", "avro"]
Path = tuple[str, ...]
"""A column, and the fields and elements in it (`ELEMENT`, `KEY`, `VALUE`)."""
ELEMENT, KEY, VALUE = "<element>", "<key>", "<value>"
HALF = "half"
"""The unit of a FLOAT16, which Spark reads as BINARY."""

_INTEGERS = ("byte", "short", "integer", "long")
_REALS = ("float", "double")
_TIMES = ("timestamp", "timestamp_ntz")
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The seconds of the years 1 to 9999."""
_TEXT = CellFormat(separators=("\x01",))


class Unreadable(Exception):  # noqa: N818 - not an error of its own: the caller names the table
    """A value of a type that cannot be read as the declared one."""

    def __init__(self, stored: str, hive: HiveType) -> None:
        super().__init__(stored, hive)
        self.stored, self.hive = stored, hive


def unannotated(_path: Path) -> str | None:
    """`Reading.unit_of` where there are only plain integers."""
    return None


@dataclass(frozen=True)
class Reading:
    """How the values of some files are read: their format, the unit of the values of Parquet that are annotated as
    timestamps or FLOAT16, and the SQL of a TIMESTAMP in UTC as that of its writer."""

    form: Form
    unit_of: Callable[[Path], str | None] = unannotated
    moment: Callable[[str], str] | None = None

    def column(self, expression: str, stored: DataType, hive: HiveType, name: str) -> str:
        """The column of files as its declared type. Raises Unreadable."""
        found = self._value(expression, stored, hive, (name,), count())
        if stored.simpleString() == spark_type(hive).lower():
            return found
        return f"CAST({found} AS {spark_type(hive)})"

    def _value(self, x: str, stored: Any, hive: HiveType, path: Path, names: Any) -> str:
        """The value; `x` itself if Spark's cast to the declared type is right."""
        kind = stored.typeName()
        if kind == hive.name == "struct":
            return self._struct(x, stored, hive, path, names)
        if kind == hive.name == "array":
            item = f"_x{next(names)}"
            inner = self._value(item, stored.elementType, hive.children[0], (*path, ELEMENT), names)
            inner = _typed(inner, item, stored.elementType, hive.children[0])
            return x if inner == item else f"transform({x}, {item} -> {inner})"
        if kind == hive.name == "map":
            return self._map(x, stored, hive, path, names)
        if hive.children or kind in ("struct", "array", "map"):
            raise Unreadable(stored.simpleString().upper(), hive)
        if kind == "timestamp" and self.moment is not None:
            x = self.moment(x)
        return _SCALARS[hive.name](x, stored, hive, self, path)

    def _struct(self, x: str, stored: Any, hive: HiveType, path: Path, names: Any) -> str:
        fields = {field.name.lower(): field for field in stored.fields}
        members, is_same = [], [field.lower() for field in hive.fields] == list(fields)
        for name, child in zip(hive.fields, hive.children, strict=True):
            field = fields.get(name.lower())
            if field is None:
                members.append(f"{literal(name)}, CAST(NULL AS {spark_type(child)})")
                continue
            member = f"{x}.{identifier(field.name)}"
            inner = self._value(member, field.dataType, child, (*path, name.lower()), names)
            inner = _typed(inner, member, field.dataType, child)
            is_same = is_same and inner == member
            members.append(f"{literal(name)}, {inner}")
        return x if is_same else f"IF({x} IS NULL, NULL, named_struct({', '.join(members)}))"

    def _map(self, x: str, stored: Any, hive: HiveType, path: Path, names: Any) -> str:
        key, item = f"_k{next(names)}", f"_x{next(names)}"
        keys = self._value(key, stored.keyType, hive.children[0], (*path, KEY), names)
        items = self._value(item, stored.valueType, hive.children[1], (*path, VALUE), names)
        keys = _typed(keys, key, stored.keyType, hive.children[0])
        items = _typed(items, item, stored.valueType, hive.children[1])
        changed = x if keys == key else f"transform_keys({x}, ({key}, {item}) -> {keys})"
        return changed if items == item else f"transform_values({changed}, ({key}, {item}) -> {items})"


def _typed(converted: str, plain: str, stored: DataType, hive: HiveType) -> str:
    """A nested value of the declared type, or unchanged if a cast of the whole is right."""
    if converted == plain or stored.simpleString() == spark_type(hive).lower():
        return converted
    return f"CAST({converted} AS {spark_type(hive)})"


def _boolean(x: str, stored: Any, hive: HiveType, reading: Reading, _path: Path) -> str:
    kind = stored.typeName()
    if kind in (*_INTEGERS, "boolean"):
        return x
    if kind == "decimal":
        return f"{x} <> 0"
    if kind in (*_REALS, "string", *_TIMES):
        return f"{_integer(x, stored, BIGINT, reading, _path)} <> 0"
    raise Unreadable(_shown(stored), hive)


def _integer(x: str, stored: Any, hive: HiveType, reading: Reading, path: Path) -> str:
    """NULL for what is out of range. Hive cuts off the fractions of ORC; numbers with fractions in Parquet are NULL."""
    kind, target = stored.typeName(), spark_type(hive)
    if kind == "boolean":
        return x
    if kind in _INTEGERS:
        return x if _INTEGERS.index(kind) <= _INTEGERS.index(_SPARK[hive.name]) else f"try_cast({x} AS {target})"
    if kind in (*_REALS, "decimal"):
        whole = f"try_cast({x} AS {target})"
        return f"IF({x} = {whole}, {whole}, NULL)" if reading.form == "parquet" else whole
    if kind == "string":
        return f"IF({x} RLIKE '^[+-]?[0-9]+$', try_cast({x} AS {target}), NULL)"
    if kind in _TIMES:
        return f"try_cast({_number(x, reading, path)} AS {target})"
    raise Unreadable(_shown(stored), hive)


def _real(x: str, stored: Any, hive: HiveType, reading: Reading, path: Path) -> str:
    kind = stored.typeName()
    if kind == "string":
        return value(x, hive, _TEXT)
    if kind in _TIMES:
        if _is_number(reading, path):
            return _number(x, reading, path)
        return f"CAST(CAST({x} AS TIMESTAMP) AS {spark_type(hive)})"
    if kind == "double" and hive.name == "float" and reading.form == "parquet":
        return f"IF(isnan({x}) OR abs({x}) > 3.4028234663852886E38D, NULL, {x})"
    if kind in (*_INTEGERS, *_REALS, "decimal", "boolean"):
        return x
    if kind == "binary" and reading.unit_of(path) == HALF:
        return _half(x)
    raise Unreadable(_shown(stored), hive)


def _half(x: str) -> str:
    """The two bytes of a FLOAT16 as a DOUBLE."""
    bits = f"CAST(conv(concat(substr(hex({x}), 3, 2), substr(hex({x}), 1, 2)), 16, 10) AS INT)"
    exponent, fraction = "shiftright(_h, 10) & 31", "(_h & 1023)"
    size = (
        f"CASE {exponent} WHEN 0 THEN {fraction} * pow(2D, -24) "
        f"WHEN 31 THEN IF({fraction} = 0, DOUBLE('Infinity'), DOUBLE('NaN')) "
        f"ELSE (1 + {fraction} / 1024D) * pow(2D, ({exponent}) - 15) END"
    )
    return f"element_at(transform(array({bits}), _h -> IF(_h >= 32768, -1D, 1D) * {size}), 1)"


def _decimal(x: str, stored: Any, hive: HiveType, reading: Reading, path: Path) -> str:
    kind = stored.typeName()
    if kind == "string":
        return value(x, hive, _TEXT)
    if kind in _TIMES:
        if _is_number(reading, path):
            return _number(x, reading, path)
        return f"CAST({x} AS TIMESTAMP)"
    if kind in (*_INTEGERS, *_REALS, "decimal", "boolean"):
        return x
    raise Unreadable(_shown(stored), hive)


def _string(x: str, stored: Any, hive: HiveType, reading: Reading, path: Path) -> str:
    kind, is_orc, text = stored.typeName(), reading.form == "orc", f"CAST({x} AS STRING)"
    if kind == "boolean" and is_orc:
        text = f"upper({text})"
    elif kind == "decimal":
        text = decimal_text(x, decimal(stored.precision, stored.scale))
        text = f"regexp_replace({text}, '[.]?0+$', '')" if stored.scale else text
    elif kind in _REALS and is_orc:
        text = f"CAST(nullif(CAST({x} AS DOUBLE), DOUBLE('NaN')) AS STRING)"
    elif kind == "binary":
        text = f"rtrim(regexp_replace(lower(hex({x})), '(..)', '$1 '))" if is_orc else f"make_valid_utf8({text})"
    elif kind in _TIMES and _is_number(reading, path):
        text = f"CAST({_number(x, reading, path)} AS STRING)"
    elif kind == "string":
        text = x
    return fit(text, hive)


def _binary(x: str, stored: Any, hive: HiveType, _reading: Reading, _path: Path) -> str:
    if stored.typeName() in ("binary", "string"):
        return x
    raise Unreadable(_shown(stored), hive)


def _date(x: str, stored: Any, hive: HiveType, _reading: Reading, _path: Path) -> str:
    kind = stored.typeName()
    if kind in ("date", *_TIMES):
        return x
    if kind == "string":
        return f"IF({x} RLIKE '^[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}$', CAST({x} AS DATE), NULL)"
    raise Unreadable(_shown(stored), hive)


def _timestamp(x: str, stored: Any, hive: HiveType, reading: Reading, path: Path) -> str:
    """Numbers in ORC are seconds. Those in Parquet are not, unless they are annotated."""
    kind = stored.typeName()
    if kind in ("date", *_TIMES):
        return x
    if kind == "long" and reading.form == "parquet":
        if reading.unit_of(path) != "ns":
            raise Unreadable("BIGINT", hive)
        return f"timestamp_micros(({x} - pmod({x}, 1000)) div 1000)"
    if kind == "string":
        form = "^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?$"
        return f"IF({x} RLIKE {literal(form)}, CAST({x} AS TIMESTAMP), NULL)"
    if kind in ("boolean", *_INTEGERS) and reading.form == "orc":
        return f"IF(CAST({x} AS BIGINT) BETWEEN {_FIRST} AND {_LAST}, timestamp_seconds(CAST({x} AS BIGINT)), NULL)"
    if kind in (*_REALS, "decimal") and reading.form == "orc":
        number = x if kind == "decimal" else f"nanvl(CAST({x} AS DOUBLE), NULL)"
        return f"IF({number} >= {_FIRST} AND {number} < {_LAST + 1}, CAST({number} AS TIMESTAMP), NULL)"
    raise Unreadable(_shown(stored), hive)


def _is_number(reading: Reading, path: Path) -> bool:
    """Whether Hive reads a timestamp of Parquet as the number that is stored: an INT64, not an INT96."""
    return reading.form == "parquet" and reading.unit_of(path) in ("ms", "us")


def _number(x: str, reading: Reading, path: Path) -> str:
    """A timestamp as a BIGINT: seconds, or the number in a Parquet file."""
    moment = f"CAST({x} AS TIMESTAMP)"
    if _is_number(reading, path):
        return f"unix_{'millis' if reading.unit_of(path) == 'ms' else 'micros'}({moment})"
    return f"CAST({moment} AS BIGINT)"


def _other(x: str, _stored: Any, _hive: HiveType, _reading: Reading, _path: Path) -> str:
    return x


def _shown(stored: Any) -> str:
    return _HIVE.get(stored.typeName()) or str(stored.simpleString()).upper()


_SPARK = {"tinyint": "byte", "smallint": "short", "int": "integer", "bigint": "long"}
_HIVE = {spark: hive.upper() for hive, spark in _SPARK.items()} | {"timestamp_ntz": "TIMESTAMP"}
_SCALARS: dict[str, Callable[[str, Any, HiveType, Reading, Path], str]] = {
    "boolean": _boolean,
    "tinyint": _integer,
    "smallint": _integer,
    "int": _integer,
    "bigint": _integer,
    "float": _real,
    DOUBLE.name: _real,
    "decimal": _decimal,
    "string": _string,
    "varchar": _string,
    "char": _string,
    "binary": _binary,
    "date": _date,
    "timestamp": _timestamp,
    "timestamp with local time zone": _timestamp,
    "interval_year_month": _other,
    "interval_day_time": _other,
    "void": _other,
}
