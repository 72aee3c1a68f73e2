"""`hivedruid segments ls` and `diff`: segment files compared with what a real Druid returns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hivedruid.cli import main
from tests.support.segments import INDEX_SPECS, ingest_rows, stored

if TYPE_CHECKING:
    import pytest

    from hivedruid.clients.cluster import DruidCluster
    from tests.support.cluster import Cluster

ROWS = 300


def command(cluster: Cluster, *arguments: str) -> list[str]:
    return ["segments", *arguments, "--home", str(cluster.home), "--druid", "local"]


def test_ls_and_diff(
    cluster: Cluster,
    druid: DruidCluster,
    new_data_source: Callable[[str], str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = new_data_source("listed")
    ingest_rows(druid, name, tmp_path / "rows", INDEX_SPECS["default"], ROWS)
    (folder,) = stored(druid, name)
    assert main(command(cluster, "ls", name, "--format", "json")) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (Path(row["location"]), row["start"], row["end"]) == (
        folder, "2024-01-01T00:00:00.000Z", "2024-01-02T00:00:00.000Z",
    )  # fmt: skip
    assert row["bytes"] > 0
    assert main(command(cluster, "diff", name)) == 0
    assert capsys.readouterr().out == f"{row['segment']}: equal, {ROWS} rows\n"
    _overwritten(druid, folder, new_data_source("other"), tmp_path)
    assert main(command(cluster, "diff", name, row["segment"])) == 1
    first, *others = capsys.readouterr().out.splitlines()
    assert first == f"{row['segment']}: different"
    assert others == [f"  the file has {ROWS - 1} rows, Druid returns {ROWS}"]
    (folder / "version.bin").unlink()
    assert main(command(cluster, "diff", name)) == 1
    assert "  the file cannot be read: " in capsys.readouterr().out
    assert main(command(cluster, "diff", name, "nothing")) == 2
    assert f"queries over {name} read no segment nothing" in capsys.readouterr().err
    assert main(command(cluster, "ls", "nowhere")) == 1
    assert "neither the catalog nor Druid has a table nowhere" in capsys.readouterr().err


def _overwritten(druid: DruidCluster, folder: Path, other: str, scratch: Path) -> None:
    """Give a segment the files of another one, with a row less; the historical keeps its own."""
    ingest_rows(druid, other, scratch / "others", INDEX_SPECS["default"], ROWS - 1)
    (source,) = stored(druid, other)
    for file in list(folder.iterdir()):
        file.unlink()  # a hard link
    for file in source.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())


def test_the_embedded_store_has_no_segment_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["segments", "ls", "t", "--home", str(tmp_path), "--druid", "embedded:"]) == 1
    assert "the embedded store has no segment files of Druid" in capsys.readouterr().err
