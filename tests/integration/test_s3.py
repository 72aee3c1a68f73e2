"""Deep storage in S3: a real Druid keeps its segments in a real S3 server, where hivedruid reads and writes them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
import requests

from hivedruid import defaults
from hivedruid.actions.writing import staging
from hivedruid.cli import main
from hivedruid.clients import wire
from hivedruid.clients.segment_list import METADATA
from hivedruid.druid.planned_segments import PlannedDimension, SegmentPlan
from hivedruid.errors import ExecutionError, UnsupportedError
from hivedruid.file_writers import UNKNOWN
from hivedruid.filesystems import Access, local_copy, open_location
from hivedruid.local.state import LocalServices
from hivedruid.qtest.sharing import SPARK_HOME
from hivedruid.segments.segment import open_segment
from hivedruid.spark.file_schemas import FileSchemas
from hivedruid.spark.segment_tasks import UNFINISHED, Build, Divide
from pyspark_hivedruid import DruidReader
from tests.support import killed
from tests.support.ingestion import IngestionHome
from tests.support.s3 import BASE_KEY, BUCKET, KEY, SECRET, S3Server, conditional_s3_server, druid_in_s3, s3_server
from tests.unit.segments.made import ZIPS

pytestmark = [pytest.mark.spark, pytest.mark.local]

READ = "druid.segments: read from"
WRITERS = Path(__file__).parents[1] / "hive" / "writers"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    with s3_server(tmp_path_factory.mktemp("s3")) as running:
        yield running


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory, server: S3Server) -> Iterator[LocalServices]:
    with druid_in_s3(tmp_path_factory.mktemp("druid"), server) as running:
        yield running


FILES = {
    "hivedruid.druid.read": "segments", "hivedruid.local.evaluation.max.rows": "0",
    "hivedruid.druid.deep.storage": f"s3://{BUCKET}/{BASE_KEY}",
}  # fmt: skip
"""Spark reads all rows from segment files: Druid has no md5()."""


@pytest.fixture
def home(tmp_path: Path, services: LocalServices, server: S3Server) -> Iterator[IngestionHome]:
    made = IngestionHome(tmp_path / "home", services, **server.settings, **FILES)
    yield made
    made.close()


@pytest.fixture(scope="module")
def of_druid(tmp_path_factory: pytest.TempPathFactory, services: LocalServices, server: S3Server) -> Iterator[str]:
    """A data source with nine rows, which a task of Druid wrote."""
    made = IngestionHome(tmp_path_factory.mktemp("home"), services, **server.settings)
    name = table(made, "of_druid")
    made.run("SET hivedruid.druid.write=native")
    made.run(f"INSERT INTO {name} VALUES {values(9)}")
    yield name
    made.close()


def table(home: IngestionHome, name: str) -> str:
    """A table, whose data source is dropped with the home."""
    home.sources[name] = name
    return over(home, name)


def over(home: IngestionHome, name: str) -> str:
    home.run(
        f"CREATE EXTERNAL TABLE {name} (`__time` timestamp, s string, n bigint) STORED BY 'druid' TBLPROPERTIES"
        f" ('druid.datasource'='{name}', 'druid.segment.granularity'='DAY', 'druid.rollup'='false', 'external.table.purge'='true')"
    )
    return name


def values(count: int) -> str:
    """Rows of two days."""
    return ", ".join(f"(timestamp '2024-01-0{1 + n % 2} 00:00:{n:02}', 's{n % 3}', {n})" for n in range(count))


def test_files_and_folders(server: S3Server, tmp_path: Path) -> None:
    """Names, sizes above and below that of a part of an upload, and what does not exist."""
    source, back = tmp_path / "source", tmp_path / "back"
    folder = server.location("files/a b:50%")
    assert not folder.exists()
    for name, size in (("empty", 0), ("small+é", 1000), ("large", 12 << 20)):
        source.write_bytes(b"x" * size)
        (folder / name).write_from(source)
        (folder / name).read_into(back)
        assert back.read_bytes() == source.read_bytes()
    assert folder.is_folder()
    assert folder.names() == ["empty", "large", "small+é"]
    (folder / "large").remove()
    (folder / "large").remove()
    assert server.keys("files") == ["files/a b:50%/empty", "files/a b:50%/small+é"]
    folder.remove()
    assert server.keys("files") == []
    with pytest.raises(FileNotFoundError):
        (folder / "large").read_into(back)


def test_who_wrote_files(server: S3Server, tmp_path: Path) -> None:
    """Files of Hive in several zones, below a folder and by name; hidden ones are not read, and files only once."""
    place = f"s3a://{BUCKET}/writers"
    for form in ("parquet", "avro"):
        for name in ("pacific", "kolkata", "utc"):
            file = WRITERS / f"{form}_{name}.{form}"
            server.location(f"writers/{form}/sub/{name} [1]").write_from(file)
            server.location(f"writers/{form}/_hidden/{name}").write_from(file)
            shutil.copy(file, tmp_path / f"{form}_{name}")
        notes: list[str] = []
        schemas = FileSchemas(server.settings, notes.append)
        here = {
            writer: tuple(f"{place}/{form}/sub/{Path(file).name.partition('_')[2]} \\[1\\]" for file in files)
            for writer, files in schemas.writers(
                [str(tmp_path / f"{form}_{name}") for name in ("kolkata", "pacific", "utc")], form, has_times=True
            ).items()
        }
        assert {writer.zone for writer in here} == {"US/Pacific", "Asia/Kolkata", "UTC"}
        assert schemas.writers([f"{place}/{form}", f"{place}/nothing"], form, has_times=True) == here
        assert schemas.writers([f"{place}/{form}"], form, has_times=False) == {}
        one = schemas.writers([f"{place}/{form}/_hidden/utc"], form, has_times=True)
        assert [writer.zone for writer in one] == ["UTC"]
        (tmp_path / "damaged").write_bytes(b"x")
        server.location(f"writers/{form}/damaged").write_from(tmp_path / "damaged")
        assert schemas.writers([f"{place}/{form}"], form, has_times=True).keys() - here.keys() == {UNKNOWN[form]}
        assert notes == []


def test_access_as_spark_has_it(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The endpoint and region are those of Hadoop's settings, the keys those of the environment."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    server.location("hadoop/utc").write_from(WRITERS / "parquet_utc.parquet")
    prefix = "spark.hadoop.fs.s3a.endpoint"
    schemas = FileSchemas({prefix: server.endpoint, f"{prefix}.region": "us-east-1"})
    (writer,) = schemas.writers([f"s3a://{BUCKET}/hadoop"], "parquet", has_times=True)
    assert writer.zone == "UTC"


def test_a_server_with_conditional_writes(tmp_path: Path) -> None:
    """It refuses a write whose condition is false."""
    with conditional_s3_server(tmp_path) as other:

        def put(value: str, **conditions: str) -> tuple[int, str]:
            headers = {key.replace("_", "-"): text for key, text in conditions.items()}
            answer = requests.put(f"{other.endpoint}/{BUCKET}/a", value.encode(), headers=headers, timeout=60)
            return answer.status_code, answer.headers.get("ETag", "")

        status, tag = put("first", If_None_Match="*")
        assert status == 200
        assert put("second", If_None_Match="*")[0] == 412
        assert put("second", If_Match='"0123"')[0] == 412
        assert put("second", If_Match=tag)[0] == 200
        assert put("third", If_Match=tag)[0] == 412
        other.location("a").read_into(tmp_path / "a")
        assert (tmp_path / "a").read_text() == "second"


def test_files_of_tables_and_jobs(home: IngestionHome, server: S3Server, tmp_path: Path) -> None:
    """They are written by Spark, and deleted by hivedruid."""
    (tmp_path / "rows").write_bytes(b"1")
    for key in ("tables/a%20b/part-0", "tables/a b/part-0", "staging/job/part-0"):
        server.location(key).write_from(tmp_path / "rows")
    home.run(
        f"CREATE EXTERNAL TABLE f (a string) STORED AS textfile LOCATION 's3a://{BUCKET}/tables/a%20b'"
        " TBLPROPERTIES ('external.table.purge'='true')"
    )
    home.run("DROP TABLE f")
    staging.remove(f"s3a://{BUCKET}/staging/job", home.session._get_services())
    assert home.notes == []
    assert [*server.keys("tables"), *server.keys("staging")] == ["tables/a b/part-0"]
    home.run("SET hivedruid.s3.secret.key=file:/none")
    staging.remove(f"s3a://{BUCKET}/staging/job", home.session._get_services())
    (note,) = home.notes
    assert (
        note
        == f"cannot delete s3a://{BUCKET}/staging/job: hivedruid.s3.secret.key: cannot read /none: No such file or directory"
    )


def test_segments_as_zip_and_as_folder(server: S3Server, tmp_path: Path) -> None:
    zipped = server.location("one/index.zip")
    zipped.write_from(ZIPS[0])
    shutil.unpack_archive(ZIPS[0], tmp_path)
    for path in tmp_path.iterdir():
        (server.location("two/index") / path.name).write_from(path)
    for place in (zipped.uri, f"s3://{BUCKET}/two/index/", f"s3a://{BUCKET}/one"):
        with local_copy(place, server.access) as path, open_segment(path) as segment:
            assert segment.rows == 300


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"s3_secret_key": "file:/none"}, "cannot read /none"),
        ({"s3_secret_key": "env:WRONG"}, "ACCESS_DENIED"),
        ({"s3_access_key": ""}, "ACCESS_DENIED"),
    ],
)
def test_without_access(server: S3Server, changes: dict[str, str], error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRONG", "hunter3")
    server.location("one/index.zip").write_from(ZIPS[0])
    access = Access(**{**server.access.__dict__, **changes})
    with pytest.raises(OSError, match=error) as caught:
        open_location(f"s3://{BUCKET}/one/index.zip", access).exists()
    assert "hunter" not in str(caught.value)


def test_spark_reads_segments_of_druid(
    home: IngestionHome, of_druid: str, server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(home, of_druid)
    assert [key.rpartition("/")[2] for key in server.keys(f"{BASE_KEY}/{of_druid}")] == ["index.zip"] * 2
    monkeypatch.setenv("OF_THIS_PROCESS", SECRET)  # Spark's server was started before
    home.run("SET hivedruid.s3.secret.key=env:OF_THIS_PROCESS")
    query = f"SELECT n, md5(s) FROM {of_druid} WHERE s = 's1'"
    plan = "\n".join(str(row["Explain"]) for row in home.run(f"EXPLAIN {query}"))
    assert f"{READ} 2 files" in plan
    assert SECRET not in plan
    assert sorted(row["n"] for row in home.run(query)) == [1, 4, 7]
    assert home.notes == []
    assert not [*(home.folder / "scratch").glob("*")]
    files = [path for path in Path(os.environ[SPARK_HOME]).rglob("*") if path.is_file()]
    assert [path.name for path in files if path.name == "spark.log"] == ["spark.log"]
    assert not [path for path in files if SECRET.encode() in path.read_bytes()]


@pytest.mark.parametrize("mode", ["auto", "segments"])
def test_segments_that_cannot_be_read(
    home: IngestionHome, of_druid: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(home, of_druid)
    home.run(f"SET hivedruid.druid.read={mode}")
    monkeypatch.setattr("hivedruid.actions.segments.FEW", 1)
    monkeypatch.setenv("WRONG", "hunter3")
    for reference, reason in (("env:WRONG", "ACCESS_DENIED"), ("env:UNSET", "UNSET, which is not set")):
        home.run(f"SET hivedruid.s3.secret.key={reference}")
        assert sorted(row["n"] for row in home.run(f"SELECT n, md5(s) FROM {of_druid}")) == [*range(9)]
        if mode == "segments":
            (note,) = home.notes
            assert reason in note
            assert note.endswith("; reading the rows with queries")
            assert "hunter" not in note
        home.notes.clear()


def test_the_format_of_pyspark(of_druid: str, services: LocalServices, server: S3Server) -> None:
    options = {"druid.url": services.broker, "druid.coordinator.url": services.coordinator, **server.settings}
    reader = DruidReader({"datasource": of_druid, **options}, ("n",))
    batches = [batch for part in reader.partitions() for batch in reader.read(part)]
    assert sorted(pa.Table.from_batches(batches)["n"].to_pylist()) == [*range(9)]


def test_commands(
    of_druid: str, services: LocalServices, server: S3Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    conf = {"druid.url": services.broker, "druid.coordinator.url": services.coordinator, **server.settings}
    defaults.write(tmp_path, conf)

    def run(code: int, *arguments: str) -> list[str]:
        """The last words of each line."""
        assert main(["segments", *arguments, "--home", str(tmp_path)]) == code
        return [line.rpartition(": ")[2] for line in capsys.readouterr().out.splitlines()]

    assert run(0, "diff", of_druid) == ["equal, 5 rows", "equal, 4 rows"]
    places = [f"s3://{BUCKET}/{key}" for key in server.keys(f"{BASE_KEY}/{of_druid}")]
    assert run(0, "verify", *places) == ["intact, 5 rows", "intact, 4 rows"]
    assert run(1, "verify", f"s3://{BUCKET}/none")[0] == "damaged"


def load_specs(home: IngestionHome, name: str) -> list[dict[str, object]]:
    stored = home.druid.client.get("coordinator", f"{METADATA}&datasources={name}", list[wire.DataSegment])
    return [segment.load_spec or {} for segment in stored]


def test_spark_writes_segments(home: IngestionHome, server: S3Server) -> None:
    """Druid loads them from S3, Spark reads them there, and Druid deletes them."""
    name = table(home, "of_spark")
    home.run("SET hivedruid.druid.write=segments")
    insert = f"INSERT INTO {name} VALUES {values(9)}"
    (shown, *_) = [
        line for line in map(str, (row["Explain"] for row in home.run(f"EXPLAIN {insert}"))) if "built" in line
    ]
    assert f"built by Spark in s3://{BUCKET}/{BASE_KEY} (hivedruid.druid.write=segments)" in shown
    home.run(insert)
    assert home.notes == []
    specs = load_specs(home, name)
    assert [(spec["type"], spec["bucket"], spec["S3Schema"]) for spec in specs] == [("s3_zip", BUCKET, "s3n")] * 2
    keys = server.keys(f"{BASE_KEY}/{name}")
    assert sorted(str(spec["key"]) for spec in specs) == keys
    assert all(key.startswith(f"{BASE_KEY}/{name}/hivedruid-") and key.endswith("/index.zip") for key in keys)
    read = f"SELECT n, md5(s) FROM {name}"
    assert f"{READ} 2 files" in str(home.run(f"EXPLAIN {read}"))
    assert sorted(row["n"] for row in home.run(read)) == [*range(9)]
    home.run(f"INSERT OVERWRITE TABLE {name} VALUES {values(2)}")
    assert sorted(row["n"] for row in home.run(f"SELECT n FROM {name}")) == [0, 1]
    assert home.notes == []
    home.run(f"DROP TABLE {name}")
    assert server.keys(f"{BASE_KEY}/{name}") == []


def test_druid_hides_where_its_deep_storage_is(home: IngestionHome) -> None:
    name = table(home, "hidden")
    home.run("SET hivedruid.druid.deep.storage=")
    home.run("SET hivedruid.druid.write=segments")
    with pytest.raises(UnsupportedError, match=r"SET hivedruid.druid.deep.storage=s3://druid/<druid.storage.baseKey>"):
        home.run(f"INSERT INTO {name} VALUES {values(2)}")


def test_a_bucket_that_does_not_exist(home: IngestionHome) -> None:
    name = table(home, "nowhere")
    home.run("SET hivedruid.druid.deep.storage=s3://nobucket/deep")
    home.run("SET hivedruid.druid.write=segments")
    with pytest.raises(ExecutionError, match=r"cannot write to s3://nobucket/deep: .*NO_SUCH_BUCKET"):
        home.run(f"INSERT INTO {name} VALUES {values(2)}")


def test_a_write_that_fails_leaves_no_files(home: IngestionHome, server: S3Server) -> None:
    name = table(home, "failed")
    home.run("SET hivedruid.druid.write=segments")
    with pytest.raises(ExecutionError, match="1 of 3 rows have no time"):
        home.run(f"INSERT INTO {name} VALUES {values(2)}, (NULL, 'x', 1)")
    assert server.keys(f"{BASE_KEY}/{name}") == []
    assert home.run("SHOW JOBS")[0]["state"] == "cancelled"


def test_a_cancelled_job_leaves_no_files(home: IngestionHome, server: S3Server) -> None:
    """Its process was killed when the segments were built."""
    name = table(home, "cancelled")
    conf = {**home.conf, "hivedruid.druid.write": "segments"}
    outcome = killed.run(home.folder, conf, f"INSERT INTO {name} VALUES {values(4)}", "stage")
    assert (outcome.killed, outcome.error) == (True, "")
    assert len(server.keys(f"{BASE_KEY}/{name}")) == 2
    (job,) = home.run("SHOW JOBS")
    home.run(f"CANCEL JOB '{job['id']}'")
    assert server.keys(f"{BASE_KEY}/{name}") == []
    assert home.notes == []


def test_a_worker_of_a_cancelled_job_writes_nothing(server: S3Server) -> None:
    folder = f"{BASE_KEY}/worker/hivedruid-x"
    (day,) = Divide("DAY")(iter([pa.RecordBatch.from_pylist([{"__time": 0, "n": 1}])]))
    plan = SegmentPlan("DAY", "NONE", (PlannedDimension("n", "LONG"),), (), False, 10)
    build = Build(plan, f"s3://{BUCKET}/{folder}", (), server.access)
    with pytest.raises(FileNotFoundError, match="the job was cancelled"):
        list(build(iter([day])))
    assert server.keys(folder) == []
    (server.location(folder) / UNFINISHED).write(b"")
    (result,) = build(iter([day]))
    assert f"{folder}/{result['path'][0]}" in server.keys(folder)


@pytest.mark.parametrize("way", ["auto", "segments"])
def test_segments_that_cannot_be_written(
    home: IngestionHome, of_druid: str, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = table(home, f"unwritten_{way}")
    over(home, of_druid)
    home.run(f"SET hivedruid.druid.write={way}")
    monkeypatch.setenv("WRONG", "hunter3")
    home.run("SET hivedruid.s3.secret.key=env:WRONG")
    insert = f"INSERT INTO {name} SELECT * FROM {of_druid}"
    if way == "segments":
        with pytest.raises(UnsupportedError, match=r"cannot access the deep storage of Druid, s3://.*ACCESS_DENIED"):
            home.run(insert)
    else:
        home.run("SET hivedruid.druid.read=query")
        home.run(insert)
        assert sorted(row["n"] for row in home.run(f"SELECT n FROM {name}")) == [*range(9)]
    assert not [note for note in home.notes if "hunter" in note]
