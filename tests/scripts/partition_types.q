-- Partition columns of several types, and values with special characters.
CREATE TABLE facts (v INT) PARTITIONED BY (d DATE, region STRING, h INT) STORED AS ORC;
INSERT INTO facts PARTITION (d = '2024-01-01', region = 'a/b', h = 3) VALUES (1);
INSERT INTO facts PARTITION (d = '2024-01-01', region, h) SELECT 2, 'c=d', 4 UNION ALL SELECT 3, 'ü x', 5;
INSERT OVERWRITE TABLE facts PARTITION (d, region, h) SELECT v + 10, DATE '2024-01-02', region, h FROM facts WHERE h > 3;
SHOW PARTITIONS facts;
SELECT * FROM facts ORDER BY v;
SELECT region, sum(v) AS v FROM facts WHERE d >= '2024-01-02' AND h IN (4, 5) GROUP BY region ORDER BY region;
ALTER TABLE facts DROP PARTITION (d = '2024-01-01', region = 'a/b');
ALTER TABLE facts PARTITION (d = '2024-01-02', region = 'c=d', h = 4) RENAME TO PARTITION (d = '2024-01-03', region = 'c=d', h = 4);
SELECT d, count(*) AS n FROM facts GROUP BY d ORDER BY d;
SELECT max(d) AS latest FROM facts;
