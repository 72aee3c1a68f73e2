"""python -m tests.suites [FOLDER]: queries of other projects' suites, whose rows are compared with those of the suites."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.suites import drill, druidsql, impala, sparksql, sqllogictest
from tests.suites.cases import Case, Outcome
from tests.suites.report import details, reasons, table
from tests.suites.running import Runner

SAMPLE = 24_000
WRONG = Path("build/suites.sql")


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.suites", description=__doc__)
    options.add_argument("folder", type=Path, nargs="?", help="its folder sqllogictest has the files of that suite")
    options.add_argument("--sample", type=int, default=SAMPLE, help="the number of queries of sqllogictest")
    options.add_argument("--seed", type=int, default=0, help="chooses other ones")
    options.add_argument("--suite", action="append", help="only this suite")
    options.add_argument("--match", default="", help="only queries whose place contains this text")
    options.add_argument("--spark", action="store_true", help="also run the queries that need Spark")
    options.add_argument("--output", type=Path, default=WRONG, help="the file for the queries that are not equal")
    chosen = options.parse_args()
    suites = _suites(chosen.folder, chosen.sample, chosen.seed)
    unknown = set(chosen.suite or ()) - set(suites)
    if unknown:
        options.error(f"unknown suite {', '.join(sorted(unknown))}; known: {', '.join(suites)}")
    found = {name: _run(name, suite(), chosen) for name, suite in suites.items() if name in (chosen.suite or suites)}
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(details(found), encoding="utf-8")
    print(reasons(found), table(found), f"The queries that are not equal are in {chosen.output}.", sep="\n")
    return int(any(outcome.verdict == "wrong" for some in found.values() for outcome in some))


def _suites(folder: Path | None, sample: int, seed: int) -> Mapping[str, Callable[[], Iterable[Case]]]:
    """The suites by name; those of a folder only with one."""
    suites: dict[str, Callable[[], Iterable[Case]]] = {
        "drill": drill.cases, "druid": druidsql.cases, "spark": sparksql.cases,
    }  # fmt: skip
    of_folder: dict[str, Callable[[Path], Iterable[Case]]] = {
        "sqllogictest": lambda files: sqllogictest.cases(files, sample, seed), "impala": impala.cases,
    }  # fmt: skip
    for name, read in of_folder.items():
        if folder is not None and (folder / name).is_dir():
            suites[name] = partial(read, folder / name)
        else:
            print(f"{name} is not run: name a folder that contains it", file=sys.stderr)
    return suites


def _run(name: str, cases: Iterable[Case], chosen: argparse.Namespace) -> list[Outcome]:
    with TemporaryDirectory(prefix="hivedruid-suites-") as home:
        runner = Runner(Path(home), spark=chosen.spark, nulls_last=name == "impala")
        try:
            some = (case for case in cases if chosen.match in case.place)
            return list(_with_progress(name, runner.run(some)))
        finally:
            runner.close()
            if chosen.spark:
                from hivedruid.spark import session

                session.release_all()


def _with_progress(name: str, outcomes: Iterator[Outcome]) -> Iterator[Outcome]:
    began = time.monotonic()
    for number, outcome in enumerate(outcomes, 1):
        if sys.stderr.isatty() and number % 50 == 0:
            rate = number / (time.monotonic() - began)
            sys.stderr.write(f"\r\x1b[K{name}: {number:,} queries, {rate:.0f} a second")
        yield outcome
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


if __name__ == "__main__":
    raise SystemExit(main())
