"""IN with a list of constants or of rows, which may be long: a column is resolved once, and cast once for the constants
of each type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from hivedruid.catalog.types import BOOLEAN, HiveType
from hivedruid.errors import SemanticError
from hivedruid.plan import floats, operands
from hivedruid.plan.common_types import comparison_type
from hivedruid.plan.rex import Call, Literal, Ref, Rex

if TYPE_CHECKING:
    from hivedruid.plan.convert import Converter


def in_list(converter: Converter, value: Rex, items: list[Rex], where: exp.Expr | None) -> Rex:
    """`value IN (…)`, all cast to one type (GenericUDFIn compares in the common type)."""
    kinds = {comparison_type(value.type, type_) for type_ in {item.type for item in items}}
    if len(kinds) > 1 or not all(isinstance(item, Literal) for item in items):
        compared = _Compared(converter, value)
        terms = tuple([compared.equals(item, where) for item in items])
        return converter.fold(Call(BOOLEAN, "or", terms))
    operands.check_comparison("=", value.type, items[0].type, *kinds)
    pairs = [(converter.comparable(value, item, where), converter.comparable(item, value, where)) for item in items]
    value = pairs[0][0]
    unique = tuple(dict.fromkeys(item for _, item in pairs))
    if len(unique) == 1:
        return converter.compare("=", value, unique[0], where)
    return Call(BOOLEAN, "in", (value, *unique))


def in_rows(converter: Converter, values: list[exp.Expr], rows: list[exp.Expr]) -> Rex:
    """`(a, b) IN ((1, 2), …)`."""
    columns: dict[int, _Compared] = {}
    terms = []
    for row in rows:
        items = row.expressions if isinstance(row, exp.Tuple) else [row]
        if len(values) != len(items):
            raise SemanticError(f"IN compares {len(values)} values with {len(items)}", span=converter.span(row))
        pairs = enumerate(zip(values, items, strict=True))
        equal = tuple([_equals(converter, columns, place, value, item) for place, (value, item) in pairs])
        terms.append(converter.fold(Call(BOOLEAN, "and", equal)))
    return converter.fold(Call(BOOLEAN, "or", tuple(terms)))


def _equals(converter: Converter, columns: dict[int, _Compared], place: int, value: exp.Expr, item: exp.Expr) -> Rex:
    """`value = item`; `columns` are those of the values that are columns, by their place, once they are resolved."""
    compared = columns.get(place)
    if compared is None:
        converted, other = converter.pair(value, item)
        if not isinstance(converted, Ref):
            return converter.compare("=", converted, other)
        columns[place] = compared = _Compared(converter, converted)
        return compared.equals(other, None)
    return compared.equals(floats.beside(converter.convert(item), item, compared.value), None)


class _Compared:
    """A value that is compared with many others."""

    def __init__(self, converter: Converter, value: Rex) -> None:
        self.value = value
        self._converter = converter
        self._sides: dict[HiveType, tuple[Rex, Rex]] = {}
        """The value beside constants of each type, and cast for comparisons with them."""

    def equals(self, item: Rex, where: exp.Expr | None) -> Rex:
        if isinstance(self.value, Literal) or not isinstance(item, Literal):
            return self._converter.compare("=", self.value, item, where)
        if item.type not in self._sides:
            value = self._converter.beside_number(self.value, item)
            left, right = self._converter.sides("=", self.value, item, where)
            self._sides[item.type] = value, left
        else:
            value, left = self._sides[item.type]
            right = self._converter.comparable(self._converter.beside_number(item, self.value), value, where)
        return self._converter.of_sides("=", left, right)
