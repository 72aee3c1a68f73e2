-- EXPLAIN CBO: the plan, and the plan after each rule that fired.
CREATE EXTERNAL TABLE edits (`__time` timestamp, country string, city string, clicks bigint) STORED BY 'druid';
CREATE EXTERNAL TABLE places (`__time` timestamp, country string, region string) STORED BY 'druid';

-- A query becomes native operator by operator.
EXPLAIN CBO SELECT country, count(*) AS n FROM edits WHERE clicks > 3 GROUP BY country HAVING count(*) > 1 ORDER BY n DESC LIMIT 3;

-- Both sides of a join.
EXPLAIN CBO SELECT p.region, sum(e.clicks) AS s FROM edits e JOIN places p ON e.country = p.country WHERE e.city = 'x' GROUP BY p.region;

-- A rule that fires several times in a row is shown once.
EXPLAIN CBO SELECT clicks FROM edits WHERE clicks > 1 UNION ALL SELECT clicks FROM edits WHERE clicks < 0;

-- Several comparisons of one column are one range.
EXPLAIN CBO SELECT country FROM edits WHERE clicks > 3 AND clicks >= 5 AND clicks IN (1, 5, 9) AND clicks < 100;

-- IN becomes a semi join.
EXPLAIN CBO SELECT country FROM edits WHERE country IN (SELECT country FROM places WHERE region = 'north');

-- Each target of a multi-insert has a plan.
EXPLAIN CBO FROM edits INSERT INTO places SELECT `__time`, country, city INSERT INTO places SELECT `__time`, city, country WHERE clicks = 1;

-- Nothing to plan.
EXPLAIN CBO DROP TABLE places;
