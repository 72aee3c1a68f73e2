"""Ctrl-C at the prompt during a Spark job."""

from __future__ import annotations

from pathlib import Path

from tests.support.embedded_tables import create
from tests.support.prompt import PROMPT, Prompt

LONG = (
    "SELECT a.page, sum(b.added) FROM edits a JOIN edits b ON a.page = b.page WHERE a.added <> b.added GROUP BY a.page;"
)


def test_control_c_cancels_a_job_and_keeps_the_session(tmp_path: Path) -> None:
    rows = ({"__time": number * 1000, "page": f"k{number % 3}", "added": number} for number in range(60_000))
    prompt = Prompt(create(tmp_path / "home", rows=rows))
    try:
        prompt.ready()
        prompt.send(LONG + "\r")
        prompt.wait(lambda lines: any(line.startswith("Spark: stage") for line in lines), patience=300)
        prompt.send("\x03")
        prompt.wait(lambda lines: lines[-2:] == ["interrupted", PROMPT])
        assert "| 60000 |" in prompt.run("SELECT count(*) FROM edits;")
    finally:
        prompt.end()
