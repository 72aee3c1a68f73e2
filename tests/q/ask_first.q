-- Totals of times are asked first; what is compared with them becomes intervals.
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
CREATE EXTERNAL TABLE ev STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false')
AS SELECT timecolumn AS `__time`, dimension1, metric1 FROM src;

SELECT `__time`, metric1 FROM ev ORDER BY `__time`;
EXPLAIN SELECT dimension1, sum(metric1) FROM ev WHERE `__time` > (SELECT max(`__time`) FROM ev) - INTERVAL '7' DAY GROUP BY dimension1 ORDER BY dimension1;
SELECT dimension1, sum(metric1) FROM ev WHERE `__time` > (SELECT max(`__time`) FROM ev) - INTERVAL '7' DAY GROUP BY dimension1 ORDER BY dimension1;
SELECT count(*) FROM ev WHERE to_date(`__time`) = (SELECT max(to_date(`__time`)) FROM ev);
SELECT count(*) FROM ev WHERE year(`__time`) < (SELECT max(year(`__time`)) FROM ev);
WITH m AS (SELECT trunc(max(`__time`), 'MM') mx FROM ev) SELECT dimension1, count(*) FROM ev CROSS JOIN m WHERE trunc(`__time`, 'MM') = mx GROUP BY dimension1 ORDER BY dimension1;
SELECT count(*) FROM ev WHERE `__time` > (SELECT max(`__time`) FROM ev WHERE `__time` < (SELECT max(`__time`) FROM ev));
-- of no rows nothing is greater
SELECT count(*) FROM ev WHERE `__time` > (SELECT max(`__time`) FROM ev WHERE dimension1 = 'nowhere');
SELECT max(metric1), (SELECT min(`__time`) FROM ev) FROM ev;
