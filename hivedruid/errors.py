"""The errors that hivedruid raises.

HiveDruidError                 catch this to catch them all
├── UsageError                 the command line or the request itself is wrong          exit 2
├── ParseError                 the text is not a statement of the dialect               exit 2
├── SemanticError              unknown or ill-typed table, column, property, literal    exit 1
│   └── TableNotFound          no table, view or CTE has that name
├── UnsupportedError           understood, but not possible on this target              exit 1
├── PlanError                  a rule broke the planner's own contract: a bug           exit 1
└── ExecutionError             an external system rejected or failed a request          exit 1
    ├── DruidError             Druid (or the embedded store) refused or failed
    │   └── ResourceError      a query exceeds Druid's limits; raised before its first row
    ├── SparkError             a Spark job failed
    ├── KafkaError             Kafka refused or failed
    ├── CancelledError         another thread has cancelled the statement
    └── ConnectError           a service cannot be reached                              exit 3

An error carries where it happened (`span`) and what to do next (`hint`) as values. Layout, colours and
exit codes belong to `diagnostics`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import ClassVar

from hivedruid.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Span:
    """A position in a script: 1-based line and column, and the text of the line."""

    line: int
    column: int
    length: int
    source_line: str
    file: str | None = None


class HiveDruidError(Exception):
    """Base of all errors: a one-line `message`, its position as `span`, and the next step as `hint`."""

    shown_as: ClassVar[str] = ""
    """The class of errors that users know, of which this is a case."""

    def __init__(self, message: str, *, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint

    @property
    def kind(self) -> str:
        """The name of this error in golden files and in the query log."""
        return self.shown_as or type(self).__name__

    def at(self, span: Span | None) -> HiveDruidError:
        """This error, with the position if it has none yet."""
        if self.span is None:
            self.span = span
        return self


class UnreadableFileError(Exception):
    """Why a file without a table cannot be read, with its line if that is known, and what to do. It is an error of a
    statement only where that reads the file."""

    def __init__(self, reason: str, hint: str) -> None:
        super().__init__(reason)
        self.reason, self.hint = reason, hint


class UsageError(HiveDruidError):
    pass


class ParseError(HiveDruidError):
    pass


class UnsetVariableError(ParseError):
    """A `${variable}` outside of strings has no value."""

    shown_as = "ParseError"


class SemanticError(HiveDruidError):
    pass


class TableNotFound(SemanticError):  # noqa: N818 - Hive's name of this error
    """No table, view or CTE has that name. The session adds the closest name in `database` as the hint."""

    def __init__(self, message: str, *, database: str = "", name: str = "", span: Span | None = None) -> None:
        super().__init__(message, span=span, hint="run SHOW TABLES to list the tables")
        self.database = database
        self.name = name

    shown_as = "SemanticError"


class FunctionNotFound(SemanticError):  # noqa: N818 - like TableNotFound
    """No function has that name."""

    shown_as = "SemanticError"


class CatalogStateError(SemanticError):
    """The catalog does not have a database or a partition, or has a table already: it depends on the statements before,
    which import-hive may not know."""

    shown_as = "SemanticError"


class UnsupportedError(HiveDruidError):
    pass


class CapabilityError(UnsupportedError):
    """The engine of the session lacks what the statement needs; another engine may have it."""

    shown_as = "UnsupportedError"


class PlanError(HiveDruidError):
    pass


class ExecutionError(HiveDruidError):
    pass


class ConstraintError(ExecutionError):
    """A row violates a constraint of a managed table. No row was written."""

    shown_as = "ExecutionError"


class DruidError(ExecutionError):
    pass


class ResourceError(DruidError):
    """Druid refuses a query for lack of resources. `attempts` is how often the statement may be planned again."""

    attempts = 1


class TiersChangedError(ResourceError):
    """Rows of a tiered table have moved from Druid to its cold part while a query ran."""

    attempts = 8


class SegmentReadError(ResourceError):
    """The rows of a data source cannot be read from its segment files, or no longer be read as when the statement
    began."""


class SparkOptimizerError(ResourceError):
    """Spark's optimizer fails while it pushes the conditions of a query down to a managed table."""


class SparkError(ExecutionError):
    pass


class MalformedRecordError(SparkError):
    """A record of a topic cannot be parsed, and the table does not say what else is to be done with it."""


class RejectLimitError(ExecutionError):
    """A batch of a stream has more malformed records than its limit: nothing was written."""


class CommitConflictError(ExecutionError):
    """Another writer has changed a managed table since a batch began: nothing was written."""


class KafkaError(ExecutionError):
    pass


class CancelledError(ExecutionError):
    pass


class ConnectError(ExecutionError):
    pass


CLOSE = 0.6
"""The least ratio of difflib of a name that is suggested."""


def listed_names(names: Sequence[str], most: int) -> str:
    """Names for a message, of which the first `most` are shown: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint with the closest candidate, or None if nothing is close. Names with line breaks are not suggested."""
    close = closest_name(name, candidates)
    return f"did you mean '{close}'?" if close else None


def closest_name(name: str, candidates: Iterable[str]) -> str:
    """The candidate that is most similar to a name; empty if none is close. Names with line breaks do not count."""
    # The result of difflib.get_close_matches, which compares all candidates above 0.6 completely: slow for thousands of
    # tables. Upper bounds of the ratio are computed first, so that few are compared.
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(b=name)
    closest, characters, places = (CLOSE, ""), set(name), _places(name)
    for bound, alike in _by_bound(name, [c for c in candidates if "\n" not in c]):
        if bound < closest[0]:
            break
        half = (len(name) + len(alike[0])) / 2 or 1
        near = [c for c in alike if (len(name) - len(characters.difference(c))) / half >= closest[0]]
        for common, candidate in sorted(((_common(places, c), c) for c in near), reverse=True):
            if common / half < closest[0]:
                break
            matcher.set_seq1(candidate)
            closest = max(closest, (matcher.ratio(), candidate))
    return closest[1]


def _places(name: str) -> dict[str, int]:
    """The places of each character, as bits."""
    places: dict[str, int] = defaultdict(int)
    for place, character in enumerate(name):
        places[character] |= 1 << place
    return places


def _common(places: dict[str, int], candidate: str) -> int:
    """The length of the longest common subsequence, of which the matches of difflib are a part (Hyyrö 2004)."""
    unmatched = full = sum(places.values())
    for character in candidate:
        both = unmatched & places.get(character, 0)
        unmatched = (unmatched + both) | (unmatched - both)
    return (full & ~unmatched).bit_count()


def _by_bound(name: str, candidates: list[str]) -> list[tuple[float, list[str]]]:
    """The candidates by the largest ratio that their lengths and their common characters allow, the largest first;
    without those that are not close."""
    without = str.maketrans("", "", name.replace("\n", ""))
    foreign = "\n".join(candidates).translate(without).split("\n")
    shapes = list(zip(map(len, candidates), map(len, foreign), strict=False))
    size = len(name)
    bounds = {(length, n): 2.0 * min(size, length - n) / (size + length or 1) for length, n in set(shapes)}
    near = {shape for shape, bound in bounds.items() if bound >= CLOSE}
    groups: dict[tuple[int, int], list[str]] = defaultdict(list)
    for shape, candidate in zip(shapes, candidates, strict=True):
        if shape in near:
            groups[shape].append(candidate)
    return sorted(((bounds[shape], alike) for shape, alike in groups.items()), reverse=True)
