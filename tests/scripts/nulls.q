-- Nulls everywhere: comparisons, aggregates, ordering, defaults.
CREATE TEMPORARY TABLE x AS SELECT stack(4, 1, 'a', 10, 2, CAST(NULL AS STRING), 20, 3, '', CAST(NULL AS INT), 4, 'a', 10) AS (id, s, n);
SELECT count(*) AS c, count(s) AS cs, count(DISTINCT s) AS d, count(DISTINCT s, n) AS dn, sum(n) AS sn, avg(n) AS an, min(s) AS ms FROM x;
SELECT id, s = 'a' AS eq, s <=> NULL AS isn, s <> 'a' AS ne, n > 15 OR s IS NULL AS o, NOT (n > 15) AS nn, nvl(s, '?') AS nv, length(s) AS l FROM x ORDER BY id;
SELECT id FROM x ORDER BY n DESC, id;
SELECT id FROM x ORDER BY n NULLS LAST, id;
SELECT s, n, count(*) AS c FROM x GROUP BY s, n ORDER BY s, n;
SELECT id FROM x WHERE n NOT IN (10) ORDER BY id;
SELECT id, CASE WHEN s IS NULL THEN 'null' WHEN s = '' THEN 'empty' ELSE s END AS t, isnull(n) AS i, isnotnull(n) AS j, coalesce(n, length(s), -1) AS c FROM x ORDER BY id;
SELECT assert_true(count(*) = 4) IS NULL AS ok FROM x;
