-- Error logs of a web server: RegexSerDe with an optional group, days of the week, slots of time, top offenders.
SET hive.exec.dynamic.partition=true;
SET hive.exec.dynamic.partition.mode=nonstrict;
SET hive.exec.compress.output=false;
CREATE DATABASE IF NOT EXISTS ops COMMENT 'operations' WITH DBPROPERTIES ('team'='sre');
USE ops;
CREATE EXTERNAL TABLE raw_errors (ts STRING, level STRING, pid STRING, client STRING, message STRING)
ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe'
WITH SERDEPROPERTIES ('input.regex' = '\\[([^\\]]+)\\] \\[(\\w+)\\] \\[pid (\\d+)\\](?: \\[client ([0-9.]+)\\])? (.*)')
STORED AS TEXTFILE LOCATION '${home}/raw_errors';
CREATE EXTERNAL TABLE lines (line STRING) STORED AS TEXTFILE LOCATION '${home}/raw_errors';
INSERT INTO lines VALUES ('[Mon Jan 01 10:00:00 2024] [error] [pid 11] [client 10.0.0.1] File does not exist: /a.png'),
 ('[Mon Jan 01 10:04:59 2024] [warn] [pid 11] mod_ssl: low entropy'),
 ('[Mon Jan 01 10:05:00 2024] [error] [pid 12] [client 10.0.0.2] File does not exist: /b.png'),
 ('[Tue Jan 02 00:00:01 2024] [crit] [pid 13] [client 10.0.0.1] (28)No space left on device: /var/log'),
 ('garbage');
CREATE TABLE errors (at TIMESTAMP, level STRING, pid INT, client STRING, message STRING) PARTITIONED BY (day STRING) STORED AS ORC;
INSERT OVERWRITE TABLE errors PARTITION (day)
SELECT from_unixtime(unix_timestamp(ts, 'EEE MMM dd HH:mm:ss yyyy')), upper(level), CAST(pid AS INT), client, message,
       to_date(from_unixtime(unix_timestamp(ts, 'EEE MMM dd HH:mm:ss yyyy')))
FROM raw_errors WHERE ts IS NOT NULL;
SHOW PARTITIONS errors;
SELECT day, level, count(*) AS n, count(DISTINCT client) AS clients FROM errors GROUP BY day, level ORDER BY day, level;
SELECT from_unixtime(floor(unix_timestamp(at) / 300) * 300, 'HH:mm') AS slot, count(*) AS n, min(message) FROM errors WHERE day = '2024-01-01' GROUP BY from_unixtime(floor(unix_timestamp(at) / 300) * 300, 'HH:mm') ORDER BY slot;
SELECT client, n, rank() OVER (ORDER BY n DESC) AS place FROM (SELECT client, count(*) AS n FROM errors WHERE client IS NOT NULL GROUP BY client) t ORDER BY place, client;
SELECT regexp_replace(message, '/[^ ]+', '<path>') AS shape, collect_set(regexp_extract(message, '(/[^ ]+)', 1)) AS paths FROM errors WHERE level = 'CRIT' GROUP BY regexp_replace(message, '/[^ ]+', '<path>');
SELECT count(*) FROM raw_errors WHERE ts IS NULL;
DROP DATABASE ops CASCADE;
