"""Python packages that are not part of every installation."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import Any

from hivedruid.errors import UnsupportedError


def imported(module: str, extra: str, major: str = "") -> Any:
    """A module, of a major version if one is given. Raises UnsupportedError with the extra to install."""
    hint = f"run pip install 'hivedruid[{extra}]'"
    try:
        found = import_module(module)
    except ImportError:
        raise UnsupportedError(f"the Python package {module} is not installed", hint=hint) from None
    if major and (installed := version(module)).partition(".")[0] != major:
        raise UnsupportedError(f"{module} {installed} is installed, and version {major} is required", hint=hint)
    return found
