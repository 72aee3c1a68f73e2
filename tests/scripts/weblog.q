-- Web server logs by RegexSerDe, then by regexp_extract over plain lines.
CREATE EXTERNAL TABLE access_log (
  host STRING, identity STRING, remote_user STRING, time_local STRING, request STRING, status STRING, size STRING)
ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.RegexSerDe'
WITH SERDEPROPERTIES (
  "input.regex" = "([^ ]*) ([^ ]*) ([^ ]*) \\[([^\\]]*)\\] \"([^\"]*)\" ([0-9]*) ([0-9-]*)")
STORED AS TEXTFILE
LOCATION '${home}/access_log';
LOAD DATA LOCAL INPATH '${dir}/data/access.log' INTO TABLE access_log;
SELECT host, request, status, size FROM access_log ORDER BY time_local;
CREATE TABLE log_lines (line STRING);
LOAD DATA LOCAL INPATH '${dir}/data/access.log' INTO TABLE log_lines;
CREATE TABLE hits AS
SELECT regexp_extract(line, '^(\\S+)', 1) AS host,
       from_unixtime(unix_timestamp(regexp_extract(line, '\\[([^ \\]]+)', 1), 'dd/MMM/yyyy:HH:mm:ss')) AS at,
       regexp_extract(line, '"(\\w+) ([^ ?"]+)', 2) AS path,
       parse_url(concat('http://h', regexp_extract(line, '"\\w+ (\\S+)', 1)), 'QUERY', 'id') AS id,
       CAST(regexp_extract(line, '" (\\d{3}) ', 1) AS INT) AS status
FROM log_lines WHERE line RLIKE '^\\d+\\.';
SELECT * FROM hits ORDER BY at;
SELECT status, count(*) AS n, collect_set(host)[0] AS some_host FROM hits WHERE status <> 200 GROUP BY status ORDER BY status;
SELECT hour(at) AS h, count(DISTINCT host) AS hosts FROM hits GROUP BY hour(at) ORDER BY h;
