from __future__ import annotations

import csv
import io
import json
import struct
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from hivedruid import cli, render
from hivedruid.catalog import types
from hivedruid.catalog.types import HiveType, array_of, decimal
from hivedruid.results import Result, ResultColumn, text_result
from hivedruid.terminal import display_width

GOLDEN = Path(__file__).parent / "golden"
SUFFIX = {"table": "table.txt", "vertical": "vertical.txt", "markdown": "md"}


def awkward() -> Result:
    """One row of ordinary values, one with everything that can break a layout, one of nulls."""
    columns = (
        ResultColumn("name", types.STRING),
        ResultColumn("name", types.BIGINT),
        ResultColumn("a|b,c", types.DOUBLE),
        ResultColumn("単価", decimal(10, 2)),
        ResultColumn("single", types.FLOAT),
        ResultColumn("at", types.TIMESTAMP),
        ResultColumn("at_zone", types.TIMESTAMP_LTZ),
        ResultColumn("day", types.DATE),
        ResultColumn("flag", types.BOOLEAN),
        ResultColumn("bytes", types.BINARY),
        ResultColumn("tags", array_of(types.STRING)),
        ResultColumn("counts", HiveType("map", children=(types.STRING, types.INT))),
    )
    tenth = struct.unpack("f", struct.pack("f", 0.1))[0]
    pacific = ZoneInfo("US/Pacific")
    plain = (
        "plain", 1, 1.0, Decimal("12.50"), tenth, datetime(2015, 9, 12), datetime(2015, 9, 12, tzinfo=pacific),
        date(2015, 9, 12), True, b"abc", ["a", "b"], {"k": 1},
    )  # fmt: skip
    hostile = (
        '日本\n"tab\t|, \x1b[31m\\n NULL', -(2**63), float("nan"), Decimal("-0.01"), 1.5,
        datetime(2015, 9, 12, 23, 59, 59, 500000), datetime(2015, 9, 12, 0, 46, 58, 771000, pacific),
        date(1, 1, 1), False, b"\xff", ["x\ny", None], {'q"': 2},
    )  # fmt: skip
    empty: tuple[Any, ...] = ("", 0, 1e10, Decimal("0.00"), 1e-5, datetime(1970, 1, 1), None, None, None, b"", [], {})
    return Result(columns, [plain, hostile, empty, (None,) * len(columns)])


def text(result: Result, layout: str, *, header: bool = True) -> str:
    return "".join(render.lines(result, layout, header=header))


def small(*rows: tuple[object, ...]) -> Result:
    return Result((ResultColumn("page", types.STRING), ResultColumn("added", types.BIGINT)), rows)


@pytest.mark.parametrize("layout", render.LAYOUTS)
def test_awkward_result_in_every_layout(layout: str, request: pytest.FixtureRequest) -> None:
    golden = GOLDEN / f"awkward.{SUFFIX.get(layout, layout)}"
    shown = text(awkward(), layout).encode()
    if request.config.getoption("hivedruid_update"):
        golden.write_bytes(shown)
    assert shown == golden.read_bytes()


def test_the_command_line_offers_every_layout() -> None:
    assert tuple(render.LAYOUTS) == cli.LAYOUTS


def test_table_lines_are_equally_wide() -> None:
    assert len({display_width(line) for line in text(awkward(), "table").splitlines()}) == 1


def test_csv_reads_back() -> None:
    rows = list(csv.reader(io.StringIO(text(awkward(), "csv"))))
    assert [len(row) for row in rows] == [12] * 5
    assert rows[2][0] == '日本\n"tab\t|, \x1b[31m\\n NULL'


def test_csv_tells_null_from_the_empty_string() -> None:
    assert text(small(("", None), (None, 1)), "csv") == 'page,added\n"",\n,1\n'


def test_json_reads_back_and_its_keys_differ() -> None:
    rows = json.loads(text(awkward(), "json"))
    assert rows == [json.loads(line) for line in text(awkward(), "jsonl").splitlines()]
    assert rows[0]["name"] == "plain"
    assert rows[0]["name_1"] == 1
    assert rows[1]["a|b,c"] == "NaN"
    assert set(rows[3].values()) == {None}


@pytest.mark.parametrize(
    ("layout", "shown"),
    [
        ("table", "+------+-------+\n| page | added |\n+------+-------+\n"),
        ("csv", "page,added\n"),
        ("tsv", "page\tadded\n"),
        ("json", "[]\n"),
        ("jsonl", ""),
        ("vertical", ""),
        ("markdown", "| page | added |\n| --- | ---: |\n"),
        (
            "html",
            '<table style="white-space:pre-wrap">\n<thead>\n<tr><th>page</th><th>added</th></tr>\n</thead>\n<tbody>\n</tbody>\n</table>\n',
        ),
    ],
)
def test_no_rows(layout: str, shown: str) -> None:
    assert text(small(), layout) == shown


