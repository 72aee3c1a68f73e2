"""The wheel and the sdist have the whole program, and it runs from the wheel without a checkout."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile

import pytest

from tests.support.installed import Installation, install, tracked_files
from tests.support.manual import FOLDER

PROGRAM = ("hivedruid/", "pyspark_hivedruid/")


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return install(tmp_path_factory.mktemp("packaging"))


def test_the_wheel_has_every_file_of_the_program(installation: Installation) -> None:
    with zipfile.ZipFile(installation.wheel) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith(PROGRAM)}
    assert packed == {name for name in tracked_files() if name.startswith(PROGRAM)}


def test_the_man_pages_are_installed(installation: Installation) -> None:
    folder = installation.folder / "share" / "man" / "man1"
    assert {path.name for path in folder.iterdir()} == {path.name for path in FOLDER.iterdir()}


def test_the_sdist_has_every_file_of_the_repository(installation: Installation) -> None:
    with tarfile.open(installation.sdist) as sdist:
        packed = {name.partition("/")[2] for name in sdist.getnames()}
    hidden = {name for name in tracked_files() if name.startswith(".")}
    assert set(tracked_files()) - hidden <= packed


def test_metadata(installation: Installation) -> None:
    with zipfile.ZipFile(installation.wheel) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = wheel.read(name).decode()
    assert "Requires-Python: >=3.11" in metadata
    assert "License-Expression: Apache-2.0" in metadata
    assert {line for line in metadata.splitlines() if line.startswith("Provides-Extra:")} == {
        f"Provides-Extra: {extra}"
        for extra in ("chart", "dev", "java", "jupyter", "metastore", "pandas", "polars", "postgres", "sqlalchemy")
    }


def test_the_command_runs(installation: Installation) -> None:
    assert installation.run("--version").stdout.startswith("hivedruid ")
    script = (
        "CREATE EXTERNAL TABLE t (`__time` timestamp, a string) STORED BY 'druid';"
        "SELECT count(*) AS n FROM t; EXPLAIN SELECT a FROM t"
    )
    ran = installation.run("sql", "--home", str(installation.folder / "home"), "-e", script, "--format", "csv")
    assert (ran.returncode, ran.stdout.splitlines()[:2]) == (0, ["n", "0"])
    assert installation.run("demo", "--help").returncode == 0


def test_the_library_is_the_installed_one(installation: Installation) -> None:
    code = (
        "import hivedruid, sqlalchemy, sys; from importlib.resources import files\n"
        "home = sys.argv[1]\n"
        "with hivedruid.connect(home) as connection: print(connection.sql('SELECT 1').fetchall())\n"
        "print(sqlalchemy.create_engine(f'hivedruid:///{home}').connect().exec_driver_sql('SELECT 2').scalar())\n"
        "print(files('hivedruid').joinpath('local', 'quickstart.q').is_file(), hivedruid.__file__)\n"
    )
    python = str(installation.folder / "bin" / "python")
    home = str(installation.folder / "library")
    ran = subprocess.run(
        [python, "-c", code, home], capture_output=True, text=True, check=True, cwd=installation.folder
    )
    first, second, third = ran.stdout.splitlines()
    assert (first, second) == ("[(1,)]", "2")
    assert third.startswith(f"True {installation.folder}/")
