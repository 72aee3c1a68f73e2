-- Incremental load: only rows that the target does not have are appended; the watermark comes from the target itself.
CREATE EXTERNAL TABLE target (id INT, v STRING, ts TIMESTAMP) STORED AS PARQUET LOCATION '${home}/target';
CREATE TEMPORARY TABLE delivered AS
SELECT id, v, CAST(ts AS TIMESTAMP) AS ts FROM (
SELECT stack(3, 1, 'a', '2024-01-01 10:00:00', 2, 'b', '2024-01-02 10:00:00', 3, 'c', '2024-01-03 10:00:00') AS (id, v, ts)) s;
INSERT INTO TABLE target SELECT d.* FROM delivered d LEFT OUTER JOIN target t ON d.id = t.id WHERE t.id IS NULL AND d.id < 3;
SELECT max(ts) AS watermark, count(*) AS n FROM target;
INSERT INTO TABLE target
SELECT d.* FROM delivered d CROSS JOIN (SELECT coalesce(max(ts), TIMESTAMP '1970-01-01 00:00:00') AS w FROM target) m WHERE d.ts > m.w;
SELECT * FROM target ORDER BY id;
INSERT OVERWRITE TABLE target SELECT * FROM (
  SELECT id, v, ts FROM target UNION ALL SELECT id, concat(v, '!'), ts FROM delivered WHERE id = 1) u
WHERE NOT (id = 1 AND v = 'a');
SELECT id, v FROM target ORDER BY id;
SELECT id FROM delivered WHERE NOT EXISTS (SELECT 1 FROM target WHERE target.v = delivered.v) ORDER BY id;
