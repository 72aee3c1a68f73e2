-- The last version of each record, duplicates counted, rejects kept apart by a multi-insert.
CREATE TABLE feed (id STRING, version INT, payload STRING, received TIMESTAMP);
INSERT INTO feed VALUES ('a', 1, 'x', '2024-01-01 00:00:00'), ('a', 2, 'y', '2024-01-02 00:00:00'), ('a', 2, 'z', '2024-01-03 00:00:00.123'), ('b', 1, NULL, '2024-01-01 00:00:00'), (NULL, 5, 'lost', '2024-01-01 00:00:00'), ('c', NULL, 'c0', NULL), ('c', 1, 'c1', '2024-01-01 00:00:00');
CREATE TABLE latest (id STRING, version INT, payload STRING);
CREATE TABLE rejects (id STRING, reason STRING, n BIGINT);
FROM (SELECT id, version, payload, row_number() OVER (PARTITION BY id ORDER BY version DESC, received DESC) AS rn, count(*) OVER (PARTITION BY id) AS copies FROM feed) f
INSERT OVERWRITE TABLE latest SELECT id, version, payload WHERE rn = 1 AND id IS NOT NULL
INSERT INTO TABLE rejects SELECT id, if(id IS NULL, concat('no id: ', payload), 'older version'), count(*) WHERE rn > 1 OR id IS NULL
  GROUP BY id, if(id IS NULL, concat('no id: ', payload), 'older version');
SELECT * FROM latest ORDER BY id;
SELECT * FROM rejects ORDER BY id, reason;
SELECT id, rank() OVER (ORDER BY version) AS r, dense_rank() OVER (ORDER BY version) AS d, percent_rank() OVER (ORDER BY version), lead(payload, 1, 'end') OVER (ORDER BY id, version, payload) FROM feed ORDER BY id, version, payload;
SELECT DISTINCT id, max(version) OVER (PARTITION BY id) AS m FROM feed ORDER BY id;
SELECT md5(concat_ws('|', id, CAST(version AS STRING), payload)) AS h, count(*) AS n FROM feed GROUP BY md5(concat_ws('|', id, CAST(version AS STRING), payload)) HAVING count(*) >= 1 ORDER BY h;
SELECT f.id, f.version FROM feed f LEFT SEMI JOIN latest l ON f.id = l.id AND f.version = l.version ORDER BY f.id, f.version;
SELECT f.id FROM feed f WHERE NOT EXISTS (SELECT 1 FROM latest l WHERE l.id = f.id) OR f.version IS NULL ORDER BY f.id;
SELECT id, version FROM feed WHERE id NOT IN (SELECT id FROM rejects WHERE id IS NOT NULL) ORDER BY id, version;
SELECT percentile_approx(version, 0.5), stddev_pop(version), variance(version), corr(version, version), covar_pop(version, 2 * version) FROM feed;
