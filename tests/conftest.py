"""What all tests share: which of them start Spark."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

# A run in the background starts with Ctrl-C ignored, and so would the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

SPARK_FOLDERS = {"q", "equivalence", "spark"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests below these folders start Spark; `make check` leaves them out."""
    here = Path(__file__).parent
    for item in items:
        if SPARK_FOLDERS & set(item.path.relative_to(here).parts):
            item.add_marker("spark")
