"""The signature of a Python function in Hive's types, from its annotations."""

from __future__ import annotations

import inspect
import types
import typing
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from hivedruid.catalog import types as t
from hivedruid.catalog.functions import UserFunction
from hivedruid.catalog.types import HiveType, decimal
from hivedruid.errors import HiveDruidError, SemanticError
from hivedruid.parser.tokens import Cursor, tokenize
from hivedruid.parser.types import parse_type
from hivedruid.script import SourceStatement
from hivedruid.user_code import load, stamp

TYPES: dict[Any, HiveType] = {
    bool: t.BOOLEAN,
    int: t.BIGINT,
    float: t.DOUBLE,
    str: t.STRING,
    bytes: t.BINARY,
    Decimal: decimal(38, 18),
    date: t.DATE,
    datetime: t.TIMESTAMP,
}
"""The Hive type of each annotation. Others are written as `Annotated[type, 'Hive type']`."""
_UNSUPPORTED = ("char", "varchar", "timestamp with local time zone", "interval_year_month", "interval_day_time")
_KNOWN = "bool, int, float, str, bytes, Decimal, date, datetime, list[…], dict[…, …], or Annotated[type, 'Hive type']"


def python_function(database: str, name: str, code: str, file: str = "") -> UserFunction:
    """Loads the module. Raises SemanticError for a function without usable annotations."""
    module, function = load(code, file)
    try:
        parameters = inspect.signature(function).parameters.values()
        hints = typing.get_type_hints(function, include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise SemanticError(f"the annotations of {code} cannot be read: {error}", hint=_annotate(code)) from error
    taken = [each for each in parameters if each.kind in _POSITIONAL or each.kind is inspect.Parameter.VAR_POSITIONAL]
    for each in parameters:
        if each.kind is inspect.Parameter.KEYWORD_ONLY and each.default is inspect.Parameter.empty:
            raise SemanticError(f"{code} requires the keyword argument {each.name}", hint="give it a default")
    help_ = (inspect.getdoc(function) or "").partition("\n")[0]
    return UserFunction(
        database, name, code, "python",
        _hive_type(code, "return", hints.get("return")),
        tuple(_hive_type(code, each.name, hints.get(each.name)) for each in taken),
        sum(each.kind in _POSITIONAL and each.default is inspect.Parameter.empty for each in taken),
        any(each.kind is inspect.Parameter.VAR_POSITIONAL for each in taken),
        bool(getattr(function, "deterministic", True)),
        (file,) if file else (), help_, stamp(module),
    )  # fmt: skip


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _annotate(code: str) -> str:
    return f"for example: def {code.rpartition('.')[2]}(text: str, factor: float) -> str"


def _hive_type(code: str, name: str, annotation: Any) -> HiveType:
    what = "the result" if name == "return" else f"the parameter {name}"
    if annotation is None:
        raise SemanticError(f"{what} of {code} has no type annotation", hint=_annotate(code))
    found = _converted(annotation)
    if isinstance(found, str):
        raise SemanticError(f"the annotation of {what} of {code} is not supported: {found}", hint=f"use {_KNOWN}")
    return found


def _converted(annotation: Any) -> HiveType | str:
    """The Hive type of an annotation, or why there is none."""
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return next((_parsed(each) for each in args[1:] if isinstance(each, str)), None) or _converted(args[0])
    if origin in (typing.Union, types.UnionType):
        rest = [each for each in args if each is not type(None)]
        return _converted(rest[0]) if len(rest) == 1 else f"{annotation} has several types"
    if annotation in TYPES:
        return TYPES[annotation]
    children = [_converted(each) for each in args]
    wrong = next((each for each in children if isinstance(each, str)), None)
    kinds = [each for each in children if isinstance(each, HiveType)]
    if wrong is None and origin is list and len(kinds) == 1:
        return t.array_of(kinds[0])
    if wrong is None and origin is dict and len(kinds) == 2:
        return HiveType("map", children=tuple(kinds))
    return wrong or inspect.formatannotation(annotation)


def _parsed(text: str) -> HiveType | str:
    source = SourceStatement(text)
    try:
        cursor = Cursor(source, tokenize(source))
        found = parse_type(cursor)
        cursor.end()
    except HiveDruidError as error:
        return f"'{text}': {error.message}"
    return f"'{text}' is not a type of Python functions" if _has_unsupported(found) else found


def _has_unsupported(found: HiveType) -> bool:
    return found.name in _UNSUPPORTED or any(map(_has_unsupported, found.children))
