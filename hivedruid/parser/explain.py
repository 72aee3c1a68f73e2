"""The options of EXPLAIN: those that choose what it shows, and those of Hive that have no effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hivedruid.parser.tokens import next_word

if TYPE_CHECKING:
    from hivedruid.errors import Span
    from hivedruid.parser.statements import ExplainMode
    from hivedruid.script import SourceStatement

MODES = ("DEPENDENCY", "DDL", "FORMATTED", "LOGICAL", "CBO", "EXTENDED")
"""The first of these that is given counts."""
_DETAILS = {"CBO": ("COST", "JOINCOST"), "VECTORIZATION": ("ONLY", "SUMMARY", "OPERATOR", "EXPRESSION", "DETAIL")}
"""The words that may follow an option. They have no effect either."""
_COST = "EXPLAIN FORMATTED has the estimated rows of each operator"
_WITHOUT_EFFECT = {
    "VECTORIZATION": "all engines compute columns at a time",
    "LOCKS": "hivedruid has no table locks",
    "AST": "the plan is shown; EXPLAIN CBO has the tree before and after each rule",
    "ANALYZE": "the statement is not run; hivedruid sql --verbose prints what a statement did",
    "REOPTIMIZATION": "statements are planned once",
    "AUTHORIZATION": "hivedruid checks no permissions; EXPLAIN DEPENDENCY has the tables that the statement reads",
    "DEBUG": "EXPLAIN EXTENDED has the details",
}
"""Options of Hive that are accepted, and the reason."""


def options(source: SourceStatement, offset: int) -> tuple[ExplainMode, tuple[tuple[str, Span], ...], int]:
    """The mode, notes on options without effect with their positions, and where the statement begins."""
    given: set[str] = set()
    notes: list[tuple[str, Span]] = []
    details: tuple[str, ...] = ()
    while True:
        word, start, end = next_word(source.text, offset)
        if word not in (*MODES, *_WITHOUT_EFFECT, *details) or _is_analyze_table(source, word, end):
            break
        given.add(word)
        if (reason := _COST if word.endswith("COST") else _WITHOUT_EFFECT.get(word)) is not None:
            notes.append((f"EXPLAIN {word} has no effect: {reason}", source.span(start, end)))
        details, offset = _DETAILS.get(word, details if word in details else ()), end
    mode = next((word for word in MODES if word in given), "USER")
    return cast("ExplainMode", mode.lower()), tuple(notes), offset


def _is_analyze_table(source: SourceStatement, word: str, end: int) -> bool:
    """Whether the word begins the statement ANALYZE TABLE."""
    return word == "ANALYZE" and next_word(source.text, end)[0] == "TABLE"
