-- Several lateral views, with and without rows, in joins and subqueries.
CREATE TEMPORARY TABLE src AS SELECT stack(3, 1, 'a,b', 'x|y', 2, '', 'z', 3, CAST(NULL AS STRING), 'w') AS (id, l, r);
SELECT id, p, q FROM src LATERAL VIEW explode(split(l, ',')) a AS p LATERAL VIEW explode(split(r, '\\|')) b AS q ORDER BY id, p, q;
SELECT id, p FROM src LATERAL VIEW OUTER explode(split(l, ',')) a AS p ORDER BY id, p;
SELECT id, i, p FROM src LATERAL VIEW posexplode(split(r, '\\|')) a AS i, p WHERE i > 0 ORDER BY id;
SELECT s.id, count(*) AS n FROM (SELECT id, p FROM src LATERAL VIEW explode(split(r, '\\|')) a AS p) s JOIN src t ON s.id = t.id GROUP BY s.id ORDER BY s.id;
SELECT id, k, v FROM src LATERAL VIEW explode(map('len', length(l), 'id', id)) m AS k, v ORDER BY id, k;
SELECT id, c1, c2 FROM src LATERAL VIEW inline(array(struct(id, r), struct(id * 10, l))) t AS c1, c2 ORDER BY c1, c2;
