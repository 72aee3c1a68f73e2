-- A parameterized job: variables of the command line and of the script, a macro, a temporary table.
SET hivevar:run_date=2024-03-05;
SET hivevar:threshold=10;
SET mapreduce.job.queuename=etl;
SET hive.execution.engine=tez;
SET hive.vectorized.execution.enabled=true;
set my.table=totals_${hivevar:run_date};
CREATE TEMPORARY MACRO net(gross DOUBLE) round(gross / 1.2, 2);
CREATE TEMPORARY TABLE input AS
SELECT stack(3, '2024-03-04', 12.0, '2024-03-05', 24.0, '2024-03-05', 60.0) AS (day, gross);
SELECT day, net(CAST(gross AS DOUBLE)) AS net FROM input WHERE day = '${hivevar:run_date}' AND gross > ${hivevar:threshold};
SELECT '${hiveconf:my.table}' AS name, date_sub('${run_date}', 1) AS day_before;
SELECT count(*) FROM input WHERE day > date_sub('${hivevar:run_date}', 1);
DROP TEMPORARY MACRO IF EXISTS net;
SET hivevar:run_date;
RESET;
