"""The staging folders of jobs: one for each job, below hivedruid.staging.root."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hivedruid import filesystems
from hivedruid.druid.ingestion import files_in
from hivedruid.filesystems import Access, child
from hivedruid.spark.remote_sessions import end_lost

if TYPE_CHECKING:
    from hivedruid.actions.services import Services
    from hivedruid.operations.loads import LoadJob
    from hivedruid.operations.store import Operations


def folder_of(job: LoadJob, services: Services) -> str:
    """The job's own folder: an absolute path, or the URI of remote storage. That of segments is in deep storage."""
    if job.staged is not None:
        return job.staged.folder
    if job.folder:
        return job.folder
    root = _root(services)
    return str(root / job.id) if isinstance(root, Path) else f"{root.rstrip('/')}/{job.id}"


def segment_folder(root: str, job: LoadJob) -> str:
    """The folder of a job's segments below the root of deep storage."""
    return child(root, job.data_source, f"hivedruid-{job.id}")


def _root(services: Services) -> Path | str:
    root = services.setting("hivedruid.staging.root")
    if root.startswith("file:"):
        root = root.removeprefix("file://").removeprefix("file:")
    if "://" in root:
        return root
    return Path(root).absolute() if root else services.home / "staging"


def remove(folder: str, services: Services) -> None:
    """Delete a folder; a note reports one that cannot be deleted. A job of a killed process, which may still write into
    it, is ended first."""
    try:
        if end_lost(services.home, services.settings):
            from hivedruid.spark.calls import remove_output

            remove_output(folder, Access.of(services.settings))
        filesystems.remove(folder, Access.of(services.settings))
    except OSError as error:
        services.note(f"cannot delete {folder}: {error}")


def clean(services: Services, store: Operations) -> None:
    """Delete folders that the Spark server wrote for processes that had already ended."""
    root = _root(services)
    if not isinstance(root, Path) or not root.is_dir():
        return
    for folder in root.iterdir():
        job = store.find(folder.name)
        if job is not None and job.has_ended and services.setting("hivedruid.staging.keep") != "true":
            shutil.rmtree(folder, ignore_errors=True)


def filled(spec: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """The spec with the staging folder filled in."""
    source = files_in(spec["spec"]["ioConfig"]["inputSource"], folder)
    return {**spec, "spec": {**spec["spec"], "ioConfig": {**spec["spec"]["ioConfig"], "inputSource": source}}}
