"""The magic of Jupyter: `%load_ext hivedruid.jupyter`, then `%%hivedruid` above the statements of a cell."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from IPython.core.magic import Magics, line_cell_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from hivedruid import api
from hivedruid.diagnostics import Diagnostics, one_line
from hivedruid.errors import HiveDruidError, UsageError

if TYPE_CHECKING:
    from argparse import Namespace

    import pandas as pd
    from IPython.core.interactiveshell import InteractiveShell


class StatementError(Exception):
    """A statement of a cell failed. A notebook shows the error as the command line does, without a Python traceback;
    the cells below do not run. The cause is the HiveDruidError."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


@magics_class
class HiveDruidMagics(Magics):  # type: ignore[misc]
    """The connection of a notebook, and the magic that uses it."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._connection: api.Connection | None = None

    @magic_arguments()
    @argument("--home", help="home folder; by default HIVEDRUID_HOME, else ~/.hivedruid")
    @argument("--druid", help="embedded:, local, or the URL of a router")
    @argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting; can be repeated")
    @argument("name", nargs="?", help="variable that receives the last result as a pandas DataFrame")
    @line_cell_magic
    def hivedruid(self, line: str, cell: str | None = None) -> api.Connection | pd.DataFrame | None:
        """Run the statements of a cell and show their results; the last one is the cell's value. With options, or as
        `%hivedruid`, (re)open the connection, which `%hivedruid` returns."""
        options = parse_argstring(self.hivedruid, line)
        try:
            connection = self._connected(options)
            return connection if cell is None else self._run(connection, cell, options.name)
        except HiveDruidError as error:
            report = io.StringIO()
            Diagnostics(report).report(error)
            raise StatementError(report.getvalue()) from error

    def _connected(self, options: Namespace) -> api.Connection:
        if self._connection is None or options.home or options.druid or options.set:
            settings = dict(_setting(text) for text in options.set)
            opened = api.connect(options.home, options.druid, settings=settings, note=_note)
            self.close()
            self._connection = opened
        return self._connection

    def _run(self, connection: api.Connection, cell: str, name: str | None) -> pd.DataFrame | None:
        last: pd.DataFrame | None = None
        for result in connection.script(cell):
            if last is not None:
                display(last)
            last = None
            if result.is_text:
                print("\n".join(str(line) for (line,) in result))  # noqa: T201 - the output of the cell
            elif result.columns:
                last = result.to_pandas()
        if name is None:
            return last
        self.shell.push({name: last})
        return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(f"--set {text} has no value", hint="write --set KEY=VALUE")
    return key, value


def _note(text: str) -> None:
    print(f"note: {one_line(text)}", file=sys.stderr)  # noqa: T201


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext hivedruid.jupyter` calls."""
    shell.register_magics(HiveDruidMagics(shell))


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """What `%unload_ext hivedruid.jupyter` calls."""
    shell.magics_manager.registry["HiveDruidMagics"].close()
