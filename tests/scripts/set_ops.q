-- Union, intersect, except, and their types.
WITH a AS (SELECT explode(array(1, 2, 2, 3, NULL)) AS x), b AS (SELECT explode(array(2, 3, 3, 4)) AS x)
SELECT 'union' AS op, x FROM (SELECT x FROM a UNION SELECT x FROM b) u
UNION ALL SELECT 'all', x FROM (SELECT x FROM a UNION ALL SELECT x FROM b) u WHERE x = 2
UNION ALL SELECT 'intersect', x FROM (SELECT x FROM a INTERSECT SELECT x FROM b) u
UNION ALL SELECT 'minus', x FROM (SELECT x FROM b MINUS SELECT x FROM a) u
ORDER BY op, x;
WITH a AS (SELECT explode(array(1, 2, 2, 3)) AS x), b AS (SELECT explode(array(2, 3, 3, 4)) AS x)
SELECT x FROM a EXCEPT SELECT x FROM b;
SELECT x, count(*) AS n FROM (SELECT CAST(1 AS DECIMAL(3,1)) AS x UNION ALL SELECT 2.5 UNION ALL SELECT 1) u GROUP BY x ORDER BY x;
SELECT k, v FROM (SELECT 'a' AS k, 1 AS v UNION ALL SELECT 'b', NULL UNION ALL SELECT NULL, 3) u ORDER BY k DESC, v;
SELECT * FROM (SELECT explode(array(3, 1, 2)) AS x) t ORDER BY x LIMIT 1, 2;
SELECT x FROM (SELECT explode(array(3, 1, 2)) AS x) t ORDER BY x DESC LIMIT 2;
