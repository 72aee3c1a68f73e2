-- Click paths: transitions between pages, bounce rate, and time on page.
CREATE TEMPORARY TABLE clicks AS
SELECT v, page, CAST(CAST(t AS TIMESTAMP) AS TIMESTAMP) AS t FROM (SELECT stack(6,
 'v1', '/', '2024-01-01 10:00:00', 'v1', '/a', '2024-01-01 10:00:30', 'v1', '/b', '2024-01-01 10:02:00',
 'v2', '/', '2024-01-01 11:00:00', 'v3', '/a', '2024-01-01 12:00:00', 'v3', '/', '2024-01-01 12:00:05') AS (v, page, t)) s;
SELECT page, next_page, count(*) AS n, avg(secs) AS secs FROM (
  SELECT v, page, lead(page) OVER w AS next_page, unix_timestamp(lead(t) OVER w) - unix_timestamp(t) AS secs
  FROM clicks WINDOW w AS (PARTITION BY v ORDER BY t)) x
GROUP BY page, next_page ORDER BY page, next_page;
SELECT round(sum(IF(n = 1, 1, 0)) / count(*), 3) AS bounce FROM (SELECT v, count(*) AS n FROM clicks GROUP BY v) s;
SELECT date_format(t, 'HH') AS hour, hour(t) AS h, minute(t) AS m, second(t) AS s FROM clicks ORDER BY t LIMIT 2;
SELECT v, min(t) AS first, max(t) - min(t) AS stay FROM clicks GROUP BY v ORDER BY v;
