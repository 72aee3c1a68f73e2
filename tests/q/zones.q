-- `timestamp with local time zone` in zones with and without daylight saving, over the hours when clocks change.
CREATE EXTERNAL TABLE z (`__time` timestamp with local time zone, n bigint) STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false');
INSERT INTO z VALUES
  ('2020-03-08 09:30:00 UTC', 1), ('2020-03-08 10:00:00 UTC', 2), ('2020-11-01 08:30:00 UTC', 3), ('2020-11-01 09:30:00 UTC', 4),
  ('2020-07-01 06:59:59.999 UTC', 5), ('2020-07-01 07:00:00 UTC', 6);
SELECT * FROM z ORDER BY n;
SET hive.local.time.zone=US/Pacific;
SELECT * FROM z ORDER BY n;
SELECT floor_hour(`__time`) h, sum(n) FROM z GROUP BY floor_hour(`__time`) ORDER BY h;
SELECT floor_day(`__time`) d, sum(n) FROM z GROUP BY floor_day(`__time`) ORDER BY d;
EXPLAIN SELECT sum(n) FROM z WHERE `__time` >= '2020-07-01' AND `__time` < '2020-07-02';
SELECT sum(n) FROM z WHERE `__time` >= '2020-07-01' AND `__time` < '2020-07-02';
SELECT n FROM z WHERE CAST(`__time` AS date) = DATE '2020-06-30';
SELECT n, hour(`__time`), CAST(`__time` AS date), CAST(`__time` AS string) FROM z ORDER BY n;
SELECT n FROM z WHERE `__time` = '2020-11-01 01:30:00';
SET hive.local.time.zone=Asia/Kolkata;
SELECT * FROM z ORDER BY n;
SELECT floor_hour(`__time`) h, sum(n) FROM z GROUP BY floor_hour(`__time`) ORDER BY h;
SELECT floor_month(`__time`) m, sum(n) FROM z GROUP BY floor_month(`__time`) ORDER BY m;
SELECT n FROM z WHERE hour(`__time`) = 15 ORDER BY n;
