-- ANALYZE TABLE, and the figures that EXPLAIN EXTENDED shows. On a cluster strings have values before they are counted.
--! qt:replace:/\n    (?!.*analysed)\w+ [\d,]+ values?.*//
--! qt:replace:/[\d,]+ bytes/# bytes/
SET hivedruid.now=2024-05-06 07:08:09;
SET druid.query.priority=3;
SET druid.query.tags=team=web;
CREATE EXTERNAL TABLE src (timecolumn timestamp, dimension1 string, dimension2 string, metric1 int, metric2 float)
STORED AS JSONFILE LOCATION '${dir}/data/src';
CREATE EXTERNAL TABLE ev STORED BY 'druid' TBLPROPERTIES('druid.rollup' = 'false') AS SELECT timecolumn AS `__time`, dimension1, metric1 FROM src;
EXPLAIN EXTENDED SELECT count(*) FROM ev;
ANALYZE TABLE ev COMPUTE STATISTICS FOR COLUMNS metric1;
EXPLAIN EXTENDED SELECT metric1, month(`__time`) m, count(*) FROM ev WHERE metric1 = 3 GROUP BY metric1, month(`__time`);
EXPLAIN EXTENDED SELECT month(`__time`) m, count(*) c FROM ev GROUP BY month(`__time`) ORDER BY c DESC LIMIT 2;
SELECT CASE WHEN metric1 > 3 THEN 'many' WHEN metric1 > 1 THEN 'few' END k, count(*) c FROM ev
GROUP BY CASE WHEN metric1 > 3 THEN 'many' WHEN metric1 > 1 THEN 'few' END ORDER BY c LIMIT 1;
ANALYZE TABLE src COMPUTE STATISTICS NOSCAN;
ANALYZE TABLE src COMPUTE STATISTICS FOR COLUMNS;
EXPLAIN EXTENDED SELECT dimension2 FROM src;
EXPLAIN ANALYZE TABLE src COMPUTE STATISTICS FOR COLUMNS metric1;
ANALYZE TABLE src COMPUTE STATISTICS FOR COLUMNS nope;
ANALYZE TABLE src PARTITION (a = 1) COMPUTE STATISTICS;
