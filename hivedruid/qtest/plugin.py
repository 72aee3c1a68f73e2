"""pytest plugin: each `*.q` script is a test that compares its output with the `.q.out` beside it.

Off by default. A project enables it in its pytest configuration with `hivedruid_q = true`, or for one run with
`--hivedruid-q`. This module loads in every pytest run of every project that has hivedruid installed, so it imports the
rest of hivedruid only when a script runs.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hivedruid.qtest.runner import Outcome

_HELP = "collect .q scripts as hivedruid tests"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hivedruid")
    group.addoption("--hivedruid-q", action="store_true", help=_HELP)
    group.addoption("--hivedruid-update", action="store_true", help="collect .q scripts and update their .q.out files")
    parser.addini("hivedruid_q", _HELP, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    """All homes of a run, including those of subprocesses, share one Spark server, which stops at the end of the
    run."""
    if _switched_on(config):
        from hivedruid.qtest.sharing import sharing_spark

        sharing = ExitStack()
        sharing.enter_context(sharing_spark())
        config.add_cleanup(sharing.close)


def _switched_on(config: pytest.Config) -> bool:
    options = ("hivedruid_q", "hivedruid_update")
    return bool(config.getini("hivedruid_q") or any(config.getoption(option) for option in options))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    collected = _switched_on(parent.config) and file_path.suffix == ".q"
    return ScriptFile.from_parent(parent, path=file_path) if collected else None


class ScriptFile(pytest.File):
    def collect(self) -> Iterable[pytest.Item]:
        yield ScriptItem.from_parent(self, name=self.path.name)


class ScriptItem(pytest.Item):
    """One script with all of its statements."""

    def runtest(self) -> None:
        from hivedruid.qtest.runner import run_script

        outcome = run_script(self.path, update=self.config.getoption("hivedruid_update"))
        if outcome.updated:
            self.add_report_section("call", "hivedruid", f"rewrote {self.path}.out")
        if not outcome.passed:
            raise ScriptFailed(outcome)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *args: Any, **kwargs: Any) -> Any:
        """Report only the diff; a stack trace is not useful for a script."""
        from hivedruid.errors import HiveDruidError
        from hivedruid.qtest.runner import report

        if isinstance(excinfo.value, ScriptFailed):
            return report(excinfo.value.outcome, colour=self.config.get_terminal_writer().hasmarkup)
        if isinstance(excinfo.value, HiveDruidError):
            return f"{excinfo.value.kind}: {excinfo.value.message}"
        return super().repr_failure(excinfo, *args, **kwargs)

    def reportinfo(self) -> tuple[Path, None, str]:
        return self.path, None, self.name


class ScriptFailed(Exception):  # noqa: N818 - an outcome, not a fault
    def __init__(self, outcome: Outcome) -> None:
        super().__init__(str(outcome.script))
        self.outcome = outcome
