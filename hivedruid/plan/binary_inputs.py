"""BINARY columns of Druid tables in Spark jobs, decoded where the rows of a native query enter the job.

    Project[unbase64(t, 'db.table.t')](query with t: STRING)  =>  Project[t](query with t: BINARY)

An Aggregate is changed in the same way: of both, only the expressions read the input. A query that two operators read
returns base64.

The bytes that this process reads from segment files then need no base64, which Spark checks and decodes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from hivedruid.catalog.types import BINARY
from hivedruid.plan.ctes import all_nodes
from hivedruid.plan.nodes import Aggregate, DruidQuery, Node, Project, map_expressions
from hivedruid.plan.rex import Call, Literal, Ref, Rex, Subquery, has, transform, walk

Binaries = Mapping[str, str]
"""The ids of columns that are decoded, and the names of the columns of tables in the error of a text that is not
base64."""


def decoded_inputs(node: Node, replaced: Callable[[Node, dict[int, Node]], Node]) -> tuple[Node, dict[int, Binaries]]:
    """The plan without the decoding of columns that nothing else reads, and these columns by the identity of their
    query. `replaced` puts nodes in the place of others, by identity."""
    every = list(all_nodes(node))
    candidates = [(each, columns) for each in every if (columns := _decoded_columns(each))]
    if not candidates:
        return node, {}
    readers = Counter(id(below) for each in every for below in each.inputs)
    reads = Counter(
        part.id
        for each in every
        if not isinstance(each, DruidQuery)
        for rex in each.expressions()
        for part in walk(rex)
        if isinstance(part, Ref)
    )
    replacements: dict[int, Node] = {}
    binaries: dict[int, Binaries] = {}
    for reader, columns in candidates:
        (query,) = reader.inputs
        of_query = {id_: names[0] for id_, names in columns.items() if reads[id_] == len(names)}
        if of_query and readers[id(query)] == 1:
            binaries[id(query)] = of_query
            replacements[id(reader)] = _without_decoding(reader, of_query)
    return (replaced(node, replacements) if replacements else node), binaries


def _decoded_columns(reader: Node) -> dict[str, list[str]]:
    """The names for errors of each column of a native query that the node decodes, as often as it does; nothing for a
    node with subqueries, whose plans would stay as they are."""
    if not (isinstance(reader, Project | Aggregate) and isinstance(reader.input, DruidQuery)):
        return {}
    if any(has(rex, Subquery) for rex in reader.expressions()):
        return {}
    columns: dict[str, list[str]] = {}
    for rex in reader.expressions():
        for part in walk(rex):
            if (name := _decoded_name(part)) is not None:
                columns.setdefault(name[0], []).append(name[1])
    return columns


def _decoded_name(rex: Rex) -> tuple[str, str] | None:
    """The id and the name of the column that the expression decodes."""
    if not (isinstance(rex, Call) and rex.op == "unbase64" and len(rex.args) == 2):
        return None
    value, name = rex.args
    return (value.id, str(name.value)) if isinstance(value, Ref) and isinstance(name, Literal) else None


def _without_decoding(reader: Node, columns: Binaries) -> Node:
    def bytes_of(rex: Rex) -> Rex | None:
        name = _decoded_name(rex)
        return Ref(BINARY, name[0]) if name is not None and name[0] in columns else None

    return map_expressions(reader, lambda rex: transform(rex, bytes_of))
