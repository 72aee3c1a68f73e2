"""hivedruid installed from its wheel, in an environment that has no other hivedruid."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Installation:
    sdist: Path
    wheel: Path
    folder: Path

    def command(self, *arguments: str) -> list[str]:
        return [str(self.folder / "bin" / "hivedruid"), *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `hivedruid`, in a folder without a checkout."""
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, cwd=self.folder, timeout=600
        )


def install(folder: Path) -> Installation:
    """Build the sdist from the files of the repository, the wheel from the sdist, and install the wheel. Its
    dependencies are those of this environment, whose own hivedruid is not visible."""
    source = _copied(folder)
    sdist = _built("build_sdist", source, folder)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    wheel = _built("build_wheel", unpacked, folder)
    environment = folder / "environment"
    venv.create(environment, symlinks=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(environment)}))
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    python = str(environment / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "--no-index", "--force-reinstall", str(wheel)], check=True, capture_output=True)
    return Installation(sdist, wheel, environment)


def built_wheel(folder: Path) -> Path:
    """Build the wheel from the files of the repository."""
    return _built("build_wheel", _copied(folder), folder)


def _copied(folder: Path) -> Path:
    """The files of the repository, in a folder in which a build may write."""
    source = folder / "source"
    for name in tracked_files():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return source


def tracked_files() -> list[str]:
    """The files that git knows, and those that it would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def _built(hook: str, source: Path, target: Path) -> Path:
    code = f"import sys; from setuptools import build_meta; build_meta.{hook}(sys.argv[1])"
    subprocess.run([sys.executable, "-c", code, str(target)], cwd=source, check=True, capture_output=True)
    (made,) = target.glob("*.tar.gz" if hook == "build_sdist" else "*.whl")
    return made
