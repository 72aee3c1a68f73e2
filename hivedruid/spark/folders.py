"""Replacing a folder by another one."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
from pathlib import Path

_CURRENT_FOLDER = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE
_NOT_POSSIBLE = {errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP}
"""What the kernel or the file system (NFS, for example) returns that cannot exchange names."""


def swap(written: Path, target: Path) -> None:
    """Replace a folder by another in one step, after which `written` no longer exists. On a file system that needs two
    steps, the old folder is restored on failure, and a kill between them leaves it as a hidden one ending in `.former`.
    """
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        written.rename(target)
        return
    if exchange(written, target):
        shutil.rmtree(written, ignore_errors=True)
        return
    former = written.with_name(f"{written.name}.former")
    os.rename(target, former)  # noqa: PTH104
    try:
        written.rename(target)
    except BaseException:
        former.rename(target)
        raise
    shutil.rmtree(former, ignore_errors=True)


def exchange(one: Path, other: Path) -> bool:
    """Exchange the names of two folders (renameat2(2)); False where that is not possible."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):  # before glibc 2.28
        return False
    done = libc.renameat2(_CURRENT_FOLDER, os.fsencode(one), _CURRENT_FOLDER, os.fsencode(other), _EXCHANGE)
    if done == 0:
        return True
    code = ctypes.get_errno()
    if code in _NOT_POSSIBLE:
        return False
    raise OSError(code, os.strerror(code), str(other))
