"""The colours of the statement at the prompt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from prompt_toolkit.document import Document
from pygments.lexers.sql import SqlLexer  # type: ignore[import-untyped]

from hivedruid.repl.history import SHORT, StatementLexer


@pytest.fixture
def tokens(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tokens that are read."""
    found: list[str] = []
    read = SqlLexer.get_tokens_unprocessed

    def counted(lexer: SqlLexer, text: str, *stack: Any) -> Iterator[tuple[int, Any, str]]:
        for token in read(lexer, text, *stack):
            found.append(token[2])
            yield token

    monkeypatch.setattr(SqlLexer, "get_tokens_unprocessed", counted)
    return found


def statement(lines: int) -> Document:
    return Document("SELECT 1 /*\n" + "added\n" * (lines - 2) + "*/")


def test_a_short_statement_is_coloured_from_its_start() -> None:
    line = StatementLexer().lex_document(statement(SHORT))(SHORT - 2)
    assert [(style, text) for style, text, *_ in line] == [("class:pygments.comment.multiline", "added")]


def test_a_key_in_a_long_statement_reads_as_many_tokens_as_in_one_of_twice_the_length(tokens: list[str]) -> None:
    counts = []
    for lines in (2 * SHORT, 4 * SHORT, 8 * SHORT):
        last = StatementLexer().lex_document(statement(lines))(lines - 2)
        assert "".join(text for _, text, *_ in last) == "added"
        counts.append(len(tokens))
        tokens.clear()
    assert counts[0] == counts[1] == counts[2] > 0
