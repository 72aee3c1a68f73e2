-- Outer, semi and anti joins with conditions on both sides, a map join hint, and null keys.
CREATE TABLE l (k INT, a STRING);
CREATE TABLE r (k INT, b STRING);
INSERT INTO l VALUES (1, 'l1'), (2, 'l2'), (2, 'l2b'), (NULL, 'lx');
INSERT INTO r VALUES (2, 'r2'), (3, 'r3'), (NULL, 'rx');
SELECT /*+ MAPJOIN(r) */ l.k, a, b FROM l JOIN r ON l.k = r.k ORDER BY a;
SELECT l.k AS lk, a, r.k AS rk, b FROM l FULL OUTER JOIN r ON (l.k = r.k) ORDER BY lk, rk, a, b;
SELECT a, b FROM l LEFT OUTER JOIN r ON l.k = r.k AND r.b <> 'r2' ORDER BY a;
SELECT a FROM l LEFT SEMI JOIN r ON l.k = r.k ORDER BY a;
SELECT a FROM l LEFT JOIN r ON l.k = r.k WHERE r.k IS NULL ORDER BY a;
SELECT a, b FROM l JOIN r ON l.k <=> r.k ORDER BY a;
SELECT count(*) FROM l CROSS JOIN r;
SELECT a, b FROM l, r WHERE l.k + 1 = r.k ORDER BY a;
