-- Where Spark SQL answers otherwise than Hive. Every answer was checked by hand against Hive's rules;
-- an oracle that shares a wrong lowering could not see it. The rows go through Spark (a Hive-side table).
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
-- a string beside a number: both are doubles (Spark: the string becomes an int, '12.7' > 12 is false)
SELECT '12.7' > x, '12' = x, 'abc' = x FROM (SELECT metric1 + 11 AS x FROM src WHERE metric1 = 1) t;
-- an ISO text is no timestamp (Spark: it is); the SQL form is
SELECT CAST(concat('2015-09-12T00:46:58Z', x) AS timestamp), CAST(concat('2015-09-12 00:46:58', x) AS timestamp), CAST(concat('2015-9-2', x) AS timestamp) FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
-- greatest and least are NULL with a NULL among them (Spark: skipped)
SELECT greatest(metric1, 2), least(metric1, 2), greatest(metric1, 9) FROM src WHERE metric1 IS NULL OR metric1 = 5 ORDER BY metric1;
-- booleans as text: TRUE and FALSE; text as boolean: anything but '', false, no, off, 0 (Spark: null for most)
SELECT CAST(metric1 > 2 AS string) FROM src ORDER BY metric1;
SELECT CAST(concat('yes', x) AS boolean), CAST(concat('Off', x) AS boolean), CAST(concat('anything', x) AS boolean), CAST(x AS boolean) FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
-- sqrt of a negative number is NULL (Spark: NaN); so is ln of 0
SELECT sqrt(metric2), ln(metric2 + 2.25) FROM src WHERE metric2 < 0;
-- a start further left than the text is long gives '' (Spark: the text)
SELECT substring(concat('abc', x), -5), substring(concat('abc', x), -2), substring(concat('abc', x), 0, 2) FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
-- floor to a time unit exists, weeks begin on Monday
SELECT floor_month(timecolumn), floor(timecolumn TO WEEK), floor_hour(timecolumn) FROM src WHERE metric1 = 1;
-- day of the week: Sunday is 1; week of the year: ISO
SELECT dayofweek(timecolumn), weekofyear(timecolumn), day(timecolumn), quarter(timecolumn) FROM src WHERE metric1 = 1;
-- nulls are last ascending, first descending (Spark: the other way round)
SELECT metric1 FROM src ORDER BY metric1;
SELECT metric1 FROM src ORDER BY metric1 DESC;
SET hive.default.nulls.last=false;
SELECT metric1 FROM src ORDER BY metric1;
SET hive.default.nulls.last=true;
-- integer division is a double, by zero NULL; integers wrap
SELECT metric1 / 2, metric1 / 0, metric1 % 0, 2147483647 + metric1 FROM src WHERE metric1 = 3;
-- a zoned timestamp shows the session's zone
SET hive.local.time.zone=US/Pacific;
SELECT CAST(timecolumn AS timestamp with local time zone), CAST(CAST(timecolumn AS timestamp with local time zone) AS string), hour(CAST(timecolumn AS timestamp with local time zone)) FROM src WHERE metric1 = 1;
SELECT CAST(CAST('2020-07-01 12:00:00 UTC' AS timestamp with local time zone) AS timestamp), CAST(concat('2020-07-01 03:00:00 UTC', x) AS timestamp with local time zone) FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
SET hive.local.time.zone=UTC;
-- a function of a zoned timestamp reads the session's calendar (Spark runs in UTC); Q is a quarter for trunc
SET hive.local.time.zone=US/Pacific;
SELECT months_between(CAST(concat('2020-07-01 06:59:59.999 UTC', x) AS timestamp with local time zone), '2020-01-01'), last_day(CAST(concat('2020-07-01 06:59:59 UTC', x) AS timestamp with local time zone)), trunc(CAST(concat('1969-12-31', x) AS date), 'Q') FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
SET hive.local.time.zone=UTC;
-- months keep the end of the month; dates plus an interval of days are timestamps
SELECT add_months(CAST(timecolumn AS date), 1), add_months(CAST(timecolumn AS date), 12), date_add(timecolumn, 1), CAST(timecolumn AS date) + INTERVAL '1' DAY FROM src WHERE metric1 = 5;
-- grouping__id: the leftmost key has the highest bit
SELECT dimension1, dimension2, count(*), grouping__id, grouping(dimension2) FROM src WHERE metric1 < 3 GROUP BY dimension1, dimension2 WITH ROLLUP ORDER BY grouping__id, dimension2;
-- other characters than blanks to trim stand behind the text (Spark's trim(x, y) has them first); a text without pattern is one with a time
SELECT trim(BOTH 'x' FROM concat('xaxbx', x)), unix_timestamp(concat('2020-01-01 00:00:00', x)), unix_timestamp(concat('2020-01-01', x)), unix_timestamp(concat('2020-01-01', x), 'yyyy-MM-dd') FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
-- characters beyond U+FFFF: substr, lpad, rpad and instr count UTF-16 units, half a character is a question mark; the others count characters
SELECT substr(concat('a😀b', x), 1, 2), substr(concat('a😀b', x), 3), lpad(concat('ß', x), 6, '😀'), rpad(concat('ß', x), 6, '😀'), instr(concat('a😀b', x), 'b'), locate('b', concat('a😀b', x)), locate('b', concat('a😀b😀b', x), 5), length(concat('a😀b', x)), CAST(concat('a😀b', x) AS varchar(2)) FROM (SELECT substring(dimension1, 2) AS x FROM src WHERE metric1 = 1) t;
