-- A backfill by month with hivevar, into a table that is created with the query of the first month.
SET hivevar:month=2024-01;
CREATE TABLE source_days (day STRING, n INT) STORED AS PARQUET;
INSERT INTO source_days VALUES ('2024-01-01', 1), ('2024-01-31', 2), ('2024-02-01', 4), ('2024-02-29', 8);
CREATE TABLE IF NOT EXISTS months PARTITIONED BY (month) STORED AS ORC AS
SELECT count(*) AS days, sum(n) AS n, substr(day, 1, 7) AS month FROM source_days WHERE day LIKE '${month}%' GROUP BY substr(day, 1, 7);
SET hivevar:month=2024-02;
INSERT OVERWRITE TABLE months PARTITION (month = '${hivevar:month}')
SELECT count(*), sum(n) FROM source_days WHERE day BETWEEN '${month}-01' AND last_day('${month}-01');
SELECT * FROM months ORDER BY month;
SELECT month, n - lag(n, 1, 0) OVER (ORDER BY month) AS growth FROM months ORDER BY month;
