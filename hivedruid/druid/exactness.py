"""When Druid cannot say a thing exactly as Hive means it."""

from __future__ import annotations


class NotExact(Exception):  # noqa: N818 - not an error: the planner's reason to leave work to Spark
    """Raised by the translators of this package; `reason` is what EXPLAIN EXTENDED shows."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
