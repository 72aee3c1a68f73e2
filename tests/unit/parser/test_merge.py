"""MERGE: the source, the expressions of the clauses, and what is refused."""

from __future__ import annotations

import pytest

from hivedruid.errors import HiveDruidError, ParseError, SemanticError
from hivedruid.parser.statements.writing import Merge
from tests.unit.parser.parsing import at, one, refused

ON = "MERGE INTO t USING u ON t.a = u.a"


def test_clauses() -> None:
    s = one(
        "merge into db.t as x using (select 1 as a) s on x.a = case when s.a > 0 then 1 end"
        " when matched and x.b in (1, 2) then delete"
        " when matched then update set A = 1, `b c` = case when s.a > 1 then 2 end"
        " when not matched and s.a > 1 then insert (a, b) values (1, concat('a', ',when'))"
    )
    assert isinstance(s, Merge)
    assert (s.table.database, s.table.name, s.alias) == ("db", "t", "x")
    assert s.using.sql("hive") == "SELECT * FROM (SELECT 1 AS a) AS s"
    assert s.on.sql("hive") == "x.a = CASE WHEN s.a > 0 THEN 1 END"
    delete, update, insert = s.clauses
    assert delete.condition is not None
    assert (delete.kind, delete.condition.sql("hive"), delete.values) == ("delete", "x.b IN (1, 2)", ())
    assert (update.kind, update.condition, update.columns) == ("update", None, ("a", "b c"))
    assert [at(span) for span in update.value_spans] == ["1", "case when s.a > 1 then 2 end"]
    assert (insert.kind, insert.columns) == ("insert", ("a", "b"))
    assert [at(span) for span in insert.value_spans] == ["1", "concat('a', ',when')"]


@pytest.mark.parametrize("alias", ["", " x", " AS x"])
def test_alias(alias: str) -> None:
    s = one(f"MERGE INTO t{alias} USING db.u AS y ON true WHEN MATCHED THEN DELETE")
    assert s.alias == ("x" if alias else None)
    assert s.using.sql("hive") == "SELECT * FROM db.u AS y"


@pytest.mark.parametrize(
    ("text", "kind", "message", "place"),
    [
        (ON, ParseError, "expected 'WHEN', found the end of the statement", ""),
        ("MERGE t USING u", ParseError, "expected 'INTO', found 't'", "t"),
        ("MERGE INTO t USING u WHEN MATCHED THEN DELETE", ParseError, "unexpected 'WHEN'", "WHEN"),
        (
            "MERGE INTO t USING (SELECT 1) ON true WHEN MATCHED THEN DELETE",
            ParseError,
            "expected an alias after the subquery, found ')'",
            ")",
        ),
        (
            "MERGE INTO t USING u x JOIN u y ON true WHEN MATCHED THEN DELETE",
            ParseError,
            "expected one table or subquery, found 'u'",
            "u",
        ),
        (f"{ON} WHEN NOT MATCHED THEN DELETE", ParseError, "expected 'INSERT', found 'DELETE'", "DELETE"),
        (f"{ON} WHEN NOT MATCHED THEN INSERT *", ParseError, "expected 'VALUES', found '*'", "*"),
        (f"{ON} WHEN NOT MATCHED BY SOURCE THEN DELETE", ParseError, "expected 'THEN', found 'BY'", "BY"),
        (f"{ON} WHEN MATCHED THEN UPDATE SET t.s = 1", ParseError, "expected '=', found '.'", "."),
        (f"{ON} WHEN MATCHED THEN UPDATE SET s = 1, S = 2", SemanticError, "column 's' is set twice", "S"),
        (
            f"{ON} WHEN NOT MATCHED THEN INSERT VALUES (1) WHEN MATCHED THEN DELETE",
            ParseError,
            "expected the end of the statement, found 'WHEN'",
            "WHEN",
        ),
        (
            f"{ON} WHEN MATCHED THEN DELETE WHEN MATCHED THEN UPDATE SET s = 1",
            SemanticError,
            'MERGE statement with both UPDATE and DELETE clauses requires "AND <boolean>" on the 1st WHEN MATCHED clause',
            "WHEN MATCHED THEN DELETE",
        ),
        (
            f"{ON} WHEN MATCHED AND u.s > 1 THEN DELETE WHEN MATCHED THEN DELETE",
            SemanticError,
            "MERGE statement can have at most 1 WHEN MATCHED ... DELETE clause",
            "WHEN MATCHED THEN DELETE",
        ),
    ],
)
def test_refused(text: str, kind: type[HiveDruidError], message: str, place: str) -> None:
    error = refused(text, kind)
    assert error.message == message
    assert at(error.span) == place
