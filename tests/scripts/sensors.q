-- Buildings and sensors: temperatures out of range by product, in the manner of a first tutorial.
CREATE TABLE hvac (at STRING, target INT, actual INT, building INT);
CREATE TABLE building (id INT, manager STRING, product STRING, country STRING);
INSERT INTO hvac VALUES ('6/1/13 0:00', 66, 58, 1), ('6/1/13 1:00', 70, 77, 2), ('6/2/13 2:30', 67, 68, 1);
INSERT INTO building VALUES (1, 'M1', 'AC1000', 'USA'), (2, 'M2', 'FN39TG', 'France');
CREATE TABLE hvac_temperatures AS
SELECT *, target - actual AS temp_diff,
       IF((target - actual) > 5, 'COLD', IF((target - actual) < -5, 'HOT', 'NORMAL')) AS temprange,
       IF((target - actual) > 5 OR (target - actual) < -5, 1, 0) AS extremetemp,
       from_unixtime(unix_timestamp(at, 'M/d/yy H:mm')) AS ts
FROM hvac;
CREATE TABLE IF NOT EXISTS hvac_building AS SELECT h.*, b.country, b.product FROM building b JOIN hvac_temperatures h ON b.id = h.building;
SELECT * FROM hvac_building ORDER BY ts;
SELECT country, sum(extremetemp) AS extremes, avg(actual) AS mean FROM hvac_building GROUP BY country ORDER BY country;
