"""The image file: what it copies exists, and its locks have what the extras need. No registry of images is needed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")


def test_the_lock_of_psycopg_is_taken_from_that_of_the_tools() -> None:
    """The command of the image, over the file of the repository."""
    (command,) = re.findall(r"RUN (sed -n '.*?') /\S+/(requirements-dev.lock) > \S+", TEXT)
    printed = subprocess.run(
        ["bash", "-c", " ".join(command)], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    requirements = printed.replace("\\\n", "").splitlines()
    assert [line.partition("==")[0] for line in requirements] == ["psycopg", "psycopg-binary"]
    assert all("--hash=sha256:" in line for line in requirements)


def test_the_copied_files_exist() -> None:
    copied = [name for line in re.findall(r"^COPY (?!--from)(.*) \S+$", TEXT, re.MULTILINE) for name in line.split()]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
