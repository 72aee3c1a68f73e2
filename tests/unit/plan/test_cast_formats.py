"""CAST … FORMAT: patterns and their errors, short years, and the engines that compute it. What it returns is compared
with Hive in tests/hive."""

from __future__ import annotations

from datetime import datetime

import pytest

from hivedruid.catalog.types import DATE, INT, STRING, TIMESTAMP
from hivedruid.errors import SemanticError, UnsupportedError
from hivedruid.evaluation.exactness import Unsure
from hivedruid.evaluation.functions import FUNCTIONS, Given
from hivedruid.plan.cast_patterns import READ_TIME, parse, read_pattern
from hivedruid.plan.rex import Call, Literal, Ref
from hivedruid.plan.split import constant_rows, spark_job
from tests.hive.answers import CAST_FORMAT, kept, plain, read, same
from tests.support.planning import ETERNITY, plan, where
from tests.unit.parser.parsing import at
from tests.unit.plan.test_fold import folded, value

ERRORS = [
    ("ts AS STRING FORMAT 'YYYY-m-DD'", "'m' is not an element of a pattern", "m"),
    ("ts AS STRING FORMAT 'YYYY_MM'", "'_' is not an element of a pattern", "_"),
    ("ts AS STRING FORMAT 'YYYY年'", "'年' is not an element of a pattern", "年"),
    ("ts AS STRING FORMAT 'MM\"a'", 'the text has no closing "', '"a'),
    ("ts AS STRING FORMAT 'FM-MM'", "FM must be followed by an element", "FM"),
    ("ts AS STRING FORMAT 'FMFXMM'", "FM must be followed by an element", "FM"),
    ("ts AS STRING FORMAT 'HH24 TZH'", "TZH is the offset of a time zone", "TZH"),
    ("country AS DATE FORMAT 'YYYY-MM-DD Q'", "Q is not parsed", "Q"),
    ("country AS DATE FORMAT 'YYYY-MM-DD Day'", "DAY cannot be parsed together with YYYY", "Day"),
    ("country AS DATE FORMAT 'YYYY-DDD-MM'", "MM cannot be parsed together with DDD", "MM"),
    ("country AS DATE FORMAT 'YYYY-MM-DD IW'", "IW cannot be parsed together with YYYY", "IW"),
    ("country AS DATE FORMAT 'YYYY-YY-MM-DD'", "YY is the same part of a time as YYYY", "YY"),
    ("country AS DATE FORMAT 'YYYY-MM-DD HH24 HH'", "HH cannot be parsed together with HH24", "HH"),
    ("country AS DATE FORMAT 'YYYY-MM-DD HH24 AM'", "AM cannot be parsed together with HH24", "AM"),
    ("country AS DATE FORMAT 'YYYY-MM-DD AM'", "AM requires HH12", "AM"),
    ("country AS DATE FORMAT 'YYYY-MM-DD MI SSSSS'", "SSSSS cannot be parsed together with MI", "SSSSS"),
    ("country AS DATE FORMAT 'YYYY-MM-DD TZM'", "TZM requires TZH", "TZM"),
    ("country AS DATE FORMAT 'MM-DD'", "the pattern does not parse a date", "MM-DD"),
    ("country AS DATE FORMAT 'YYYY-MM'", "the pattern does not parse a date", "YYYY-MM"),
    ("country AS DATE FORMAT 'IYYY-IW'", "the pattern does not parse a date", "IYYY-IW"),
    (f"ts AS STRING FORMAT '{'YYYY-' * 19}YYYY-?'", "a pattern has at most 99 characters", "-?"),
    ("ts AS STRING FORMAT 'YYYY\\'m'", "'m' is not an element of a pattern", "'YYYY\\'m'"),
    ("NULL AS DATE FORMAT 'bad'", "'bad' is not an element of a pattern", "bad"),
]


@pytest.mark.parametrize(("cast", "message", "place"), ERRORS)
def test_an_error_is_at_its_place_in_the_pattern(cast: str, message: str, place: str) -> None:
    with pytest.raises(SemanticError) as error:
        plan(f"SELECT id,\n  CAST({cast}) FROM (SELECT 1 AS id, current_timestamp AS ts, 'x' AS country) x")
    assert error.value.message.startswith(f"FORMAT: {message}")
    assert at(error.value.span) == place


