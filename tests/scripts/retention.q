-- Cohorts and retention with views, CTEs, unions, and a temporary table.
SET hive.vectorized.execution.enabled=false;
CREATE TABLE users (id INT, joined DATE, source STRING);
CREATE TABLE activity (user_id INT, at TIMESTAMP, kind STRING);
INSERT INTO users VALUES (1, '2024-01-05', 'ad'), (2, '2024-01-20', 'ad'), (3, '2024-02-01', 'mail'), (4, '2024-02-15', NULL), (5, '2024-03-01', 'mail');
INSERT INTO activity VALUES (1, '2024-01-05 10:00:00', 'view'), (1, '2024-02-03 10:00:00', 'buy'), (1, '2024-03-09 10:00:00', 'view'), (2, '2024-01-21 09:00:00', 'view'), (3, '2024-02-01 00:00:00', 'buy'), (3, '2024-03-31 23:59:59', 'buy'), (9, '2024-01-01 00:00:00', 'view'), (4, NULL, 'view');
CREATE TEMPORARY TABLE cohorts AS SELECT id, trunc(joined, 'MM') AS cohort, nvl(source, 'unknown') AS source FROM users;
CREATE VIEW monthly AS SELECT DISTINCT user_id, trunc(to_date(at), 'MM') AS month FROM activity WHERE at IS NOT NULL;
WITH base AS (SELECT c.cohort, CAST(months_between(m.month, c.cohort) AS INT) AS age, count(DISTINCT c.id) AS n FROM cohorts c JOIN monthly m ON c.id = m.user_id GROUP BY c.cohort, CAST(months_between(m.month, c.cohort) AS INT)), sizes AS (SELECT cohort, count(*) AS size FROM cohorts GROUP BY cohort)
SELECT b.cohort, b.age, b.n, s.size, round(100 * b.n / s.size, 1) AS pct FROM base b JOIN sizes s ON b.cohort = s.cohort ORDER BY b.cohort, b.age;
SELECT source, count(*) AS n FROM cohorts GROUP BY source UNION ALL SELECT 'total', count(*) FROM cohorts ORDER BY n, source;
SELECT u.id, u.source FROM users u WHERE u.id IN (SELECT user_id FROM activity WHERE kind = 'buy') AND u.joined > (SELECT min(joined) FROM users) ORDER BY u.id;
SELECT a.user_id, collect_list(a.kind) AS path, count(*) FROM (SELECT * FROM activity WHERE at IS NOT NULL DISTRIBUTE BY user_id SORT BY user_id, at) a GROUP BY a.user_id HAVING count(*) > 1 ORDER BY a.user_id;
SELECT u.id, max(a.at) AS last_seen, datediff('2024-04-01', max(a.at)) AS days FROM users u LEFT JOIN activity a ON u.id = a.user_id AND a.kind <> 'buy' GROUP BY u.id ORDER BY u.id;
SELECT id FROM users INTERSECT SELECT user_id FROM activity ORDER BY id;
SELECT user_id FROM activity EXCEPT SELECT id FROM users;
SELECT DISTINCT source FROM users UNION SELECT kind FROM activity ORDER BY source;
SELECT u.source, sum(x.buys) OVER (PARTITION BY u.source) AS s, x.buys, dense_rank() OVER (ORDER BY x.buys DESC) AS r FROM users u JOIN (SELECT user_id, sum(if(kind = 'buy', 1, 0)) AS buys FROM activity GROUP BY user_id) x ON x.user_id = u.id ORDER BY u.source, r, x.buys;
SELECT histogram_numeric(id, 2) IS NOT NULL FROM users;
