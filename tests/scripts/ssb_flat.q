-- A denormalized star: the flat table is partitioned by year and answers flight queries without joins.
CREATE TABLE flat (orderkey INT, custkey INT, city STRING, nation STRING, region STRING, brand STRING, qty INT, revenue BIGINT, cost BIGINT)
PARTITIONED BY (year INT) STORED AS ORC TBLPROPERTIES ('orc.compress' = 'ZLIB');
INSERT INTO flat PARTITION (year) VALUES
 (1, 1, 'UNITED KI1', 'UNITED KINGDOM', 'EUROPE', 'MFGR#1', 10, 100, 60, 1997), (2, 2, 'UNITED KI5', 'UNITED KINGDOM', 'EUROPE', 'MFGR#2', 20, 300, 200, 1997),
 (3, 3, 'CHINA    3', 'CHINA', 'ASIA', 'MFGR#1', 5, 50, 20, 1998), (4, 2, 'UNITED KI5', 'UNITED KINGDOM', 'EUROPE', 'MFGR#1', 7, 70, 30, 1998);
SELECT year, sum(revenue - cost) AS profit FROM flat WHERE region = 'EUROPE' AND year BETWEEN 1997 AND 1998 GROUP BY year ORDER BY year;
SELECT city, year, sum(revenue) AS revenue FROM flat WHERE city IN ('UNITED KI1', 'UNITED KI5') GROUP BY city, year ORDER BY year ASC, revenue DESC;
SELECT nation, brand, sum(qty) AS qty, grouping__id FROM flat GROUP BY nation, brand WITH CUBE ORDER BY grouping__id, nation, brand;
SELECT brand, revenue_share FROM (SELECT brand, round(sum(revenue) / sum(sum(revenue)) OVER (), 4) AS revenue_share FROM flat GROUP BY brand) s ORDER BY brand;
