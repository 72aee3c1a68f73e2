"""The fields of a line of CSV, as OpenCSVSerde reads it (opencsv 2.3, CSVParser.parseLineMulti).

Depends on nothing, since it is sent to Spark's workers by value.
"""

from __future__ import annotations

from typing import Any


class OpenCsv:
    """The fields of lines. A line that is empty has none, and the field of a quote without an end is missing."""

    def __init__(self, separator: str, quote: str, escape: str) -> None:
        self.separator, self.quote, self.escape = separator, quote, escape

    def columns(self, lines: Any) -> Any:
        """The fields of an Arrow array of lines, some of which may be null."""
        import pyarrow as pa

        kind = pa.list_(pa.string())
        if lines.null_count == len(lines):
            return pa.nulls(len(lines), kind)
        return pa.array((None if line is None else self(line) for line in lines.to_pylist()), kind)

    def __call__(self, line: str) -> list[str] | None:
        if not line:
            return None
        separator, quote, escape = self.separator, self.quote, self.escape
        fields: list[str] = []
        field: list[str] = []
        in_quotes = in_field = False
        length, i = len(line), 0
        while i < length:
            c = line[i]
            following = line[i + 1] if i + 1 < length else None
            if c == escape:
                if (in_quotes or in_field) and following is not None and following in (quote, escape):
                    field.append(following)
                    i += 1
            elif c == quote:
                if (in_quotes or in_field) and following == quote:
                    field.append(quote)
                    i += 1
                else:
                    if i > 2 and line[i - 1] != separator and following is not None and following != separator:
                        if field and "".join(field).isspace():
                            field.clear()
                        else:
                            field.append(c)
                    in_quotes = not in_quotes
                in_field = not in_field
            elif c == separator and not in_quotes:
                fields.append("".join(field))
                field.clear()
                in_field = False
            else:
                field.append(c)
                in_field = True
            i += 1
        if not in_quotes:
            fields.append("".join(field))
        return fields
