-- Types, literals, casts, operators and NULLs as Hive 4.0.1 answers them; every value below is Hive's.
SET hive.local.time.zone=UTC;

-- Precedence.
SELECT 2 * 3 ^ 1, 2 | 4 & 1, 1 + 4 ^ 1, -2 ^ 1, 5 - 2 & 3 | 8 ^ 2 * 2, 1 || 2 + 3, 1 = 2 IS NULL;
SELECT a * b ^ c, a | d & c, c + d ^ c, a - c & b | d FROM (SELECT 2 AS a, 3 AS b, 1 AS c, 4 AS d) t;

-- A literal has the precision of its own digits, in arithmetic a whole number, too.
SELECT CAST(1 AS decimal(10,2)) / 3, 1.0 / 3, 10.50 * 2, 10.50 + 2, 3 / CAST(7 AS decimal(10,2)), 1 + 1.5, if(true, 1, 2.5);
SELECT x / 3, x * 3, x + 300, x / 1000000, x / 3L, x % 3, round(x), round(x, 1) FROM (SELECT CAST(1 AS decimal(10,2)) AS x) t;
SELECT 1.10, 0.0, -0.0, -0.0D, 100.00, 0.12345678901234567890123456789012345678901, 123456789012345678901234567890123456789;
SELECT CAST('12345678901234567890.12345678' AS decimal(38,18)) AS d,
  CAST('12345678901234567890.12345678' AS decimal(38,18)) = 12345678901234567890.12345678,
  12345678901234567890.12345678BD * 1.5BD, 12345678901234567890123456789012345678BD + 1BD, CAST(1.0 AS string);
SELECT CAST(d AS decimal(38,18)), CAST(d AS double), CAST(d AS int), CAST(d AS decimal(5,1))
  FROM (SELECT '12345678901234567890.12345678' AS d UNION ALL SELECT '12.55' UNION ALL SELECT '-0') t ORDER BY 1;

-- Numbers that do not fit: a decimal is NULL, an integer is cut, a double is cut by way of a bigint.
SELECT CAST(x AS tinyint), CAST(x AS smallint), CAST(x AS int)
  FROM (SELECT 300.5BD AS x UNION ALL SELECT 40000BD UNION ALL SELECT 3000000000BD UNION ALL SELECT -128.9BD) t ORDER BY x;
SELECT CAST(x AS tinyint), CAST(x AS smallint), CAST(x AS int), CAST(x AS bigint)
  FROM (SELECT 300.5D AS x UNION ALL SELECT 3000000000.5D UNION ALL SELECT 1e20 UNION ALL SELECT -128.9D) t ORDER BY x;
SELECT s, CAST(s AS tinyint), CAST(s AS int), CAST(s AS double), CAST(s AS decimal(10,2))
  FROM (SELECT ' 12 ' AS s UNION ALL SELECT '.5' UNION ALL SELECT '5.' UNION ALL SELECT '.' UNION ALL SELECT '300' UNION ALL SELECT '1e3'
    UNION ALL SELECT 'inf' UNION ALL SELECT 'nan' UNION ALL SELECT 'NaN' UNION ALL SELECT '1d' UNION ALL SELECT '12.555') t ORDER BY s;
SELECT CAST(1.1 AS float) + 1.1BD, true = 'true', true = '1', acos(10), asin(x), greatest(1, '2') FROM (SELECT -2.0D AS x) t;

