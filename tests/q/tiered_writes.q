-- Writes to a tiered table reach the part that has the rows of their time.
SET hivedruid.now=2026-11-24 12:00:00;
CREATE TABLE trips (`__time` TIMESTAMP, city STRING, fare DOUBLE, paid BOOLEAN, riders BIGINT) STORED AS TIERED
TBLPROPERTIES ('druid.rollup' = 'false', 'druid.segment.granularity' = 'DAY');
INSERT INTO trips VALUES
  ('2026-09-01 08:00:00', 'Oslo', 10.5, true, 1),
  ('2026-09-02 09:00:00', 'Rome', 20.0, false, 2),
  ('2026-11-20 10:00:00', 'Oslo', 7.25, true, 3);
-- before anything is archived, all rows go to Druid
EXPLAIN INSERT INTO trips VALUES ('2026-09-01 23:00:00', 'late', 1.0, true, 4);
ARCHIVE TABLE trips;
EXPLAIN INSERT INTO trips VALUES ('2026-09-01 23:00:00', 'late', 1.0, true, 4);
-- rows of archived times are added to the cold part, the others to Druid
INSERT INTO trips VALUES
  ('2026-09-01 23:00:00.123456', 'late', 1.0, NULL, 4), ('2026-11-21 11:00:00', NULL, NULL, false, 5);
SELECT * FROM trips ORDER BY riders;
SET hivedruid.tiered.read=hot;
SELECT riders FROM trips ORDER BY riders;
RESET hivedruid.tiered.read;
INSERT INTO trips SELECT `__time`, concat(city, '!'), fare, paid, riders + 10 FROM trips WHERE riders IN (1, 3);
SELECT city, riders FROM trips ORDER BY riders;
-- a day comes back
EXPLAIN UNARCHIVE TABLE trips FROM '2026-09-02' TO '2026-09-03';
UNARCHIVE TABLE trips FROM '2026-09-02' TO '2026-09-03';
SET hivedruid.tiered.read=hot;
SELECT riders FROM trips ORDER BY riders;
RESET hivedruid.tiered.read;
SELECT city, riders FROM trips ORDER BY riders;
ARCHIVE TABLE trips PARTITION (`__time` = '2026-09-02 12:00:00');
SET hivedruid.tiered.read=hot;
SELECT riders FROM trips ORDER BY riders;
RESET hivedruid.tiered.read;
UNARCHIVE TABLE trips PARTITION (`__time` = '2027-01-01');
UNARCHIVE TABLE trips FROM '2026-09-03' TO '2026-09-02';
UNARCHIVE TABLE trips FROM 'yesterday';
UNARCHIVE TABLE trips PARTITION (day = '2026-09-02');
-- the rows of an interval are replaced on both sides
SET hivedruid.overwrite.mode=dynamic;
INSERT OVERWRITE TABLE trips VALUES ('2026-09-01 10:00:00', 'new', 9.5, true, 20);
SELECT city, riders FROM trips ORDER BY riders;
RESET hivedruid.overwrite.mode;
INSERT OVERWRITE TABLE trips SELECT `__time`, city, fare, paid, riders FROM trips WHERE riders > 10;
SELECT city, riders FROM trips ORDER BY riders;
-- ORC cannot store times of the last second before 1970: such rows stay in Druid
ARCHIVE TABLE trips UP TO '2026-11-22';
INSERT INTO trips VALUES ('1969-12-31 23:59:59.999', 'edge', 1.0, true, 40), ('1969-12-31 23:59:59', 'cold', 1.0, true, 41);
SET hivedruid.tiered.write=hot;
INSERT INTO trips VALUES ('1969-12-31 12:00:00', 'noon', 1.0, true, 42);
RESET hivedruid.tiered.write;
ARCHIVE TABLE trips UP TO '1970-01-01';
SELECT `__time`, city FROM trips WHERE riders >= 40 ORDER BY riders;
INSERT OVERWRITE TABLE trips SELECT `__time`, city, fare, paid, riders FROM trips WHERE riders BETWEEN 11 AND 39;
-- all rows are in Druid now
ALTER TABLE trips UNSET TIERED;
SELECT city, riders FROM trips ORDER BY riders;
ALTER TABLE trips SET TIERED;
ARCHIVE TABLE trips;
INSERT INTO trips VALUES ('2026-09-01 11:00:00', 'again', 1.0, true, 30);
ALTER TABLE trips UNSET TIERED;
UNARCHIVE TABLE trips;
ALTER TABLE trips UNSET TIERED;
SELECT city, riders FROM trips ORDER BY riders;
DROP TABLE trips;
-- with rollup, Druid sums equal rows: all rows go there
CREATE TABLE sums (`__time` TIMESTAMP, city STRING, riders BIGINT) STORED AS TIERED
TBLPROPERTIES ('druid.rollup' = 'true', 'druid.segment.granularity' = 'DAY');
INSERT INTO sums VALUES ('2026-09-01 08:00:00', 'Oslo', 1), ('2026-09-01 08:00:00', 'Oslo', 2);
ARCHIVE TABLE sums;
INSERT INTO sums VALUES ('2026-09-01 08:00:00', 'Oslo', 4);
SET hivedruid.tiered.read=hot;
SELECT count(*), sum(riders) FROM sums;
RESET hivedruid.tiered.read;
SELECT count(*), sum(riders) FROM sums;
DROP TABLE sums;