@pytest.mark.parametrize(
    ("cast", "message"),
    [
        ("ts AS INT FORMAT 'YYYY'", "CAST … FORMAT to int is not Hive SQL"),
        ("ts AS BINARY FORMAT 'YYYY'", "CAST … FORMAT to binary is not Hive SQL"),
        ("'x' AS STRING FORMAT 'YYYY'", "CAST … AS STRING FORMAT does not take string"),
        ("1 AS DATE FORMAT 'YYYY-MM-DD'", "CAST … AS DATE FORMAT does not take int"),
        ("ts AS DATE FORMAT 'YYYY-MM-DD'", "CAST … AS DATE FORMAT does not take timestamp"),
        ("CAST(ts AS TIMESTAMPLTZ) AS STRING FORMAT 'YYYY'", "CAST … AS STRING FORMAT does not take timestamp with"),
        ("'x' AS TIMESTAMPLTZ FORMAT 'YYYY-MM-DD'", "CAST … FORMAT to timestamp with local time zone is not"),
    ],
)
def test_types_that_hive_refuses(cast: str, message: str) -> None:
    with pytest.raises(SemanticError) as error:
        plan(f"SELECT CAST({cast}) FROM (SELECT current_timestamp AS ts) x")
    assert error.value.message.startswith(message)


def test_random_times_are_computed_once() -> None:
    time = "date_add(current_date, CAST(rand() * 1000 AS INT))"
    assert spark_job(plan(f"SELECT CAST({time} AS STRING FORMAT 'YYYY-MM')")).sql.count("rand(") == 1
    with pytest.raises(UnsupportedError, match="non-deterministic value"):
        plan(f"SELECT CAST({time} AS STRING FORMAT 'HH24:MI am')")


@pytest.mark.parametrize(
    ("pattern", "text", "year", "hive"),
    [
        ("YYYY-MM-DD", "19-1-2", 2026, 2019),
        ("YYYY-MM-DD", "9-1-2", 2026, 2029),
        ("YYYY-MM-DD", "219-1-2", 2026, 2219),
        ("YYYY-MM-DD", "-1-2", 2026, 2026),
        ("YY-MM-DD", "99-1-1", 2026, 2099),
        ("Y-MM-DD", "9-1-1", 2026, 2029),
        ("YYY-MM-DD", "019-1-1", 2026, 2019),
        ("RR-MM-DD", "49-1-1", 2026, 2049),
        ("RR-MM-DD", "50-1-1", 2026, 1950),
        ("RR-MM-DD", "49-1-1", 2076, 2149),
        ("RR-MM-DD", "50-1-1", 2076, 2050),
        ("RR-MM-DD", "5-1-1", 2026, 2025),
        ("RRRR-MM-DD", "50-1-1", 2026, 1950),
        ("RRRR-MM-DD", "950-1-1", 2026, 2950),
        ("RRRR-MM-DD", "1950-1-1", 2026, 1950),
    ],
)
def test_short_years_get_the_first_digits_of_the_current_one(pattern: str, text: str, year: int, hive: int) -> None:
    """Answers of Hive 4.0.1 in 2026."""
    known, moment = parse(read_pattern(pattern, True), text, year)
    assert known
    assert moment is not None
    assert moment.year == hive


def test_the_current_year_is_that_of_the_statement() -> None:
    assert value("CAST('3-1-2' AS TIMESTAMP FORMAT 'YYYY-MM-DD')") == datetime(2023, 1, 2)


def test_local_evaluation_has_hives_answers() -> None:
    answers = [answer for answer in kept() if CAST_FORMAT.fullmatch(answer.expression)]
    made = plan("SELECT " + ", ".join(f"{a.expression} AS c{i}" for i, a in enumerate(answers)))
    assert len(answers) > 300
    found = []
    for answer in answers:
        rows = constant_rows(plan(f"SELECT {answer.expression}"))
        if rows is not None and not same(plain(rows[0][0]), read(answer.value, answer.type), answer.type):
            found.append(f"{answer.expression}: {rows[0][0]}")
    assert [str(column.type) for column in made.columns] == [answer.type for answer in answers]
    assert not found


def test_strings_of_rows_are_parsed_locally() -> None:
    found = []
    for answer in kept():
        match = CAST_FORMAT.fullmatch(answer.expression)
        if match is None or match["kind"] or answer.type not in ("date", "timestamp"):
            continue
        text, pattern = value(match["value"]), value(match["pattern"])
        to = DATE if answer.type == "date" else TIMESTAMP
        call = Call(to, READ_TIME, (Ref(STRING, "x"), Literal(STRING, pattern), Literal(INT, 2026)))
        try:
            ours = FUNCTIONS[READ_TIME](call, Given("UTC"))(text, pattern, 2026)
        except Unsure:
            continue
        if not same(plain(ours), read(answer.value, answer.type), answer.type):
            found.append(f"{answer.expression}: {ours}")
    assert not found


def test_letters_other_than_ascii_are_left_to_spark() -> None:
    assert "Literal" not in type(folded("CAST('2019-01-02É' AS DATE FORMAT 'YYYY-MM-DD\"é\"')")).__name__


def test_druid_formats_what_its_patterns_can_write() -> None:
    assert where("CAST(`__time` AS STRING FORMAT 'YYYY-MM') >= '2026-01'", table="evt") == (
        [f"2026-01-01T00:00:00.000Z/{ETERNITY.split('/')[1]}"],
        None,
    )
