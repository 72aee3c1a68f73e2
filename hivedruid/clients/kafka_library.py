"""Imports kafka-python."""

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
