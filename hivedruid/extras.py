"""Python packages that are not part of every installation."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from hivedruid.errors import UnsupportedError


def imported(module: str, extra: str) -> Any:
    """A module. Raises UnsupportedError with the extra to install."""
    try:
        return import_module(module)
    except ImportError:
        raise UnsupportedError(
            f"the Python package {module} is not installed", hint=f"run pip install 'hivedruid[{extra}]'"
        ) from None
