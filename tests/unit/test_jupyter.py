"""The magic of notebooks, in a real kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from tests.support import embedded_tables

ROWS = [{"__time": n * 3_600_000, "page": page, "added": n} for n, page in ((1, "Hive"), (3, "Druid"), (5, "Hive"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebook")
    embedded_tables.create(folder / "home", "wiki", rows=ROWS)
    return folder


def run(folder: Path, *cells: str) -> list[list[dict[str, Any]]]:
    """The outputs of each cell of a notebook that is run from top to bottom."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return [cell.outputs for cell in notebook.cells]


def test_a_notebook(folder: Path) -> None:
    _, opened, shown, assigned, plan, computed, chart, api, unloaded = run(
        folder,
        "%load_ext hivedruid.jupyter",
        "connection = %hivedruid --home home --set hive.local.time.zone=UTC",
        "%%hivedruid\nSELECT count(*) AS n FROM wiki;\nSELECT page, sum(added) AS added FROM wiki GROUP BY page ORDER BY page;",
        "%%hivedruid pages\nSELECT page, sum(added) AS added FROM wiki GROUP BY page ORDER BY page",
        "%%hivedruid\nEXPLAIN SELECT count(*) FROM wiki",
        "int(pages['added'].sum())",
        "%matplotlib inline\naxes = pages.plot.bar(x='page', y='added')",
        "connection.sql('SELECT max(`__time`) AS t FROM wiki').to_pandas()['t'][0].isoformat()",
        "%unload_ext hivedruid.jupyter\nconnection.is_closed",
    )
    assert opened == []
    first, second = shown
    assert first["output_type"] == "display_data"
    assert second["output_type"] == "execute_result"
    assert "Druid" in second["data"]["text/html"]
    assert assigned == []
    assert "timeseries" in plan[0]["text"]
    assert computed[0]["data"]["text/plain"] == "9"
    assert any("image/png" in output.get("data", {}) for output in chart)
    assert api[0]["data"]["text/plain"] == "'1970-01-01T05:00:00'"
    assert unloaded[0]["data"]["text/plain"] == "True"


def test_an_error_stops_the_notebook(folder: Path) -> None:
    """It is printed as by the command line: message, place and hint, no traceback."""
    with pytest.raises(CellExecutionError) as caught:
        run(
            folder,
            "%load_ext hivedruid.jupyter",
            "%hivedruid --home home",
            "%%hivedruid\nSELECT pgae\nFROM wiki",
            "print('not run')",
        )
    text = str(caught.value)
    assert (
        "error: unknown column 'pgae'\n  --> line 1:8\n    SELECT pgae\n           ^^^^\nhint: did you mean 'page'?"
        in text
    )
    assert "Traceback" not in text
    assert "not run" not in text
