-- Drivers and time sheets: lines without a schema, columns by regular expression, a join.
CREATE TABLE temp_drivers (col_value STRING) STORED AS TEXTFILE
TBLPROPERTIES ('skip.header.line.count' = '1');
LOAD DATA LOCAL INPATH '${dir}/data/drivers.csv' OVERWRITE INTO TABLE temp_drivers;
CREATE TABLE drivers (driverId INT, name STRING, ssn BIGINT, location STRING, certified STRING, wageplan STRING);
INSERT OVERWRITE TABLE drivers
SELECT
  regexp_extract(col_value, '^(?:([^,]*),?){1}', 1) driverId,
  regexp_extract(col_value, '^(?:([^,]*),?){2}', 1) name,
  regexp_extract(col_value, '^(?:([^,]*),?){3}', 1) ssn,
  regexp_extract(col_value, '^(?:([^,]*),?){4}', 1) location,
  regexp_extract(col_value, '^(?:([^,]*),?){5}', 1) certified,
  regexp_extract(col_value, '^(?:([^,]*),?){6}', 1) wageplan
FROM temp_drivers;
SELECT * FROM drivers ORDER BY driverId;
CREATE TABLE timesheet (driverId INT, week INT, hours_logged INT, miles_logged INT)
ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE
TBLPROPERTIES ("skip.header.line.count"="1");
LOAD DATA LOCAL INPATH '${dir}/data/timesheet.csv' OVERWRITE INTO TABLE timesheet;
SELECT d.driverId, d.name, t.total_hours, t.total_miles FROM drivers d
JOIN (SELECT driverId, sum(hours_logged) total_hours, sum(miles_logged) total_miles FROM timesheet GROUP BY driverId) t
ON (d.driverId = t.driverId)
ORDER BY d.driverId;
SELECT a.driverId, a.week FROM timesheet a LEFT SEMI JOIN drivers d ON (a.driverId = d.driverId AND d.certified = 'N')
WHERE a.hours_logged > 60 ORDER BY a.driverId, a.week;
