"""kill -9 at every step of an overwrite, and a full disk: the store stays readable, with the old or the new rows."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore
from tests.support.loads import ingest

START = 1704067200000
DAY = 86_400_000
Task = Callable[..., dict[str, Any]]
Write = Callable[..., Path]

CHILD = """
import json, os, signal, sqlite3, sys
from pathlib import Path
from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore
from tests.support import loads

home, spec, step = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]

def die():
    os.kill(os.getpid(), signal.SIGKILL)

def dies(owner, name, before, calls=1):
    original = getattr(owner, name)
    left = [calls]
    def wrapped(*args, **keywords):
        left[0] -= 1
        if before and left[0] == 0:
            die()
        result = original(*args, **keywords)
        if not before and left[0] == 0:
            die()
        return result
    setattr(owner, name, wrapped)

from hivedruid.embedded import ingest
from hivedruid.embedded.manifest import Manifest
from hivedruid.embedded.storage import Storage

STEPS = {
    "before the first file": lambda: dies(ingest._Rows, "_write_segment", True),
    "after the first file": lambda: dies(ingest._Rows, "_write_segment", False),
    "after the last file": lambda: dies(ingest._Rows, "_write_segment", False, 3),
    "before the flush": lambda: dies(Storage, "make_durable", True),
    "after the flush": lambda: dies(Storage, "make_durable", False),
    "before the commit": lambda: dies(Manifest, "commit", True),
    "after marking the old": lambda: dies(Manifest, "_replace", False),
    "between the new": lambda: dies(Manifest, "_add", False, 2),
    "before COMMIT": lambda: dies(Manifest, "_add", False, 3),
    "after the commit": lambda: dies(Manifest, "commit", False),
    "before deleting": lambda: dies(Storage, "_delete_unused", True),
    "between deletions": lambda: dies(Path, "unlink", False),
    "before forgetting": lambda: dies(Manifest, "forget", True),
    "after forgetting": lambda: dies(Manifest, "forget", False),
}
store = EmbeddedStore(home, open_database(home))
STEPS[step]()
loads.ingest(store, spec)
print("survived")
"""
NEW_FROM = ("after the commit", "before deleting", "between deletions", "before forgetting", "after forgetting")
STEPS = (
    "before the first file",
    "after the first file",
    "after the last file",
    "before the flush",
    "after the flush",
    "before the commit",
    "after marking the old",
    "between the new",
    "before COMMIT",
    *NEW_FROM,
)


def values(store: EmbeddedStore) -> list[str]:
    query = {"queryType": "scan", "dataSource": "t", "columns": ["k"], "resultFormat": "compactedList"}
    return [event[0] for part in store.answer(query) for event in part["events"]]


def check_clean(home: Path) -> None:
    """The files on disk are those of the manifest."""
    connection = open_database(home)
    named = {home / row[0] for row in connection.execute("SELECT path FROM segments WHERE used = 1")}
    assert connection.execute("SELECT count(*) FROM segments WHERE used = 0").fetchone() == (0,)
    connection.close()
    on_disk = {path for path in (home / "segments").rglob("*") if path.is_file() and path.suffix != ".lock"}
    assert on_disk == named
    folders = {path for path in (home / "segments").rglob("*") if path.is_dir()}
    assert folders == {parent for path in named for parent in (path.parent, path.parent.parent)}


@pytest.mark.parametrize("step", STEPS)
def test_kill_at_every_step(home: Path, index_task: Task, write_rows: Write, step: str) -> None:
    import json

    def task(name: str, days: int) -> dict[str, Any]:
        folder = write_rows([{"__time": START + day * DAY, "k": name} for day in range(days)], name)
        return index_task("t", folder, {"k": "string"}, drop=True)

    store = EmbeddedStore(home, open_database(home))
    ingest(store, task("old", 2))
    store.close()
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(home), json.dumps(task("new", 3)), step], capture_output=True, check=False
    )
    assert (child.returncode, child.stdout) == (-signal.SIGKILL, b""), child.stderr.decode()
    again = EmbeddedStore(home, open_database(home))
    assert values(again) == (["new"] * 3 if step in NEW_FROM else ["old"] * 2)
    check_clean(home)
    ingest(again, task("next", 1))
    assert values(again) == ["next"]
    check_clean(home)
    again.close()


LOOP = """
import json, sys
from pathlib import Path
from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore
from tests.support import loads

home, specs = Path(sys.argv[1]), json.loads(sys.argv[2])
store = EmbeddedStore(home, open_database(home))
turn = 0
while True:
    turn += 1
    loads.ingest(store, specs[turn % 2])
    print(turn, flush=True)
"""


def test_kill_at_any_time(home: Path, index_task: Task, write_rows: Write) -> None:
    import json

    sizes = {"a": 2000, "b": 3000}
    specs = [
        index_task(
            "t",
            write_rows([{"__time": START + i * 600_000, "k": name} for i in range(size)], name),
            {"k": "string"},
            drop=True,
        )
        for name, size in sizes.items()
    ]
    store = EmbeddedStore(home, open_database(home))
    ingest(store, specs[0])
    store.close()
    for turns in range(1, 5):
        with subprocess.Popen(
            [sys.executable, "-c", LOOP, str(home), json.dumps(specs)], stdout=subprocess.PIPE
        ) as child:
            assert child.stdout is not None
            for _ in range(turns):
                assert child.stdout.readline()
            child.kill()
        again = EmbeddedStore(home, open_database(home))
        found = values(again)
        assert len(found) == sizes[found[0]]
        assert set(found) == {found[0]}
        check_clean(home)
        again.close()


FULL = """
import json, resource, signal, sys
from pathlib import Path
from hivedruid.catalog.database import open_database
from hivedruid.embedded.store import EmbeddedStore
from hivedruid.errors import HiveDruidError
from tests.support import loads

home, spec = Path(sys.argv[1]), json.loads(sys.argv[2])
store = EmbeddedStore(home, open_database(home))
store.schema("t")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
try:
    loads.ingest(store, spec)
except HiveDruidError as error:
    print(error.message)
    print(error.hint)
"""


def test_full_disk(home: Path, index_task: Task, write_rows: Write) -> None:
    import json

    store = EmbeddedStore(home, open_database(home))
    ingest(store, index_task("t", write_rows([{"__time": START, "k": "old"}], "old"), {"k": "string"}))
    store.close()
    rows = ({"__time": START + i, "k": f"{i * 2654435761 % 2**32:x}" * 4} for i in range(20_000))
    spec = index_task("t", write_rows(rows, "large"), {"k": "string"}, drop=True)
    child = subprocess.run(
        [sys.executable, "-c", FULL, str(home), json.dumps(spec)], capture_output=True, text=True, check=True
    )
    message, hint = child.stdout.splitlines()
    assert "File too large" in message
    assert "nothing was changed" in hint
    again = EmbeddedStore(home, open_database(home))
    assert values(again) == ["old"]
    check_clean(home)
    again.close()
