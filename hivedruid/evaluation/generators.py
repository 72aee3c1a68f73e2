"""Table-generating functions: explode() and posexplode() of array columns and of array constructors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hivedruid.evaluation import texts
from hivedruid.evaluation.exactness import NotLocal
from hivedruid.evaluation.expressions import Row, Scope, compiled
from hivedruid.plan.rex import Call, Literal, Ref, Rex

Array = Callable[[Row], "Sequence[Any] | None"]


def generator(rex: Rex, scope: Scope) -> Callable[[Row], list[Row]]:
    """A function that returns the rows generated from a row. Raises NotLocal."""
    if not isinstance(rex, Call) or rex.op not in ("explode", "posexplode") or len(rex.args) != 1:
        raise NotLocal(f"LATERAL VIEW {rex.op}()" if isinstance(rex, Call) else "LATERAL VIEW")
    values = _array(rex.args[0], scope)
    if rex.op == "explode":
        return lambda row: [(v,) for v in values(row) or ()]
    return lambda row: list(enumerate(values(row) or ()))


def _array(rex: Rex, scope: Scope) -> Array:
    if isinstance(rex, Call) and rex.op == "array":
        element = rex.type.children[0] if rex.type.children else None
        if any(a.type != element for a in rex.args):
            raise NotLocal("an array of mixed types")
        items = [compiled(a, scope) for a in rex.args]
        return lambda row: [item(row) for item in items]
    if isinstance(rex, Call) and rex.op == "split":
        return _split(rex, scope)
    if isinstance(rex, Ref):
        return compiled(rex, scope)
    raise NotLocal("explode() of an array that is not a column, array(…) or split(…)")


def _split(rex: Call, scope: Scope) -> Array:
    pattern = rex.args[1]
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str) or "(" in pattern.value:
        raise NotLocal("split() by a non-constant pattern, or one with groups")
    if not pattern.value or rex.args[0].type.name not in ("string", "varchar"):
        raise NotLocal("split() by the empty string, or of non-strings")
    matcher, text = texts.java_pattern(pattern.value), compiled(rex.args[0], scope)
    if matcher.match(""):
        raise NotLocal("split() by a pattern that matches the empty string")

    def parts(row: Row) -> list[str] | None:
        value = text(row)
        return None if value is None else matcher.split(texts.one_line(value))

    return parts
