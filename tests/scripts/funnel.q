-- A funnel of steps per visitor with conditional aggregates.
CREATE TEMPORARY TABLE hits AS
SELECT inline(array(struct('u1', 'view', 1), struct('u1', 'cart', 2), struct('u1', 'pay', 5), struct('u2', 'view', 1),
  struct('u2', 'cart', 9), struct('u3', 'view', 4), struct('u4', 'cart', 1))) AS (u, step, t);
WITH steps AS (
  SELECT u, min(IF(step = 'view', t, NULL)) AS v, min(IF(step = 'cart', t, NULL)) AS c, min(IF(step = 'pay', t, NULL)) AS p
  FROM hits GROUP BY u)
SELECT count(v) AS views, sum(CASE WHEN c > v THEN 1 ELSE 0 END) AS carts, count(IF(p > c AND c > v, 1, NULL)) AS paid,
       round(100 * count(p) / count(v), 1) AS pct FROM steps;
SELECT u, concat_ws('>', sort_array(collect_list(concat(t, step)))) AS path FROM (SELECT u, step, t FROM hits DISTRIBUTE BY u SORT BY u, t) s
GROUP BY u ORDER BY u;
SELECT step, count(DISTINCT u) AS users, min(t) AS first, max(t) - min(t) AS span FROM hits GROUP BY step ORDER BY users DESC, step;
SELECT size(collect_set(step)) AS steps, count(*) AS n FROM hits GROUP BY u ORDER BY steps, n;
