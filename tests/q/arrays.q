-- Columns of ARRAY<STRING> in Druid: an empty array and one that holds a single NULL are kept as NULL.
CREATE TABLE posts STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false') AS
SELECT CAST('2024-01-01' AS TIMESTAMP) AS `__time`, id, author, tags FROM (
  SELECT 1 AS id, 'ann' AS author, array('b', 'a', 'b') AS tags
  UNION ALL SELECT 2, 'ann', array('a', NULL)
  UNION ALL SELECT 3, 'bob', array('')
  UNION ALL SELECT 4, 'bob', CAST(NULL AS ARRAY<STRING>)
  UNION ALL SELECT 5, 'a', array(CAST(NULL AS STRING))
  UNION ALL SELECT 6, NULL, split('c', ',')
  UNION ALL SELECT 7, 'a', array('a', 'ann')) v;
SELECT id, tags, size(tags), tags[0], tags[1], array_contains(tags, 'a'), array_contains(tags, author) FROM posts ORDER BY id;
SELECT count(*) FROM posts WHERE array_contains(tags, 'a');
SELECT count(*) FROM posts WHERE NOT array_contains(tags, 'a');
SELECT count(*) FROM posts WHERE tags IS NULL OR size(tags) > 2;
SELECT size(tags), count(*) FROM posts GROUP BY size(tags) ORDER BY 1;
SELECT tag, count(*), count(DISTINCT author) FROM posts LATERAL VIEW explode(tags) t AS tag GROUP BY tag ORDER BY tag;
SELECT tag, count(*) c FROM posts LATERAL VIEW explode(tags) t AS tag WHERE tag <> 'c' GROUP BY tag ORDER BY c DESC, tag LIMIT 2;
SELECT id, tag FROM posts LATERAL VIEW OUTER explode(tags) t AS tag ORDER BY id, tag;
SELECT id, tag FROM posts LATERAL VIEW explode(tags) t AS tag WHERE NOT tag = 'a' OR id = 2 ORDER BY id, tag;
SELECT id, tag FROM posts LATERAL VIEW explode(tags) t AS tag WHERE tag = author ORDER BY id;
SELECT x, y, count(*) FROM posts LATERAL VIEW explode(tags) t AS x LATERAL VIEW explode(tags) u AS y WHERE x < y GROUP BY x, y ORDER BY x, y;
SELECT e.tag, p.name, count(*) FROM (SELECT tag FROM posts LATERAL VIEW explode(tags) t AS tag) e
JOIN (SELECT 'a' AS tag, 'first' AS name UNION ALL SELECT 'b', 'second') p ON e.tag = p.tag GROUP BY e.tag, p.name ORDER BY e.tag;
EXPLAIN SELECT tag, count(*) FROM posts LATERAL VIEW explode(tags) t AS tag
WHERE (NOT tag = 'c' OR tag LIKE 'c%') AND array_contains(tags, 'a') AND (tag = author OR id > 1) GROUP BY tag;
EXPLAIN CBO SELECT tag FROM posts LATERAL VIEW OUTER explode(tags) t AS tag WHERE tag IS NULL;
EXPLAIN SELECT pos, tag FROM posts LATERAL VIEW posexplode(tags) t AS pos, tag;
SELECT id, pos, tag FROM posts LATERAL VIEW posexplode(tags) t AS pos, tag WHERE id < 3 ORDER BY id, pos;
SELECT id, tags, lag(tags) OVER (ORDER BY id) FROM posts WHERE tags IS NOT NULL ORDER BY id LIMIT 2;
SELECT sort_array_by(array(named_struct('id', 2, 'tag', 'a'), named_struct('id', 1, 'tag', 'b'), named_struct('id', 3, 'tag', 'a')), 'tag', 'id', 'DESC');
SELECT sort_array_by(collect_list(named_struct('id', id, 'author', author)), 'author') FROM posts WHERE id > 5;
SELECT sort_array_by(collect_list(named_struct('id', id)), 'author') FROM posts;
