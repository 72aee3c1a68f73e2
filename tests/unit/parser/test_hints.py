"""Every statement that a hint or a message names can be parsed.

The texts are read from the code: string literals with `run STATEMENT`, `use STATEMENT`, or a statement at their
beginning, with the fields of f-strings and `…` replaced by names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hivedruid
from hivedruid.errors import HiveDruidError
from hivedruid.parser import parse
from hivedruid.script import SourceStatement

ROOT = Path(hivedruid.__file__).parent
_FIRST = (
    "SHOW|DESCRIBE|ALTER (?:TABLE|STREAM|VIEW|MATERIALIZED)|DROP (?:TABLE|STREAM|VIEW|MATERIALIZED|FUNCTION)|TRUNCATE TABLE"
    "|(?:START|STOP|SUSPEND|RESUME|HANDOFF|RESET) (?:INGESTION|STREAM|JOB)|(?:CANCEL|RESUME) JOB|KILL TASK"
    "|ROLLBACK STREAM|ARCHIVE TABLE|UNARCHIVE TABLE|VERIFY TABLE|MSCK"
)  # fmt: skip
_BEGIN = re.compile(rf"(?:^|\b(?:run|use|or|and|with|first:|by) |[:;,] )(?=(?:{_FIRST})\b)")
_END = re.compile(
    r" (?:first|again|lists?|shows?|tells|waits?|stops?|reads?|adds?|moves?|recomputes|rewrites|compacts|continues|removes"
    r"|restores|undoes|brings|starts|ends|makes|assigns|deletes|or|and|to|before|instead|afterwards|when|while|if|for|with"
    r"|does|sets|describes|computes|applies|sends|creates|prints|is|of|in|can|cannot|at|writes|merges)\b"
    r"|[;:,] (?!__time)|\. |$"
)
"""Statements have words in upper case, and sentences go on in lower case."""
_NAME = re.compile(r"[A-Z …]+")
"""The name of a kind of statement, which nobody runs as it is."""
_OPEN = re.compile(
    "TABLE \x01 \x01|SHOW \x01|SET \x01$|INGESTION \x01 \x01|COLUMNS \\(\x01|CHANGE \x01|PROPERTIES \\(\x01|= \x01|{}"
)
"""Statements with clauses in fields: what they are is known at run time alone."""
_OTHERS = ("catalog/migrations.py", "catalog/postgres.py", "spark/layout.py", "parser/refused.py", "repl/commands.py")
"""Modules with SQL of other dialects, or with statements that are refused."""
_FIELD = "\x01"


def _text(node: ast.expr) -> str | None:
    match node:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(v.value if isinstance(v, ast.Constant) else _FIELD for v in values)  # type: ignore[misc]
        case _:
            return None


def _inside(node: ast.AST) -> Iterator[ast.expr]:
    """The texts below a node, those of f-strings as a whole, without docstrings."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant):
            continue
        if isinstance(child, ast.JoinedStr | ast.Constant):
            yield child
        if not isinstance(child, ast.JoinedStr):
            yield from _inside(child)


def statements() -> Iterator[tuple[str, str]]:
    """The place and the text of each statement."""
    for path in sorted(ROOT.rglob("*.py")):
        if path.relative_to(ROOT).as_posix() in _OTHERS:
            continue
        for node in _inside(ast.parse(path.read_text(encoding="utf-8"))):
            text = _text(node) or ""
            for begin in _BEGIN.finditer(text):
                end = _END.search(text, begin.end())
                found = text[begin.end() : end.start() if end else None].strip()
                if " " in found and not _NAME.fullmatch(found) and not _OPEN.search(found):
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", found


def filled(text: str) -> str:
    """The statement with a value for each placeholder."""
    for pattern, value in _VALUES:
        text = re.sub(pattern, value, text)
    return text.rstrip(".,")


_VALUES = (
    (rf"DROP PARTITION \({_FIELD}\)", "DROP PARTITION (__time < '2024-01-01')"),
    (f"'{_FIELD}'", "'x'"), ("'…'", "'x'"), (f"TO BATCH (?:{_FIELD}|n)", "TO BATCH 1"),
    (rf"OFFSETS \((?:{_FIELD}|….?|partition:offset.*)\)?", "OFFSETS (0:0)"), (f"STREAM (\\S+) TO (?:{_FIELD}|…)", r"STREAM \1 TO EARLIEST"),
    (f"COMPACT 'major'{_FIELD}", "COMPACT 'major'"), (r"PARTITION (?:\(…\)|…)", "PARTITION (k = 1)"),
    (r"\(…\)", "(k)"), ("SELECT …", "SELECT 1"), (f"JOB 'x' {_FIELD}", "JOB 'x'"), (r"\btable\b", "t"), (f"{_FIELD}|…", "t"),
)  # fmt: skip
"""The values of placeholders; the first pattern that matches is replaced first."""


@pytest.mark.parametrize(("place", "text"), [pytest.param(*each, id=each[0]) for each in statements()])
def test_a_named_statement_can_be_parsed(place: str, text: str) -> None:
    try:
        parse(SourceStatement(filled(text)))
    except HiveDruidError as error:
        pytest.fail(f"{place}: {filled(text)}: {error.message}")


def test_there_are_statements() -> None:
    assert len([*statements()]) > 100
