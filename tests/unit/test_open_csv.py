"""Arrow's parser and the rules of OpenCSVSerde give the same fields."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from hivedruid.open_csv import OpenCsv

PIECES = (
    '"',
    '""',
    '","',
    "\\",
    '\\"',
    "\\\\",
    "a",
    "é",
    "東京",
    "😀",
    " ",
    "'",
    ";",
    "\t",
    "\x00",
    "\x01",
    "x,y",
    ",",
    ",,",
    '"',
)


def lines_of(separator: str, quote: str, escape: str) -> list[str | None]:
    """Random lines, of which many are in the usual form."""
    draw = random.Random(5)
    characters = str.maketrans({",": separator, '"': quote, "\\": escape})

    def field() -> str:
        text = "".join(draw.choices(PIECES, k=draw.randrange(4)))
        match draw.randrange(6):
            case 0:
                return text
            case 1 | 2:
                return '"' + text.replace('"', '""').replace("\\", "") + '"'
            case _:
                return "".join(c for c in text if c not in '",\\')

    widths = (*range(1, 5), *[3] * 12)
    drawn = [",".join(field() for _ in range(draw.choice(widths))) for _ in range(6_000)]
    return [None, "", *(line.translate(characters) for line in drawn)]


@pytest.mark.parametrize(
    "characters", [',"\\', "\t'\\", '|"^', ';"|', ' "\\', '*"?', "-.]", "^$[", 'a"\\', '\x01"\\', 'é"\\', ',"\x00']
)
@pytest.mark.parametrize("batch", [7, 1_000])
def test_the_same_fields(characters: str, batch: int) -> None:
    reader = OpenCsv(*characters)
    lines = lines_of(*characters)
    expected = [None if line is None else reader(line) for line in lines]
    found = [
        fields
        for start in range(0, len(lines), batch)
        for fields in reader.columns(pa.array(lines[start : start + batch], pa.string())).to_pylist()
    ]
    different = [each for each in zip(lines, expected, found, strict=True) if each[1] != each[2]]
    assert not different, str(different[:5])


class Observed(OpenCsv):
    """Remembers the lines that are read by the rules."""

    lines: list[str]

    def __call__(self, line: str) -> list[str] | None:
        self.lines.append(line)
        return super().__call__(line)


def test_lines_of_equal_fields_need_no_rules() -> None:
    reader = Observed(",", '"', "\\")
    reader.lines = []
    found = reader.columns(pa.array(['"a,b",c', 'd,"say ""e"""', '"",', 'C:\\d,"\\""', None]))
    assert found.to_pylist() == [["a,b", "c"], ["d", 'say "e"'], ["", ""], ["C:d", '"'], None]
    assert reader.lines == ['"a,b",c'], "the number of fields of the first line"
