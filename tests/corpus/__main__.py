"""python -m tests.corpus [TEXT …]: write the expectations of all scripts, or of those with TEXT in their names."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from hivedruid.spark import session
from tests.corpus import imports
from tests.corpus.answers import Answer, answer, asked, expectation, scripts
from tests.corpus.sample import fill


def main(*names: str) -> int:
    for script in imports.scripts():
        expectation(script).write_text("\n".join(imports.imported(script)), encoding="utf-8")
    with TemporaryDirectory(prefix="hivedruid-corpus-") as folder:
        home = Path(folder) / "home"
        fill(home)
        for script in scripts():
            if not names or any(name in script.name for name in names):
                answers = [a if isinstance(a, Answer) else answer(a, spark=True) for a in asked(script, home)]
                expectation(script).write_text("\n".join(a.text for a in answers), encoding="utf-8")
                print(f"{len(answers):4} {script.name}")
        session.release_all()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
