"""Shared by tests of the parser: a statement, the text of a span, and an error with its position."""

from __future__ import annotations

from typing import Any

import pytest

from hivedruid.errors import HiveDruidError, ParseError, Span
from hivedruid.parser import parse
from hivedruid.script import SourceStatement


def one(text: str) -> Any:
    return parse(SourceStatement(text))


def at(span: Span | None) -> str:
    """The text of a span."""
    assert span is not None
    return span.source_line[span.column - 1 : span.column - 1 + span.length]


def refused(text: str, kind: type[HiveDruidError] = ParseError) -> HiveDruidError:
    with pytest.raises(kind) as error:
        one(text)
    assert error.value.span is not None
    return error.value
