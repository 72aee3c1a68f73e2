-- JSON tables are written, too, and nested values survive the way back.
CREATE EXTERNAL TABLE j (id INT, tags ARRAY<STRING>, attr MAP<STRING, INT>, pos STRUCT<x: DOUBLE, y: DOUBLE>, d DATE)
STORED AS JSONFILE LOCATION '${home}/j';
INSERT INTO j SELECT 1, array('a', 'b'), map('k', 1), named_struct('x', 1.5D, 'y', 2.0D), DATE '2024-01-01';
INSERT INTO j SELECT 2, array(), map('k', 2, 'l', 3), named_struct('x', 0.0D, 'y', -1.0D), NULL;
SELECT * FROM j ORDER BY id;
SELECT id, pos.x + pos.y AS s, attr['l'] AS l, size(tags) AS n FROM j ORDER BY id;
INSERT OVERWRITE TABLE j SELECT id + 10, tags, attr, pos, d FROM j WHERE d IS NOT NULL;
SELECT id, d FROM j;
