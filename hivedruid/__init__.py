"""hivedruid: Hive's Druid, Kafka and ORC SQL without Hive.

`hivedruid.connect` opens a home folder from Python; see docs/python.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hivedruid import versions

if TYPE_CHECKING:
    from hivedruid.api import Column, Connection, Result, connect
    from hivedruid.errors import (
        CancelledError,
        ConnectError,
        ConstraintError,
        DruidError,
        ExecutionError,
        HiveDruidError,
        KafkaError,
        ParseError,
        PlanError,
        SemanticError,
        Span,
        SparkError,
        TableNotFound,
        UnsupportedError,
        UsageError,
    )

__version__ = versions.VERSION
__all__ = [
    "CancelledError",
    "Column",
    "ConnectError",
    "Connection",
    "ConstraintError",
    "DruidError",
    "ExecutionError",
    "HiveDruidError",
    "KafkaError",
    "ParseError",
    "PlanError",
    "Result",
    "SemanticError",
    "Span",
    "SparkError",
    "TableNotFound",
    "UnsupportedError",
    "UsageError",
    "__version__",
    "connect",
]


def __getattr__(name: str) -> Any:
    """Load the module of a public name with its first use, so that `import hivedruid` loads none."""
    if name not in __all__:
        raise AttributeError(f"module 'hivedruid' has no attribute '{name}'")
    from importlib import import_module

    module = "api" if name in ("Column", "Connection", "Result", "connect") else "errors"
    return getattr(import_module(f"hivedruid.{module}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
