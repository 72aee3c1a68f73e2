"""`hivedruid demo`: loads sample data, runs queries with their plans, and opens a prompt over the tables."""

from __future__ import annotations

import sys
from pathlib import Path
from shutil import which

import click

SCRIPT = Path(__file__).parents[1] / "local" / "quickstart.q"


@click.command()
@click.option(
    "--home",
    type=click.Path(path_type=Path),
    help="Home folder of the demo; tables that it already has are kept. [~/.hivedruid-demo]",
)
@click.option("--no-prompt", is_flag=True, help="End after the script.")
def demo(home: Path | None, *, no_prompt: bool) -> int:
    """Load 39,244 edits of Wikipedia into the embedded store and query them, then open a prompt.

    Each statement is printed with its plan (->) and its result. The sample is downloaded once (7 MB).

    Exit codes: 0 success, 1 failure, 2 usage error, 3 download unavailable, 130 interrupted.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid.local.samples import fetch
        from hivedruid.run import Output, run_text
        from hivedruid.session import Session
        from hivedruid.setting_types import EMBEDDED

        edits = fetch("wikiticker", diagnostics.progress)
        diagnostics.progress("")
        folder = home or Path.home() / ".hivedruid-demo"
        with Session(
            folder, hiveconf={"druid.url": EMBEDDED}, hivevar={"wikiticker": str(edits)}, note=diagnostics.note,
            progress=diagnostics.progress, info=diagnostics.info, confirm=diagnostics.ask,
        ) as session:  # fmt: skip
            session.on_plan = diagnostics.plan
            text = SCRIPT.read_text(encoding="utf-8")
            output = Output(time=True, echo=True)
            if code := run_text(session, text, output, diagnostics, file=SCRIPT.name):
                return code
            session.on_plan = None
            if not no_prompt and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty():
                from hivedruid.repl.prompt import run_repl

                diagnostics.info("the tables edits and wiki are kept; type help for help")
                return run_repl(session, folder / "history", Output(time=True), diagnostics)
        command = "hivedruid" if which("hivedruid") else _command_of(sys.argv[0])
        diagnostics.info(f"the tables are kept; to continue at a prompt: {command} --home {folder}")
        return 0

    return guarded(run, diagnostics)


def _command_of(program: str) -> str:
    """What starts this program again in an environment that is not activated."""
    return f"{sys.executable} -m hivedruid" if Path(program).name == "__main__.py" else program
