"""`hivedruid segments`: segment files in deep storage, for operators."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hivedruid import completion
from hivedruid.commands.options import CLUSTER, HOME

if TYPE_CHECKING:
    from hivedruid.engine.capabilities import SegmentStorage
    from hivedruid.filesystems import Access
    from hivedruid.plan.segment_files import SegmentFiles
    from hivedruid.segments.segment import Segment

_PATHS = click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)


_TABLE = click.argument("table", shell_complete=completion.tables)
_DRUID = click.option("--druid", metavar="URL", help="Druid to ask. [the home's druid.url]")


@click.group("segments")
def segments() -> None:
    """List, inspect, verify and compare segment files of deep storage."""


@segments.command()
@_TABLE
@HOME
@CLUSTER
@_DRUID
@click.option("--format", "layout", type=click.Choice(("table", "json", "tsv")), default="table", show_default=True)
def ls(table: str, *, home: Path | None, cluster: str | None, druid: str | None, layout: str) -> int:
    """List the segment files that queries over a table read: their time range, bytes and location.

    TABLE is a table of the catalog, or the name of a data source. Rows that only running tasks have are not listed:
    SHOW SEGMENTS lists all segments with their states.

    Exit codes: 0 success, 1 failure, 2 usage error, 3 Druid cannot be reached.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import OK, Diagnostics

    diagnostics = Diagnostics()

    def run() -> int:
        from hivedruid import render
        from hivedruid.catalog.types import BIGINT, STRING
        from hivedruid.druid.interval_sets import iso
        from hivedruid.results import Result, ResultColumn

        with _storage(table, home, cluster, druid) as (storage, data_source, _):
            found = _listed(storage, data_source)
            columns = [ResultColumn(name, STRING) for name in ("segment", "start", "end", "location")]
            columns.insert(3, ResultColumn("bytes", BIGINT))
            rows = [(f.id, iso(f.start), iso(f.end), f.size, f.location) for f in found.files]
            sys.stdout.writelines(render.lines(Result(tuple(columns), rows), layout))
            if found.growing:
                diagnostics.info(f"running tasks have {len(found.growing)} more segment(s), which are not in files yet")
        return OK

    return guarded(run, diagnostics)


@segments.command()
@_TABLE
@click.argument("ids", nargs=-1, metavar="[SEGMENT...]")
@HOME
@CLUSTER
@_DRUID
def diff(table: str, ids: tuple[str, ...], *, home: Path | None, cluster: str | None, druid: str | None) -> int:
    """Compare every value of segment files with the rows that Druid returns for the same segments.

    TABLE is a table of the catalog, or the name of a data source; SEGMENT the id of a segment, as `ls` prints it; by
    default all segments that queries read. Columns of other types than strings, numbers and arrays of strings are not
    compared.

    Exit codes: 0 all segments are equal, 1 some differ or cannot be read, 2 usage error, 3 Druid cannot be reached.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import FAILED, OK, Diagnostics

    def run() -> int:
        from hivedruid.commands.segment_diff import differences
        from hivedruid.errors import UsageError

        with _storage(table, home, cluster, druid) as (storage, data_source, access):
            known = _listed(storage, data_source)
            files = [file for file in known.files if not ids or file.id in ids]
            if unknown := set(ids) - {file.id for file in files}:
                raise UsageError(
                    f"queries over {table} read no segment {min(unknown)}",
                    hint=f"hivedruid segments ls {table} lists the segments",
                )
            differing = 0
            for file in files:
                rows, found = differences(storage, data_source, file, known.types, access)
                click.echo(f"{file.id}: {'different' if found else f'equal, {rows:,} rows'}")
                for text in found:
                    click.echo(f"  {text}")
                differing += bool(found)
        return FAILED if differing else OK

    return guarded(run, Diagnostics())


@segments.command()
@_PATHS
@HOME
@click.option("--format", "layout", type=click.Choice(("table", "json", "tsv")), default="table", show_default=True)
def inspect(paths: tuple[str, ...], *, home: Path | None, layout: str) -> int:
    """Print the columns of segments: types, encodings, distinct values, nulls and sizes.

    A PATH is the path or URI of the folder of a segment, or of an index.zip. URIs are read with the home's settings
    hivedruid.s3.* and hivedruid.azure.*.
    """
    from hivedruid.cli import guarded
    from hivedruid.diagnostics import OK, Diagnostics

    def run() -> int:
        from hivedruid import render
        from hivedruid.catalog.types import BIGINT, STRING
        from hivedruid.results import Result, ResultColumn
        from hivedruid.segments import inspection

        for path in paths:
            with _opened(path, home) as segment:
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
@HOME
def verify(paths: tuple[str, ...], *, home: Path | None) -> int:
    """Read every value of segments, and compare values with bitmaps, and times with the interval.

    A PATH is as in `inspect`.

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
                with _opened(path, home) as segment:
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
def _storage(
    name: str, home: Path | None, cluster: str | None, druid: str | None
) -> Iterator[tuple[SegmentStorage, str, Access]]:
    """The engine of a home, the data source of a table of its catalog or of that name, and the access to storage."""
    from hivedruid import configuration
    from hivedruid.cli import default_home
    from hivedruid.engine.capabilities import SegmentStorage
    from hivedruid.engine.kinds import require, session_kind
    from hivedruid.errors import TableNotFound
    from hivedruid.filesystems import Access
    from hivedruid.session import Session

    folder = (home or default_home()).absolute()
    configured = configuration.values(folder, cluster, druid)
    with Session(folder, configured=configured, hiveconf={"druid.url": druid} if druid else {}) as session:
        session_kind(session.settings).check("segment files cannot be listed", SegmentStorage)
        database, _, plain = name.lower().rpartition(".")
        table = session.catalog.find(database or "default", plain)
        data_source = table.data_source if table is not None and table.has_data_source else name
        if data_source not in session.druid().data_sources():
            raise TableNotFound(f"neither the catalog nor Druid has a table {name}", database="default", name=name)
        yield require(session.druid(), SegmentStorage), data_source, Access.of(session.settings)


def _listed(storage: SegmentStorage, data_source: str) -> SegmentFiles:
    """The files. Raises UnsupportedError if they cannot be read."""
    from hivedruid.errors import UnsupportedError

    found = storage.segment_files(data_source)
    if found.problem:
        raise UnsupportedError(f"the segment files of {data_source} cannot be read: {found.problem}")
    return found


@contextmanager
def _opened(path: str, home: Path | None) -> Iterator[Segment]:
    """The segment at a path or URI. Raises UsageError if it does not exist, ExecutionError if it cannot be read."""
    from hivedruid import configuration
    from hivedruid.cli import default_home
    from hivedruid.errors import ExecutionError, UsageError
    from hivedruid.filesystems import Access, local_copy, local_path
    from hivedruid.segments.errors import DamagedSegmentError, SegmentError
    from hivedruid.segments.segment import open_segment

    if (local := local_path(path)) is not None and not local.exists():
        raise UsageError(f"{path} does not exist", hint="name the folder of a segment in deep storage, or an index.zip")
    try:
        access = Access() if local is not None else Access.of(configuration.values((home or default_home()).absolute()))
        with local_copy(path, access) as place, open_segment(place) as segment:
            yield segment
    except SegmentError as error:
        hint = None
        if not isinstance(error, DamagedSegmentError):
            hint = "query the table instead: Druid can read it"
        raise ExecutionError(f"cannot read the segment {path}: {error}", hint=hint) from error
    except OSError as error:
        raise ExecutionError(f"cannot read the segment {path}: {error.strerror or error}") from error
