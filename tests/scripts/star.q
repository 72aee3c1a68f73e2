-- A star schema in the manner of the star schema benchmark: one fact table, dates, customers and parts.
CREATE TABLE dates (d_datekey INT, d_year INT, d_yearmonth STRING, d_week INT) STORED AS ORC;
CREATE TABLE customer (c_custkey INT, c_city STRING, c_nation STRING, c_region STRING) STORED AS ORC;
CREATE TABLE part (p_partkey INT, p_brand STRING, p_category STRING) STORED AS ORC;
CREATE TABLE lineorder (lo_orderkey INT, lo_custkey INT, lo_partkey INT, lo_orderdate INT, lo_quantity INT,
  lo_extendedprice INT, lo_discount INT, lo_revenue INT, lo_supplycost INT) STORED AS ORC;
INSERT INTO dates VALUES (19930105, 1993, 'Jan1993', 1), (19930210, 1993, 'Feb1993', 6), (19940101, 1994, 'Jan1994', 1);
INSERT INTO customer VALUES (1, 'UNITED KI1', 'UNITED KINGDOM', 'EUROPE'), (2, 'CHINA    3', 'CHINA', 'ASIA'), (3, 'JAPAN    7', 'JAPAN', 'ASIA');
INSERT INTO part VALUES (1, 'MFGR#121', 'MFGR#12'), (2, 'MFGR#122', 'MFGR#12'), (3, 'MFGR#311', 'MFGR#31');
INSERT INTO lineorder VALUES
  (1, 1, 1, 19930105, 10, 1000, 2, 980, 600), (1, 1, 2, 19930105, 30, 5000, 3, 4850, 3000),
  (2, 2, 1, 19930210, 20, 2000, 1, 1980, 1500), (3, 3, 3, 19940101, 5, 700, 0, 700, 400),
  (4, 2, 2, 19940101, 24, 900, 3, 873, 500), (5, 3, 1, 19940101, 1, 100, 9, 91, 90);
SELECT sum(lo_extendedprice * lo_discount) AS revenue
FROM lineorder, dates
WHERE lo_orderdate = d_datekey AND d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25;
SELECT sum(lo_revenue) AS revenue, d_year, p_brand
FROM lineorder, dates, part
WHERE lo_orderdate = d_datekey AND lo_partkey = p_partkey AND p_category = 'MFGR#12'
GROUP BY d_year, p_brand ORDER BY d_year, p_brand;
SELECT c_nation, d_year, sum(lo_revenue - lo_supplycost) AS profit
FROM lineorder
JOIN customer ON lo_custkey = c_custkey
JOIN dates ON lo_orderdate = d_datekey
WHERE c_region = 'ASIA' AND d_year >= 1993
GROUP BY c_nation, d_year ORDER BY d_year ASC, profit DESC;
SELECT d_year, c_region, sum(lo_revenue) AS revenue, rank() OVER (PARTITION BY d_year ORDER BY sum(lo_revenue) DESC) AS place
FROM lineorder JOIN customer ON lo_custkey = c_custkey JOIN dates ON lo_orderdate = d_datekey
GROUP BY d_year, c_region ORDER BY d_year, place;
