"""`hivedruid sql --output`, and `--format arrow`: the values of each type in each format, whole files, flat memory."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from pyarrow import parquet

from hivedruid import render
from hivedruid.arrow_files import BINARY
from hivedruid.catalog import types
from hivedruid.catalog.types import HiveType, array_of, decimal
from hivedruid.cells import DayTimeInterval, YearMonthInterval
from hivedruid.cli import main
from hivedruid.errors import DruidError, Span, UsageError
from hivedruid.output_file import SUFFIXES, opened
from hivedruid.results import Batch, Batches, Result, ResultColumn, text_result

ZONE = ZoneInfo("US/Pacific")
INSTANT = datetime(2020, 1, 1, 1, 2, 3, 500000, ZONE)
COLUMNS: dict[str, tuple[HiveType, Any, str, Any]] = {
    "flag": (types.BOOLEAN, True, "true", True),
    "big": (types.BIGINT, 2**63 - 1, "9223372036854775807", 2**63 - 1),
    "small": (types.TINYINT, -128, "-128", -128),
    "single": (types.FLOAT, 1.5, "1.5", 1.5),
    "number": (types.DOUBLE, 1e10, "1.0E10", 1e10),
    "exact": (decimal(38, 2), Decimal("1" * 36 + ".10"), "1" * 36 + ".10", Decimal("1" * 36 + ".10")),
    "empty": (types.STRING, "", "", ""),
    "text": (types.STRING, 'a,"b"\n', 'a,"b"\n', 'a,"b"\n'),
    "bytes": (types.BINARY, b"\xff", "FF", b"\xff"),
    "day": (types.DATE, date(1, 1, 1), "0001-01-01", date(1, 1, 1)),
    "at": (types.TIMESTAMP, datetime(2020, 1, 1), "2020-01-01 00:00:00", datetime(2020, 1, 1)),
    "instant": (types.TIMESTAMP_LTZ, INSTANT, "2020-01-01 01:02:03.5 US/Pacific", INSTANT),
    "list": (array_of(types.INT), [1, None], "[1,null]", [1, None]),
    "map": (HiveType("map", children=(types.STRING, types.INT)), {"k": 1}, '{"k":1}', [("k", 1)]),
    "pair": (HiveType("struct", children=(types.INT,), fields=("x",)), {"x": 1}, '{"x":1}', {"x": 1}),
    "span": (types.INTERVAL_DAY_TIME, DayTimeInterval(days=1), "1 00:00:00.000000000", timedelta(days=1)),
    "months": (types.INTERVAL_YEAR_MONTH, YearMonthInterval(14), "1-2", pa.MonthDayNano([14, 0, 0])),
    "nothing": (types.VOID, None, "", None),
}
"""By column: the type, a value, its text as Hive prints it, and its value in Arrow."""


def every_type() -> Result:
    """A row of values, and a row of nulls."""
    columns = tuple(ResultColumn(name, kind) for name, (kind, *_) in COLUMNS.items())
    return Result(columns, [tuple(value for _, value, *_ in COLUMNS.values()), (None,) * len(columns)])


def written(path: Path, result: Result) -> bytes:
    with opened(path) as file:
        assert file is not None
        file.take(Span(1, 1, 1, "SELECT"))
        file.write(result, "US/Pacific", header=True)
        file.keep()
    return path.read_bytes()


def arrow_values(*, intervals_are_text: bool = False) -> list[dict[str, Any]]:
    values = {
        name: text if intervals_are_text and name in ("span", "months") else value
        for name, (_, _, text, value) in COLUMNS.items()
    }
    return [values, dict.fromkeys(COLUMNS)]


def test_every_format_has_a_suffix() -> None:
    assert set(SUFFIXES.values()) == {*render.LAYOUTS, *BINARY} - {"table", "vertical"}


def test_every_type_in_parquet(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet", every_type())
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == arrow_values(intervals_are_text=True)


def test_every_type_in_arrow(tmp_path: Path) -> None:
    file = pa.ipc.open_file(written(tmp_path / "a.arrow", every_type())).read_all()
    stream = pa.ipc.open_stream(written(tmp_path / "a.ARROWS", every_type())).read_all()
    assert file.to_pylist() == stream.to_pylist() == arrow_values()
    assert file.schema.field("instant").type == pa.timestamp("us", tz="US/Pacific")


def test_every_type_in_csv_and_tsv(tmp_path: Path) -> None:
    comma = written(tmp_path / "a.csv", every_type()).decode()
    names, values, _ = csv.reader(io.StringIO(comma, newline=""))
    assert dict(zip(names, values, strict=True)) == {name: text for name, (_, _, text, _) in COLUMNS.items()}
    assert ',"",' in comma.splitlines()[1]
    assert comma.endswith("\n" + "," * (len(COLUMNS) - 1) + "\n")
    tabs = written(tmp_path / "a.tsv", every_type()).decode().splitlines()
    assert tabs[2].split("\t") == ["NULL"] * len(COLUMNS)
    assert [cell.replace("\\n", "\n") for cell in tabs[1].split("\t")[:-1]] == values[:-1]


def test_every_type_in_json(tmp_path: Path) -> None:
    plain = {"flag": True, "big": 2**63 - 1, "small": -128, "single": Decimal("1.5"), "number": Decimal("1E10")}
    nested = {"list": [1, None], "map": {"k": 1}, "pair": {"x": 1}, "nothing": None}
    texts = {name: text for name, (_, _, text, _) in COLUMNS.items()}
    row = texts | plain | {"exact": COLUMNS["exact"][1]} | nested
    array = json.loads(written(tmp_path / "a.json", every_type()), parse_float=Decimal)
    assert array == [row, dict.fromkeys(COLUMNS)]
    lines = written(tmp_path / "a.jsonl", every_type()).splitlines()
    assert [json.loads(line, parse_float=Decimal) for line in lines] == array


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_rows(suffix: str, tmp_path: Path) -> None:
    assert len(written(tmp_path / f"a{suffix}", Result(every_type().columns))) > 0 or suffix == ".jsonl"


def test_names_that_come_again_differ(tmp_path: Path) -> None:
    result = Result((ResultColumn("a", types.INT), ResultColumn("a", types.INT)), [(1, 2)])
    written(tmp_path / "a.parquet", result)
    assert parquet.read_table(tmp_path / "a.parquet").to_pylist() == [{"a": 1, "a_1": 2}]


def test_a_json_document_is_one_value(tmp_path: Path) -> None:
    plan = text_result("Explain", '{\n  "a": 1\n}', is_json=True)
    assert json.loads(written(tmp_path / "a.json", plan)) == {"a": 1}
    written(tmp_path / "a.parquet", plan)
    (row,) = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert json.loads(row["Explain"]) == {"a": 1}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failure_leaves_the_file_as_it_was(suffix: str, tmp_path: Path) -> None:
    def rows() -> Iterator[tuple[int]]:
        yield from ((number,) for number in range(30_000))
        raise DruidError("lost")

    path = tmp_path / f"a{suffix}"
    path.write_text("before")
    with pytest.raises(DruidError, match="lost"):
        written(path, Result((ResultColumn("a", types.INT),), rows()))
    assert path.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_a_link_stays_and_permissions_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "target.csv"
    target.write_text("before")
    target.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(target)
    written(link, Result((ResultColumn("a", types.INT),), [(1,)]))
    assert (link.is_symlink(), target.read_text(), target.stat().st_mode & 0o777) == (True, "a\n1\n", 0o640)


def test_a_second_result_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path / "a.csv") as file:
        assert file is not None
        file.take(Span(1, 1, 1, "SELECT 1"))
        with pytest.raises(UsageError, match="before this one") as error:
            file.take(Span(2, 1, 1, "SELECT 2"))
    assert error.value.span == Span(2, 1, 1, "SELECT 2")


def sql(home: Path, *arguments: str) -> int:
    return main(["sql", "--home", str(home), *arguments])


def test_the_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.csv"
    assert sql(tmp_path / "home", "-e", "SET hivedruid.now=; SELECT 1 AS a", "-o", str(path)) == 0
    assert path.read_text() == "a\n1\n"
    assert capsys.readouterr() == ("", f"{path}: 1 row\n")
    assert sql(tmp_path / "home", "-e", "SELECT 2 AS a", "-o", str(path), "--quiet") == 0
    assert path.read_text() == "a\n2\n"
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-e", "SELECT 1", "-o", "a.parkuet"], 2, "did you mean '.parquet'?"),
        (["-e", "SELECT 1", "-o", "a"], 2, "'a' has no suffix"),
        (["-e", "SELECT 1", "-o", "none/a.csv"], 2, "cannot write none/a.csv: No such file or directory"),
        (["-e", "SELECT 1", "-o", "a.csv", "--format", "csv"], 2, "--output and --format exclude each other"),
        (["-e", "SELECT 1", "-o", "a.csv", "--dry-run"], 2, "--output and --dry-run exclude each other"),
        (["-e", "CREATE DATABASE d", "-o", "a.csv"], 2, "no statement returned rows; a.csv is not written"),
        (["-e", "SELECT 1; SELECT 2", "-o", "a.csv"], 2, "line 1:11"),
        (["-e", "SELECT 1; DESCRIBE nope", "-o", "a.csv"], 1, "nope"),
        (["-e", "SELECT 1; DESCRIBE nope; SHOW DATABASES", "-o", "a.csv", "--fail-at-end"], 1, "nope"),
    ],
)
def test_refused(
    arguments: list[str],
    code: int,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sql(Path("home"), *arguments) == code
    assert message in capsys.readouterr().err
    assert {entry.name for entry in tmp_path.iterdir()} <= {"home"}


FULL = """
import resource, sys
from pathlib import Path
from hivedruid.catalog import types
from hivedruid.errors import ExecutionError, Span
from hivedruid.output_file import SUFFIXES, opened
from hivedruid.results import Result, ResultColumn

resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
result = lambda: Result((ResultColumn("n", types.BIGINT),), ((n,) for n in range(30_000)))
for suffix in SUFFIXES:
    path = Path(sys.argv[1], "a" + suffix)
    try:
        with opened(path) as file:
            file.take(Span(1, 1, 1, ""))
            file.write(result(), "UTC", header=True)
            file.keep()
    except ExecutionError as error:
        print(error.message == f"cannot write {path}: File too large")
"""


def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    """A limit of the file's size stands for the disk."""
    run = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["True"] * len(SUFFIXES)
    assert list(tmp_path.iterdir()) == []


def arrow(home: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "hivedruid", "sql", "--home", str(home), "--format", "arrow", "-e", script]
    return subprocess.run(command, capture_output=True, check=False)


def test_arrow_on_standard_output(tmp_path: Path) -> None:
    run = arrow(tmp_path, "SELECT 1 AS a; CREATE DATABASE d; SELECT 'x' AS b, NULL AS c")
    assert (run.returncode, run.stderr) == (0, b"")
    source = io.BytesIO(run.stdout)
    streams = [pa.ipc.open_stream(source).read_all().to_pylist() for _ in range(2)]
    assert streams == [[{"a": 1}], [{"b": "x", "c": None}]]
    assert source.read() == b""


