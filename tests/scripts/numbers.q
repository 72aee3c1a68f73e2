-- Money and measurements: decimals, rounding, casts of dirty text, overflow, and division.
CREATE TABLE raw (id INT, v STRING);
INSERT INTO raw VALUES (1, '12.345'), (2, ' 7 '), (3, 'n/a'), (4, ''), (5, '1e3'), (6, '-0.5'), (7, NULL), (8, '99999999999');
SELECT id, CAST(v AS DECIMAL(10,2)) AS money, CAST(v AS DOUBLE) AS dbl, CAST(v AS INT) AS i, CAST(v AS BIGINT) AS b FROM raw ORDER BY id;
SELECT id, round(CAST(v AS DOUBLE), 1) AS r, bround(CAST(v AS DOUBLE)) AS br, ceil(v) AS c, floor(v) AS f, abs(CAST(v AS DOUBLE)) AS a
FROM raw WHERE CAST(v AS DOUBLE) IS NOT NULL ORDER BY id;
SELECT sum(CAST(v AS DECIMAL(20,4))) AS s, avg(CAST(v AS DECIMAL(10,2))) AS a, count(CAST(v AS INT)) AS n, max(v) AS m FROM raw;
SELECT 1 / 3 AS third, 7 DIV 2 AS d, 5 % 3 AS m, 1 / 0 AS z, CAST(1 AS DECIMAL(4,2)) / 3 AS dd, 2.50 * 3 AS t, 0.1 + 0.2 AS s,
       format_number(1234567.891, 2) AS fn, conv('ff', 16, 10) AS c, bin(5) AS b, hex(255) AS h, power(2, 10) AS p, log10(1000) AS l;
SELECT CAST('2024-01-01' AS INT) AS a, CAST(true AS INT) AS b, CAST('abc' AS BOOLEAN) AS c, CAST(3.99 AS INT) AS d, CAST(-3.99 AS INT) AS e,
       CAST(300 AS TINYINT) AS f, CAST(CAST(1.5 AS DOUBLE) AS STRING) AS g, CAST(1e20 AS DOUBLE) AS h;
