--! qt:replace:/trips_[0-9a-f]{12}/JOB/
-- UPDATE and DELETE of a tiered table change its archived rows; rows in Druid cannot be changed.
SET hivedruid.now=2026-11-24 12:00:00;
CREATE TABLE trips (`__time` TIMESTAMP, city STRING, fare DOUBLE, riders BIGINT) STORED AS TIERED
TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY');
INSERT INTO trips VALUES
  ('2026-09-01 08:00:00', 'Oslo', 10.5, 1), ('2026-09-02 09:00:00', 'Rome', 20.0, 2),
  ('2026-09-02 10:00:00', NULL, 5.0, 3), ('2026-11-20 10:00:00', 'Oslo', 7.25, 4);
-- before anything is archived
DELETE FROM trips WHERE `__time` < '2026-10-01';
ARCHIVE TABLE trips;
INSERT INTO trips VALUES ('2026-09-01 23:00:00', 'late', 1.0, 5);
-- without a condition on archived times, Druid may have the rows
DELETE FROM trips WHERE riders = 1;
DELETE FROM trips WHERE `__time` < '2026-12-01';
EXPLAIN DELETE FROM trips WHERE `__time` < '2026-09-02' AND city = 'late';
EXPLAIN UPDATE trips SET fare = fare + 1 WHERE `__time` < '2026-11-01';
UPDATE trips SET fare = fare + 1, city = concat(city, '!') WHERE `__time` < '2026-11-01' AND city <> 'late';
SELECT * FROM trips ORDER BY riders;
DELETE FROM trips WHERE `__time` < '2026-11-01' AND (city = 'late' OR city IS NULL);
SELECT * FROM trips ORDER BY riders;
-- the recorded numbers of rows are those that are left, and these commits are not those of other tools
VERIFY TABLE trips;
SHOW PROBLEMS;
-- the time of a row decides which part has it
UPDATE trips SET `__time` = '2026-01-01' WHERE `__time` < '2026-11-01';
-- the setting for queries has no effect
SET hivedruid.tiered.read=cold;
DELETE FROM trips WHERE riders > 0;
RESET hivedruid.tiered.read;
-- a late row in Druid
SET hivedruid.tiered.write=hot;
INSERT INTO trips VALUES ('2026-09-01 09:00:00', 'hot', 1.0, 6);
RESET hivedruid.tiered.write;
DELETE FROM trips WHERE `__time` < '2026-09-02';
ARCHIVE TABLE trips;
DELETE FROM trips WHERE `__time` < '2026-09-02';
SELECT * FROM trips ORDER BY riders;
UNARCHIVE TABLE trips;
SELECT * FROM trips ORDER BY riders;
DROP TABLE trips;
