"""The exception for expressions that Druid cannot compute exactly as Hive does."""

from __future__ import annotations


class NotExact(Exception):  # noqa: N818 - not an error: the planner's reason to leave work to Spark
    """Raised by the translators of this package; EXPLAIN EXTENDED shows `reason`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
