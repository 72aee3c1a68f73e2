"""Where homes of earlier versions are while they are made and tested: Iceberg's metadata contain absolute paths."""

from __future__ import annotations

from pathlib import Path

HOME = Path("/tmp/hivedruid-previous-home")  # noqa: S108
