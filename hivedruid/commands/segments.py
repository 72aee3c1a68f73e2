"""`hivedruid segments`: segment files in deep storage, for operators."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from hivedruid.segments.segment import Segment

_PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))


@click.group("segments")
def segments() -> None:
    """Inspect and verify segment files: folders of deep storage, or zips."""


@segments.command()
@_PATHS
@click.option("--format", "layout", type=click.Choice(("table", "json", "tsv")), default="table", show_default=True)
def inspect(paths: tuple[Path, ...], *, layout: str) -> int:
    """Print the columns of segments: types, encodings, distinct values, nulls and sizes.

    A PATH is the folder of a segment, or an index.zip.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import OK, Diagnostics

    def run() -> int:
        from hivedruid import render
        from hivedruid.catalog.types import BIGINT, STRING
        from hivedruid.results import Result, ResultColumn
        from hivedruid.segments import inspection

        for path in paths:
            with _opened(path) as segment:
                if layout == "table":
                    first, last = map(inspection.iso, inspection.time_range(segment))
                    click.echo(f"{path}: {segment.rows:,} rows from {first} to {last}, {segment.files.size:,} bytes")
                texts = [ResultColumn(name, STRING) for name in ("column", "type", "encoding")]
                numbers = [ResultColumn(name, BIGINT) for name in ("cardinality", "nulls", "bytes")]
                rows = [
                    (c.name, c.type, c.encoding, c.cardinality, c.nulls, c.size) for c in inspection.columns(segment)
                ]
                sys.stdout.writelines(render.lines(Result((*texts, *numbers), rows), layout))
        return OK

    return guarded(run, Diagnostics())


@segments.command()
@_PATHS
def verify(paths: tuple[Path, ...]) -> int:
    """Read every value of segments, and compare values with bitmaps, and times with the interval.

    Exit codes: 0 all segments are intact, 1 some are damaged.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import FAILED, OK, Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid.errors import HiveDruidError
        from hivedruid.segments.inspection import problems

        damaged = 0
        for path in paths:
            try:
                with _opened(path) as segment:
                    found = list(problems(segment))
                    click.echo(f"{path}: {'damaged' if found else f'intact, {segment.rows:,} rows'}")
            except HiveDruidError as error:
                found = [error.message]
                click.echo(f"{path}: damaged")
            for problem in found:
                click.echo(f"  {problem}")
            damaged += bool(found)
        return FAILED if damaged else OK

    return guarded(run, diagnostics)


@contextmanager
def _opened(path: Path) -> Iterator[Segment]:
    """The segment at a path. Raises UsageError if it does not exist, ExecutionError if it cannot be read."""
    from hivedruid.errors import ExecutionError, UsageError
    from hivedruid.segments.errors import DamagedSegmentError, SegmentError
    from hivedruid.segments.segment import open_segment

    if not path.exists():
        raise UsageError(f"{path} does not exist", hint="name the folder of a segment in deep storage, or an index.zip")
    try:
        with open_segment(path) as segment:
            yield segment
    except SegmentError as error:
        hint = None
        if not isinstance(error, DamagedSegmentError):
            hint = "query the table instead: Druid can read it"
        raise ExecutionError(f"cannot read the segment {path}: {error}", hint=hint) from error
    except OSError as error:
        raise ExecutionError(f"cannot read the segment {path}: {error.strerror or error}") from error
