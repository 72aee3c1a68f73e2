"""The fields of a line of CSV, as OpenCSVSerde reads it (opencsv 2.3, CSVParser.parseLineMulti).

Depends on nothing, since it is sent to Spark's workers by value.
"""

from __future__ import annotations

import re
from typing import Any


class OpenCsv:
    """The fields of lines. A line that is empty has none, and the field of a quote without an end is missing."""

    def __init__(self, separator: str, quote: str, escape: str) -> None:
        self.separator, self.quote, self.escape = separator, quote, escape
        self._usual = self._usual_lines()

    def columns(self, lines: Any) -> Any:
        """The fields of an Arrow array of lines, some of which may be null. Arrow parses lines in the usual form."""
        import pyarrow as pa
        from pyarrow import compute

        kind = pa.list_(pa.string())
        if lines.null_count == len(lines):
            return pa.nulls(len(lines), kind)
        if self._usual is None:
            return self._one_by_one(lines)
        is_usual = compute.fill_null(compute.match_substring_regex(lines, self._usual), fill_value=False)
        is_other = compute.invert(is_usual)
        parsed = [*self._parsed(lines.filter(is_usual)), self._one_by_one(lines.filter(is_other))]
        numbers = pa.array(range(len(lines)), pa.int64())
        places = pa.concat_arrays([numbers.filter(is_usual), numbers.filter(is_other)])
        return pa.concat_arrays(parsed).take(compute.sort_indices(places))

    def _one_by_one(self, lines: Any) -> Any:
        import pyarrow as pa

        return pa.array((None if line is None else self(line) for line in lines.to_pylist()), pa.list_(pa.string()))

    def _usual_lines(self) -> str | None:
        """A pattern of lines of several fields whose quotes enclose whole fields, or are doubled or escaped in those
        that are enclosed. None if the characters are not ones that Arrow takes."""
        characters = (self.separator, self.quote, self.escape)
        if len(set(characters)) < len(characters) or not all(c.isascii() and c not in "\0\r\n" for c in characters):
            return None
        separator, quote, escape = map(re.escape, characters)
        plain = rf"[^{quote}{escape}{separator}\r\n]"
        enclosed = rf"[^{quote}{escape}\r\n]|{quote}{quote}|{escape}[^\r\n]"
        field = f"(?:(?:{plain}|{escape}{plain})*|{quote}(?:{enclosed})*{quote})"
        return f"^{field}(?:{separator}{field})+$"

    def _parsed(self, lines: Any) -> list[Any]:
        """The fields of lines in the usual form, by Arrow if all have equally many."""
        import pyarrow as pa
        from pyarrow import compute, csv

        if not len(lines):
            return []
        width = len(self(lines[0].as_py()) or ())
        text = compute.binary_join(pa.ListArray.from_arrays([0, len(lines)], lines), "\n")[0].as_buffer()
        names = [str(number) for number in range(width)]
        reading = csv.ReadOptions(use_threads=False, column_names=names, block_size=text.size + 1)
        parsing = csv.ParseOptions(
            delimiter=self.separator, quote_char=self.quote, escape_char=self.escape, ignore_empty_lines=False
        )
        types = dict.fromkeys(names, pa.string())
        try:
            rows = csv.read_csv(pa.BufferReader(text), reading, parsing, csv.ConvertOptions(column_types=types))
        except pa.ArrowInvalid:  # other numbers of fields
            return [self._one_by_one(lines)]
        if len(rows) != len(lines):
            return [self._one_by_one(lines)]
        values = pa.concat_arrays([rows[name].combine_chunks() for name in names])
        return [pa.ListArray.from_arrays(range(0, len(values) + 1, width), values.take(_by_rows(len(rows), width)))]

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


def _by_rows(rows: int, width: int) -> Any:
    """The places of values in the order of rows, of values in the order of columns."""
    import pyarrow as pa
    from pyarrow import compute

    number = pa.array(range(rows * width), pa.int64())
    row = compute.divide(number, width)
    column = compute.subtract(number, compute.multiply(row, width))
    return compute.add(compute.multiply(column, rows), row)
