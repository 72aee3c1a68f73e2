"""SQLAlchemy's dialect suite over managed tables: `python -m tests.dialect [ARGUMENTS OF PYTEST]`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from hivedruid.qtest.sharing import sharing_spark
from hivedruid.session import Session

FOLDER = Path(__file__).parent
OPTIONS = (
    "--rootdir=.", "--confcutdir=.", "--config-file=setup.cfg", "--import-mode=importlib", "--tb=short", "-q", "-p",
    "no:hivedruid", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "tests.dialect.plugin",
)  # fmt: skip


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the suite in a process of its own, since its plugin changes pytest."""
    with sharing_spark(), tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        with Session(home) as session:
            for statement in session.statements("CREATE DATABASE test_schema"):
                session.execute(statement)
        url = f"hivedruid:///{home}?druid=embedded:&hive.local.time.zone=UTC"
        environment = {**os.environ, "PYTHONPATH": str(FOLDER.parents[1])}
        environment.pop("PYTEST_ADDOPTS", None)
        command = [sys.executable, "-m", "pytest", *OPTIONS, "--dburi", url, "suite.py", *arguments]
        return subprocess.run(command, cwd=FOLDER, env=environment, stdout=subprocess.PIPE, text=True, check=False)


if __name__ == "__main__":
    done = run(*sys.argv[1:])
    print(done.stdout)
    sys.exit(done.returncode)
