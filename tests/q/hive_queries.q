-- SORT_QUERY_RESULTS
-- Forms of queries, each with Hive 4.0.1's answer: comparisons with subqueries, groups, windows, table functions, names.
CREATE VIEW few AS SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (3, NULL), (NULL, 'd')) t (k, s);
CREATE VIEW whole AS SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (5, 'e')) t (k, s);
CREATE VIEW holes AS SELECT * FROM (VALUES (1, 'a'), (NULL, NULL), (2, 'c')) t (k, s);
CREATE VIEW nil AS SELECT k, s FROM whole WHERE k > 100;
-- ANY is false and ALL true over no rows; a NULL leaves open what no other row decides
SELECT k, k > ANY (SELECT k FROM whole), k < SOME (SELECT k FROM whole), k >= ALL (SELECT k FROM whole), k <> ALL (SELECT k FROM whole),
  k = ANY (SELECT k FROM holes), k > ANY (SELECT k FROM holes), k < ALL (SELECT k FROM holes), k <= ALL (SELECT k FROM holes WHERE k IS NULL),
  k > ANY (SELECT k FROM nil), k > ALL (SELECT k FROM nil), k = ANY (SELECT k FROM nil), k <> ALL (SELECT k FROM nil) FROM few;
-- IN as a value is NULL where a NULL may be the one
SELECT k, k IN (SELECT k FROM holes), k NOT IN (SELECT k FROM holes), k IN (SELECT k FROM nil), k IN (SELECT h.k FROM holes h WHERE h.s = few.s),
  CASE WHEN k IN (SELECT k FROM holes) THEN 'in' WHEN k NOT IN (SELECT k FROM holes) THEN 'out' ELSE 'open' END FROM few;
SELECT 'open' is_it, k FROM few WHERE (k IN (SELECT k FROM holes)) IS NULL UNION ALL
SELECT 'not', k FROM few WHERE NOT (k > ANY (SELECT k FROM holes)) UNION ALL
SELECT 'or', k FROM few WHERE NOT (k IN (SELECT k FROM holes)) OR s = 'd' UNION ALL
SELECT 'correlated', k FROM few o WHERE k >= ANY (SELECT k FROM whole i WHERE i.s = o.s);
-- a subquery of HAVING sees keys and aggregates of the groups
SELECT s, max(k) FROM few GROUP BY s HAVING EXISTS (SELECT 1 FROM whole WHERE whole.s = few.s AND whole.k = max(few.k));
SELECT s, count(*), (SELECT max(f.k) FROM whole f WHERE f.s = o.s) FROM few o GROUP BY s HAVING count(*) >= ALL (SELECT count(*) FROM whole GROUP BY k);
-- grouping sets with the set of no keys have a row over no rows
SELECT 'rollup' sets, s, count(*) n, sum(k) t, grouping(s) g, grouping__id i FROM nil GROUP BY ROLLUP (s) UNION ALL
SELECT 'having', s, count(*), max(k), grouping(s), grouping__id FROM nil GROUP BY s WITH CUBE HAVING count(*) = 0 UNION ALL
SELECT 'gone', s, count(*), max(k), grouping(s), grouping__id FROM nil GROUP BY s WITH CUBE HAVING count(*) > 0 UNION ALL
SELECT 'no total', s, count(*), max(k), grouping(s), grouping__id FROM nil GROUP BY s GROUPING SETS ((s)) UNION ALL
SELECT 'rows', s, count(*), sum(k), grouping(s), grouping__id FROM whole GROUP BY s WITH ROLLUP UNION ALL
SELECT 'no sets', s, count(*), sum(k), grouping(s), 0 FROM whole GROUP BY s HAVING grouping(s) = 0;
SELECT max(n), max(total) FROM (SELECT s, count(*) n FROM nil GROUP BY ROLLUP (s)) x CROSS JOIN (SELECT count(*) total FROM few GROUP BY ()) y;
-- windows: ranks without an order have peers only; a window may have a base, and an alias of the SELECT
SELECT s, k, rank() OVER (PARTITION BY s), dense_rank() OVER (), sum(k) OVER (w ROWS 1 PRECEDING), count(*) OVER w2
  FROM whole WINDOW w AS (ORDER BY k), w2 AS (w);
SELECT s, max(k) mk, rank() OVER (ORDER BY mk DESC) FROM whole GROUP BY s;
-- table functions that hand on their input
SELECT x.k FROM noop(ON noopwithmap(ON whole PARTITION BY s ORDER BY k) PARTITION BY s) x JOIN few ON few.k = x.k;
SELECT * FROM matchpath(ON whole PARTITION BY s ORDER BY k);
-- percentiles, and the rank that a value would have
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k), percentile_disc(0.3) WITHIN GROUP (ORDER BY k DESC), percentile_disc(0.3) WITHIN GROUP (ORDER BY k), percentile_disc(k, 0.5), rank(2) WITHIN GROUP (ORDER BY k),
  dense_rank(3) WITHIN GROUP (ORDER BY k), percent_rank(2) WITHIN GROUP (ORDER BY k), cume_dist(2) WITHIN GROUP (ORDER BY k) FROM whole;
SELECT rank(2) WITHIN GROUP (ORDER BY k DESC), rank(2) WITHIN GROUP (ORDER BY k NULLS FIRST), rank('b', 2) WITHIN GROUP (ORDER BY s, k),
  rank(NULL) WITHIN GROUP (ORDER BY k), dense_rank(4) WITHIN GROUP (ORDER BY k NULLS FIRST), dense_rank('c', 1) WITHIN GROUP (ORDER BY s, k) FROM few;
SELECT rank(2) WITHIN GROUP (ORDER BY k), percent_rank(2) WITHIN GROUP (ORDER BY k), cume_dist(2) WITHIN GROUP (ORDER BY k), percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM nil;
-- samples
SELECT count(*) FROM whole TABLESAMPLE (2 ROWS) f CROSS JOIN nil TABLESAMPLE (50 PERCENT) n RIGHT JOIN few TABLESAMPLE (BUCKET 1 OUT OF 1 ON k) ON true;
SELECT k FROM whole TABLESAMPLE (BUCKET 1 OUT OF 2 ON k);
-- character sets, patterns of names
SELECT _UTF-8 0xE993AEE982B5, _UTF-8'text', reverse(_UTF-8 0xE993AEE982B5) = '邵铮';
SET hive.support.quoted.identifiers=none;
SELECT `(k)?+.+` FROM whole WHERE k = 5;
SET hive.support.quoted.identifiers=column;
