"""Positions of errors: an error without one gets that of its statement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.script import SourceStatement


@contextmanager
def with_position(statement: SourceStatement) -> Iterator[None]:
    """Add the statement's position to errors without one."""
    try:
        yield
    except (SemanticError, UnsupportedError) as error:
        if error.span is None:
            error.span = statement.span(0, 1)
        raise


def items_with_position(items: Iterator[Any], statement: SourceStatement) -> Iterator[Any]:
    """The same items; errors while they are computed get the statement's position."""
    with with_position(statement):
        yield from items
