"""The exceptions that move a query from local evaluation to Spark, before it runs or before the first row is
returned."""

from __future__ import annotations


class NotLocal(Exception):  # noqa: N818 - a refusal, not a failure
    """An operator, function or type that local evaluation does not support; `reason` names it."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Unsure(Exception):  # noqa: N818 - a refusal, not a failure
    """Values, or numbers of rows, that local evaluation does not support; `reason` describes them."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
