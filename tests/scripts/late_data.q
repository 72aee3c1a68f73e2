-- Days that arrive late replace their partition; an empty delivery leaves the others alone.
CREATE EXTERNAL TABLE daily (shop STRING, sales INT) PARTITIONED BY (day STRING) STORED AS ORC LOCATION '${home}/daily'
TBLPROPERTIES ('external.table.purge' = 'true');
FROM (SELECT stack(4, 'a', 1, '2024-01-01', 'b', 2, '2024-01-01', 'a', 3, '2024-01-02', 'b', 4, '2024-01-03') AS (shop, sales, day)) s
INSERT OVERWRITE TABLE daily PARTITION (day) SELECT shop, sales, day;
INSERT OVERWRITE TABLE daily PARTITION (day = '2024-01-02') SELECT 'a', 33;
INSERT OVERWRITE TABLE daily PARTITION (day = '2024-01-03') SELECT shop, sales FROM daily WHERE false;
INSERT OVERWRITE TABLE daily PARTITION (day = '2024-01-02') IF NOT EXISTS SELECT 'never', 0;
SELECT * FROM daily ORDER BY day, shop;
SHOW PARTITIONS daily;
ALTER TABLE daily DROP IF EXISTS PARTITION (day = '2024-01-03'), PARTITION (day = '2024-01-01');
SELECT day, sum(sales) AS sales FROM daily GROUP BY day;
TRUNCATE TABLE daily PARTITION (day = '2024-01-02');
SELECT count(*) FROM daily;
DROP TABLE daily;
