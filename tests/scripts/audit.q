-- Checks at the end of a job: counts by table, duplicates, orphans, and a log table.
CREATE TABLE parents (id INT, name STRING);
CREATE TABLE children (id INT, parent INT, v DOUBLE);
CREATE TABLE log (at TIMESTAMP, what STRING, n BIGINT);
INSERT INTO parents VALUES (1, 'a'), (2, 'b'), (2, 'b');
INSERT INTO children VALUES (10, 1, 0.5), (11, 2, 1.5), (12, 9, NULL);
INSERT INTO log
SELECT TIMESTAMP '2024-01-01 00:00:00', what, n FROM (
  SELECT 'parents' AS what, count(*) AS n FROM parents
  UNION ALL SELECT 'duplicates', count(*) FROM (SELECT id FROM parents GROUP BY id HAVING count(*) > 1) d
  UNION ALL SELECT 'orphans', count(*) FROM children c LEFT JOIN parents p ON c.parent = p.id WHERE p.id IS NULL
  UNION ALL SELECT 'nulls', sum(IF(v IS NULL, 1, 0)) FROM children) checks;
SELECT what, n FROM log ORDER BY what;
SELECT p.name, count(c.id) AS children, sum(c.v) AS v FROM (SELECT DISTINCT id, name FROM parents) p LEFT JOIN children c ON c.parent = p.id
GROUP BY p.name ORDER BY p.name;
