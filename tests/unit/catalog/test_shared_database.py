"""Several connections of one process to the catalog's file, beside other processes.

SQLite's locks are POSIX locks, which a process loses for a file when it closes any descriptor of it
(https://sqlite.org/howtocorrupt.html, 2.2). Another process then takes itself for the only one, and deletes the log
that this one still writes to.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.catalog.store import Catalog
from hivedruid.iceberg import home_catalog

_READER = """
import sys
from pathlib import Path
from hivedruid.catalog.database import open_database
connection = open_database(Path(sys.argv[1]))
print(*(name for (name,) in connection.execute("SELECT name FROM databases ORDER BY name")))
connection.close()
"""


def _databases(home: Path) -> list[str]:
    """The databases that another process sees."""
    done = subprocess.run([sys.executable, "-c", _READER, str(home)], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    "open_again", [lambda home: open_database(home).close(), home_catalog.prepare], ids=["catalog", "iceberg"]
)
def test_a_second_connection_does_not_end_the_locks_of_the_first(
    tmp_path: Path, open_again: Callable[[Path], None]
) -> None:
    with closing(open_database(tmp_path)) as connection:
        open_again(tmp_path)
        assert _databases(tmp_path) == ["default"]
        Catalog(connection).add_database("added")
        assert _databases(tmp_path) == ["added", "default"]
