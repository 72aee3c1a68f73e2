-- Samples, limits, and sorting within reducers.
CREATE TABLE n AS SELECT pos AS i FROM (SELECT posexplode(split(space(99), ' ')) AS (pos, x)) s;
SELECT count(*) AS n, sum(i) AS s FROM n;
SELECT count(*) <= 100 AS ok FROM n TABLESAMPLE (50 PERCENT) t;
SELECT count(*) AS n FROM (SELECT i FROM n LIMIT 10) t;
SELECT count(*) > 0 AS ok FROM n WHERE rand() < 0.99;
SELECT i FROM n DISTRIBUTE BY i % 4 SORT BY i LIMIT 3;
SELECT i FROM n ORDER BY i DESC LIMIT 3 OFFSET 2;
SELECT min(i) AS lo, max(i) AS hi FROM (SELECT i FROM n CLUSTER BY i) t;
