SET hivevar:n=3;
SET hive.local.time.zone;
SET hive.druid.rollup=false;
SET hive.druid.rollup;
SELECT ${n}, '${hivevar:n}', '${hiveconf:hive.druid.rollup}', '${unknown}';
SET my.own.password=hunter2;
SET my.own.password;
SET mapreduce.job.queuename=default;
SET;
SOURCE ${dir}/data/included.sql;
SELECT '${greeting}';
SOURCE ${dir}/data/nowhere.sql;
RESET;
SET hive.druid.rollup;
SHOW FUNCTIONS LIKE 'floor*';
SELECT 'a;b', "c;d", `x` FROM (SELECT 'back' AS x) t; -- a comment; with a semicolon
SELECT 'ünï©ode' /* a
 comment over lines; */ AS `ä`;
