"""`hivedruid fmt`: the layout changes, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.cli import main
from hivedruid.errors import HiveDruidError, ParseError
from hivedruid.formatting import format_script
from hivedruid.parser.tokens import tokenize
from hivedruid.script import SourceStatement, split

ROOT = Path(__file__).parents[2]
SCRIPTS = [
    path for folder in ("tests", "examples", "hivedruid", "grammar")
    for suffix in ("*.q", "*.sql") for path in sorted((ROOT / folder).rglob(suffix))
]  # fmt: skip

WRITTEN = """\
-- a report
set hive.local.time.zone = UTC ;  select a.date , count( * ) as n -- trailing
from default.t a left outer join (select x, y from u where x in (1,2,3) and z = 'it\\'s;' group by x, y order by x limit 10 ) b on (a.x=b.x)
and a.y = b.y where left(a.p, 2) = 'x' and a.x between 1 and 2 and exists (select 1 from v)
group by a.date having count(*)>1 order by n desc limit 5;


/* two
   lines */ create table if not exists t2 (
a int, b decimal(10,2),
      c timestamp with local time zone)
 stored as orc
 as select 1, 2, 3;   insert overwrite table t2 select 1, 2, 3
;
with a as (select 1 x) select x from a; -- the end
explain select case
when a = 1 then 'x' end, extract(day from ts), row_number() over (partition by a order by b) from t
"""
FORMATTED = """\
-- a report
set hive.local.time.zone = UTC;
SELECT a.date, count(*) AS n -- trailing
FROM default.t a
LEFT OUTER JOIN (
  SELECT x, y
  FROM u
  WHERE x IN (1,2,3) AND z = 'it\\'s;'
  GROUP BY x, y
  ORDER BY x
  LIMIT 10
) b ON (a.x=b.x)
  AND a.y = b.y
WHERE left(a.p, 2) = 'x' AND a.x BETWEEN 1 AND 2 AND EXISTS (SELECT 1 FROM v)
GROUP BY a.date
HAVING count(*)>1
ORDER BY n DESC
LIMIT 5;

/* two
   lines */
CREATE TABLE IF NOT EXISTS t2 (
  a int, b decimal(10,2),
  c timestamp with local time zone)
STORED AS orc
AS SELECT 1, 2, 3;
INSERT OVERWRITE TABLE t2
SELECT 1, 2, 3;
WITH a AS (SELECT 1 x) SELECT x FROM a; -- the end
EXPLAIN SELECT CASE
  WHEN a = 1 THEN 'x' END, extract(day FROM ts), row_number() OVER (PARTITION BY a ORDER BY b)
FROM t
"""


def test_a_script() -> None:
    assert format_script(WRITTEN) == FORMATTED


def tokens(text: str) -> list[list[str]]:
    """The tokens of each statement, as the parser reads them; names and keywords in lower case, which Hive ignores."""
    found = []
    for statement in split(text):
        first = statement.text.split()[0].upper()
        explained = (
            statement.text[7:] if first == "EXPLAIN" else statement.text
        )  # the tokenizer divides nothing after it
        try:
            read = tokenize(SourceStatement(explained)) if first not in ("SET", "ADD", "SOURCE", "RESET") else None
        except HiveDruidError:
            read = None
        if read is None:
            found.append(statement.text.split())
        else:
            found.append([token.text if token.token_type.name == "STRING" else token.text.lower() for token in read])
    return found


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scripts_of_the_repository_keep_their_tokens(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    formatted = format_script(text)
    assert tokens(formatted) == tokens(text)
    assert format_script(formatted) == formatted


PIECES = st.sampled_from(
    ["select", "from", "t", "where", "a", ".", ",", "(", ")", ";", "'x;\\n'", "-- c\n", "/* b */", "/* b\n */", "\n", "\n\n",
     " ", "as", "group", "by", "join", "left", "with", "union", "set", "=", "1", "`q`", "insert", "into", "${v}", "case"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25), st.sampled_from(["", " "]))
def test_any_text_keeps_its_tokens(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    formatted = format_script(text)
    assert tokens(formatted) == tokens(text)
    assert format_script(formatted) == formatted


def test_a_long_line_is_divided_before_its_clauses() -> None:
    names = ", ".join(f"column_{number}" for number in range(10))
    assert format_script(f"select {names} from t") == f"SELECT {names}\nFROM t\n"
    assert format_script("select 1 from t") == "SELECT 1 FROM t\n"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "-- only a comment\n", "!pwd;\n", "set  a =  b;\n", "ADD JAR  /a b.jar;\n"]
)
def test_unchanged(text: str) -> None:
    assert format_script(text) == text.lstrip("\n")


def test_an_unterminated_string_is_an_error() -> None:
    with pytest.raises(ParseError, match="unterminated string"):
        format_script("select 'a")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, other = tmp_path / "a.q", tmp_path / "b.q"
    script.write_text("select 1 ;\n")
    other.write_text("SELECT 2;\n")
    script.chmod(0o640)
    assert main(["fmt", str(tmp_path), "--check"]) == 1
    assert capsys.readouterr() == (f"{script}\n", "1 not formatted, 1 unchanged\n")
    assert script.read_text() == "select 1 ;\n"
    assert main(["fmt", str(tmp_path), str(script)]) == 0
    assert capsys.readouterr() == ("", "1 formatted, 1 unchanged\n")
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("SELECT 1;\n", 0o640)
    assert main(["fmt", "--check", "-q", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "")


def test_an_error_changes_no_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.q").write_text("select 1 ;\n")
    (tmp_path / "b.q").write_text("select 1;\nselect 'x\n")
    assert main(["fmt", str(tmp_path)]) == 2
    assert f"{tmp_path}/b.q:2:8" in capsys.readouterr().err
    assert (tmp_path / "a.q").read_text() == "select 1 ;\n"
