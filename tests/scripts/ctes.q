-- Chains of common table expressions, one of them used twice, and FROM before SELECT.
CREATE TEMPORARY TABLE staff AS
SELECT stack(5, 1, 'ann', CAST(NULL AS INT), 2, 'ben', 1, 3, 'cat', 1, 4, 'dan', 2, 5, 'eve', 4) AS (id, name, boss);
WITH boss AS (SELECT id, name FROM staff),
     pairs AS (SELECT s.id, s.name, b.name AS boss FROM staff s LEFT JOIN boss b ON s.boss = b.id),
     counts AS (SELECT boss, count(*) AS n FROM pairs WHERE boss IS NOT NULL GROUP BY boss)
SELECT p.name, p.boss, nvl(c.n, 0) AS reports FROM pairs p LEFT JOIN counts c ON p.name = c.boss ORDER BY p.name;
WITH q AS (SELECT boss, id FROM staff WHERE boss > 0) FROM q SELECT boss, max(id) GROUP BY boss ORDER BY boss;
CREATE TABLE chain AS WITH a AS (SELECT id, boss FROM staff), b AS (SELECT x.id, y.boss AS top FROM a x JOIN a y ON x.boss = y.id)
SELECT id, top FROM b WHERE top IS NOT NULL;
SELECT * FROM chain ORDER BY id;
WITH t AS (SELECT name FROM staff WHERE id IN (SELECT boss FROM staff)) INSERT OVERWRITE TABLE chain SELECT length(name), NULL FROM t;
SELECT id, count(*) AS n FROM chain GROUP BY id;
