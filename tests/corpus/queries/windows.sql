-- Window functions run over what Druid has grouped.
SELECT town, n, rank() OVER (ORDER BY n DESC) AS r FROM (SELECT town, count(*) AS n FROM rides GROUP BY town) t ORDER BY r, town;
SELECT town, count(*) AS n, sum(count(*)) OVER () AS every FROM rides GROUP BY town ORDER BY town;
SELECT month, n, sum(n) OVER (ORDER BY month) AS running, lag(n) OVER (ORDER BY month) AS before FROM (SELECT floor_month(`__time`) AS month, count(*) AS n FROM rides GROUP BY floor_month(`__time`)) t ORDER BY month DESC LIMIT 4;
SELECT id, row_number() OVER (PARTITION BY town ORDER BY meters DESC, id) AS k FROM rides WHERE id < 12 ORDER BY id;
SELECT town, meters FROM (SELECT town, meters, dense_rank() OVER (PARTITION BY town ORDER BY meters DESC) AS d FROM rides) t WHERE d = 1 ORDER BY town;
SELECT town, n, ntile(3) OVER (ORDER BY n, town) AS third, first_value(n) OVER (ORDER BY n, town) AS least FROM (SELECT town, count(*) AS n FROM rides GROUP BY town) t ORDER BY n, town;
SELECT town, sum(fare) / sum(sum(fare)) OVER () AS share FROM rides GROUP BY town HAVING count(*) > 10 ORDER BY share DESC;
SELECT d, avg(n) OVER (ORDER BY d ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS mean FROM (SELECT to_date(`__time`) AS d, count(*) AS n FROM rides WHERE month(`__time`) = 3 GROUP BY to_date(`__time`)) t ORDER BY d;
SELECT id, lead(meters, 1, 0) OVER (ORDER BY id) AS following, cume_dist() OVER (ORDER BY id) AS c, percent_rank() OVER (ORDER BY id) AS p FROM rides WHERE id BETWEEN 20 AND 23;
SELECT station, docks, max(docks) OVER (PARTITION BY district) AS most FROM stations ORDER BY station;
SELECT town, bike, count(*) AS n, rank() OVER (PARTITION BY town ORDER BY count(*) DESC) AS r FROM rides WHERE town > 'C' GROUP BY town, bike ORDER BY town, r, bike LIMIT 6;
SELECT id, last_value(fare) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM rides WHERE id < 3 ORDER BY id;
SELECT id, sum(meters) OVER w AS s FROM rides WHERE id < 5 WINDOW w AS (ORDER BY id) ORDER BY id;
