"""ALTER TABLE … CHANGE COLUMN and REPLACE COLUMNS."""

from __future__ import annotations

from hivedruid.parser.constraints import column_name
from hivedruid.parser.create import column_list, column_options
from hivedruid.parser.statements import TableName
from hivedruid.parser.statements.ddl import ChangeColumn, ColumnDef, ReplaceColumns
from hivedruid.parser.tokens import Cursor
from hivedruid.script import SourceStatement


def parse_change(source: SourceStatement, cursor: Cursor, name: TableName) -> ChangeColumn:
    """From the word after CHANGE: `[COLUMN] old new type [COMMENT 'text'] [FIRST | AFTER column]`. CASCADE and RESTRICT
    are about partitions."""
    cursor.accept("COLUMN")
    old, new = column_name(cursor, "the name of a column"), column_name(cursor, "the new name of the column")
    hive_type, comment, constraints = column_options(cursor, new, ("FIRST", "AFTER", "CASCADE", "RESTRICT"))
    place = cursor.span()
    first = place if cursor.accept("FIRST") else None
    after = column_name(cursor, "the name of a column") if first is None and cursor.accept("AFTER") else None
    cursor.accept_one("CASCADE", "RESTRICT")
    definition = ColumnDef(new.name, hive_type, comment or "", new.span, constraints)
    return ChangeColumn(source, name, old, definition, comment, first, after)


def parse_replace(source: SourceStatement, cursor: Cursor, name: TableName) -> ReplaceColumns:
    """From the list of columns."""
    span = cursor.span_from(cursor.index - 2)
    cursor.expect("(")
    columns = column_list(cursor)
    cursor.accept_one("CASCADE", "RESTRICT")
    return ReplaceColumns(source, name, columns, span)
