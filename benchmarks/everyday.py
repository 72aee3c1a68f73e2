"""Everyday speed in one run: commands, rows out, bulk, and the tail of planning.

    python -m benchmarks.everyday [--quick] [PART …]

Each part runs the benchmarks of its axis as they are, one after the other. Each of their lines has what is measured,
what it is compared with, the ratio, the goal, and whether it is met; the lines that miss their goal are repeated at the
end. The machine should have nothing else to do. `--quick` has fewer rounds, and no Druid cluster.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
VERDICT = re.compile(r": (met|missed)$", re.IGNORECASE)


class Script(NamedTuple):
    """A benchmark, its arguments, and those of a quick run; it is left out of one without them."""

    name: str
    arguments: Sequence[str] = ()
    quick: Sequence[str] | None = ()


PARTS: Mapping[str, tuple[str, tuple[Script, ...]]] = {
    "A": ("Commands, whole processes", (
        Script("startup", ("--spark", "--rounds", "5"), ("--spark", "--rounds", "3")),
        Script("small_writes"),
        Script("spark", ("--rounds", "3", "--memory"), ("--rounds", "1")),
    )),
    "B": ("Rows out", (Script("rows", ("--cluster",), ("--rounds", "1")),)),
    "C": ("Bulk", (Script("bulk", (), None),)),
    "D": ("The tail of planning", (
        Script("statement_growth", ("IN of two types", "IN of pairs", "joins"), ("joins",)),
        Script("planning"),
    )),
}  # fmt: skip


def output(script: Script, *, is_quick: bool) -> Iterator[str]:
    """The lines that a benchmark prints, as it prints them, and one with its exit code if that is not 0 and no goal is
    missed."""
    arguments = script.quick if is_quick else script.arguments
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-u", "-m", f"benchmarks.{script.name}", *(arguments or ())]
    is_missed = False
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            is_missed |= verdict(line) == "missed"
            yield line.rstrip()
    if process.returncode and not is_missed:
        yield f"{script.name} failed with exit code {process.returncode}: missed"


def verdict(line: str) -> str:
    """`met`, `missed`, or nothing for a line that is not compared with a goal."""
    match = VERDICT.search(line.rstrip())
    return match[1].lower() if match else ""


def measure(parts: Sequence[str], *, is_quick: bool) -> list[str]:
    """Run the parts and print what they print. Returns the lines with a verdict."""
    compared: list[str] = []
    for part in parts:
        title, scripts = PARTS[part]
        print(f"\n{part}. {title}\n", flush=True)
        for script in scripts:
            if find_spec(f"benchmarks.{script.name}") is None or (is_quick and script.quick is None):
                continue
            begun = time.monotonic()
            for line in output(script, is_quick=is_quick):
                print(f"  {line}", flush=True)
                compared += [line] if verdict(line) else []
            print(f"  ({script.name}: {time.monotonic() - begun:.0f} s)\n", flush=True)
    return compared


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help="of A, B, C and D; default: all")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    compared = measure(options.parts or list(PARTS), is_quick=options.quick)
    missed = [line for line in compared if verdict(line) == "missed"]
    print(f"{len(compared) - len(missed)} of {len(compared)} goals are met{'; missed:' if missed else ''}")
    for line in missed:
        print(f"  {line}")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