-- Texts as times.
SELECT s, CAST(s AS date), CAST(s AS timestamp), unix_timestamp(s), hour(s), year(s)
  FROM (SELECT '2019-09-09' AS s UNION ALL SELECT '2019-09-09 10:45:49.5' UNION ALL SELECT '2019-09-09T10:45:49' UNION ALL SELECT '2019-09-09T10:45'
    UNION ALL SELECT '2019-09-09T10:45:49Z' UNION ALL SELECT '2019-09-09T10:45:49+02:00' UNION ALL SELECT '2019-09-09 10:45:49 +02:00'
    UNION ALL SELECT '2019-09-09 10:45:49 America/New_York' UNION ALL SELECT '2019-09-09 10:45:49abc' UNION ALL SELECT '2019-09-09 10:45'
    UNION ALL SELECT '2019-9-9 1:2:3' UNION ALL SELECT '2019-09-09 24:00:00' UNION ALL SELECT '2019-09-09-04:30:00' UNION ALL SELECT '2019-09-099'
    UNION ALL SELECT '2019-02-30' UNION ALL SELECT '95-2-02' UNION ALL SELECT '2019-09' UNION ALL SELECT '') t ORDER BY s;
SELECT CAST('2019-09-09T10:45:49+02:00' AS date), CAST('2019-09-09T10:45:49' AS timestamp), unix_timestamp('2019-09-09 10:45:49.5'),
  hour('13:14:15'), minute('13:14'), second(s), from_utc_timestamp('2012-02-11-04:30:00', 'PST') FROM (SELECT '13:14:15' AS s) t;
SELECT s, CAST(s AS timestamp with local time zone)
  FROM (SELECT '2019-09-09' AS s UNION ALL SELECT '2019-09-09 10:45:49+02:00' UNION ALL SELECT '2019-09-09 Asia/Kolkata'
    UNION ALL SELECT '2019-09-09 1:2:3' UNION ALL SELECT '2019-09-09T10:45:49Z') t ORDER BY s;
SELECT months_between('1995-02-02 10:39', '1995-01-01'), months_between(s, '495-01-1'), date_format(s, 'yyyy/MM/dd'), trunc(s, 'MM'), next_day(s, 'MO')
  FROM (SELECT '495-2-02' AS s) t;

-- Intervals.
SELECT 2 days, (1) month, -2 days, 2 days + 1 day, INTERVAL '10 9:8:7.5' DAY TO SECOND, INTERVAL '-1-2' YEAR TO MONTH;
SELECT INTERVAL '1' DAY - INTERVAL '2' HOUR, INTERVAL '1' YEAR - INTERVAL '2' MONTH, INTERVAL (x) DAY, INTERVAL (x + 1) MONTH FROM (SELECT 1 AS x) t;
SELECT date '2012-01-01' + 30 days, date '2012-01-01' + INTERVAL '1' MONTH, date '2012-01-01' - date '2011-01-01',
  timestamp '2012-01-01 00:00:00' - date '2011-01-01';
SELECT CAST(i AS string), CAST(m AS string), day(i), hour(i), second(i), year(m)
  FROM (SELECT INTERVAL '-1 2:3:4.5' DAY TO SECOND AS i, INTERVAL '1-2' YEAR TO MONTH AS m) t;

SELECT c, interval_year_month(c), interval_day_time(d), date '2020-01-01' + interval_year_month(c), INTERVAL (concat(n, '-1')) YEAR TO MONTH
  FROM (VALUES ('1-2', '1 2:3:4', 1), ('-3-4', '-1 02:03:04.5', 2), (' +1-2 ', '100 00:00:00', 3), ('1-12', '1 24:00:00', 4), ('x', '1 2:3', 5)) t(c, d, n) ORDER BY n;

SELECT array(INTERVAL '1' DAY), struct(INTERVAL '1-2' YEAR TO MONTH, n), map('a', INTERVAL (n) DAY) FROM (SELECT 2 AS n) t;
SELECT percentile(n, array(0.1, 0.9)), percentile(n, 0.5BD) FROM (SELECT 1 AS n UNION ALL SELECT -1 UNION ALL SELECT 100) t;

