"""Row expressions in Druid's language: the text of each, and those left to Spark because Druid would differ."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hivedruid.druid.expressions import quote, string_literal
from hivedruid.druid.syntax import chain
from tests.support.planning import is_pushed, native, read, residual


def computed(expression: str, zone: str = "UTC", table: str = "ev") -> tuple[str, str]:
    """Text and type of the single virtual column for the expression."""
    (column,) = native(f"SELECT {expression} FROM {table}", zone)["virtualColumns"]
    return column["expression"], column["outputType"]


SUM = '(bitwiseXor(bitwiseAnd(("{0}" + "{0}"),{1}),{2}) - {2})'

ARITHMETIC = [
    ("clicks + 1", '("clicks" + 1)', "LONG"),
    ("clicks - imps", '("clicks" - "imps")', "LONG"),
    # narrow integers wrap at their own width
    ("imps + imps", SUM.format("imps", 4294967295, 2147483648), "LONG"),
    ("small_c + small_c", SUM.format("small_c", 65535, 32768), "LONG"),
    ("tiny_c + tiny_c", SUM.format("tiny_c", 255, 128), "LONG"),
    ("- imps", '(bitwiseXor(bitwiseAnd((0 - "imps"),4294967295),2147483648) - 2147483648)', "LONG"),
    ("- revenue", '(-("revenue"))', "DOUBLE"),
    # `/` is a double, NULL for a divisor of zero
    ("clicks / 2", "(CAST(\"clicks\",'DOUBLE') / 2)", "DOUBLE"),
    ("clicks / imps", 'if("imps" == 0,null,(CAST("clicks",\'DOUBLE\') / "imps"))', "DOUBLE"),
    ("clicks / 0", "null", "DOUBLE"),
    ("revenue / imps", 'if("imps" == 0,null,("revenue" / "imps"))', "DOUBLE"),
    ("clicks div 2", 'div("clicks",2)', "LONG"),
    ("clicks div imps", 'if("imps" == 0,null,div("clicks","imps"))', "LONG"),
    ("clicks % 3", '("clicks" % 3)', "LONG"),
    ("abs(imps)", '(bitwiseXor(bitwiseAnd(abs("imps"),4294967295),2147483648) - 2147483648)', "LONG"),
    ("abs(revenue)", 'abs("revenue")', "DOUBLE"),
    ("round(revenue)", 'if(abs("revenue") < 4503599627370496,round("revenue"),"revenue")', "DOUBLE"),
    ("floor(revenue)", "CAST(floor(\"revenue\"),'LONG')", "LONG"),
    ("ceil(revenue)", "CAST(ceil(\"revenue\"),'LONG')", "LONG"),
    # outside a function's domain Hive returns NULL, Java NaN
    ("sqrt(revenue)", 'if("revenue" >= -0.0,sqrt("revenue"),null)', "DOUBLE"),
    ("ln(revenue)", 'if("revenue" > 0,log("revenue"),null)', "DOUBLE"),
    ("log2(revenue)", '(if("revenue" > 0,log("revenue"),null) / log(2.0))', "DOUBLE"),
    (
        "log(10, clicks)",
        "(if(CAST(\"clicks\",'DOUBLE') > 0,log(CAST(\"clicks\",'DOUBLE')),null) / log(10.0))",
        "DOUBLE",
    ),
    ("power(revenue, 2)", "pow(\"revenue\",CAST(2,'DOUBLE'))", "DOUBLE"),
    ("pmod(clicks, 3)", '((("clicks" % 3) + 3) % 3)', "LONG"),
    (
        "pmod(revenue, 3)",
        '((("revenue" % 3.0) + 3.0) % 3.0)',
        "DOUBLE",
    ),
    ("imps & 3", 'bitwiseAnd("imps",3)', "LONG"),
    ("~imps", 'bitwiseComplement("imps")', "LONG"),
    (
        "round(clicks, -1)",
        '("clicks" - ("clicks" % 10) + case_searched(("clicks" % 10) >= 5,10,("clicks" % 10) <= -5,-10,0))',
        "LONG",
    ),
    ("round(revenue, -2)", 'if(abs("revenue") < 4503599627370496,round("revenue",-2),"revenue")', "DOUBLE"),
    # decimals are computed in their smallest unit
    ("imps * 1.5", "(CAST((\"imps\" * 15),'DOUBLE') / 10)", "DOUBLE"),
    ("imps + 0.25", "(CAST(((\"imps\" * 100) + 25),'DOUBLE') / 100)", "DOUBLE"),
    ("1e10 * revenue", '(10000000000.0 * "revenue")', "DOUBLE"),
    ("revenue * 1e300", '("revenue" * 1e300)', "DOUBLE"),  # no `+` in an exponent
]

STRINGS = [
    ("country || city", 'concat("country","city")', "STRING"),
    ("concat(country, '-', clicks)", "concat(\"country\",'-',CAST(\"clicks\",'STRING'))", "STRING"),
    ("upper(country)", 'upper("country")', "STRING"),
    ("ucase(country)", 'upper("country")', "STRING"),
    ("trim(country)", 'trim("country")', "STRING"),
    ("length(country)", 'strlen(regexp_replace("country",\'[\\u005cx{10000}-\\u005cx{10FFFF}]\',\'.\'))', "LONG"),
    ("substr(country, -2)", 'case_searched(strlen("country") >= 2,regexp_replace(substring("country",strlen("country") - 2,-1),\'[\\u005cx{D800}-\\u005cx{DFFF}]\',\'?\'),notnull("country"),\'\')', "STRING"),
    ("substring(country, 1, 0)", "if(notnull(\"country\"),'',CAST(null,'STRING'))", "STRING"),
    ("trim(BOTH 'x' FROM country)", "trim(\"country\",'x')", "STRING"),
    ("locate('a', country, 3)", 'case_searched(strpos("country",\'a\',2) < 0,0,strpos("country",\'a\',2) == 0,1,strlen(regexp_replace(substring("country",0,strpos("country",\'a\',2)),\'[\\u005cx{10000}-\\u005cx{10FFFF}]\',\'.\')) + 1)', "LONG"),
    ("translate(country, 'ab', 'x')", "replace(replace(\"country\",'a','x'),'b','')", "STRING"),
    ("concat_ws('', country, city)", "concat(nvl(\"country\",''),nvl(\"city\",''))", "STRING"),
    ("substring_index(country, '.', 2)", "if(notnull(\"country\"),nvl(regexp_extract(\"country\",'^((?:[^\\u005c.]*\\u005c.){0,1}[^\\u005c.]*)',1),''),CAST(null,'STRING'))", "STRING"),
    ("split(country, ',')[1]", "case_searched(regexp_like(\"country\",'^(?:[^,]*,){1}'),nvl(regexp_extract(\"country\",'^(?:[^,]*,){1}([^,]*)',1),''))", "STRING"),
    ("regexp_replace(country, '(a)(b)', '$2$1')", "regexp_replace(\"country\",'(a)(b)','$2$1')", "STRING"),
    ("substring(country, 2, 3)", 'case_searched(strlen("country") > 1,regexp_replace(substring("country",1,3),\'[\\u005cx{D800}-\\u005cx{DFFF}]\',\'?\'),notnull("country"),\'\')', "STRING"),
    ("substr(country, 0, 2)", 'case_searched(strlen("country") > 0,regexp_replace(substring("country",0,2),\'[\\u005cx{D800}-\\u005cx{DFFF}]\',\'?\'),notnull("country"),\'\')', "STRING"),
    ("instr(country, 'a')", "(strpos(\"country\",'a') + 1)", "LONG"),
    ("locate('a', country)", '(strpos(regexp_replace("country",\'[\\u005cx{10000}-\\u005cx{10FFFF}]\',\'\\uffff\'),\'a\') + 1)', "LONG"),
    ("lpad(country, 5, '*')", 'regexp_replace(lpad("country",5,\'*\'),\'[\\u005cx{D800}-\\u005cx{DFFF}]\',\'?\')', "STRING"),
    ("regexp_extract(country, 'a(b)')", "if(notnull(\"country\"),nvl(regexp_extract(\"country\",'a(b)',1),''),CAST(null,'STRING'))", "STRING"),
    ("country || 'it''s'", "concat(\"country\",'its')", "STRING"),
    ("concat(country, \"a'b\\\\c\u00e9\")", "concat(\"country\",'a\\u0027b\\u005cc\\u00e9')", "STRING"),
]  # fmt: skip

CONDITIONAL = [
    ("CASE WHEN clicks > 3 THEN 'a' END", "case_searched((\"clicks\" > 3),'a')", "STRING"),
    ("CASE country WHEN 'a' THEN 1 ELSE 2 END", "case_searched((\"country\" == 'a'),1,2)", "LONG"),
    ("if(clicks > 3, 'a', NULL)", "case_searched((\"clicks\" > 3),'a',null)", "STRING"),
    ("coalesce(country, city)", 'coalesce("country","city")', "STRING"),
    ("nvl(country, 'x')", "coalesce(\"country\",'x')", "STRING"),
    ("nullif(country, 'x')", 'case_searched(("country" == \'x\'),null,"country")', "STRING"),
    # NULL if one argument is; Druid's own function skips nulls
    ("greatest(clicks, imps)", 'if(notnull("clicks") && notnull("imps"),greatest("clicks","imps"),null)', "LONG"),
    ("clicks IS NULL", 'isnull("clicks")', "LONG"),
    ("clicks IS NOT NULL", 'notnull("clicks")', "LONG"),
    ("is_mobile IS NOT TRUE", 'nottrue("is_mobile")', "LONG"),
    ("NOT is_mobile", '!("is_mobile")', "LONG"),
    ("clicks IN (1, 2)", '(("clicks" == 1) || ("clicks" == 2))', "LONG"),
    ("clicks BETWEEN 1 AND 2", '(("clicks" >= 1) && ("clicks" <= 2))', "LONG"),
]

CASTS = [
    ("CAST(clicks AS string)", "CAST(\"clicks\",'STRING')", "STRING"),
    ("CAST(clicks AS int)", '(bitwiseXor(bitwiseAnd("clicks",4294967295),2147483648) - 2147483648)', "LONG"),
    ("CAST(clicks AS double)", "CAST(\"clicks\",'DOUBLE')", "DOUBLE"),
    ("CAST(revenue AS bigint)", "CAST(\"revenue\",'LONG')", "LONG"),
    ("CAST(imps AS bigint)", '"imps"', "LONG"),
    ("CAST(score AS double)", '"score"', "DOUBLE"),
    ("CAST(clicks AS boolean)", '("clicks" != 0)', "LONG"),
    ("CAST(is_mobile AS string)", "case_searched(\"is_mobile\" == 1,'TRUE',\"is_mobile\" == 0,'FALSE')", "STRING"),
    ("CAST(country AS varchar(3))", 'regexp_extract("country",\'^([\\u005cs\\u005cS]{0,3})\',1)', "STRING"),
    ("CAST(revenue AS int)", "(bitwiseXor(bitwiseAnd(CAST(\"revenue\",'LONG'),4294967295),2147483648) - 2147483648)", "LONG"),
    ("CAST(revenue AS boolean)", '("revenue" != 0)', "LONG"),
    ("CAST(imps AS decimal(12,2))", "CAST(\"imps\",'DOUBLE')", "DOUBLE"),
    ("CAST(imps AS decimal(4,0))", 'case_searched("imps" < 10000 && "imps" > -10000,CAST("imps",\'DOUBLE\'))', "DOUBLE"),
    # the largest double that rounds to 99999999.99
    ("CAST(revenue AS decimal(10,2))", 'case_searched(abs("revenue") <= 99999999.99499999,round("revenue",2))', "DOUBLE"),
]  # fmt: skip


@pytest.mark.parametrize(("hive", "druid", "kind"), ARITHMETIC + STRINGS + CONDITIONAL + CASTS)
def test_expression(hive: str, druid: str, kind: str) -> None:
    assert computed(hive) == (druid, kind)


def test_nan_is_equal_to_itself_and_above_all_numbers() -> None:
    both = '(("revenue" != "revenue") && ("score" != "score"))'
    assert computed("revenue = score")[0] == f'(("revenue" == "score") || {both})'
    assert computed("revenue <=> score")[0] == f'(notdistinctfrom("revenue","score") || nvl({both[1:-1]},0))'
    assert computed("revenue <> score")[0].startswith('(("revenue" != "score") && (("revenue" == "revenue") || ')
    assert computed("revenue = 5D")[0] == '("revenue" == 5.0)'
    assert 'if("revenue" == "revenue","revenue",Infinity)' in computed("least(revenue, clicks)")[0]


def test_the_operand_of_a_minus_is_a_number() -> None:
    assert computed("- country") == computed("- CAST(country AS double)")


TIMES = [
    ("year({t})", "timestamp_extract(\"__time\",'YEAR','{z}')", "LONG"),
    ("weekofyear({t})", "timestamp_extract(\"__time\",'WEEK','{z}')", "LONG"),
    ("dayofweek({t})", "((timestamp_extract(\"__time\",'DOW','{z}') % 7) + 1)", "LONG"),  # Sunday is 1
    ("extract(hour FROM {t})", "timestamp_extract(\"__time\",'HOUR','{z}')", "LONG"),
    ("floor_month({t})", "timestamp_floor(\"__time\",'P1M',null,'{z}')", "LONG"),
    ("floor({t} TO quarter)", "timestamp_floor(\"__time\",'P3M',null,'{z}')", "LONG"),
    ("ceil({t} TO hour)", "timestamp_ceil(\"__time\",'PT1H',null,'{z}')", "LONG"),
    ("{t} + interval '1' day", '("__time" + 86400000)', "LONG"),
    ("{t} - interval '1' month", "timestamp_shift(\"__time\",'P1M',-1,'{z}')", "LONG"),
    ("trunc({t}, 'MM')", "timestamp_format(timestamp_floor(\"__time\",'P1M',null,'{z}'),'yyyy-MM-dd','{z}')", "STRING"),
    ("date_format({t}, 'yyyy-MM')", "timestamp_format(\"__time\",'yyyy-MM','{z}')", "STRING"),
]


@pytest.mark.parametrize("zone", ["UTC", "US/Pacific"])
@pytest.mark.parametrize(("hive", "druid", "kind"), TIMES)
def test_time_expression_reads_zoned_times_in_the_sessions_zone(hive: str, druid: str, kind: str, zone: str) -> None:
    sql = hive.format(t="`__time`")
    assert computed(sql, zone, "ev") == (druid.replace("{z}", zone), kind)
    assert computed(sql, zone, "evt") == (druid.replace("{z}", "UTC"), kind)


def test_dates_are_midnight_in_utc_of_the_local_day() -> None:
    assert computed("to_date(`__time`)", "UTC") == ("timestamp_floor(\"__time\",'P1D',null,'UTC')", "LONG")
    zoned = "timestamp_parse(timestamp_format(\"__time\",'yyyy-MM-dd','US/Pacific'),'yyyy-MM-dd','UTC')"
    assert computed("to_date(`__time`)", "US/Pacific") == (zoned, "LONG")
    assert computed("date_add(to_date(`__time`), 3)", "US/Pacific") == (f"({zoned} + 3 * 86400000)", "LONG")
    assert computed("datediff(`__time`, '1970-01-02')", "US/Pacific") == (f"div({zoned} - 86400000,86400000)", "LONG")


def test_a_zoned_timestamps_text_ends_with_its_zone() -> None:
    text, kind = computed("CAST(`__time` AS string)", "US/Pacific")
    assert (text.endswith(",' US/Pacific')"), kind) == (True, "STRING")
    assert "US/Pacific" not in computed("CAST(`__time` AS string)", "US/Pacific", "evt")[0]


OUTSIDE = [
    ("score + 1", "float"),
    ("CAST(country AS decimal(10,2))", "CAST from string to decimal"),
    ("CAST(revenue AS decimal(18,2))", "15 digits"),
    ("CAST(country AS timestamp)", "microseconds"),
    ("CAST(revenue AS float)", "CAST from double to float"),
    ("regexp_replace(country, 'a', '$1')", "refers to a missing group"),
    ("pmod(clicks, -3)", "positive constant"),
    ("round(clicks, -19)", "digits"),
    ("concat_ws(city, country)", "separator"),
    ("split(country, 'ab')[0]", "a single character"),
    ("translate(country, 'ab', 'ba')", "translate()"),
    ("to_utc_timestamp(`__time`, country)", "not a constant"),
    ("clicks * 1.5", "decimal(22,1) exceeds the 15 digits"),
    ("imps * 1.5 / 2", "decimal"),
    ("date_format(`__time`, 'MMM')", "pattern letters that differ"),
    ("regexp_replace(country, '(?=a)', 'b')", "lookaround"),
    ("date_format(`__time`, 'u')", "pattern letters that differ"),
    ("length('a') div length('')", "evaluates a division of constants"),
    ("md5(country)", "md5"),
    ("rand()", "non-deterministic"),
    ("coalesce(score, 1)", "CAST from int to float"),
]


@pytest.mark.parametrize(("expression", "reason"), OUTSIDE)
def test_expression_that_stays_on_spark_says_why(expression: str, reason: str) -> None:
    from hivedruid.plan.reasons import left_outside
    from tests.support.planning import plan

    sql = f"SELECT {expression} FROM ev"
    assert not is_pushed(sql)
    (left,) = left_outside(plan(sql))
    assert left.operator == "Project"
    assert reason in left.reason
    assert residual(sql).sql.startswith("SELECT ")


def test_the_same_expression_is_one_virtual_column() -> None:
    query = native("SELECT upper(country), upper(country), lower(country) FROM ev")
    assert [v["expression"] for v in query["virtualColumns"]] == ['upper("country")', 'lower("country")']
    assert [f.name for f in read("SELECT upper(country), upper(country), clicks FROM ev").fields] == [
        "vc0",
        "vc0",
        "clicks",
    ]


def test_quotes_and_backslashes_in_names_are_escaped() -> None:
    assert quote('a"b\\c') == '"a\\"b\\\\c"'


@given(st.text(max_size=20))
def test_a_string_constant_is_plain_ascii_without_quotes_inside(text: str) -> None:
    literal = string_literal(text.encode("utf-8", "replace").decode())
    inner = literal[1:-1]
    assert literal[0] == literal[-1] == "'"
    assert inner.isascii()
    assert "'" not in inner
    decoded = inner.encode("ascii").decode("unicode_escape").encode("utf-16", "surrogatepass").decode("utf-16")
    assert decoded == text.encode("utf-8", "replace").decode()


def nesting(text: str) -> int:
    """The levels of parentheses."""
    depth = deepest = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        deepest = max(deepest, depth)
    return deepest


NUMBERS = ", ".join(map(str, range(3000)))
TEXTS = ", ".join(f"'x{i}'" for i in range(3000))


@pytest.mark.parametrize(
    ("condition", "begins"),
    [
        (f"country IN ({TEXTS})", "scalar_in_array(\"country\",array('x0',"),
        (f"clicks IN ({NUMBERS})", 'scalar_in_array("clicks",array(0,1,'),
        (f"revenue IN ({NUMBERS})", 'scalar_in_array("revenue",array(-0.0,0.0,1.0,'),
        (" OR ".join(f"(clicks = {i} AND imps = {i})" for i in range(3000)), "((((("),
    ],
)
def test_long_conditions_do_not_nest_deeply(condition: str, begins: str) -> None:
    """Druid's stack overflows at some 700 levels."""
    text, _ = computed(f"CASE WHEN {condition} THEN 1 ELSE 0 END")
    assert text.startswith(f"case_searched({begins}")
    assert nesting(text) < 20


def test_a_long_chain_of_operators_is_a_tree() -> None:
    text = chain("||", ["x"] * 3000)
    assert text.count("x") == 3000
    assert max(run.count("||") for run in re.split("[()]", text)) < 64


def test_deep_expressions_are_computed_outside_druid() -> None:
    assert is_pushed(f"SELECT sum({' + '.join(['clicks'] * 90)}) FROM ev")
    assert not is_pushed(f"SELECT sum({' + '.join(['clicks'] * 400)}) FROM ev")
