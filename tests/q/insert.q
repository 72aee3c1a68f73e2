-- INSERT in every form; rollup and granularity at write.
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
CREATE EXTERNAL TABLE rolled (`__time` timestamp, k string, n int, x double) STORED BY 'druid'
TBLPROPERTIES ('druid.query.granularity' = 'DAY', 'druid.segment.granularity' = 'YEAR');
INSERT INTO rolled VALUES ('2020-01-01 01:00:00', 'a', 1, 0.5), ('2020-01-01 23:00:00', 'a', 2, NULL), ('2020-01-01 05:00:00', 'b', NULL, 1), ('2021-01-01 00:00:00.123456', NULL, 7, -1.5);
SELECT * FROM rolled ORDER BY `__time`, k;
INSERT INTO TABLE rolled (k, `__time`) VALUES ('only', '2020-06-01 00:00:00');
SELECT * FROM rolled ORDER BY `__time`, k;
INSERT INTO rolled SELECT timecolumn, dimension1, metric1, metric2 FROM src WHERE metric1 = 1;
SELECT count(*), sum(n) FROM rolled;
INSERT OVERWRITE TABLE rolled SELECT `__time`, upper(k), n * 10, x FROM rolled WHERE k = 'a';
SELECT * FROM rolled ORDER BY `__time`, k;
CREATE EXTERNAL TABLE other (`__time` timestamp, k string, n bigint, ok boolean) STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false');
EXPLAIN FROM src INSERT INTO TABLE rolled SELECT timecolumn, 'r', metric1, 0.0 WHERE metric1 > 2 INSERT OVERWRITE TABLE other SELECT timecolumn, dimension1, metric1, metric1 > 1;
FROM src INSERT INTO TABLE rolled SELECT timecolumn, 'r', metric1, 0.0 WHERE metric1 > 2 INSERT OVERWRITE TABLE other SELECT timecolumn, dimension1, metric1, metric1 > 1;
SELECT k, sum(n) FROM rolled GROUP BY k ORDER BY k;
SELECT * FROM other ORDER BY `__time`, k;
INSERT OVERWRITE TABLE other SELECT * FROM other WHERE n > 100;
SELECT count(*) FROM other;
INSERT INTO other VALUES (NULL, 'x', 1, true);
INSERT INTO other VALUES ('2020-01-01', 'x');
INSERT INTO nowhere VALUES (1);
SELECT count(*) FROM other;
TRUNCATE TABLE rolled;
SELECT count(*) FROM rolled;
