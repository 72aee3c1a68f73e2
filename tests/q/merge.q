-- MERGE changes rows of managed tables in one commit. The results are those of Hive 4.0.1.
CREATE TABLE t (a INT, s STRING, d DECIMAL(5, 2), v VARCHAR(3));
CREATE TEMPORARY TABLE u (a INT, s STRING, op STRING);
INSERT INTO u VALUES (1, 'x', 'u'), (2, 'y', NULL), (4, 'z', 'i'), (NULL, 'w', 'd');
-- a table without rows
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED AND u.op = 'i' THEN INSERT (s, a) VALUES (u.s, u.a);
SELECT * FROM t;
INSERT OVERWRITE TABLE t VALUES (1, 'one', 1.5, 'a'), (2, 'two', 2.5, 'b'), (3, 'three', NULL, 'c'), (NULL, 'none', 0, 'n');
EXPLAIN MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.op = 'u' THEN UPDATE SET s = u.s, d = d + 1 WHEN MATCHED THEN DELETE
WHEN NOT MATCHED THEN INSERT VALUES (u.a, u.s, 9.999, 'abcdef');
EXPLAIN FORMATTED MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE;
-- u.op is NULL for a = 2: neither the first condition nor its opposite is true, and the row stays
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.op = 'u' THEN UPDATE SET s = u.s WHEN MATCHED THEN DELETE
WHEN NOT MATCHED THEN INSERT VALUES (u.a, u.s, 9.999, 'abcdef');
SELECT * FROM t ORDER BY a, s;
INSERT OVERWRITE TABLE t VALUES (1, 'one', 1.5, 'a'), (2, 'two', 2.5, 'b'), (3, 'three', NULL, 'c'), (NULL, 'none', 0, 'n');
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.op = 'u' THEN DELETE WHEN MATCHED THEN UPDATE SET d = 7.777, v = 'lmnop';
SELECT * FROM t ORDER BY a, s;
-- aliases, a subquery, a condition that is true for nulls, values of both rows
MERGE INTO t AS x USING (SELECT a, s FROM u WHERE op IS NOT NULL) y ON x.a <=> y.a WHEN MATCHED THEN UPDATE SET s = concat(x.s, y.s)
WHEN NOT MATCHED THEN INSERT VALUES (y.a, y.s, NULL, NULL);
SELECT * FROM t ORDER BY a, s;
-- columns of the table are NULL where there is no match
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED AND t.d IS NULL THEN INSERT VALUES (u.a + 100, u.s, t.d, t.s);
SELECT * FROM t ORDER BY a, s;
-- a row of the table that matches several rows of the source, whatever the conditions of the clauses
INSERT INTO u VALUES (3, 'p', 'u'), (3, 'q', 'i');
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.op = 'u' THEN UPDATE SET s = u.s;
SELECT * FROM t ORDER BY a, s;
MERGE INTO t USING u ON t.a = u.a AND u.op = 'u' WHEN MATCHED THEN UPDATE SET s = u.s;
SELECT * FROM t ORDER BY a, s;
-- several rows of the source without a match are all inserted; constants; the table itself as the source
MERGE INTO t USING (SELECT 7 AS a UNION ALL SELECT 7) n ON t.a = n.a WHEN NOT MATCHED THEN INSERT (a) VALUES (n.a);
MERGE INTO t USING (SELECT a, count(*) AS c FROM t GROUP BY a) n ON t.a = n.a AND n.c > 1 WHEN MATCHED THEN DELETE;
SELECT * FROM t ORDER BY a, s;
-- partitions, columns that were added since the last write, conversions
CREATE TABLE p (day DATE, city STRING, n BIGINT) PARTITIONED BY SPEC (day);
INSERT INTO p VALUES ('2024-01-01', 'Oslo', 1), ('2024-01-02', NULL, 2);
ALTER TABLE p ADD COLUMNS (k TINYINT, ts TIMESTAMP);
MERGE INTO p USING (SELECT '2024-01-01' AS day, '1' AS n, 300 AS k UNION ALL SELECT 'x', '5', 3) c ON p.day = c.day AND p.n = c.n
WHEN MATCHED THEN UPDATE SET k = c.k, day = '2024-03-01', ts = '2024-05-06 07:08:09'
WHEN NOT MATCHED THEN INSERT VALUES (c.day, 12.50, c.n, c.k, NULL);
SELECT * FROM p ORDER BY n;
-- sources in Druid, in files of any format, and former rows
CREATE TABLE dr (`__time` TIMESTAMP, a BIGINT, k STRING) STORED BY 'druid' TBLPROPERTIES ('druid.rollup' = 'false');
INSERT INTO dr VALUES ('2024-01-01', 1, 'x'), ('2024-01-01', 2, 'x'), ('2024-01-02', 5, 'y');
CREATE TABLE sums (k STRING, n BIGINT, total BIGINT);
INSERT INTO sums VALUES ('x', 7, 70), ('z', 1, 1);
EXPLAIN MERGE INTO sums USING (SELECT k, count(*) AS n, sum(a) AS total FROM dr GROUP BY k) d ON sums.k = d.k
WHEN MATCHED THEN UPDATE SET n = sums.n + d.n, total = d.total WHEN NOT MATCHED THEN INSERT VALUES (d.k, d.n, d.total);
MERGE INTO sums USING (SELECT k, count(*) AS n, sum(a) AS total FROM dr GROUP BY k) d ON sums.k = d.k
WHEN MATCHED THEN UPDATE SET n = sums.n + d.n, total = d.total WHEN NOT MATCHED THEN INSERT VALUES (d.k, d.n, d.total);
SELECT * FROM sums ORDER BY k;
MERGE INTO sums USING dr ON sums.k = dr.k AND dr.a = 5 WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (k, n) VALUES (upper(dr.k), dr.a);
SELECT * FROM sums ORDER BY k, n;
-- what is refused
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET s = 'a' WHEN MATCHED THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.s = 'a' THEN UPDATE SET s = 'a' WHEN MATCHED THEN UPDATE SET s = 'b';
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.s = 'a' THEN DELETE WHEN MATCHED THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT VALUES (1, 'a');
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a) VALUES (1, 'a');
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED THEN INSERT (a, zz) VALUES (1, 'a');
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET zz = 1;
MERGE INTO t USING u ON a = u.a WHEN MATCHED THEN DELETE;
MERGE INTO t USING t ON t.a = t.a WHEN MATCHED THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET s = (SELECT max(s) FROM u);
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND max(u.s) = 'a' THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND rand() < 0.5 THEN DELETE;
MERGE INTO t USING u ON t.a = u.a WHEN NOT MATCHED BY SOURCE THEN DELETE;
MERGE INTO t USING u JOIN t x ON x.a = u.a ON t.a = u.a WHEN MATCHED THEN DELETE;
MERGE INTO u USING t ON t.a = u.a WHEN MATCHED THEN DELETE;
MERGE INTO nowhere USING u ON true WHEN MATCHED THEN DELETE;
MERGE INTO t USING nowhere n ON t.a = n.a WHEN MATCHED THEN DELETE;
MERGE INTO dr USING u ON dr.a = u.a WHEN MATCHED THEN DELETE;
CREATE EXTERNAL TABLE f (a INT) STORED AS ORC LOCATION '/tmp/no/where';
MERGE INTO f USING u ON f.a = u.a WHEN MATCHED THEN DELETE;
