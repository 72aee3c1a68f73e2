-- Views over views, with comments and renamed columns; a view is replaced and dropped.
CREATE TABLE base (k STRING, d DATE, n INT);
INSERT INTO base VALUES ('a', '2024-01-01', 1), ('a', '2024-01-02', 2), ('b', '2024-01-01', 10), ('c', NULL, NULL);
CREATE VIEW IF NOT EXISTS by_key (k COMMENT 'the key', total COMMENT 'sum of n') COMMENT 'totals'
TBLPROPERTIES ('owner' = 'etl') AS SELECT k, sum(n) FROM base GROUP BY k;
CREATE VIEW big AS SELECT * FROM by_key WHERE total >= 3;
SELECT * FROM big ORDER BY k;
ALTER VIEW by_key AS SELECT k, sum(nvl(n, 100)) AS total FROM base GROUP BY k;
SELECT * FROM big ORDER BY k;
CREATE OR REPLACE VIEW big AS SELECT k, total, rank() OVER (ORDER BY total DESC) AS place FROM by_key;
SELECT * FROM big ORDER BY place;
SHOW VIEWS;
DROP VIEW IF EXISTS big;
DROP VIEW by_key;
