"""Types docs/tutorial.md from top to bottom in a new environment with the wheel, and compares what the prompt prints with
the page: `python -m tests.support.typed_tutorial`. It prints the time of each step."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic

from tests.support.installed import built_wheel
from tests.support.pages import ROOT, blocks
from tests.support.prompt import Prompt

PATIENCE = 600.0
"""Timeout of a statement in seconds: the first one downloads Iceberg and starts Spark."""


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with _step("build the wheel"):
            wheel = built_wheel(folder)
        python = folder / "environment" / "bin" / "python"
        with _step("pip install the wheel with [java]"):
            venv.create(python.parents[1], with_pip=True)
            subprocess.run([python, "-m", "pip", "install", "--quiet", f"{wheel}[java]"], check=True)
        (folder / "work").mkdir()
        (folder / "user").mkdir()
        os.chdir(folder / "work")
        environment = {
            "HOME": str(folder / "user"),
            "PATH": f"{python.parent}:/usr/bin:/bin",
            "PYTHONPATH": "",
            "JAVA_HOME": "",
            "PAGER": "cat",
            "HIVEDRUID_SPARK_HOME": "",
        }
        begin = monotonic()
        try:
            _type(python, environment)
        finally:
            subprocess.run([python, "-m", "hivedruid", "spark", "stop", "--home", "tutorial"], check=False)
        print(f"{monotonic() - begin:6.1f} s  the whole page")


def _type(python: Path, environment: dict[str, str]) -> None:
    prompt: Prompt | None = None
    printed: list[str] = []
    for block in blocks(ROOT / "docs" / "tutorial.md"):
        if block.kind == "sh":
            subprocess.run(["/bin/sh", "-c", block.text], check=True)
        elif block.kind == "indented" and block.text.startswith("hivedruid"):
            with _step(block.text.strip()):
                arguments = block.text.split()[1:]
                prompt = Prompt(
                    Path("tutorial"), *arguments, env=environment, width=120, height=200, python=str(python)
                )
                prompt.ready()
        elif block.kind == "sql":
            assert prompt is not None
            printed = [
                line for statement in block.text.split(";\n")[:-1] for line in _typed(prompt, f"{statement.strip()};")
            ]
        elif block.kind == "":
            expected = [line for line in block.text.splitlines() if line.strip()]
            if not _contains(printed, expected):
                sys.exit(f"{block}: the page has\n{block.text}\nthe prompt printed\n" + "\n".join(printed))
            print(f"          {block}: as on the page")
    assert prompt is not None
    prompt.leave()


def _typed(prompt: Prompt, statement: str) -> list[str]:
    """Type a statement line by line; what the prompt prints until the next prompt."""
    with _step(statement.splitlines()[0]):
        for line in statement.splitlines():
            prompt.send(f"{line}\r")
        prompt.wait(lambda lines: any(line.endswith(";") for line in lines), PATIENCE)
        prompt.wait(lambda lines: lines[-1].endswith(">") and any("Time taken" in line for line in lines), PATIENCE)
    printed = list(prompt.lines)
    prompt.send("\x0c")  # clear the screen
    prompt.wait(lambda lines: len(lines) == 1)
    return printed


def _contains(printed: list[str], expected: list[str]) -> bool:
    size = len(expected)
    return any(printed[n : n + size] == expected for n in range(len(printed) - size + 1))


@contextmanager
def _step(what: str) -> Iterator[None]:
    begin = monotonic()
    yield
    print(f"{monotonic() - begin:6.1f} s  {what}", flush=True)


if __name__ == "__main__":
    main()
