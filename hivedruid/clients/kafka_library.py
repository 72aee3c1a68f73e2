"""Imports kafka-python, and reads its errors."""

from __future__ import annotations

import warnings
from typing import Any


def kafka_python() -> Any:
    """Import kafka-python without its deprecation warnings (below Python 3.13) and its duplicate logging of errors."""
    import logging

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import kafka
        import kafka.admin
        import kafka.errors
    if not logging.getLogger("kafka").handlers:
        logging.getLogger("kafka").addHandler(logging.NullHandler())
    return kafka


def is_retriable(error: BaseException) -> bool:
    """Whether the cause of an error is one of kafka-python's after which a request may be repeated."""
    return bool(getattr(error.__cause__, "retriable", False))
