-- Subtotals with ROLLUP, CUBE and GROUPING SETS.
CREATE TEMPORARY TABLE sales AS
SELECT stack(5, 'eu', 'at', 'shoe', 10, 'eu', 'de', 'shoe', 20, 'eu', 'de', 'hat', 5, 'us', 'ny', 'hat', 7, 'us', 'ny', NULL, 1)
AS (region, country, item, qty);
SELECT region, country, sum(qty) AS qty, grouping__id AS gid FROM sales
GROUP BY region, country WITH ROLLUP ORDER BY region, country, gid;
SELECT region, item, count(*) AS n, sum(qty) AS qty, grouping(region) AS gr, grouping(item) AS gi FROM sales
GROUP BY CUBE (region, item) ORDER BY gr, gi, region, item;
SELECT region, country, item, sum(qty) AS qty, grouping(region, country, item) AS g FROM sales
GROUP BY region, country, item GROUPING SETS ((region, country), (item), ()) ORDER BY g, region, country, item;
SELECT CASE WHEN grouping(region) = 1 THEN 'all' ELSE region END AS region, sum(qty) AS qty,
       round(sum(qty) / max(sum(qty)) OVER (), 3) AS share
FROM sales GROUP BY ROLLUP (region) ORDER BY qty, region;
