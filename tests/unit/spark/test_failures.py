"""Messages contain none of Spark's error classes and states."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, ParseException

from hivedruid.catalog.types import INT, STRING, HiveType
from hivedruid.errors import SparkError
from hivedruid.plan.split import spark_job
from hivedruid.spark.failures import first_line, translate
from hivedruid.spark.segment_tasks import UNSEEN
from hivedruid.spark.worker_python import UNSUITABLE, problem
from tests.support.planning import plan
from tests.unit.spark.conftest import Home, columns, files_table

GOLDENS = Path(__file__).parents[2] / "q"
SPARKS = re.compile(r"\[[A-Z]{3,}[A-Z0-9]*_[A-Z_.]*[A-Z]\]|AnalysisException|SQLSTATE")
SAID = "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `x` cannot be resolved. SQLSTATE: 42703; line 1 pos 7"


def test_no_golden_shows_them() -> None:
    outputs = sorted(GOLDENS.glob("*.q.out"))
    assert outputs
    assert [path.name for path in outputs if SPARKS.search(path.read_text(encoding="utf-8"))] == []


def test_a_refusal_and_a_failure_are_told_in_our_words(tmp_path: Path) -> None:
    log = tmp_path / "spark.log"
    refused, failed = translate(AnalysisException(SAID), log), translate(RuntimeError(SAID), log)
    assert refused.message == "Spark rejected the planned query: A column with name `x` cannot be resolved."
    assert failed.message == "a Spark job failed: A column with name `x` cannot be resolved."
    assert all(str(log) in (error.hint or "") for error in (refused, failed))
    assert log.read_text(encoding="utf-8").count("UNRESOLVED_COLUMN") == 2


def test_an_error_of_grpc_is_its_details() -> None:
    lines = ("status = StatusCode.INTERNAL", 'details = "Received RST_STREAM: \\"x\\""', 'debug_error_string = "{y}"')
    text = "<_InactiveRpcError of RPC that terminated with:\n\t" + "\n\t".join(lines) + "\n>"
    assert first_line(text) == 'Received RST_STREAM: "x"'


def test_a_file_that_a_worker_does_not_have(tmp_path: Path) -> None:
    text = (
        "Job aborted due to stage failure: Task 0 in stage 11.0 failed 4 times, most recent failure: Lost task 0.3 in stage"
        " 11.0 (TID 42) (10.0.0.7 executor 0): org.apache.iceberg.exceptions.RuntimeIOException: Failed to open\n"
        "Caused by: java.io.FileNotFoundException: File /x does not exist\n"
    )
    error = translate(RuntimeError(text), tmp_path / "log", is_elsewhere=True)
    assert error.message == "Spark cannot find a file on worker 10.0.0.7: File /x does not exist"
    assert (error.hint or "").startswith("mount the folders of the home and of LOCATIONs on all machines of Spark")
    assert "mount" not in (translate(RuntimeError(text), tmp_path / "log").hint or "")


def test_a_union_is_not_written_into_files(tmp_path: Path) -> None:
    text = "Generic Avro union at field 'u' does not match the SQL schema. It expected the members (member0, member1)"
    error = translate(RuntimeError(text), tmp_path / "log")
    assert error.message == "INSERT does not write unions of several types into Avro files"


def test_a_server_without_the_extensions_of_iceberg(tmp_path: Path) -> None:
    statement = "ALTER TABLE hivedruid.default.t ADD PARTITION FIELD days(ts)"
    text = (
        f"[PARSE_SYNTAX_ERROR] Syntax error at or near 'FIELD': missing '('. (line 1, pos 46)\n\n== SQL ==\n{statement}"
    )
    error = translate(ParseException(text), tmp_path / "log", is_elsewhere=True)
    assert error.message.startswith("the Spark Connect server lacks Iceberg's SQL extensions")
    assert (error.hint or "").startswith("start it with spark.sql.extensions=org.apache.iceberg.")
    assert "extensions" not in translate(ParseException(text.replace("FIELD", "x")), tmp_path / "log").message


LOST = "Lost task 0.3 in stage 11.0 (TID 42) (10.0.0.7 executor 0): "


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        (
            'java.io.IOException: Cannot run program "/opt/python" (in directory "."): error=2, No such file or directory',
            "worker 10.0.0.7 cannot run /opt/python: No such file or directory",
        ),
        (
            "pyspark.errors.exceptions.base.PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different"
            " version: 3.9 than that in driver: 3.11, PySpark cannot run with different minor versions.",
            "worker 10.0.0.7 runs Python 3.9, and hivedruid runs 3.11: they must be the same",
        ),
        ("ModuleNotFoundError: No module named 'pyarrow'", "the Python of worker 10.0.0.7 lacks the package pyarrow"),
        (
            "[UNSUPPORTED_PACKAGE_VERSION] PyArrow >= 15.0.0 must be installed; however, your version is 13.0.0.",
            "the Python of worker 10.0.0.7 lacks the package PyArrow >= 15.0.0",
        ),
        (
            f"RuntimeError: {UNSUITABLE}has pyarrow 13.0.0; 22 or later is required",
            "the Python of worker 10.0.0.7 has pyarrow 13.0.0; 22 or later is required",
        ),
    ],
)
def test_an_unsuitable_python_of_a_worker(tmp_path: Path, cause: str, message: str) -> None:
    error = translate(RuntimeError(f"{LOST}{cause}"), tmp_path / "log", is_elsewhere=True)
    assert error.message == message
    assert "SET spark.pyspark.python to the path of a Python 3." in (error.hint or "")


def test_a_worker_that_does_not_see_the_deep_storage(tmp_path: Path) -> None:
    text = f"PythonException:\nFileNotFoundError: {UNSEEN}worker-7: /deep/x\n"
    error = translate(RuntimeError(text), tmp_path / "log", is_elsewhere=True)
    assert error.message == "worker worker-7 does not see the job's folder in Druid's deep storage: /deep/x"
    assert (error.hint or "").startswith("mount the deep storage on all machines of Spark, at the same path, or SET ")


def test_a_missing_module_of_a_user_function_is_not_one_of_the_worker() -> None:
    assert problem(f"{LOST}ModuleNotFoundError: No module named 'arrow'") is None


@pytest.mark.spark
@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("map(p, 1)", "a map key is NULL"),
        ("unbase64(a)", "unbase64() of a string that is not base64: Last unit does not have enough valid bits"),
        ("a RLIKE p", "invalid regular expression: Unclosed group near index 1"),
        ("split(a, p)", "invalid regular expression: Unclosed group near index 1"),
    ],
)
def test_values_that_spark_does_not_compute_are_told_in_our_words(home: Home, expression: str, message: str) -> None:
    rows = "(VALUES ('a', NULL), ('b', '(')) t(a, p)"
    with pytest.raises(SparkError) as error:
        home.query(spark_job(plan(f"SELECT {expression} FROM {rows}")).sql)
    assert error.value.message == message


@pytest.mark.spark
def test_a_union_of_several_types_is_read_as_a_struct(home: Home, tmp_path: Path) -> None:
    union = ["null", "int", "string"]
    fields = [{"name": "id", "type": "int"}, {"name": "u", "type": union}]
    schema = json.dumps({"type": "record", "name": "r", "fields": fields}).encode()
    rows = b"\x02\x02\x54" + b"\x04\x04\x06abc" + b"\x06\x00"  # 1 and 42, 2 and 'abc', 3 and null
    head = b"Obj\x01\x02\x16avro.schema" + _long(len(schema)) + schema + b"\x00"
    sync = b"0123456789abcdef"
    folder = tmp_path / "t"
    folder.mkdir()
    (folder / "a.avro").write_bytes(head + sync + _long(3) + _long(len(rows)) + rows + sync)
    struct = HiveType("struct", children=(INT, STRING), fields=("tag_0", "tag_1"))
    table = files_table(folder, columns(id=INT, u=struct), "avro")
    assert home.query("SELECT id, u.tag_0, u.tag_1 FROM t ORDER BY id", table) == [
        (1, 42, None), (2, None, "abc"), (3, None, None),
    ]  # fmt: skip


def _long(number: int) -> bytes:
    """A number as Avro writes it."""
    number, text = number << 1, b""
    while number > 127:
        number, text = number >> 7, text + bytes([number & 127 | 128])
    return text + bytes([number])


@pytest.mark.spark
def test_a_file_that_ends_too_early(home: Home, tmp_path: Path) -> None:
    """A copy that is incomplete: the error names the file."""
    folder = tmp_path / "t"
    folder.mkdir()
    whole = (Path(__file__).parents[2] / "hive" / "writers" / "avro_utc.avro").read_bytes()
    (folder / "cut.avro").write_bytes(whole[:-40])
    with pytest.raises(SparkError) as error:
        home.query("SELECT sum(id) FROM t", files_table(folder, columns(id=INT), "avro"))
    assert error.value.message.startswith("Spark cannot read the file file:")
    assert "/t/cut.avro" in error.value.message
    assert (error.value.hint or "").startswith("it may be incomplete, damaged or of another format: replace it, or ")


@pytest.mark.spark
def test_a_pattern_of_a_column_may_end_with_a_backslash(home: Home) -> None:
    rows = r"(VALUES ('q\\', 'q\\'), ('%', '\\%'), ('x', '%\\'), ('x', NULL)) t(a, p)"
    answers = home.query(spark_job(plan(f"SELECT a LIKE p FROM {rows}")).sql)
    assert answers == [(True,), (True,), (False,), (None,)]
