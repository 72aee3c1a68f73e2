"""The files that unfinished Spark jobs have written."""

from __future__ import annotations

import os
from pathlib import Path


def unfinished_files(folder: Path) -> list[Path]:
    """The files of tasks of unfinished jobs. Spark moves folders meanwhile, for which Path.glob may raise
    FileNotFoundError."""
    return [
        Path(base, name)
        for base, _, names in os.walk(folder)
        if "_temporary" in Path(base).parts
        for name in names
        if name.startswith("part-")
    ]
