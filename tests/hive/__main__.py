"""Run every expression of answers.jsonl in a real Hive again: `make equivalence HIVE=1`.

HIVEDRUID_HIVE is the command that starts it: a program that writes the line {"ready": true}, then answers each line
{"sql": "SELECT …"} with one of {"columns": [[name, type], …], "rows": [[value, …], …]} or {"error": "…"}. With --add
FILE the expressions of that file, one per line, are run, too; those with the same result in both are added.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from hivedruid.spark import session
from tests.hive.answers import BATCH, Answer, differences, keep, kept
from tests.hive.test_answers import SETTINGS


def asked(command: str, expressions: list[str]) -> Iterator[Answer]:
    """Hive's results, without those of expressions that fail. Many expressions run in one SELECT, which is halved if it
    fails.
    """
    with subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hive:
        assert hive.stdin is not None
        assert hive.stdout is not None
        assert json.loads(hive.stdout.readline())["ready"]
        waiting = [expressions[i : i + BATCH] for i in range(0, len(expressions), BATCH)]
        while waiting:
            batch = waiting.pop()
            sql = "SELECT " + ", ".join(f"{e} AS c{i}" for i, e in enumerate(batch))
            hive.stdin.write(json.dumps({"sql": sql}) + "\n")
            hive.stdin.flush()
            answer = json.loads(hive.stdout.readline())
            if "error" not in answer:
                columns = zip(batch, answer["columns"], answer["rows"][0], strict=True)
                yield from (Answer(e, type_, value) for e, (_, type_), value in columns)
            elif len(batch) > 1:
                waiting += [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
        hive.stdin.close()


def main() -> None:
    command = os.environ.get("HIVEDRUID_HIVE")
    if not command:
        sys.exit("HIVEDRUID_HIVE is not set: it is the command that starts a Hive (CONTRIBUTING.md, Tests)")
    before = {answer.expression: answer for answer in kept()}
    added = Path(sys.argv[2]).read_text(encoding="utf-8").splitlines() if sys.argv[1:2] == ["--add"] else []
    now = list(asked(command, [*before, *(line for line in added if line and line not in before)]))
    changed = [a for a in now if a.expression in before and before[a.expression] != a]
    with tempfile.TemporaryDirectory() as home:
        different = differences(session.session(SETTINGS, Path(home)), now)
        session.release_all()
    for line in [*(f"Hive answers otherwise than before: {a}" for a in changed), *different]:
        print(line)
    print(f"{len(now)} expressions, {len(changed)} changed in Hive, {len(different)} differ here")
    if added:
        wrong = set(different)
        keep([a for a in now if not any(line.startswith((f"{a.expression}:", f"{a.expression} is")) for line in wrong)])
    sys.exit(1 if different or changed else 0)


if __name__ == "__main__":
    main()
