-- Malformed rows: the statement fails and says where, or skips them and says so.
CREATE EXTERNAL TABLE bad (timecolumn timestamp, dimension1 string, metric1 bigint) STORED AS JSONFILE LOCATION '${dir}/data/bad';
SELECT * FROM bad;
SELECT count(*) FROM bad;
CREATE EXTERNAL TABLE ev STORED BY 'druid' AS SELECT timecolumn AS `__time`, dimension1, metric1 FROM bad;
SHOW TABLES;
ALTER TABLE bad SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'skip');
SELECT dimension1, metric1 FROM bad ORDER BY metric1;
SELECT count(*) FROM bad;
ALTER TABLE bad SET TBLPROPERTIES ('hivedruid.malformed.rows' = 'null');
SELECT dimension1, metric1 FROM bad ORDER BY metric1;
CREATE EXTERNAL TABLE gone (a string) STORED AS JSONFILE LOCATION '${dir}/data/no/where';
SELECT * FROM gone;
