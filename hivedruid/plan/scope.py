"""What names a query block can see: its relations, and those of the blocks around it."""

from __future__ import annotations

from dataclasses import dataclass, field

from hivedruid.catalog.types import UNKNOWN
from hivedruid.errors import SemanticError, Span, did_you_mean
from hivedruid.plan.nodes import PlanColumn
from hivedruid.plan.rex import Call, Rex


@dataclass(frozen=True)
class Relation:
    """One item of FROM: how it is called, and its columns. `database` is set for plain table references."""

    alias: str | None
    columns: tuple[PlanColumn, ...]
    database: str | None = None


@dataclass
class Scope:
    """The relations of one block; `merged` are USING columns, which an unqualified name finds once."""

    relations: list[Relation]
    parent: Scope | None = None
    merged: set[str] = field(default_factory=set)
    aliases: dict[str, Rex] = field(default_factory=dict)
    """Select aliases that HAVING and ORDER BY may use where no column has the name."""
    grouped: dict[str, PlanColumn] = field(default_factory=dict)
    """Columns that are keys of GROUP BY: of several of a name, an unqualified one means the key, as in Hive."""

    def resolve(self, parts: list[str], span: Span | None) -> Rex:
        """A dotted name as a column, a field of a struct column, or a select alias."""
        lowered = [part.lower() for part in parts]
        scope: Scope | None = self
        while scope is not None:
            found = scope._lookup(lowered, span)
            if found is not None:
                return found
            scope = scope.parent
        raise self._unknown(parts, span)

    def _lookup(self, parts: list[str], span: Span | None) -> Rex | None:
        for qualifier_length in range(min(2, len(parts) - 1), -1, -1):
            qualifier, name, rest = parts[:qualifier_length], parts[qualifier_length], parts[qualifier_length + 1 :]
            column = self._column(qualifier, name, span)
            if column is not None:
                rex: Rex = column.ref
                for part in rest:
                    rex = _struct_field(rex, part)
                return rex
        if len(parts) == 1:
            return self.aliases.get(parts[0])
        return None

    def _column(self, qualifier: list[str], name: str, span: Span | None) -> PlanColumn | None:
        matches = [
            column
            for relation in self.relations
            if _qualifies(relation, qualifier)
            for column in relation.columns
            if column.name == name
        ]
        if len(matches) > 1 and not qualifier and name in self.merged:
            return matches[0]
        if len(matches) > 1 and not qualifier and name in self.grouped:
            return self.grouped[name]
        if len(matches) > 1 and len({m.id for m in matches}) > 1:
            raise SemanticError(
                f"column '{name}' is ambiguous: {len(matches)} tables have it",
                span=span,
                hint="put the table's alias in front of it",
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
        seen: set[str] = set()
        kept = []
        for column in columns:
            if column.name in self.merged and column.name in seen:
                continue
            seen.add(column.name)
            kept.append(column)
        return kept

    def _unknown(self, parts: list[str], span: Span | None) -> SemanticError:
        names = [c.name for r in self.relations for c in r.columns]
        if len(parts) > 1 and not any(r.alias == parts[0].lower() for r in self.relations):
            names = [f"{r.alias}.{parts[-1].lower()}" for r in self.relations if r.alias]
        name = ".".join(parts)
        hint = did_you_mean(name.lower(), names)
        if hint is None and names:
            hint = "columns here: " + ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
        return SemanticError(f"unknown column '{name}'", span=span, hint=hint)


def _qualifies(relation: Relation, qualifier: list[str]) -> bool:
    if not qualifier:
        return True
    if len(qualifier) == 1:
        return relation.alias == qualifier[0]
    return relation.database == qualifier[0] and relation.alias == qualifier[1]


def _struct_field(rex: Rex, name: str) -> Rex:
    fields = dict(zip(rex.type.fields, rex.type.children, strict=True)) if rex.type.name == "struct" else {}
    return Call(fields.get(name, UNKNOWN), f"field:{name}", (rex,))
