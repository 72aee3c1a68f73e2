-- Druid tables: retention rules, and DROP PARTITION of whole intervals of segments.
CREATE TABLE d (`__time` TIMESTAMP, a STRING) STORED BY druid
TBLPROPERTIES ('druid.segment.granularity' = 'DAY', 'druid.retention.rules' = 'load P30D hot:2, drop forever');
SHOW CREATE TABLE d;
ALTER TABLE d SET TBLPROPERTIES ('druid.retention.rules' = 'load P30D hot:2, keep forever');
EXPLAIN ALTER TABLE d SET TBLPROPERTIES ('druid.retention.rules' = 'load forever');
ALTER TABLE d UNSET TBLPROPERTIES ('druid.retention.rules');
INSERT INTO d VALUES ('2026-01-01 00:00:00', 'x'), ('2026-01-02 05:00:00', 'y'), ('2026-01-03 00:00:00', 'z');
ALTER TABLE d DROP PARTITION (__time < '2026-01-02 12:00:00');
ALTER TABLE d DROP PARTITION (a < 'x');
ALTER TABLE d DROP PARTITION (__time = '2026-01-01');
ALTER TABLE d DROP PARTITION (__time >= '2026-01-02', __time < '2026-01-01');
ALTER TABLE d DROP PARTITION (__time < 'yesterday');
ALTER TABLE d DROP PARTITION (__time < '2025-01-01');
ALTER TABLE d DROP IF EXISTS PARTITION (__time < '2025-01-01');
EXPLAIN ALTER TABLE d DROP PARTITION (__time < '2026-01-02'), PARTITION (__time >= '2026-01-03') PURGE;
ALTER TABLE d DROP PARTITION (__time < '2026-01-02'), PARTITION (__time >= '2026-01-03') PURGE;
SELECT * FROM d;
ALTER TABLE d RESTORE PARTITION (__time < '2026-01-02');
CREATE TABLE m (a INT);
ALTER TABLE m RESTORE PARTITION (a < 1);
CREATE EXTERNAL TABLE e (`__time` TIMESTAMP) STORED BY druid TBLPROPERTIES ('druid.datasource' = 'default.d');
DROP TABLE e PURGE;
SHOW DATA SOURCES;
