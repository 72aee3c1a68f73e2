"""Unusual statements: mutations of the goldens and of the grammar's examples, and calls of every function.

`hunt` plans them in a dry run. Every error must be a HiveDruidError, and not a PlanError, which is a bug, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hivedruid.errors import HiveDruidError, PlanError
from hivedruid.plan.functions import FUNCTIONS
from hivedruid.script import split
from hivedruid.session import Session

ROOT = Path(__file__).parents[2]
TABLES = """
CREATE EXTERNAL TABLE ev (`__time` timestamp, page string, code char(3), v varchar(5), n bigint, i int, d double, f float,
    b boolean, tags array<string>) STORED BY 'druid';
CREATE EXTERNAL TABLE z (`__time` timestamp with local time zone, page string, n bigint) STORED BY 'druid';
CREATE TABLE m (a int, s string, c decimal(10,2), st struct<x:int,y:struct<z:string>>, mp map<string,int>, ar array<int>,
    dt date, ts timestamp, bin binary, ti tinyint, tz timestamp with local time zone) STORED AS ORC;
CREATE EXTERNAL TABLE k (a int, s string) STORED BY 'org.apache.hadoop.hive.kafka.KafkaStorageHandler'
    TBLPROPERTIES ('kafka.topic' = 'edits', 'kafka.bootstrap.servers' = '127.0.0.1:9');
CREATE EXTERNAL TABLE fed (`__time` timestamp, page string) STORED BY 'druid'
    TBLPROPERTIES ('kafka.topic' = 'edits', 'kafka.bootstrap.servers' = '127.0.0.1:9');
