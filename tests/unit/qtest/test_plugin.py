"""The plugin in a separate project, run by a separate pytest."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\nhivedruid_q = true\n")
    (tmp_path / "first.q").write_text("CREATE DATABASE d; SHOW DATABASES;\n")
    return tmp_path


def run(project: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "--color=no", *arguments]
    outcome = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return outcome.returncode, outcome.stdout + outcome.stderr


def test_update_then_pass_then_a_readable_diff(project: Path) -> None:
    code, text = run(project)
    assert code == 1
    assert "first.q.out is missing" in text
    assert "Traceback" not in text

    assert run(project, "--hivedruid-update")[0] == 0
    expected = project / "first.q.out"
    assert expected.read_text().endswith("-- !output\nd\ndefault\n")
    assert run(project)[0] == 0

    expected.write_text(expected.read_text().replace("\nd\n", "\nx\n"))
    code, text = run(project)
    assert code == 1
    assert "-x\n+d\n" in text
    assert "runner.py" not in text
    assert "FAILED first.q::first.q" in text


def test_nothing_is_collected_unless_switched_on(project: Path) -> None:
    (project / "pytest.ini").write_text("[pytest]\n")
    assert run(project)[0] == pytest.ExitCode.NO_TESTS_COLLECTED
    code, text = run(project, "--hivedruid-q", "--collect-only", "-q")
    assert code == 0
    assert "first.q::first.q" in text


def test_one_script_can_be_chosen(project: Path) -> None:
    (project / "second.q").write_text("SHOW DATABASES;")
    code, text = run(project, "--hivedruid-update", "second.q")
    assert code == 0
    assert "1 passed" in text
    assert not (project / "first.q.out").exists()


def test_a_script_that_cannot_be_read_is_one_line(project: Path) -> None:
    (project / "first.q").write_bytes(b"\xff")
    code, text = run(project)
    assert code == 1
    assert "UsageError: cannot read" in text
    assert "runner.py" not in text


def test_hook_of_pre_commit(project: Path) -> None:
    """What pre-commit runs: the entry with the changed files that match the pattern."""
    hooks = {
        hook["id"]: hook
        for hook in yaml.safe_load((Path(__file__).parents[3] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    }
    for hook in hooks.values():
        changed = [path.name for path in project.iterdir() if re.search(hook["files"], path.name)]
        assert changed == ["first.q"]
        program, *arguments = hook["entry"].split()
        command = [str(Path(sys.executable).parent / program), *arguments, *changed]
        if hook["id"] != "hivedruid-test":
            subprocess.run(command, cwd=project, capture_output=True, check=True)
    command = [str(Path(sys.executable).parent / "hivedruid"), "test", *changed]
    assert subprocess.run(command, cwd=project, capture_output=True, check=False).returncode == 1
    subprocess.run([*command, "--update"], cwd=project, capture_output=True, check=True)
    assert subprocess.run(command, cwd=project, capture_output=True, check=False).returncode == 0
