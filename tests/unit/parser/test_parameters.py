"""Parameters become literals that have the value, whatever text it contains."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.cells import YearMonthInterval
from hivedruid.errors import ParseError, UsageError
from hivedruid.parser import parse
from hivedruid.parser.parameters import bind, literal, with_rows
from hivedruid.parser.tokens import tokenize
from hivedruid.script import SourceStatement
from hivedruid.session import Session

VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**63 - 1, Decimal("1.50"), Decimal("-0.001"), Decimal("1E+5"), Decimal(0), 1.5, -2.25,
    1e300, 1e-300, 0.1, 5.0, "", "${hivevar:a}", "\\u0041", "\\101", "\\%", '"', "`", "'", "a\nb\r\t\x1a\0", "'; DROP TABLE t --",
    date(2020, 2, 29), datetime(2020, 1, 1, 5, 6, 7, 120_000), datetime(1, 1, 1), datetime(2020, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")),
    datetime(2020, 7, 1, 2, tzinfo=UTC), timedelta(days=-1, microseconds=5), YearMonthInterval(-14),
)  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with Session(tmp_path_factory.mktemp("home"), hiveconf={"hive.local.time.zone": "Europe/Berlin"}) as opened:
        yield opened


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_is_returned_unchanged(session: Session, value: object) -> None:
    (statement,) = session.statements("SELECT ?")
    ((answer,),) = session.execute(bind(statement, [value])).rows
    assert answer == value
    assert isinstance(answer, type(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-(2**63), "CAST('-9223372036854775808' AS BIGINT)"),
        (float("nan"), "CAST('NaN' AS DOUBLE)"),
        (float("-inf"), "CAST('-Infinity' AS DOUBLE)"),
        (b"\0\xff'", "unhex('00ff27')"),
        ([1, "a'b"], "array(1, 'a\\'b')"),
        ({"k": -1}, "map('k', (-1))"),
    ],
)
def test_values_without_a_literal_are_calls(value: object, text: str) -> None:
    assert literal(value) == text


@pytest.mark.parametrize(
    ("value", "same"),
    [
        (np.int64(5), 5), (np.uint8(5), 5), (np.float32(0.5), 0.5), (np.float64(0.5), 0.5), (np.bool_(False), False),
        (pd.NaT, None), (pd.NA, None), (pd.Timestamp("2020-01-02"), datetime(2020, 1, 2)),
    ],
)  # fmt: skip
def test_scalars_of_numpy_and_pandas(value: object, same: object) -> None:
    assert literal(value) == literal(same)


@pytest.mark.parametrize("value", [np.datetime64("2020-01-02"), np.array([1]), np.float64], ids=repr)
def test_what_numpy_has_besides_numbers(value: object) -> None:
    with pytest.raises(UsageError, match="cannot be a parameter"):
        literal(value)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_string_is_one_token(text: str) -> None:
    tokens = tokenize(bind(SourceStatement("SELECT ?"), [text]))
    assert [token.text for token in tokens] == ["SELECT", text]


def test_question_marks_in_strings_names_and_comments_are_no_parameters() -> None:
    statement = SourceStatement("SELECT '?', `?`, ? -- ?\n/* ? */")
    assert bind(statement, [7]).text == "SELECT '?', `?`, 7 -- ?\n/* ? */"


def test_a_negative_number_does_not_begin_a_comment() -> None:
    assert bind(SourceStatement("SELECT 1-?"), [-5]).text == "SELECT 1-(-5)"


def test_a_literal_does_not_join_what_is_beside_it() -> None:
    assert bind(SourceStatement("SELECT 1?AND"), [2]).text == "SELECT 1 2 AND"


def test_named_parameters_are_not_the_fields_of_a_struct() -> None:
    statement = SourceStatement("SELECT CAST(x AS struct<int:int>), :int WHERE a = :b")
    assert bind(statement, {"int": 2, "b": "x"}).text == "SELECT CAST(x AS struct<int:int>), 2 WHERE a = 'x'"


def test_an_error_points_at_the_statement_as_written() -> None:
    with pytest.raises(ParseError) as caught:
        parse(bind(SourceStatement("SELECT ?,\n  ? FROM FROM"), ["a long text", "another"]))
    assert caught.value.span is not None
    assert (caught.value.span.line, caught.value.span.source_line) == (2, "  ? FROM FROM")


@pytest.mark.parametrize(
    ("text", "values", "message"),
    [
        ("SELECT ?, ?", [1], "the number of values differs from the number of parameters: 1 and 2"),
        ("SELECT ?", [1, 2], "the number of values differs from the number of parameters: 2 and 1"),
        ("SELECT ?", "a", "parameters must be a sequence of values or a mapping of names to values"),
        ("SELECT :a", {"b": 1}, "there is no value for parameter :a"),
        ("SELECT ?", [time(1)], "a value of type time cannot be a parameter"),
        ("SELECT ?", [Decimal("NaN")], "the decimal NaN is not a number"),
        ("SELECT ?", [10**38], f"the integer {10**38} has more than 38 digits"),
        ("SELECT ?", [Decimal("1E+40")], "the decimal 1E+40 has more than 38 digits"),
    ],
)
def test_wrong_values(text: str, values: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        bind(SourceStatement(text), values)
    assert caught.value.message == message


def test_rows_of_an_insert_become_one_statement() -> None:
    statement = SourceStatement("INSERT INTO t (a, b) VALUES (?, lower(?))")
    rows = with_rows(statement, [(1, "x"), (2, "y")])
    assert rows is not None
    assert rows.text == "INSERT INTO t (a, b) VALUES (1, lower('x')), (2, lower('y'))"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?",
        "INSERT INTO t VALUES (?), (?)",
        "INSERT INTO t SELECT ?",
        "INSERT INTO t PARTITION (p = ?) VALUES (?)",
        "INSERT INTO t VALUES ? ",
    ],
)
def test_other_statements_run_once_for_each_row(text: str) -> None:
    assert with_rows(SourceStatement(text), [(1,), (2,)]) is None
