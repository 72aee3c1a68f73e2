-- Housekeeping of a transactional, partitioned table.
CREATE TABLE history (id INT, note STRING) PARTITIONED BY (y INT) CLUSTERED BY (id) INTO 2 BUCKETS STORED AS ORC TBLPROPERTIES ('transactional' = 'true');
INSERT INTO history PARTITION (y) VALUES (1, 'a', 2021), (2, 'b', 2022), (3, NULL, 2023), (4, 'd', 2023);
DELETE FROM history WHERE y < 2022;
UPDATE history SET note = 'none' WHERE note IS NULL;
UPDATE history SET note = upper(note) WHERE y = 2022;
SELECT * FROM history ORDER BY id;
ALTER TABLE history DROP PARTITION (y = 2022);
SHOW PARTITIONS history;