-- Numbers cut, and masked.
SELECT x, trunc(x, 2), trunc(x, n), trunc(x), trunc(i, -1), trunc(i, n) FROM (VALUES (0.29D, 12345, 1), (-1234.5678D, -15, -2), (1e15D, 0, 3)) t(x, i, n) ORDER BY x;
SELECT i, mask(i), mask_first_n(i, 2), mask_last_n(i, 2), mask_show_first_n(i, 1), mask_show_last_n(i, 1), mask(i, 'X', 'x', 'n', '-', 5)
  FROM (VALUES (123), (-45678), (0)) t(i) ORDER BY i;
SELECT mask(d, 'X', 'x', 'n', '-', 1, 2, 3, 2004), mask(d, 'X', 'x', 'n', '-', 1, -1, -1, 2004), mask(x), md5(binary(s)), mask(s, -1, 'y')
  FROM (VALUES (date '2020-05-17', 1.5D, 'aB1')) t(d, x, s);

-- CHAR.
CREATE TABLE chars (id int, c char(5), s string);
INSERT INTO chars VALUES (1, 'a', 'a'), (2, 'a ', 'a '), (3, 'ab', 'ab');
SELECT id, c, c = 'a ', c = 'a', c IN ('a  '), c < 'a ', c = s, c LIKE 'a', length(c), concat(c, 'x') FROM chars ORDER BY id;
SELECT array(c), map(c, id), named_struct('x', c), array_contains(array(c), CAST('a' AS char(5))), CAST(c AS char(7)) FROM chars ORDER BY id;
DROP TABLE chars;

-- NULLs.
SELECT x, x IN (SELECT y FROM (VALUES (1), (NULL)) q(y)), x NOT IN (SELECT y FROM (VALUES (1), (NULL)) q(y)),
  x IN (SELECT y FROM (VALUES (1), (2)) q(y)), x IN (SELECT y FROM (VALUES (1)) q(y) WHERE y > 5) FROM (VALUES (1), (3), (NULL)) t(x) ORDER BY x;
SELECT x FROM (VALUES (1), (3), (NULL)) t(x) WHERE NOT (x IN (SELECT y FROM (VALUES (1), (NULL)) q(y))) OR x = 1 ORDER BY x;
SELECT array_contains(array(1, NULL), 2), array_contains(a, 1), array_contains(array(1, 2), b) FROM (SELECT CAST(NULL AS array<int>) AS a, CAST(NULL AS int) AS b) t;

-- Patterns of dates, texts of times, paths of JSON.
SELECT date_format(d, 'u w W YYYY'), date_format(d, "'Day' dd Z X z"), date_format(d, 'jjj'), from_unixtime(1568000000, 'u')
  FROM (SELECT date '2015-12-30' AS d) t;
SELECT printf('%s %s %s', timestamp '2011-05-06 07:08:09.123456', date '2011-05-06', CAST('ab' AS binary)),
  get_json_object('[1,2,3]', '$.[0]'), get_json_object('{"a":[1,2,{"b":3}]}', '$.a.[2].b'), sort_array(array(CAST(1.414 AS float), CAST(1 AS float)));

-- A row of a text file is a line; a line break written out in its JSON is part of the value.
CREATE EXTERNAL TABLE json_lines (j string) STORED AS TEXTFILE LOCATION '${dir}/data/json_lines';
SELECT j, length(get_json_object(j, '$.a')), hex(get_json_object(j, '$.a')), get_json_object(j, '$.b[1]') FROM json_lines ORDER BY j;
DROP TABLE json_lines;

-- The session's zone.
SET TIME ZONE 'Asia/Kolkata';
SELECT CAST('2020-01-01 00:00:00 UTC' AS timestamp with local time zone);
SELECT date_format('2015-04-08 10:30:45', 'HH:mm z'), date_format('1800-01-14 01:01:10', 'yyyy z Z');
SET TIME ZONE '+05:30';
SELECT CAST('2020-01-01 00:00:00 UTC' AS timestamp with local time zone);
SET TIME ZONE UTC;
SELECT CAST('2020-01-01 00:00:00 UTC' AS timestamp with local time zone);