@pytest.mark.parametrize("layout", render.LAYOUTS)
def test_a_statement_without_an_answer_prints_nothing(layout: str) -> None:
    assert text(Result(), layout) == ""


def test_without_header() -> None:
    result = small(("a", 1))
    assert text(result, "csv", header=False) == "a,1\n"
    assert text(result, "tsv", header=False) == "a\t1\n"
    assert text(result, "markdown", header=False) == "| a | 1 |\n"
    assert text(result, "table", header=False) == "+---+---+\n| a | 1 |\n+---+---+\n"
    assert text(small(), "table", header=False) == ""


@pytest.mark.parametrize("layout", ["table", "csv", "tsv", "vertical", "markdown"])
def test_lines_of_text_stay_as_they_are(layout: str) -> None:
    plan = text_result("Explain", 'Stage-0\n  Fetch, "x" | y\n\n\tz\x1b[0m')
    assert text(plan, layout) == 'Stage-0\n  Fetch, "x" | y\n\n\tz\\x1b[0m\n'


def test_html_has_the_values_of_the_rows() -> None:
    """As a parser of HTML reads them; NULL differs from the text NULL by its class."""
    cells: list[tuple[str, str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag == "td":
                cells.append((str(dict(attrs).get("class", "")), ""))

        def handle_data(self, data: str) -> None:
            if self.lasttag == "td" and data != "\n":
                cells[-1] = (cells[-1][0], cells[-1][1] + data)

    values = ["<b>&amp;", "a  b\n  c\td", "日本", "NULL", ""]
    columns = (ResultColumn("<i>", types.STRING),)
    shown = text(Result(columns, [*((value,) for value in values), (None,)]), "html")
    Reader().feed(shown)
    assert shown.isascii()
    assert cells == [*(("", value) for value in values), ("null", "NULL")]


def test_lines_of_text_in_html() -> None:
    assert text(text_result("Explain", "  a < b\nc"), "html") == "<pre>\n  a &lt; b\nc\n</pre>\n"


def test_a_json_document_is_printed_as_it_is() -> None:
    document = {"a": ["x\x9b\u2028", {"b": None}], "c": {}}
    plan = text_result("Explain", json.dumps(document, indent=2, ensure_ascii=False), is_json=True)
    assert json.loads(text(plan, "json")) == document
    assert json.loads(text(plan, "jsonl")) == document
    assert text(plan, "jsonl").count("\n") == 1
    assert text(plan, "table").startswith('{\n  "a": [\n')


def test_lines_of_text_are_rows_in_json() -> None:
    assert text(text_result("Explain", "a\nb"), "jsonl") == '{"Explain":"a"}\n{"Explain":"b"}\n'


@pytest.mark.parametrize("layout", render.LAYOUTS)
def test_rows_are_read_as_they_are_printed(layout: str) -> None:
    """A result larger than memory is printed: output begins after the first rows, long before the last is read."""
    read = 0

    def rows() -> Iterator[tuple[object, ...]]:
        nonlocal read
        for number in range(100_000):
            read += 1
            yield "page", number

    lines = render.lines(Result(small().columns, rows()), layout)
    for _ in range(10):
        next(lines)
    assert read <= render.SAMPLE + 1


def test_a_cell_wider_than_the_sample_stands_over_the_edge() -> None:
    rows = [("a", 1)] * render.SAMPLE + [("wide", 2)]
    assert text(small(*rows), "table").splitlines()[-2] == "| wide |     2 |"
    columns = (ResultColumn("p", types.STRING),)
    shown = text(Result(columns, [("a",)] * render.SAMPLE + [("wide",)]), "table").splitlines()
    assert shown[-3:] == ["| a |", "| wide |", "+---+"]


CONTROLS = "\x1b[31m\x9b5m\x7f\x00\x08\u202e\u2028"


@pytest.mark.parametrize("layout", list(render.LAYOUTS))
def test_no_control_character_reaches_a_terminal(layout: str) -> None:
    columns = (ResultColumn(f"n{CONTROLS}", types.STRING), ResultColumn("m", array_of(types.STRING)))
    result = Result(columns, [(CONTROLS, [CONTROLS])])
    shown = "".join(render.lines(result, layout, terminal=True))
    assert all(line.replace("\t", "").isprintable() for line in shown.split("\n"))


def test_data_formats_are_exact_in_a_pipe() -> None:
    result = Result((ResultColumn("n", types.STRING),), [(CONTROLS,)])
    assert list(csv.DictReader(io.StringIO(text(result, "csv"), newline=""))) == [{"n": CONTROLS}]
    assert json.loads(text(result, "json")) == [{"n": CONTROLS}]
    assert text(result, "tsv") == "n\n" + CONTROLS.replace("\0", "\\0") + "\n"
