-- A report over several groupings.
CREATE TABLE orders (region STRING, product STRING, quarter INT, amount DECIMAL(10,2), units INT);
INSERT INTO orders VALUES ('eu','a',1,100.10,1),('eu','a',2,50,2),('eu','b',1,NULL,3),('us','a',1,10,NULL),('us','b',3,7.77,5),(NULL,'b',1,1,1),('us',NULL,4,0,0);
SELECT region, product, sum(amount) AS total, grouping__id AS g, grouping(region), grouping(product) FROM orders GROUP BY region, product GROUPING SETS ((region, product), region, ()) ORDER BY g, region, product;
SELECT region, quarter, count(*), sum(units), GROUPING(region, quarter) FROM orders GROUP BY CUBE (region, quarter) ORDER BY 5, region, quarter;
SELECT nvl(region, 'ALL') AS r, nvl(product, 'ALL') AS p, avg(amount) FROM orders GROUP BY region, product WITH ROLLUP ORDER BY r, p, 3;
SELECT region, sum(CASE quarter WHEN 1 THEN amount END) AS q1, sum(CASE quarter WHEN 2 THEN amount ELSE 0 END) AS q2, sum(if(quarter > 2, amount, NULL)) AS h2 FROM orders GROUP BY region ORDER BY region;
SELECT region, product, amount, sum(amount) OVER (PARTITION BY region) AS of_region, amount / sum(amount) OVER (PARTITION BY region) AS share FROM orders ORDER BY region, product, quarter;
SELECT product, map_agg, size(map_agg) FROM (SELECT product, str_to_map(concat_ws(',', collect_list(concat(quarter, '=', units))), ',', '=') AS map_agg FROM orders WHERE region IS NOT NULL GROUP BY product) x ORDER BY product;
SELECT region, avg(amount) AS a, round(avg(amount), 1), floor(avg(units)), ceil(sum(amount)), bround(sum(amount), 0), sum(amount) % 7, sum(units) / count(units) FROM orders GROUP BY region HAVING sum(amount) > 1 ORDER BY a DESC;
SELECT * FROM (SELECT region, product, units, row_number() OVER (PARTITION BY region ORDER BY units DESC NULLS LAST, product) AS rn FROM orders) t WHERE rn <= 2 ORDER BY region, rn;
SELECT quarter, count(DISTINCT region), count(DISTINCT region, product), sum(DISTINCT units), sort_array(collect_set(product)) FROM orders WHERE product IS NOT NULL GROUP BY quarter ORDER BY quarter;
WITH t AS (SELECT region, sum(amount) AS s FROM orders GROUP BY region), m AS (SELECT max(s) AS top FROM t) SELECT t.region, t.s, t.s / m.top FROM t CROSS JOIN m ORDER BY t.region;
