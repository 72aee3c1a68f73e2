"""When local evaluation gives way to Spark: before it runs, or while it runs and before any row was shown."""

from __future__ import annotations


class NotLocal(Exception):  # noqa: N818 - a refusal, not a failure
    """An operator, function or type that is not in the tables of local evaluation; `reason` says which."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unsure(Exception):  # noqa: N818 - a refusal, not a failure
    """Values, or numbers of rows, that local evaluation does not take on; `reason` says what was met."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
