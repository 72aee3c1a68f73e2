"""python -m tests.conformance [--plan] [--match TEXT] CASES: the planner on the cases of Calcite and Hive."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conformance.answers import Engines
from tests.conformance.cases import VARIABLE, Case, read
from tests.conformance.expectations import save
from tests.conformance.outcomes import Outcome, outcomes
from tests.conformance.report import report


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    options.add_argument("cases", type=Path, help="the folder of the cases")
    options.add_argument("--plan", action="store_true", help="only plan: no Druid, no rows")
    options.add_argument("--match", default="", help="only cases whose file or id has this in it")
    options.add_argument("--update", action="store_true", help="write expectations.txt: the diff is the review")
    options.add_argument("--home", type=Path, help="keeps what is ingested into the embedded store for the next run")
    chosen = options.parse_args()
    if not chosen.cases.is_dir():
        options.error(f"no such folder: {chosen.cases}")
    os.environ[VARIABLE] = str(chosen.cases)
    cases = [case for case in read(chosen.cases) if chosen.match in f"{case.file} {case.id}"]
    with ExitStack() as stack:
        if chosen.plan or chosen.update:
            made = list(outcomes(cases, None))
        else:
            home = chosen.home or Path(stack.enter_context(TemporaryDirectory(prefix="hivedruid-conformance-")))
            made = _run(cases, home, stack)
    if chosen.update:
        save(outcome.planned for outcome in made)
    sys.stdout.write(report(made))
    return 0


def _run(cases: list[Case], home: Path, stack: ExitStack) -> list[Outcome]:
    """Run every case on both engines."""
    from hivedruid.spark import session
    from tests.support.cluster import running_cluster

    home.mkdir(parents=True, exist_ok=True)
    progress = _progress if sys.stderr.isatty() else lambda _: None
    cluster = stack.enter_context(running_cluster(home / "cluster"))
    engines = Engines(home / "home", cases, cluster.druid)
    stack.callback(session.release_all)
    stack.callback(engines.close)
    progress("ingesting the rows")
    engines.ingest()
    return list(outcomes(cases, engines, progress))


def _progress(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
