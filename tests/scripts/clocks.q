-- Time zones and unix times of a log with epoch milliseconds.
CREATE TEMPORARY TABLE log AS SELECT stack(3, 1, 1704067199999L, 2, 1711846800000L, 3, CAST(NULL AS BIGINT)) AS (id, ms);
SELECT id, from_unixtime(CAST(ms / 1000 AS BIGINT)) AS utc, from_utc_timestamp(from_unixtime(CAST(ms / 1000 AS BIGINT)), 'Europe/Vienna') AS vienna,
       to_date(from_unixtime(ms DIV 1000)) AS day, from_unixtime(ms DIV 1000, 'yyyyMMddHH') AS bucket FROM log ORDER BY id;
SELECT id, unix_timestamp(from_unixtime(ms DIV 1000)) = ms DIV 1000 AS same, hour(from_unixtime(ms DIV 1000)) AS h,
       date_format(from_unixtime(ms DIV 1000), 'u') AS weekday FROM log WHERE ms IS NOT NULL ORDER BY id;
SELECT unix_timestamp('20240105 1530', 'yyyyMMdd HHmm') AS a, unix_timestamp('05-Jan-2024', 'dd-MMM-yyyy') AS b, unix_timestamp('x', 'yyyy') AS c,
       CAST('2024-01-05' AS TIMESTAMP) AS d, CAST(TIMESTAMP '2024-01-05 10:11:12.5' AS DATE) AS e, date_add(CAST('2024-02-28 23:00:00' AS TIMESTAMP), 2) AS f,
       datediff('2024-03-01', '2024-02-01') AS g, floor(datediff('2024-03-01', '2000-03-02') / 365.25) AS h;
