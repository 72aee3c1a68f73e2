-- A table grows: new columns, wider types, a new name, a view that keeps working.
CREATE TABLE emp (id INT, name STRING, pay FLOAT) PARTITIONED BY (y INT) STORED AS ORC;
INSERT INTO emp PARTITION (y = 2023) VALUES (1, 'ann', 10.5), (2, 'ben', 20);
ALTER TABLE emp ADD COLUMNS (dept STRING COMMENT 'since 2024', grade INT) CASCADE;
ALTER TABLE emp CHANGE COLUMN id id BIGINT;
ALTER TABLE emp CHANGE pay pay DOUBLE COMMENT 'per hour';
INSERT INTO emp PARTITION (y = 2024) VALUES (3000000000, 'cat', 30.25, 'it', 2);
SELECT * FROM emp ORDER BY id;
SELECT y, sum(pay) AS pay, count(dept) AS d FROM emp GROUP BY y ORDER BY y;
ALTER TABLE emp RENAME TO employees;
SELECT nvl(dept, 'none') AS dept, max(grade) AS g FROM employees GROUP BY nvl(dept, 'none') ORDER BY dept;
