"""The scope of a query block: its relations, and those of outer blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from functools import cached_property

from hivedruid.catalog.table import Table
from hivedruid.catalog.types import UNKNOWN, array_of
from hivedruid.errors import SemanticError, Span, UnsupportedError, did_you_mean
from hivedruid.lazy_dataclass import dataclass
from hivedruid.plan.nodes import PlanColumn
from hivedruid.plan.rex import Call, Rex
from hivedruid.plan.virtual_columns import refusal
from hivedruid.sketches.kinds import SketchKind


@dataclass(frozen=True)
class Relation:
    """One item of FROM: its name and its columns. `database` is set for plain table references, `table` if it is a
    table that is not a view; `hidden` are its virtual columns, which `*` does not contain.
    """

    alias: str | None
    columns: tuple[PlanColumn, ...]
    database: str | None = None
    table: Table | None = None
    hidden: tuple[PlanColumn, ...] = ()

    @cached_property
    def named(self) -> dict[str, list[PlanColumn]]:
        """The columns with a name."""
        columns: dict[str, list[PlanColumn]] = {}
        for column in (*self.columns, *self.hidden):
            columns.setdefault(column.name, []).append(column)
        return columns


class _Index:
    """The relations of a list by their alias or by their names of columns, as the list grows and shrinks at its end: a
    FROM of many tables is not searched for each name."""

    def __init__(self, keys: Callable[[Relation], Iterable[str | None]]) -> None:
        self._keys = keys
        self._indexed: list[Relation] = []
        self._places: dict[str | None, list[int]] = {}

    def find(self, relations: list[Relation], key: str) -> list[Relation]:
        """The relations with a key, in their order."""
        while len(self._indexed) > len(relations) or (
            self._indexed and self._indexed[-1] is not relations[len(self._indexed) - 1]
        ):
            for each in self._keys(self._indexed.pop()):
                self._places[each].pop()
        for relation in relations[len(self._indexed) :]:
            for each in self._keys(relation):
                self._places.setdefault(each, []).append(len(self._indexed))
            self._indexed.append(relation)
        return [relations[place] for place in self._places.get(key, ())]


@dataclass
class Scope:
    """The relations of one block; `merged` are the columns of USING by their ids, with the one that `*` contains and
    that an unqualified name means: as in Hive the right one of a right join, else the left one, also of a full join."""

    relations: list[Relation]
    parent: Scope | None = None
    merged: dict[str, PlanColumn] = field(default_factory=dict)
    first: list[PlanColumn] = field(default_factory=list)
    """The columns of USING in the order of `*`, where they are before all others."""
    aliases: dict[str, Rex] = field(default_factory=dict)
    """Select aliases that HAVING and ORDER BY may use if no column has the name."""
    grouped: dict[str, PlanColumn] = field(default_factory=dict)
    """Columns that are keys of GROUP BY: if several have a name, the unqualified name refers to the key, as in Hive."""
    sketch_kind: Callable[[Rex], SketchKind | None] = lambda _: None
    """The kind of the sketches that an expression returns, if it is known."""
    _aliases: _Index = field(default_factory=lambda: _Index(lambda relation: (relation.alias,)))
    _names: _Index = field(default_factory=lambda: _Index(lambda relation: relation.named))

    def resolve(self, parts: list[str], span: Span | None) -> Rex:
        """A dotted name as a column, a field of a struct column, or a select alias."""
        lowered = [part.lower() for part in parts]
        scope: Scope | None = self
        while scope is not None:
            resolved = scope._lookup(lowered, span)
            if resolved is not None:
                return resolved
            scope = scope.parent
        raise self._unknown(parts, span)

    def _lookup(self, parts: list[str], span: Span | None) -> Rex | None:
        for qualifier_length in range(min(2, len(parts) - 1), -1, -1):
            qualifier, name, rest = parts[:qualifier_length], parts[qualifier_length], parts[qualifier_length + 1 :]
            column = self._column(qualifier, name, span)
            if column is not None:
                rex: Rex = column.ref
                for part in rest:
                    rex = struct_field(rex, part, span)
                return rex
        if len(parts) == 1:
            return self.aliases.get(parts[0])
        return None

    def _column(self, qualifier: list[str], name: str, span: Span | None) -> PlanColumn | None:
        index = (
            self._aliases.find(self.relations, qualifier[-1]) if qualifier else self._names.find(self.relations, name)
        )
        matches = [
            column for relation in index if _qualifies(relation, qualifier) for column in relation.named.get(name, ())
        ]
        if not qualifier and self.merged:
            matches = self._visible(matches)
        if len(matches) > 1 and not qualifier and name in self.grouped:
            return self.grouped[name]
        if len(matches) > 1 and len({m.id for m in matches}) > 1:
            raise SemanticError(
                f"column '{name}' is ambiguous: {len(matches)} tables have a column of this name",
                span=span,
                hint="qualify it with the table alias",
            )
        return matches[0] if matches else None

    def star(self, qualifier: list[str], span: Span | None) -> list[PlanColumn]:
        """The columns of `*` or `t.*`; a USING column once."""
        relations = [r for r in self.relations if _qualifies(r, [part.lower() for part in qualifier])]
        if not relations:
            raise SemanticError(f"unknown table or alias '{'.'.join(qualifier)}'", span=span)
        columns = [column for relation in relations for column in relation.columns]
        if qualifier or not self.merged:
            return columns
        return self._visible([*self.first, *columns])

    def _visible(self, columns: list[PlanColumn]) -> list[PlanColumn]:
        """The columns with those of USING once."""
        visible = [self.merged.get(column.id, column) for column in columns]
        return list({column.id: column for column in visible}.values())

    def merge(self, left: PlanColumn, right: PlanColumn, visible: PlanColumn) -> None:
        """Make two columns of USING one."""
        both = (left.id, right.id)
        same = [id_ for id_, column in self.merged.items() if column.id in both]
        self.merged |= dict.fromkeys([*same, left.id, right.id], visible)
        self.first.append(visible)

    def column(self, name: str, span: Span | None) -> PlanColumn:
        """A column by its name alone."""
        column = self._column([], name, span)
        if column is None:
            raise self._unknown([name], span)
        return column

    def _unknown(self, parts: list[str], span: Span | None) -> SemanticError | UnsupportedError:
        for relation in self.relations:
            if relation.table is not None and _qualifies(relation, [part.lower() for part in parts[:-1]]):
                if (refused := refusal(parts[-1], relation.table, span)) is not None:
                    return refused
        names = [c.name for r in self.relations for c in r.columns]
        if len(parts) > 1 and not any(r.alias == parts[0].lower() for r in self.relations):
            names = [f"{r.alias}.{parts[-1].lower()}" for r in self.relations if r.alias]
        name = ".".join(parts)
        hint = did_you_mean(name.lower(), names)
        if hint is None and names:
            hint = "available columns: " + ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        return SemanticError(f"unknown column '{name}'", span=span, hint=hint)


def _qualifies(relation: Relation, qualifier: list[str]) -> bool:
    if not qualifier:
        return True
    if len(qualifier) == 1:
        return relation.alias == qualifier[0]
    return relation.database == qualifier[0] and relation.alias == qualifier[1]


def struct_field(rex: Rex, name: str, span: Span | None) -> Rex:
    """`rex.name`: for a struct its field, for an array of structs the field of each. Raises SemanticError for other
    types.
    """
    whole = rex.type
    is_array = whole.name == "array"
    type_ = whole.children[0] if is_array else whole
    if type_ is UNKNOWN or whole is UNKNOWN:
        return Call(UNKNOWN, f"field:{name}", (rex,))
    if type_.name != "struct":
        raise SemanticError(
            f"'.{name}' is not valid: {whole} has no fields",
            span=span,
            hint="only structs and arrays of structs have fields; use m['key'] for a map",
        )
    fields = {field.lower(): child for field, child in zip(type_.fields, type_.children, strict=True)}
    if name.lower() not in fields:
        hint = did_you_mean(name.lower(), fields) or f"fields: {', '.join(fields)}"
        raise SemanticError(f"{type_} has no field '{name}'", span=span, hint=hint)
    child = fields[name.lower()]
    return Call(array_of(child) if is_array else child, f"field:{name}", (rex,))