def test_a_reader_of_an_arrow_stream_sees_that_rows_are_missing() -> None:
    def rows() -> Iterator[tuple[int]]:
        yield from ((number,) for number in range(30_000))
        raise DruidError("lost")

    file = io.BytesIO()
    with pytest.raises(DruidError):
        BINARY["arrow"](file, Result((ResultColumn("a", types.INT),), rows()), "UTC")
    with pytest.raises(pa.ArrowInvalid):
        pa.ipc.open_stream(file.getvalue()).read_all()


def test_arrow_is_not_written_to_a_terminal(tmp_path: Path) -> None:
    controller, terminal = os.openpty()
    command = [sys.executable, "-m", "hivedruid", "sql", "--home", str(tmp_path), "--format", "arrow", "-e", "SELECT 1"]
    with os.fdopen(controller), os.fdopen(terminal, "w") as stdout:
        run = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    assert run.returncode == 2
    assert "--output FILE.arrow" in run.stderr


MEMORY = """
import resource, sys
from pathlib import Path
import pyarrow as pa
from hivedruid.catalog import types
from hivedruid.errors import Span
from hivedruid.output_file import opened
from hivedruid.results import Batch, Batches, Result, ResultColumn

columns = (ResultColumn("n", types.BIGINT), ResultColumn("text", types.STRING))

def write(suffix, batches):
    batch = lambda number: Batch(10_000, (pa.array(range(number, number + 10_000)), pa.array([f"{number:050}"] * 10_000)))
    with opened(Path(sys.argv[1], "rows" + suffix)) as file:
        file.take(Span(1, 1, 1, ""))
        file.write(Result(columns, Batches(map(batch, range(batches)))), "UTC", header=True)
        file.keep()

for batches in (20, 80):
    for suffix in (".csv", ".parquet", ".arrow"):
        write(suffix, batches)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_many_rows_take_the_memory_of_some(tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, "-c", MEMORY, str(tmp_path)], capture_output=True, text=True, check=True)
    some, many = map(int, run.stdout.split())
    assert (tmp_path / "rows.csv").stat().st_size > 40_000_000
    assert many < 1.2 * some


@pytest.mark.parametrize("order", ["dp", "pd", "ddp", "p", "d", ""])
@pytest.mark.parametrize("layout", [*BINARY, "csv", "jsonl"])
def test_columns_with_and_without_dictionaries(order: str, layout: str) -> None:
    """A dictionary does not show in the values and types of a file, whichever batch has one."""
    texts = ["a", None, "", "b,", "a"]
    plain = pa.array(texts, pa.string())
    times = pa.array([None, 0, 1, 2, 3], pa.timestamp("ms"))
    columns = (
        ResultColumn("s", types.STRING),
        ResultColumn("v", types.HiveType("varchar", (3,))),
        ResultColumn("t", types.TIMESTAMP),
    )
    arrays = {"d": plain.dictionary_encode(), "p": plain}

    def written(kinds: str) -> bytes:
        batches = iter([Batch(5, (arrays[kind], plain, times)).parts(4) for kind in kinds])
        rows = Batches(part for parts in batches for part in parts)
        if layout not in BINARY:
            found = render.texts(Result(columns, rows), layout, header=True)
            return b"".join(text.encode() if isinstance(text, str) else bytes(text) for text in found)
        file = io.BytesIO()
        BINARY[layout](file, Result(columns, rows), "US/Pacific")
        return file.getvalue()

    found, expected = written(order), written("p" * len(order))
    if layout not in BINARY:
        assert found == expected
        return
    tables = {"parquet": parquet.read_table, "arrow": _streamed, "arrow file": _in_file}
    table, plain_table = (tables[layout](io.BytesIO(content)) for content in (found, expected))
    assert table.equals(plain_table, check_metadata=True)
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "timestamp[us]"]


def _streamed(file: io.BytesIO) -> pa.Table:
    return pa.ipc.open_stream(file).read_all()


def _in_file(file: io.BytesIO) -> pa.Table:
    return pa.ipc.open_file(file).read_all()