CREATE VIEW vw AS SELECT page, n FROM ev
"""
VALUES = (
    "page", "code", "v", "n", "i", "d", "f", "b", "tags", "`__time`", "ev.n", "m.st", "m.st.x", "m.st.y.z", "m.mp['a']",
    "m.ar[0]", "m.dt", "m.ts", "m.bin", "m.c", "m.s", "m.tz", "m.ti", "m.mp", "m.ar", "nope", "n.a.b.c", "page.x", "tags[0]",
    "NULL", "TRUE", "0", "1", "-1", "2019", "99999999999999999999", "1e3", "1.5", "1BD", "2Y", "3S", "4L", "1e400", "'a'",
    "''", "'('", "'2015-09-12'", "'\\0'", "'%'", "'é😀'", "DATE '2015-09-12'", "TIMESTAMP '2015-09-12 01:02:03'",
    "INTERVAL '1' YEAR", "INTERVAL '1 2:3:4' DAY TO SECOND", "INTERVAL 2 DAY", "array(1, 2)", "array()", "map('a', 1)", "map(1)",
    "named_struct('x', 1)", "struct(1, 'a')", "current_date", "current_timestamp", "*", "(1, 2)", "(SELECT 1)",
    "(SELECT page, n FROM ev)", "(SELECT max(n) FROM ev)",
)  # fmt: skip
TYPES = (
    "int", "bigint", "string", "double", "boolean", "date", "timestamp", "decimal", "decimal(10,2)", "decimal('a')",
    "decimal(99999999999999999999)", "decimal(5,9)", "decimal(-1)", "char(3)", "char('(')", "char", "varchar(0)",
    "varchar(99999999)", "array<int>", "map<string,int>", "struct<a:int>", "binary", "nope", "interval", "uniontype<int>",
    "timestamp with local time zone",
)  # fmt: skip
OPERATORS = (
    "+", "-", "*", "/", "%", "DIV", "=", "<>", "<", ">=", "<=>", "AND", "OR", "LIKE", "RLIKE", "IN", "||", "&", "|", "^",
    "BETWEEN", "IS", "NOT LIKE", "IS DISTINCT FROM", ":", "::", ".", "->",
)  # fmt: skip
CLAUSES = (
    "SELECT {0} FROM ev", "SELECT {0}, {1} FROM m", "SELECT page FROM ev WHERE {0}", "SELECT {0}, count(*) FROM ev GROUP BY {0}",
    "SELECT {0}, sum({1}) FROM ev GROUP BY {0} HAVING {1}", "SELECT page FROM ev ORDER BY {0} LIMIT 3",
    "SELECT * FROM ev JOIN m ON {0}", "SELECT * FROM ev LEFT JOIN z ON ev.page = z.page AND {0}",
    "SELECT {0} OVER (PARTITION BY {1} ORDER BY n) FROM ev", "SELECT page FROM ev WHERE n IN (SELECT {0} FROM m WHERE {1})",
    "SELECT page FROM ev WHERE EXISTS (SELECT 1 FROM m WHERE m.a = ev.n AND {0})", "VALUES ({0}), ({1})",
    "SELECT page, n FROM ev UNION ALL SELECT {0}, {1} FROM m", "SELECT x FROM ev LATERAL VIEW explode({0}) e AS x",
    "SELECT {0}, {1}, count(*) FROM ev GROUP BY {0}, {1} WITH ROLLUP", "INSERT INTO m SELECT {0}, {1} FROM ev",
    "SELECT {0} FROM ev JOIN (SELECT {1} x FROM m) q ON q.x = ev.n", "SELECT DISTINCT {0} FROM z WHERE `__time` > {1}",
    "INSERT OVERWRITE TABLE m SELECT * FROM m WHERE {0}", "CREATE TABLE made AS SELECT {0} a, {1} b FROM ev",
    "SELECT count(DISTINCT {0}), max({1}) FROM ev WHERE `__time` >= '2015-09-12'", "SELECT {0} FROM k", "SELECT {0} FROM vw",
    "EXPLAIN EXTENDED SELECT {0} FROM ev WHERE {1}", "SELECT page FROM ev GROUP BY page GROUPING SETS ({0}, ({1}))",
    "WITH q AS (SELECT {0} c FROM ev) SELECT c FROM q WHERE {1}", "SELECT transform({0}) FROM ev",
)  # fmt: skip
ODD = (
    "(", ")", ",", ";", "'", '"', "`", "NULL", "''", "0", "-", "*", ".", "[", "]", "99999999999999999999", "'\\0'", "\u200b",
    "SELECT", "FROM", "AS", "NOT", "INTERVAL '1' YEAR", "IN", "OVER ()", "DISTINCT", "ALL", "ANY", "${x}", "@", "$", "é", "\ud83d",
)  # fmt: skip
PART = 1000
"""The number of statements for each seed."""
FRESH = 200
"""Statements after which a new session is used, since they change its catalog and settings."""


@dataclass(frozen=True)
class Found:
    """A statement that ended in a forbidden way."""

    text: str
    error: BaseException

    def __str__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}\n  {self.text!r}"


def corpus() -> list[str]:
    """The statements of the goldens and the examples of the grammar."""
    files = (*sorted((ROOT / "tests" / "q").glob("*.q")), ROOT / "grammar" / "hive_statements.q")
    return [statement.text for file in files for statement in split(file.read_text(encoding="utf-8"))]


def pieces(text: str) -> list[str]:
    """Words, strings, numbers and signs, with the spaces between them."""
    return re.findall(r"'(?:[^'\\]|\\.)*'|`[^`]*`|\"[^\"]*\"|\w+|\s+|.", text, re.S)


def expression(random: Random, depth: int = 0) -> str:
    kind = random.randrange(12 if depth < 3 else 4)
    if kind < 4:
        return random.choice(VALUES)

    def inner() -> str:
        return expression(random, depth + 1)

    if kind < 8:
        arguments = ", ".join(inner() for _ in range(random.choice((0, 1, 1, 2, 2, 3, 4))))
        return f"{random.choice(NAMES)}({random.choice(('', '', '', 'DISTINCT ')) if arguments else ''}{arguments})"
    if kind == 8:
        return f"CAST({inner()} AS {random.choice(TYPES)})"
    if kind == 9:
        return f"CASE WHEN {inner()} THEN {inner()} ELSE {inner()} END"
    if kind == 10:
        return f"({inner()} {random.choice(('BETWEEN {0} AND {1}', 'IN ({0}, {1})', 'IS NOT NULL', 'NOT IN (SELECT {0})'))})".format(
            inner(), inner()
        )
    return f"({inner()} {random.choice(OPERATORS)} {inner()})"


NAMES = tuple(sorted(FUNCTIONS))


def mutated(random: Random, known: list[str]) -> str:
    """A statement of the corpus with some of its pieces removed, doubled, swapped or replaced."""
    words = pieces(random.choice(known))
    for _ in range(random.choice((1, 1, 2, 3, 5))):
        if not words:
            break
        at = random.randrange(len(words))
        kind = random.randrange(7)
        if kind == 0:
            del words[at : at + random.choice((1, 1, 2, 5))]
        elif kind == 1:
            words.insert(at, words[at])
        elif kind == 2:
            other = random.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        elif kind == 3:
            words[at] = f" {random.choice(ODD)} "
        elif kind == 4:
            words[at] = f" {expression(random)} "
        else:
            other_words = pieces(random.choice(known))
            begin = random.randrange(len(other_words))
            words[at : at + random.choice((0, 1, 3))] = other_words[begin : begin + random.choice((1, 2, 4, 8))]
    return "".join(words)


def statement(random: Random, known: list[str]) -> str:
    if random.random() < 0.5:
        return mutated(random, known)
    return random.choice(CLAUSES).format(expression(random), expression(random))


def hunt(home: Path, seed: int, most: int) -> Iterator[Found]:
    """Plan `most` statements of this seed; returns those that ended in a forbidden way."""
    random, known = Random(seed), corpus()
    for begin in range(0, most, FRESH):
        with Session(home, dry_run=True, hivevar={"dir": str(ROOT / "tests" / "q")}) as session:
            for text in split(TABLES):
                session.execute(text)
            for _ in range(min(FRESH, most - begin)):
                yield from planned(session, statement(random, known))
                session.settings.reset("druid.url")


def planned(session: Session, text: str) -> Iterator[Found]:
    try:
        for one in session.statements(text):
            list(session.execute(one).rows)
    except PlanError as error:
        yield Found(text, error)
    except HiveDruidError:
        return
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        yield Found(text, error)


def main(seed: int, most: int) -> int:
    """Print the findings; 1 if there are any. The same seed generates the same statements."""
    with TemporaryDirectory() as home:
        found = 0
        for begin in range(0, most, PART):
            for one in hunt(Path(home), seed + begin // PART, min(PART, most - begin)):
                found += 1
                sys.stdout.write(f"seed {seed + begin // PART}: {one}\n")
            sys.stdout.flush()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
