"""The table of functions: its functions run with Hive's semantics, all others are refused before anything is read."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from sqlglot import exp

from hivedruid.errors import HiveDruidError, SemanticError, UnsupportedError
from hivedruid.plan import convert
from hivedruid.plan.accepted import READ, reject_unsupported_arguments
from hivedruid.plan.convert_calls import CAST_FUNCTIONS
from hivedruid.plan.functions import ALIASES, EXTENSIONS, EXTRACT_UNITS, FUNCTIONS, TESTS, TIME_UNITS
from hivedruid.plan.refused_functions import REFUSED
from hivedruid.plan.signatures import KINDS
from hivedruid.plan.split import spark_job
from tests.hive.answers import kept
from tests.support.planning import plan

WRONG = [
    ("SELECT uper(country) FROM ev", SemanticError, "unknown function 'uper'", "upper"),
    ("SELECT nosuchfunction(1) FROM ev", SemanticError, "unknown function 'nosuchfunction'", "SHOW FUNCTIONS"),
    ("SELECT reflect('java.lang.Math', 'abs', 1) FROM ev", UnsupportedError, "reflect() is not supported", ""),
    (
        "SELECT java_method('java.net.URLDecoder', 'decode', country, 'UTF-8') FROM ev",
        UnsupportedError,
        "java_method() is not supported",
        "urllib.parse.unquote_plus",
    ),
    (
        "SELECT reflect('java.util.UUID', 'randomUUID') FROM ev",
        UnsupportedError,
        "reflect() is not supported",
        "use uuid()",
    ),
    ("SELECT reflect('java.lang.Math', 'max', 2, 3) FROM ev", UnsupportedError, "reflect() is", "use greatest(a, b)"),
    ("SELECT reflect(country, 'max', 2, 3) FROM ev", UnsupportedError, "reflect() is", "CREATE FUNCTION"),
    ("SELECT reflect2('abc', 'length') FROM ev", UnsupportedError, "reflect2() is", "CREATE FUNCTION"),
    ("SELECT country LIKE 'a|b' ESCAPE '|' FROM ev", SemanticError, "invalid LIKE pattern", "double it"),
    ("SELECT country LIKE 'ab|' ESCAPE '|' FROM ev", SemanticError, "invalid LIKE pattern", "double it"),
    ("SELECT country LIKE 'a' ESCAPE '||' FROM ev", SemanticError, "must be a constant of one character", "backslash"),
    ("SELECT country LIKE 'a' ESCAPE NULL FROM ev", SemanticError, "must be a constant of one character", "backslash"),
    ("SELECT st_point(1, 2) FROM ev", UnsupportedError, "st_point() is not supported", ""),
    ("SELECT count() FROM ev", SemanticError, "count() requires an argument", ""),
    ("SELECT count(DISTINCT) FROM ev", SemanticError, "count() requires an argument", ""),
    ("SELECT upper(country, city) FROM ev", SemanticError, "upper() takes 1 argument, not 2", ""),
    ("SELECT concat_ws() FROM ev", SemanticError, "concat_ws() takes at least 1 argument", ""),
    ("SELECT upper(array(1)) FROM ev", SemanticError, "upper() takes a string as argument 1, not array<int>", ""),
    ("SELECT size(country) FROM ev", SemanticError, "size() takes an array or a map as argument 1, not string", ""),
    ("SELECT sum(array(1)) FROM ev", SemanticError, "sum() takes a number as argument 1, not array<int>", ""),
    ("SELECT array_contains(array(1), 'a') FROM ev", SemanticError, "cannot compare int with string", "CAST"),
    (
        "SELECT sort_array_by(split(country, ','), 'x') FROM ev",
        SemanticError,
        "takes an array of structs, not array<string>",
        "",
    ),
    ("SELECT sort_array_by(array(struct(1)), 'col2') FROM ev", SemanticError, "unknown field 'col2'", "col1"),
    ("SELECT sort_array_by(array(struct(1)), country) FROM ev", UnsupportedError, "must be constants", ""),
    (
        "SELECT sort_array_by(array(struct(map(1, 2))), 'col1') FROM ev",
        UnsupportedError,
        "map<int,int> is not supported",
        "",
    ),
    ("SELECT encode(country, 'latin') FROM ev", SemanticError, "unknown character set 'latin'", "UTF-8"),
]


@pytest.mark.parametrize(("sql", "kind", "message", "hint"), WRONG)
def test_a_wrong_call_is_our_error_with_its_place(
    sql: str, kind: type[HiveDruidError], message: str, hint: str
) -> None:
    with pytest.raises(kind) as failure:
        plan(sql)
    assert message in failure.value.message
    assert failure.value.span is not None
    assert hint in (failure.value.hint or "")


NOT_IN_ANSWERS = {
    "current_date", "current_timestamp", "grouping", "rand", "rlike", "uuid",
    *(f"floor_{unit}" for unit in TIME_UNITS), *(f"extract_{unit}" for unit in EXTRACT_UNITS),
}  # fmt: skip
"""Functions whose results change, or whose calls are written as operators."""


def test_every_scalar_function_is_compared_with_hive() -> None:
    """A new function needs expressions in tests/hive/answers.jsonl: CONTRIBUTING.md describes how Hive is queried."""
    called = set(re.findall(r"(\w+)\(", " ".join(answer.expression.lower() for answer in kept())))
    called |= {ALIASES[name] for name in called & ALIASES.keys()}
    scalars = {name for name, function in FUNCTIONS.items() if function.kind == "scalar"}
    assert scalars - called - EXTENSIONS - NOT_IN_ANSWERS == set()


def test_what_spark_cannot_compute_is_refused_while_planning() -> None:
    for call in ("hash(revenue)", "murmur_hash(score)", "instr(country, 'a', -1)"):
        with pytest.raises(UnsupportedError):
            spark_job(plan(f"SELECT {call} FROM ev"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("date_format(`__time`, 'HH:mm A')", "A in the pattern of date_format() is not supported"),
        ("date_format(`__time`, 'ppH')", "pp in the pattern of date_format() is not supported"),
        ("from_unixtime(clicks, 'vvvv')", "vvvv in the pattern of from_unixtime() is not supported"),
        ("from_unixtime(clicks, 'hhh')", "from_unixtime(): 'hhh' is not a valid time pattern"),
        (
            "unix_timestamp(country, 'E yyyy-MM-dd G')",
            "E in the pattern 'E yyyy-MM-dd G' of unix_timestamp() is not supported",
        ),
        ("unix_timestamp(country, 'dd MMMMM yyyy')", "MMMMM in the pattern 'dd MMMMM yyyy' of unix_timestamp() is not"),
        ("unix_timestamp(country, 'YYYY-ww')", "YYYY in the pattern of unix_timestamp() is not supported"),
        ("add_months(`__time`, 1, 'u')", "u in the pattern of add_months() is not supported"),
        ("map('a', 1, NULL, 2)", "NULL map keys are not supported"),
        (
            "ds_tuple_doublesummary_estimate(country)",
            "ds_tuple_doublesummary_estimate() is not supported: the supported",
        ),
        ("ds_kll_quantile(country, 0.5)", "ds_kll_quantile() is not supported: the supported sketches"),
        ("ds_freq_sketch(country)", "ds_freq_sketch() is not supported: the supported sketches"),
    ],
)
def test_a_call_that_is_not_exact_is_refused_with_its_place(call: str, message: str) -> None:
    with pytest.raises(HiveDruidError) as failure:
        plan(f"SELECT clicks, {call} FROM ev")
    assert failure.value.message.startswith(message)
    assert failure.value.hint
    assert failure.value.span is not None
    assert failure.value.span.line == 1


def test_the_table_is_whole() -> None:
    assert all(kind in KINDS for function in FUNCTIONS.values() for kind in function.parameters)
    assert all(meant in FUNCTIONS or meant in TESTS for meant in ALIASES.values())
    refused = {name for names, _, _ in REFUSED for name in names.split()}
    assert not refused & {*FUNCTIONS, *ALIASES}
    assert {*EXTENSIONS} <= {*FUNCTIONS, *ALIASES}


# --- no clause is dropped ---------------------------------------------------------------------------------------------

ACCEPTED = [*convert._HANDLERS, *convert.COMPARISONS, *convert.ARITHMETIC, *convert.BITWISE]


@pytest.mark.parametrize("kind", ACCEPTED, ids=lambda kind: kind.__name__)
def test_every_expression_that_is_converted_says_what_is_read_of_it(kind: type[exp.Expr]) -> None:
    assert kind in READ


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_an_argument_that_is_not_read_is_refused(kind: type[exp.Expr]) -> None:
    for name in kind.arg_types:
        tree = kind(**{name: exp.Literal.string("x")})
        if name in READ[kind]:
            reject_unsupported_arguments(tree, lambda _e: None)
        else:
            with pytest.raises(UnsupportedError, match="is not supported"):
                reject_unsupported_arguments(tree, lambda _e: None)


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", "RECURSIVE in WITH is not supported"),
        ("SELECT country FROM ev GROUP BY ALL", "ALL in GROUP is not supported"),
    ],
)
def test_a_clause_that_would_be_dropped_is_refused(sql: str, message: str) -> None:
    with pytest.raises(UnsupportedError) as failure:
        plan(sql)
    assert failure.value.message == message


HIVE = (Path(__file__).parents[2] / "hive" / "functions.txt").read_text(encoding="utf-8").split()
"""What SHOW FUNCTIONS lists in Hive 4.0.1."""
_HIVE_OPERATORS = frozenset(
    {"and", "or", "not", "between", "in", "like", "case", "when", "div", "is_not_distinct_from"}
    | {"!", "!=", "%", "&", "*", "+", "-", "/", "<", "<=", "<=>", "<>", "=", "==", ">", ">=", "^", "|", "~"}
)


def test_every_function_of_hive_is_supported_or_refused_with_the_reason() -> None:
    assert len(HIVE) == 475
    refused = [pattern for names, _, _ in REFUSED for pattern in names.split()]
    known = {*FUNCTIONS, *ALIASES, *CAST_FUNCTIONS, *_HIVE_OPERATORS}
    missing = [name for name in HIVE if name not in known and not any(fnmatchcase(name, each) for each in refused)]
    assert missing == []


def test_refused_and_added_functions_are_told_from_those_of_hive() -> None:
    """A refused name that Hive does not have would be an unknown function, and an added one is marked as such."""
    refused = [pattern for names, _, _ in REFUSED for pattern in names.split()]
    assert [each for each in refused if not any(fnmatchcase(name, each) for name in HIVE)] == []
    assert EXTENSIONS.isdisjoint(HIVE)


@pytest.mark.parametrize("quoted", ["`mod`(7, 4, 1)", "`position`('a', 'b', 1, 2)", "position('a', 'b', 1, 2)"])
def test_no_argument_is_ignored(quoted: str) -> None:
    with pytest.raises(SemanticError, match="takes"):
        plan(f"SELECT {quoted} FROM ev")


def test_quoted_names_of_functions_and_tables() -> None:
    plan("WITH `date` (a) AS (SELECT `day`(`__time`) FROM ev) SELECT `upper`(`year`.a) FROM `date` AS `year` (a)")


def test_trunc_of_a_number_without_digits_stays_outside_druid() -> None:
    assert [column.type.name for column in plan("SELECT trunc(revenue), trunc(imps) FROM ev").columns] == [
        "double",
        "int",
    ]
