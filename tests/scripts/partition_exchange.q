-- Days are built and checked in a staging table, and their finished partitions are exchanged into the published one.
SET hive.exec.dynamic.partition=true;
SET hive.exec.dynamic.partition.mode=strict;
SET hive.exec.max.dynamic.partitions=2000;
SET hive.exec.max.dynamic.partitions.pernode=500;
CREATE EXTERNAL TABLE published (order_id INT, amount DECIMAL(10, 2)) PARTITIONED BY (day STRING, region STRING)
STORED AS PARQUET LOCATION '${home}/published';
CREATE EXTERNAL TABLE staging LIKE published LOCATION '${home}/staging';
INSERT INTO TABLE published PARTITION (day = '2024-03-01', region = 'north') VALUES (1, 10.50), (2, 3.25);
-- strict: the day is given, the regions are those of the rows
INSERT OVERWRITE TABLE staging PARTITION (day = '2024-03-02', region)
VALUES (3, 7.00, 'north'), (4, 8.00, 'south'), (5, 9.99, 'south'), (6, -1.00, 'broken');
INSERT OVERWRITE TABLE staging PARTITION (day = '2024-03-03', region)
VALUES (7, 1.00, 'north'), (8, 2.00, 'west');
SHOW PARTITIONS staging;
SHOW PARTITIONS staging WHERE day = '2024-03-02' AND (region LIKE 's%' OR length(region) > 5);
-- checks before a day is published
SELECT day, region, count(*) AS n, min(amount) AS lowest FROM staging GROUP BY day, region HAVING min(amount) < 0;
ALTER TABLE staging DROP PARTITION (region = 'broken');
ALTER TABLE published EXCHANGE PARTITION (day = '2024-03-02') WITH TABLE staging;
ALTER TABLE published EXCHANGE PARTITION (day = '2024-03-03', region = 'west') WITH TABLE staging;
SHOW PARTITIONS staging;
SHOW PARTITIONS published WHERE day >= '2024-03-02' ORDER BY region DESC, day;
SELECT day, region, sum(amount) AS amount FROM published GROUP BY day, region ORDER BY day, region;
-- a published partition is taken back, corrected, and published again
ALTER TABLE staging EXCHANGE PARTITION (day = '2024-03-02', region = 'south') WITH TABLE published;
INSERT OVERWRITE TABLE staging PARTITION (day = '2024-03-02', region = 'south')
SELECT order_id, amount * 2 FROM staging WHERE day = '2024-03-02' AND region = 'south';
ALTER TABLE published EXCHANGE PARTITION (day = '2024-03-02', region = 'south') WITH TABLE staging;
SELECT * FROM published WHERE day = '2024-03-02' ORDER BY order_id;
SELECT count(*) FROM staging;
